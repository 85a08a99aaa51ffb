"""second_order_erm: Lemma 2, Corollary 3, Theorem 4 and their proofs."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import UTILITY, identity, inequality, rates, rows_of, same

row = rows_of("second_order_erm")

UNITS = {"G": "v/l**2", "M": "v/l**3", "eps_g": "v/l", "eps_H": "v/l**2"}

T_OF = {"min_dec": "min(eps_g**2/G, eps_H**3/M**2)", "T": "1/min_dec", "sigma": "sqrt(T/rho)"}

SMALL = ("eps_g <= 1", "eps_H <= 1", "rho <= 1", "d >= 1")

CLAIMED = "d/sqrt(rho)*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2))"

EXACT_ORDER = (
    "max(sqrt(d)*eps_g**(-2), sqrt(d)/(eps_g*eps_H**2), sqrt(d)*eps_H**(-7/2), d/(eps_g*eps_H), "
    "d*eps_H**(-5/2))/sqrt(rho)"
)

HALF_OF_41A = inequality("chi2_sf(2*d*(log(1/eta)/2)**2, d) <= eta", "", {"d": "integer [1, 100]", "eta": "(0, 1/20]"})

ROWS = [
    row(
        "lemma2/gradient_step",
        "Lemma 2, D.1",
        "with step 1/G and |noise| = c1 |g|, the smoothness bound gives -(1 - 2 c1)|g|^2/(2G)",
        identity("-(g**2 - c1*g*g)/G + g**2/(2*G) == -(1 - 2*c1)*g**2/(2*G)", "g c1 G"),
    ),
    row(
        "lemma2/gradient_floor",
        "Lemma 2, D.1",
        "|g| >= eps_g turns it into (1 - 2 c1) eps_g^2/(2G)",
        inequality(
            "(1 - 2*c1)*eps_g**2/(2*G) <= (1 - 2*c1)*g**2/(2*G)", "G eps_g", {"c1": "(0, 1/2)", "g": "[eps_g, inf)"}
        ),
    ),
    row(
        "lemma2/curvature_step",
        "Lemma 2, D.1",
        "with step 2|lambda|/M the quadratic and cubic terms give -(2/3)|lambda|^3/M^2",
        identity("-(2*lam/M)**2*lam/2 + M/6*(2*lam/M)**3 == -2*lam**3/(3*M**2)", "lam M"),
    ),
    row(
        "lemma2/curvature_noise",
        "Lemma 2, D.1",
        "the noise terms cost (2 c2 + 2 c)|lambda|^3/M^2",
        identity("2*lam/M*(c2*lam**2/M) + (2*lam/M)**2*(c*lam)/2 == (2*c2 + 2*c)*lam**3/M**2", "lam M c c2"),
    ),
    row(
        "lemma2/min_dec_places",
        "eq. (10) against D.1",
        "the constant of (10) is the one of the proof",
        same({"eq. (10)": "2*(1/3 - c2 - c)", "D.1": "2/3 - 2*c2 - 2*c"}, "c c2"),
    ),
    row(
        "lemma2/min_dec_positive",
        "Lemma 2",
        "c1 < 1/2 and c2 + c < 1/3 make MIN_DEC positive",
        inequality(
            "0 < min((1 - 2*c1)/2, 2*(1/3 - c2 - c))", "", {"c1": "(0, 1/2)", "c": "(0, 1/3)", "c2": "(0, 1/3 - c)"}
        ),
    ),
    row(
        "lemma2/step_optimal",
        "eq. (7)",
        "the step 2|lambda|/M minimises -gamma^2 |lambda|/2 + M gamma^3/6",
        inequality("-2*lam**3/(3*M**2) <= -gamma**2*lam/2 + M*gamma**3/6", "lam M gamma"),
    ),
    row(
        "eq11/gradient_at_return",
        "eq. (11) as used in Corollary 3",
        "|g| <= (1 + c1)|g~| also when |g~| <= eps_g",
        inequality("x + c1*eps_g <= (1 + c1)*x", "eps_g", {"c1": "(0, 1/2)", "x": "(0, eps_g]"}),
        corrected="|g| <= |g~| + c1 eps_g, hence <= (1 + c1) eps_g at the return",
        repair="Corollary 3 needs only (1 + c1) eps_g, which holds",
        saved_by=inequality("x + c1*eps_g <= (1 + c1)*eps_g", "eps_g", {"c1": "(0, 1/2)", "x": "(0, eps_g]"}),
        explain=(
            "The proof derives (11) from |g~| > eps_g, that is for gradient steps; the return has the opposite case."
        ),
    ),
    row(
        "cor3/curvature_at_return",
        "Corollary 3",
        "lambda~ >= -eps_H and |E| <= c eps_H give lambda >= -(1 + c) eps_H",
        inequality("-(1 + c)*eps_H <= x - c*eps_H", "eps_H", {"c": "(0, 1/3)", "x": "[-eps_H, eps_H]"}),
    ),
    row(
        "thm4/n_min_gradient",
        "Theorem 4, first term",
        "at n = sqrt(2d) B_g sigma_g log(T/zeta)/m the gradient noise bound (41a) equals m",
        identity(
            "sqrt(2*d)*Delta_g*sigma_g*ell == m",
            "d B_g sigma_g ell m",
            let={"n": "sqrt(2*d)*B_g*sigma_g*ell/m", "Delta_g": "2*B_g/n"},
        ),
        corrected_claim=inequality(
            "sqrt(2*d)*Delta_g*sigma_g*ell <= m",
            "d B_g sigma_g ell m",
            {"n": "[2*sqrt(2*d)*B_g*sigma_g*ell/m, inf)"},
            let={"Delta_g": "2*B_g/n"},
        ),
        corrected="n >= 2 sqrt(2d) B_g sigma_g log(T/zeta)/min(...): the 2 of Delta_g = 2 B_g/n was lost",
        repair=(
            "only the derivation loses the 2: at half of (41a) the gradient noise still meets (9a) with probability "
            "1 - zeta/T for zeta/T <= 1/20"
        ),
        saved_by=HALF_OF_41A,
        explain=(
            "(41a) has room to spare, so this term of Theorem 4 is true for small zeta/T; its Hessian term is not "
            "(thm4/n_min_hessian)."
        ),
    ),
    row(
        "thm4/n_min_hessian",
        "Theorem 4, second term",
        "at n = C sqrt(d) B_H sigma_H log(T/zeta)/(c eps_H) the Hessian bound (41b) is at most c eps_H",
        inequality(
            "C*sqrt(d)*Delta_H*sigma_H <= c*eps_H",
            "B_H sigma_H eps_H c C",
            {"d": "integer [1, 1000]", "ell": "[1, 20]"},
            let={"n": "C*sqrt(d)*B_H*sigma_H*ell/(c*eps_H)", "Delta_H": "2*B_H*sqrt(d)/n"},
        ),
        severity=UTILITY,
        corrected_claim=inequality(
            "C*sqrt(d)*Delta_H*sigma_H <= c*eps_H",
            "B_H sigma_H eps_H c C",
            {"d": "integer [1, 1000]", "n": "[2*C*d*B_H*sigma_H/(c*eps_H), inf)"},
            let={"Delta_H": "2*B_H*sqrt(d)/n"},
        ),
        corrected="n >= 2 C d B_H sigma_H/(c eps_H): Delta_H brings another sqrt(d), and no logarithm is needed",
        reading="with the printed d/sqrt(rho) of (12), which allows for the second sqrt(d)",
        saved_by=rates(
            "2*C*d*B_H*sigma/(c*eps_H) <= " + CLAIMED,
            "1/eps_H",
            "d eps_g eps_H rho",
            constants="C B_H c G M",
            conditions=SMALL,
            let=T_OF,
        ),
    ),
    row(
        "thm4/rate",
        "eq. (12), (40)",
        "n_min (with the terms corrected) is at most d/sqrt(rho) max(eps_g^-2, eps_g^-1 eps_H^-2, eps_H^-7/2)",
        rates(
            "max(sqrt(d)*B_g*sigma/min(eps_g, eps_H**2/M), d*B_H*sigma/eps_H) <= " + CLAIMED,
            "1/eps_H",
            "d eps_g eps_H rho",
            constants="G M B_g B_H",
            conditions=SMALL,
            let=T_OF,
        ),
        severity=UTILITY,
    ),
    row(
        "thm4/rate_tight",
        "eq. (12), (40)",
        (
            "inferred, not claimed: the exact order of n_min (terms corrected) has sqrt(d) with the gradient and d "
            "with the Hessian; (12) is an upper bound of it"
        ),
        rates(
            "max(sqrt(d)*B_g*sigma/min(eps_g, eps_H**2/M), d*B_H*sigma/eps_H) == " + EXACT_ORDER,
            "1/eps_H",
            "d eps_g eps_H rho",
            constants="G M B_g B_H",
            conditions=SMALL,
            let=T_OF,
        ),
        explain=(
            "The Hessian's terms are smaller in 1/eps, so O-tilde of (12) is true (thm4/rate) and generous by up to "
            "sqrt(d)."
        ),
        ours=True,
    ),
    row(
        "thm4/rate_alpha",
        "after eq. (12)",
        "at (alpha, sqrt(M alpha)) the maximum is alpha^-2",
        rates(
            "max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2)) == alpha**(-2)",
            "1/alpha",
            "alpha",
            constants="M",
            let={"eps_g": "alpha", "eps_H": "sqrt(M*alpha)"},
        ),
    ),
    row(
        "thm4/sqrt_T",
        "D.4",
        "sqrt(T) = O(max(eps_g, eps_H^-3/2))",
        rates(
            "sqrt(T) <= max(eps_g, eps_H**(-3/2))",
            "1/eps_g",
            "eps_g eps_H",
            constants="G M",
            conditions=("eps_g <= 1", "eps_H <= 1"),
            let={"T": "1/min(eps_g**2/G, eps_H**3/M**2)"},
        ),
        corrected="sqrt(T) = O(max(eps_g^-1, eps_H^-3/2))",
        repair="eps_g^-1 was meant",
        saved_by=rates(
            "sqrt(T) == max(1/eps_g, eps_H**(-3/2))",
            "1/eps_g",
            "eps_g eps_H",
            constants="G M",
            conditions=("eps_g <= 1", "eps_H <= 1"),
            let={"T": "1/min(eps_g**2/G, eps_H**3/M**2)"},
        ),
        garbling="a lost exponent -1 is possible, but the proof of Theorem B.9 prints the same",
    ),
    row(
        "thm4/iteration_complexity",
        "Section 1",
        "T = O(alpha^-2) at (alpha, sqrt(M alpha))",
        rates("1/min(alpha**2/G, (M*alpha)**(3/2)/M**2) == alpha**(-2)", "1/alpha", "alpha", constants="G M"),
    ),
    row(
        "thm4/success_probability",
        "Theorem 4",
        "the factor (1 - zeta/T)^T of the printed probability is at least 1 - zeta",
        inequality("1 - zeta <= (1 - zeta/T)**T", "", {"zeta": "(0, 1/2]", "T": "integer [1, 1000]"}),
    ),
    row(
        "lemmaD6/gaussian_norm",
        "Lemma D.6",
        "P(|x| <= sqrt(2d) sigma log(1/eta)) >= 1 - eta for every eta in (0, 1)",
        inequality(
            "chi2_sf(2*d*log(1/eta)**2, d) <= eta",
            "",
            {"d": "integer [1, 100]", "eta": "(0, 1)"},
            hints=[{"d": "2", "eta": "9/10"}],
        ),
        corrected="holds for eta <= 1/e (and fails near 1, where log(1/eta) tends to 0)",
        corrected_as_saved=True,
        condition="eta = zeta/T is small where the lemma is used (eta <= 1/e)",
        saved_by=inequality(
            "chi2_sf(2*d*log(1/eta)**2, d) <= eta", "", {"d": "integer [1, 100]", "eta": "(0, 367/1000]"}
        ),
    ),
    row(
        "intro/zcdp_to_dp_rate",
        "Section 1",
        "rho = epsilon^2/(4 log(1/delta)) turns d/(alpha^2 sqrt(rho)) into d sqrt(log(1/delta))/(alpha^2 epsilon)",
        rates(
            "d/(alpha**2*sqrt(rho)) == d*sqrt(ell)/(alpha**2*epsilon)",
            "1/alpha",
            "alpha d epsilon ell",
            let={"rho": "epsilon**2/(4*ell)"},
        ),
    ),
]
