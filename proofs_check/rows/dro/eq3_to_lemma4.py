"""dro: rows of eq3, sec3, def4, lemma1, lemma2, lemma3, lemma4."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, program, same, units

from .duality_terms import UNIT, row

ROWS = [
    row(
        "eq3/weak_duality",
        "eq. (3)",
        (
            "each term t (loss - eta) - lambda psi(t) is lambda (t u - psi(t)) at u = (loss - eta)/lambda, hence at "
            "most lambda psi*(u)"
        ),
        identity("t*(l - eta) - lam*psi == lam*(t*u - psi)", "t l eta lam psi", let={"u": "(l - eta)/lam"}),
        explain="Summed with weights 1/n and t_i = n p_i, of mean 1.",
    ),
    row(
        "eq3/lambda_name",
        "eq. (2) against (3)",
        "the multiplier has one name",
        same({"(2)": "lam0", "(3)": "lam"}, "lam0 lam"),
        corrected="lambda_0 in (3): then (2) and (3) have one value (chi-square, two records)",
        corrected_claim=identity(
            "p1*a + p2*b - lam0*((2*p1 - 1)**2 + (2*p2 - 1)**2)/4 == lam*((u1 + 1)**2 + (u2 + 1)**2 - 2)/4 + eta",
            "a b lam0",
            let={
                "lam": "lam0",
                "eta": "(a + b)/2",
                "u1": "(a - eta)/lam",
                "u2": "(b - eta)/lam",
                "p1": "(1 + (a - eta)/lam0)/2",
                "p2": "(1 + (b - eta)/lam0)/2",
            },
        ),
        reading="lambda = lambda_0",
        saved_by=same({"(2)": "lam0", "(3)": "lam"}, "lam0", let={"lam": "lam0"}),
    ),
    row(
        "eq3/scaled_eta",
        "eq. (3), Section 3 and Appendix C",
        "the derivative in eta (s = psi*') is the same in the three definitions of L",
        same(
            {"L(x, eta) = L^(x, G eta)": "G*(1 - s)", "Section 3, per record": "1 - s", "Lemma 4, proof": "1 - G*s"},
            "G s",
        ),
        severity=UTILITY,
        corrected="G (1 - s), as L(x, eta) = L^(x, G eta) has it (chi-square: a difference quotient)",
        corrected_claim=identity(
            "(lam*(up + 1)**2 - lam*(um + 1)**2 + 4*G*h)/(4*h) == G*(1 - s)",
            "G lam l e h",
            let={"up": "(l - G*(e + h))/lam", "um": "(l - G*(e - h))/lam", "s": "(l - G*e)/lam + 1"},
        ),
        degenerate="G = 1",
        saved_by=same(
            {"L(x, eta) = L^(x, G eta)": "G*(1 - s)", "Section 3, per record": "1 - s", "Lemma 4, proof": "1 - G*s"},
            "s",
            let={"G": "1"},
        ),
    ),
    row(
        "eq3/scaled_units",
        "after eq. (3)",
        "with eta scaled by G, grad_x and grad_eta have the same units",
        units("G*(1 + s) == g", free="s", G="v/l", g="v/l"),
    ),
    row(
        "def4/utility",
        "Definition 4",
        "the utility |F| that Definition 4 asks to be small is what the theorems bound",
        units("F == g", F="v", g="v/l"),
        corrected="the norm of the gradient of F",
        repair="grad F",
        saved_by=units("F/x == g", F="v", x="l", g="v/l"),
        garbling="a lost nabla is likely",
    ),
    row(
        "lemma1/L0_units",
        "Lemma 1",
        "L_0 = G + G^2 M/lambda is a smoothness constant",
        units("G + G**2*M/lam == L", free="M", **UNIT),
        severity=PRIVACY,
        corrected="L_0 = L + G^2 M/lambda",
        repair="L was meant",
        saved_by=units("L + G**2*M/lam == L", free="M", **UNIT),
        garbling="printed twice; a changed letter is possible",
    ),
    row(
        "lemma1/x_smoothness",
        "Lemma 1, eq. (6)",
        "psi*' <= 1 + |grad_eta L|/G makes the x-gradient change by at most (L_0 + L_1 |grad_eta L|) r",
        inequality(
            "(1 + h/G)*L*r + G*M*G*r/lam <= (G + G**2*M/lam + L/G*h)*r",
            "G L M lam h r",
            conditions=("L*r <= 2*G",),
            hints=[{"G": "1", "L": "10", "M": "1/1000", "lam": "1", "h": "1/1000", "r": "1/10"}],
        ),
        severity=PRIVACY,
        corrected="L_0 = L + G^2 M/lambda",
        repair="L was meant in L_0",
        saved_by=identity("(1 + h/G)*L*r + G*M*G*r/lam == (L + G**2*M/lam + L/G*h)*r", "G L M lam h r"),
        explain=(
            "Attained with psi*(u) = u (M tends to 0): then grad_x L is the plain gradient, L-smooth, and L may "
            "exceed G. L r <= 2 G: a G-Lipschitz loss allows no larger change. C_4 rests on L_0."
        ),
        defect="lemma1/L0_units",
    ),
    row(
        "lemma1/L1",
        "Lemma 1",
        "L_1 = L/G: the part of the change in proportion to |grad_eta L|",
        identity("(1 + h/G)*L - L == (L/G)*h", "G L h"),
        severity=PRIVACY,
    ),
    row(
        "lemma1/eta_smoothness",
        "Lemma 1, eq. (7)",
        "L_2 = G^2 M/lambda: G times psi*' at arguments that differ by G e/lambda",
        identity("G*(M*(G*e/lam)) == G**2*M/lam*e", "G M e lam"),
        severity=PRIVACY,
    ),
    row(
        "lemma1/unequal_weights",
        "Lemma 1 per record against Theorem 6",
        (
            "needed by Theorem 6, not printed: the bound of the mean of psi*' by 1 + |grad_eta L|/G holds for each "
            "of n records (mean m)"
        ),
        inequality("n*m <= m + h", "m h", {"n": "integer [2, 1000]"}, hints=[{"m": "1", "h": "1/10", "n": "100"}]),
        severity=PRIVACY,
        corrected=(
            "C_4 with a bound of psi*' for each record: (1 + S_0) L + G^2 M/lambda in place of L_0 + L_1 "
            "sqrt(H) (chi-square, u <= S_0)"
        ),
        corrected_claim=inequality(
            "max(u + 1, 0)*L*r + G*M*(G*r/lam) <= ((1 + S0)*L + G**2*M/lam)*r", "S0 L G M lam r", {"u": "(-inf, S0]"}
        ),
        condition="H bounds psi*' for every record, as in the proof of Proposition 1",
        saved_by=inequality("s <= h", "h", {"s": "[0, h]"}),
        explain="If one record carries all the weight, its psi*' is n times the mean.",
    ),
    row(
        "lemma2/sigma_defined",
        "Lemma 2",
        "sigma of D_0 and D_2 is defined",
        program("G M lam", "lemma2: D_0 D_2 <- G M lam sigma"),
        severity=UTILITY,
        corrected="assume that the loss has variance at most sigma^2 over the records",
        corrected_as_saved=True,
        reading="the variance of the loss, as in the cited paper",
        saved_by=program("G M lam loss", "def: sigma <- loss", "lemma2: D_0 D_2 <- G M lam sigma"),
    ),
    row(
        "lemma2/x_variance",
        "Lemma 2, eq. (8)",
        "G^2 E psi*'^2 <= G^2 (Var + (1 + h/G)^2) is within 8 G^2 + 10 G^2 V + 8 h^2",
        inequality("G**2*(V + (1 + h/G)**2) <= 8*G**2 + 10*G**2*V + 8*h**2", "G V h"),
        explain="V = M^2 sigma^2/lambda^2. Holds with constants to spare, and without Assumption 3.",
    ),
    row(
        "lemma2/units",
        "Lemma 2",
        "D_0 and D_2 are squared gradients",
        units("G**2 + G**2*M**2*s**2/lam**2 == g**2", free="M", G="v/l", s="v", lam="v", g="v/l"),
    ),
    row(
        "lemma3/eta_gradient_in_x",
        "Lemma 3, eq. (10)",
        "G times M times the change G r/lambda of the argument is L_2 r",
        identity("G*(M*(G*r/lam)) == G**2*M/lam*r", "G M r lam"),
        severity=PRIVACY,
    ),
    row(
        "lemma3/x_gradient_in_eta",
        "Lemma 3, eq. (11)",
        "|grad loss| <= G times M times the change G e/lambda of the argument is L_2 e",
        identity("G*M*(G*e/lam) == G**2*M/lam*e", "G M e lam"),
        severity=PRIVACY,
    ),
    row(
        "lemma4/statement",
        "Lemma 4, eq. (12)",
        "M G^2 r/lambda is L_2 r",
        same({"Lemma 4": "M*G**2*r/lam", "Lemma 3": "G**2*M/lam*r"}, "M G r lam"),
        severity=PRIVACY,
    ),
    row(
        "lemma4/last_step",
        "Lemma 4, proof",
        "M (loss - loss')/lambda is M G^2 r/lambda for a G-Lipschitz loss",
        identity("M*(G*r)/lam == M*G**2*r/lam", "M G r lam"),
        corrected="the factor G of the derivative of G eta is missing in the proof's sums",
        repair="with the outer factor G, as L(x, eta) = L^(x, G eta) gives",
        saved_by=identity("G*M*(G*r)/lam == M*G**2*r/lam", "M G r lam"),
    ),
]
