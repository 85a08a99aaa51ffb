"""minimax_sosp: rows of lemma6, eq13, eq15, eq16, thm1, lemma8, thm2, eq45, eq33, eq44, eq35, eq36."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, budget, identity, inequality, rates, same

from .utility_terms import ERM, POP, REGION, SMALL, E, P, row

ROWS = [
    row(
        "lemma6/curvature_threshold",
        "Lemma 6, proof",
        "the proof's threshold e is the lemma's alpha_H = sqrt(rho alpha), alpha = e^(2/3)",
        same({"proof": "e", "lemma": "sqrt(rho*e**(2/3))"}, "rho", SMALL),
        corrected="alpha_H",
        repair="alpha_H was meant",
        saved_by=same({"proof": "sqrt(rho)*e**(1/3)", "lemma": "sqrt(rho*e**(2/3))"}, "rho", SMALL),
    ),
    row(
        "lemma6/failure_places",
        "Lemma 6",
        "1 - delta_1 - delta_2 (lemma) is 1 - 4 delta_1 - delta_2 (proof)",
        same({"lemma": "1 - d1 - d2", "proof": "1 - 4*d1 - d2"}, "", {"d1": "(0, 1/8)", "d2": "(0, 1/8)"}),
        corrected="1 - 4 delta_1 - delta_2, by the union bound",
        corrected_claim=same(
            {"union bound": "walks + falls - 1", "proof": "1 - 4*d1 - d2"},
            "",
            {"d1": "(0, 1/8)", "d2": "(0, 1/8)"},
            let={"walks": "1 - 4*d1", "falls": "1 - d2"},
        ),
        reading="delta_1 is renamed",
        saved_by=same({"lemma": "1 - 4*(d1/4) - d2", "proof": "1 - d1 - d2"}, "d1 d2"),
    ),
    row(
        "eq13/volume_ratio",
        "eq. (13)",
        "r V_(d-1)(r)/V_d(r) <= sqrt(d)",
        inequality("Gamma(d/2 + 1)/(Gamma(1/2)*Gamma(d/2 + 1/2)) <= sqrt(d)", "", {"d": "integer [1, 200]"}),
    ),
    row(
        "eq13/r0",
        "eq. (13)",
        "sqrt(d) r_0/r = delta_2 at r_0 = delta_2 r/sqrt(d)",
        identity("sqrt(d)*r0/r == d2", "d r d2", let={"r0": "d2*r/sqrt(d)"}),
    ),
    row("eq16/Dbar", "eq. (16)", "t sqrt(R^2/t^2) = R", identity("t*sqrt(R**2/t**2) == R", "t R")),
    row(
        "thm1/gradient_at_return",
        "Theorem 1",
        (
            "given |v - grad Phi| <= alpha (Lemma 5), |v| < alpha gives |grad Phi| <= 2 alpha, which is O~(e^(2/3)) "
            "like alpha"
        ),
        inequality("v + err <= 2*alpha", "alpha", {"v": "(0, alpha)", "err": "[0, alpha]"}),
        explain="With the alpha of line 5 in place of 2 alpha it fails, by a constant that the theorem's O~ hides.",
    ),
    row(
        "lemma8/q_at_least_one",
        "Lemma 8",
        "q = O(e^(1/3)) is at least 1",
        budget("1 <= e**(1/3)", P, scale="n", conditions=REGION, let=E),
        severity=UTILITY,
        corrected="q = O(e^(-1/3))",
        corrected_as_saved=True,
        reading="the exponent -1/3, as later in the proof",
        saved_by=budget("1 <= e**(-1/3)", P, scale="n", conditions=REGION, let=E),
        garbling="a fraction upside down",
        defect="lemma8/q_places",
    ),
    row(
        "lemma8/q_places",
        "Lemma 8 against its proof",
        "q is the same in the lemma and in the proof",
        same({"lemma": "e**(1/3)", "proof": "e**(-1/3)"}, "", SMALL),
        corrected_by="lemma8/q_at_least_one",
        corrected="e^(-1/3)",
        reading="as in the proof",
        saved_by=same({"lemma": "e**(-1/3)", "proof": "(1/e)**(1/3)"}, "", SMALL),
    ),
    row(
        "lemma8/S1_budget",
        "Lemma 8",
        "with S_1 = n (as in the lemma) T S_1/q + T K S_2 <= n",
        budget("T/q*n <= n", P, scale="n", conditions=REGION, let=POP),
        severity=UTILITY,
        corrected="S_1 = n^(2/3)",
        corrected_as_saved=True,
        reading="S_1 = n^(2/3), as in the proof",
        saved_by=budget("T/q*S1 + T*S2 <= n", P, scale="n", conditions=REGION, let=POP),
    ),
    row(
        "lemma8/sample_budget",
        "B.2",
        "T S_1/q + T K S_2 <= n with the proof's parameters, K constant",
        budget("T/q*S1 + T*S2 <= n", P, scale="n", conditions=REGION, let=POP),
        severity=UTILITY,
    ),
    row("lemma8/T_at_least_q", "B.2", "T >= q", budget("q <= T", P, scale="n", conditions=REGION, let=POP)),
    row(
        "thm2/enough_iterations",
        "Theorem 2",
        "T = e^(-2/3) steps of length eta = e^(1/2) that each gain eta alpha suffice: 1/(eta alpha) <= T",
        budget(
            "1/(eta*alpha) <= T",
            P,
            scale="n",
            conditions=REGION,
            let={**POP, "eta": "sqrt(e)", "alpha": "n**(-1/3) + sqrt(e)"},
        ),
        severity=UTILITY,
        corrected=(
            "T of the order 1/e; then T S_1/q + T K S_2 <= n needs e >= n^(-1/2), that is d log(1/delta) >= n epsilon^2"
        ),
        corrected_claim=budget(
            "max(1/(eta*alpha*T), (T/q*S1 + T*S2)/n) <= 1",
            P,
            conditions=(*REGION, "d*ell >= n*epsilon**2"),
            scale="n",
            let={**POP, "T": "1/e", "eta": "sqrt(e)", "alpha": "n**(-1/3) + sqrt(e)"},
        ),
        repair="the best step, eta = alpha/L, which gains alpha^2/(2L)",
        saved_by=budget(
            "1/alpha**2 <= T", P, scale="n", conditions=REGION, let={**POP, "alpha": "n**(-1/3) + sqrt(e)"}
        ),
        explain=(
            "T eta alpha is e^(1/3), which tends to zero; the lemma on the decrease of Phi that Appendix B.2 "
            "announces is missing."
        ),
    ),
    row(
        "thm1/enough_iterations",
        "Theorem 1",
        "for ERM T = e^(-4/3) steps that each gain alpha^2 suffice",
        budget(
            "1/alpha**2 <= T", P, scale="n", constants="F0 L M", conditions=REGION, let={**ERM, "alpha": "e**(2/3)"}
        ),
        severity=UTILITY,
    ),
    row(
        "lemma8/refresh_noise_rate",
        "eq. (45)",
        "the refresh noise d log(1/delta)/(S_1 epsilon)^2, S_1 = n^(2/3), is within n^(-2/3) + e",
        rates("d*ell/(S1*epsilon)**2 <= n**(-2/3) + e", "n", P, conditions=REGION, let=POP),
        severity=UTILITY,
        corrected="needs e <= n^(-2/3), that is sqrt(d)/epsilon <= n^(1/3)",
        corrected_as_saved=True,
        condition="sqrt(d log(1/delta))/epsilon = O(n^(1/3))",
        saved_by=rates(
            "d*ell/(S1*epsilon)**2 <= n**(-2/3) + e",
            "n",
            P,
            conditions=(*REGION, "d*ell <= n**(2/3)*epsilon**2"),
            let=POP,
        ),
    ),
    row(
        "lemma8/increment_noise_rate",
        "eq. (45)",
        "with the noise of B.2, q K sigma^2 d is within n^(-2/3) + e",
        rates("q*d*ell/(n*epsilon)**2*e <= n**(-2/3) + e", "n", P, conditions=REGION, let=POP),
        severity=UTILITY,
    ),
    row(
        "lemma8/increment_noise_alg3",
        "eq. (45) with Algorithm 3's noise",
        "with the noise of Algorithm 3 (1/S_2, steps sqrt(e)), q d sigma^2 is within n^(-2/3) + e",
        rates("q*d*ell/(S2*epsilon)**2*e <= n**(-2/3) + e", "n", P, conditions=REGION, let=POP),
        severity=UTILITY,
        corrected="e <= n^(-4/5) suffices",
        corrected_claim=rates(
            "q*d*ell/(S2*epsilon)**2*e <= n**(-2/3) + e",
            "n",
            P,
            conditions=(*REGION, "d*ell*n**(8/5) <= n**2*epsilon**2"),
            let=POP,
        ),
        condition="d and epsilon constant",
        saved_by=rates("q*d*ell/(S2*epsilon)**2*e <= n**(-2/3) + e", "n", "n", constants="d ell epsilon", let=POP),
    ),
    row(
        "lemma8/sampling_error_rate",
        "eq. (33)",
        "sigma^2/S_1 + (q/S_2) L^2 step^2 is within n^(-2/3) + e",
        rates("1/S1 + q/S2*e <= n**(-2/3) + e", "n", P, conditions=REGION, let=POP),
        severity=UTILITY,
    ),
    row(
        "eq45/root",
        "eq. (45)",
        "the root of n^(-2/3) + e is of the order n^(-1/3) + e^(1/2)",
        rates("sqrt(n**(-2/3) + e) == n**(-1/3) + sqrt(e)", "n", P, conditions=REGION, let=E),
    ),
    row(
        "eq33/dimension",
        "eq. (33)",
        "|omega|^2 of a d-dimensional Gaussian (mean d sigma^2) is at most 4 log(4/delta_1) sigma^2",
        inequality(
            "d*s**2 <= 4*log(4/d1)*s**2",
            "s",
            {"d": "integer [1, 1000]", "d1": "[1/1000, 1/2]"},
            hints=[{"d": "1000", "d1": "1/10", "s": "1"}],
        ),
        corrected="4 log(4/delta_1) d sigma^2, with probability 1 - delta_1 (x = 4/delta_1)",
        corrected_claim=inequality("chi2_sf(4*d*log(x), d) <= 4/x", "", {"d": "integer [1, 100]", "x": "[8, 4000]"}),
        reading="sigma_omega^2 stands for a bound on the squared norm",
        saved_by=inequality("d*s**2 <= 4*log(4/d1)*(d*s**2)", "s", {"d": "integer [1, 1000]", "d1": "[1/1000, 1/2]"}),
    ),
    row(
        "eq44/kappa",
        "eq. (44) against Lemma 8",
        "eta^2 of Lemma 8 is at most the right-hand side of (44), which has 1/kappa^2",
        inequality("e/(L*ell*C)**2 <= e/(kappa*L*ell*C)**2", "L ell C", {**SMALL, "kappa": "[1, 100]"}),
        severity=UTILITY,
        corrected_claim=inequality(
            "eta**2 <= e/(kappa*L*ell*C)**2",
            "L ell C",
            {"e": "(1/100000, 1/10)", "kappa": "[1, 100]", "eta": "(0, sqrt(e)/(kappa*L*ell*C)]"},
        ),
        corrected="eta <= e^(1/2)/(kappa L log(4/delta_1) C_1)",
        reading="C_1 contains kappa",
        saved_by=inequality(
            "e/(L*ell*C1)**2 <= e/(kappa*L*ell*C)**2", "L ell C", {**SMALL, "kappa": "[1, 100]"}, let={"C1": "kappa*C"}
        ),
    ),
    row(
        "eq35/21",
        "eq. (35)",
        "3 (3 theta^2 + 6 L^2) + 3 L^2: 9 and 21",
        identity("3*6 + 3 == 21"),
        garbling="one rendering prints 1 L^2 for 21 L^2",
    ),
    row(
        "eq36/factor_three",
        "display after (35)",
        "the bracket (3, 7, 1) is the bracket (9, 21, 3) of (35)",
        identity("3*t + 7*x + g == 9*t + 21*x + 3*g", "t x g"),
        corrected="(9, 21, 3)",
        repair="up to the factor 3",
        saved_by=identity("3*(3*t + 7*x + g) == 9*t + 21*x + 3*g", "t x g"),
    ),
]
