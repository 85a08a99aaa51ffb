"""second_order_erm: rows of lemma6, lemma7, eq16, thm8, propA4, propA5, propA6, propA7, alg3, thm5, lemmaD7."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    PRIVACY,
    UTILITY,
    budget,
    identity,
    inequality,
    montecarlo,
    rates,
    same,
    units,
)

from .lemma2_to_intro import HALF_OF_41A
from .line_search_terms import SMALL, row

ROWS = [
    row(
        "lemma6/tilde_hessian",
        "Lemma 6, proof, first line",
        "p^T H p = p^T H p - p^T E p (the same H on both sides)",
        identity("h == h - e", "h e"),
        corrected="p^T H p = p^T H~ p - p^T E p",
        repair="H~ was meant after the split",
        saved_by=identity("h == htilde - e", "h e", let={"htilde": "h + e"}),
        garbling="a lost tilde is likely; the following line uses lambda~",
    ),
    row(
        "lemma7/min_dec_gradient",
        "eq. (17)",
        "half of c_g gamma-bar eps_g^2 is (1 - c1 - c_g) c_g eps_g^2/G",
        identity(
            "c_g*gbar*eps_g**2/2 == (1 - c1 - c_g)*c_g*eps_g**2/G",
            "G eps_g",
            {"c1": "(0, 1/2)", "c_g": "(0, 1 - c1)"},
            let={"gbar": "2*(1 - c1 - c_g)/G"},
        ),
    ),
    row(
        "lemma7/min_dec_curvature",
        "eq. (17)",
        "half of c_H gamma-bar^2 |lambda|/2 at |lambda| = eps_H is c_H t2^2 eps_H^3/(4 M^2)",
        identity("c_H*gbar**2*eps_H/4 == c_H*t2**2*eps_H**3/(4*M**2)", "c_H t2 eps_H M", let={"gbar": "t2*eps_H/M"}),
    ),
    row(
        "lemma7/min_dec_units",
        "eq. (17)",
        "both terms of MIN_DEC are function values",
        units(
            "min(eps_g**2/G, t2**2*eps_H**3/M**2) == f",
            free="t2",
            eps_g="v/l",
            G="v/l**2",
            eps_H="v/l**2",
            M="v/l**3",
            f="v",
        ),
    ),
    row(
        "eq16/gradient",
        "eq. (16), first term",
        "at equality the SVT noise 8 lambda Delta_q L is half the wanted decrease of a gradient step",
        identity(
            "8*lam*Delta*L == c_g*gbar*eps_g**2/2",
            "lam L b_g B_g c_g eps_g gbar",
            let={"n": "16*lam*L*2*b_g*B_g/(c_g*eps_g)", "Delta": "2*b_g*gbar*B_g*eps_g/n"},
        ),
        severity=UTILITY,
    ),
    row(
        "eq16/curvature",
        "eq. (16), second term",
        "at equality the SVT noise is half the wanted decrease of a curvature step",
        identity(
            "8*lam*Delta*L == c_H*gbar**2*eps_H/4",
            "lam L b_H B_g c_H eps_H M t2",
            let={"n": "16*lam*L*4*b_H*B_g*M/(t2*c_H*eps_H**2)", "gbar": "t2*eps_H/M", "Delta": "2*b_H*gbar*B_g/n"},
        ),
        severity=UTILITY,
    ),
    row(
        "eq16/units",
        "eq. (16)",
        "both terms of (16) are pure numbers",
        units("max(B_g/eps_g, B_g*M/eps_H**2) == one", free="one", B_g="v/l", eps_g="v/l", M="v/l**3", eps_H="v/l**2"),
    ),
    row(
        "eq16/logarithm_without_two",
        "eq. (16)",
        "log i_max + log(T/xi) suffices although the textbook bound has log(2 T/xi)",
        inequality("k*(2*(eta/k)**2 - (eta/k)**4) <= eta", "", {"k": "[1, 1000]", "eta": "(0, 1/2]"}),
        severity=UTILITY,
        explain=(
            "P(|Lap(4)| + |Lap(2)| > a) = 2 exp(-a/4) - exp(-a/2) with a = 8 log(k/eta), times k tries. Looks short "
            "by log 2 and is right."
        ),
    ),
    row(
        "eq16/svt_simulated",
        "eq. (16)",
        "|threshold noise| + max |query noise| <= 8 (log k + log(1/eta)) with probability 1 - eta",
        montecarlo(
            "svt_slack",
            "8*(log(k) + log(1/eta))",
            "1 - eta",
            [{"k": "1", "eta": "1/5"}, {"k": "5", "eta": "1/10"}, {"k": "20", "eta": "1/100"}],
        ),
        severity=UTILITY,
    ),
    row(
        "thm8/xi_or_zeta",
        "Lemma 7 against Theorem 8",
        "(16) and (18) use the same failure probability",
        same({"eq. (16)": "log(T/xi)", "eq. (18)": "log(T/zeta)"}, "T xi zeta"),
        corrected=(
            "log(T/xi) in the SVT term of (18): so the i_max tails of Laplace noise add up to xi/T, as in Lemma 7"
        ),
        corrected_claim=identity("i_max*exp(-(log(i_max) + log(T/xi))) == xi/T", "T xi i_max"),
        reading="zeta = xi",
        saved_by=same({"eq. (16)": "log(T/xi)", "eq. (18)": "log(T/zeta)"}, "T xi", let={"zeta": "xi"}),
        garbling="xi and zeta are easily confused in rendering",
    ),
    row(
        "thm8/requirement_order",
        "Theorem 8, proof",
        "requirement (16) is O(lambda log T/max(eps_g^-1, eps_H^-2))",
        rates(
            "lam*max(1/eps_g, eps_H**(-2)) <= lam/max(1/eps_g, eps_H**(-2))",
            "1/eps_g",
            "lam eps_g eps_H",
            conditions=("eps_g <= 1", "eps_H <= 1"),
        ),
        corrected="O(lambda log T max(eps_g^-1, eps_H^-2))",
        repair="division by min(eps_g, eps_H^2) was meant",
        saved_by=rates("lam*max(1/eps_g, eps_H**(-2)) == lam/min(eps_g, eps_H**2)", "1/eps_g", "lam eps_g eps_H"),
        garbling="a fraction put into a product is possible",
    ),
    row(
        "thm8/rate",
        "eq. (19)",
        "with lambda of the order of sigma_g the line search term stays within (19)",
        rates(
            "lam*max(1/eps_g, eps_H**(-2)) <= d/sqrt(rho)*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2))",
            "1/eps_g",
            "d eps_g eps_H rho",
            conditions=SMALL,
            let={"lam": "sqrt(max(eps_g**(-2), eps_H**(-3))/rho)"},
        ),
        severity=UTILITY,
    ),
    row(
        "thm8/n_min_gradient",
        "eq. (18), first term",
        "at the printed first term the gradient noise bound (41a) equals min(...)",
        identity(
            "sqrt(2*d)*Delta_g*sigma_g*ell == m",
            "d B_g sigma_g ell m",
            let={"n": "sqrt(2*d)*B_g*sigma_g*ell/m", "Delta_g": "2*B_g/n"},
        ),
        corrected_by="thm4/n_min_gradient",
        corrected="twice as large, as in Theorem 4",
        repair="at half of (41a) the gradient noise still meets (9a) with probability 1 - zeta/T for zeta/T <= 1/20",
        saved_by=HALF_OF_41A,
        defect="thm4/n_min_gradient",
    ),
    row(
        "propA4/minimum",
        "Proposition A.4",
        "no order alpha > 1 gives less than rho + 2 sqrt(rho log(1/delta)), the zCDP conversion (ell = log(1/delta))",
        inequality("rho + sqrt(4*rho*ell) <= rho*alpha + ell/(alpha - 1)", "rho ell", {"alpha": "(1, inf)"}),
        severity=PRIVACY,
        explain="Attained at alpha = 1 + sqrt(ell/rho).",
    ),
    row(
        "propA5/randomised_response",
        "Proposition A.5",
        "epsilon-DP randomised response has Renyi divergence at most alpha epsilon^2/2",
        inequality(
            "p**a*(1 - p)**(1 - a) + (1 - p)**a*p**(1 - a) <= exp((a - 1)*a*epsilon**2/2)",
            "",
            {"epsilon": "(0, 4]", "a": "(1, 20]"},
            let={"p": "exp(epsilon)/(1 + exp(epsilon))"},
        ),
        severity=PRIVACY,
        explain="The extremal mechanism of pure DP; a check of the cited proposition, not a proof.",
    ),
    row(
        "propA6/inverse",
        "Proposition A.6",
        "the given rho inverts epsilon = xi + rho + sqrt(4 rho log(1/delta))",
        identity(
            "xi + rho + sqrt(4*rho*ell) == epsilon",
            "xi gap ell",
            let={"epsilon": "xi + gap", "rho": "(sqrt(epsilon - xi + ell) - sqrt(ell))**2"},
        ),
        severity=PRIVACY,
    ),
    row(
        "propA6/approximation",
        "Proposition A.6",
        "the approximation (epsilon - xi)^2/(4 log(1/delta)) is an upper bound of rho (so: not safe to use)",
        inequality("rho <= gap**2/(4*ell)", "gap ell", let={"rho": "(sqrt(gap + ell) - sqrt(ell))**2"}),
        severity=PRIVACY,
    ),
    row(
        "alg3/fallback_is_short_step",
        "Section 3.2",
        "at c_g = (1 - 2 c1)/2 the fall-back step 2(1 - c1 - c_g)/G is the short step 1/G",
        identity("2*(1 - c1 - c_g)/G == 1/G", "G", {"c1": "(0, 1/2)"}, let={"c_g": "(1 - 2*c1)/2"}),
    ),
    row(
        "thm5/line_search_budget",
        "eq. (14)",
        "the share of the line searches is a third of rho - rho_f",
        budget("T/(2*lam2) <= gap/3", "T gap", let={"lam2": "3*T/(2*gap)"}),
        severity=PRIVACY,
    ),
    row(
        "lemmaD7/simulated",
        "Lemma D.7",
        "a symmetric Gaussian d x d matrix has norm at most 3 sqrt(d) with probability 1 - exp(-d/4)",
        montecarlo("wigner_norm", "3*sqrt(d)", "1 - exp(-d/4)", [{"d": "5"}, {"d": "12"}, {"d": "20"}], 4000),
        severity=UTILITY,
        explain=(
            "The lemma's universal constants are not given; these are one choice that the simulation does not "
            "contradict."
        ),
    ),
]
