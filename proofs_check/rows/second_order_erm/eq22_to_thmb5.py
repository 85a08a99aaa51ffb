"""second_order_erm: rows of eq22, eq24, eq25, eq26, lemmaB1, thmB4, eq28, thmB5."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, program, rates, same

from .minibatch_terms import ONE_BATCH, SMALL, TAIL_27, row

ROWS = [
    row(
        "eq22/eta_for_delta",
        "eq. (22) against (41a)",
        "the noise bound of (22) is the one of (41a)",
        same(
            {"eq. (41a)": "sqrt(2*d)*Delta_g*sigma_g*ell", "eq. (22)": "sqrt(2*d)*eta_g*sigma_g*ell"},
            "d Delta_g eta_g sigma_g ell",
        ),
        corrected="Delta_g = 2 B_g/m for the batch of m, in place of eta_g, which is not defined (and Delta_H alike)",
        corrected_claim=inequality("abs(u - v)/m <= 2*B_g/m", "B_g m", {"u": "[-B_g, B_g]", "v": "[-B_g, B_g]"}),
        reading="eta_g = Delta_g",
        saved_by=same(
            {"eq. (41a)": "sqrt(2*d)*Delta_g*sigma_g*ell", "eq. (22)": "sqrt(2*d)*eta_g*sigma_g*ell"},
            "d Delta_g sigma_g ell",
            let={"eta_g": "Delta_g"},
        ),
        garbling="a confusion of letters in rendering is possible",
    ),
    row(
        "eq24/gradient_batch",
        "eq. (24), first term",
        "at the printed batch size (23a) holds with equality",
        identity("4*sqrt(2)*B_g*sqrt(ell/S) == m/2", "B_g ell m", let={"S": "64*B_g**2*ell/m**2"}),
        corrected="128 B_g^2 log(2dT/eta)/min(...)^2 (up to its 1/4): (2 * 4 sqrt 2)^2 = 128",
        corrected_claim=identity("4*sqrt(2)*B_g*sqrt(ell/S) == m/2", "B_g ell m", let={"S": "128*B_g**2*ell/m**2"}),
        repair=(
            "only the rearrangement loses the 2: Lemma B.1 is loose, and a vector Hoeffding inequality (deviation "
            "at most 2 B_g sqrt(2 log(2T/eta)/|S|)) is within m/2 at the printed size"
        ),
        saved_by=inequality("2*B_g*sqrt(2*ell/S) <= m/2", "B_g ell m", let={"S": "64*B_g**2*ell/m**2"}),
    ),
    row(
        "eq24/hessian_batch",
        "eq. (24), second term",
        "at the printed batch size (23b) holds with equality",
        identity("4*B_H*sqrt(ell/S) == c*eps_H/2", "B_H ell c eps_H", let={"S": "32*B_H**2*ell/(c*eps_H)**2"}),
        corrected_claim=identity(
            "4*B_H*sqrt(ell/S) == c*eps_H/2", "B_H ell c eps_H", let={"S": "64*B_H**2*ell/(c*eps_H)**2"}
        ),
        corrected="64 B_H^2 log(2dT/eta)/(c eps_H)^2: (2 * 4)^2 = 64",
        repair=(
            "only the rearrangement loses the 2: a matrix Bernstein inequality (deviation at most B_H sqrt(2 "
            "ell/|S|) + 4 B_H ell/(3 |S|)) is within x/2 for x = c eps_H <= B_H at the printed size"
        ),
        saved_by=inequality(
            "B_H*sqrt(2*ell/S) + 4*B_H*ell/(3*S) <= x/2", "B_H ell", {"x": "(0, B_H]"}, let={"S": "32*B_H**2*ell/x**2"}
        ),
        defect="eq24/gradient_batch",
    ),
    row(
        "eq24/max_of_squares",
        "eq. (24)",
        "1/min(a, b)^2 is max(1/a^2, 1/b^2)",
        identity("1/min(a, b)**2 == max(1/a**2, 1/b**2)", "a b"),
    ),
    row(
        "eq25/noise_term",
        "eq. (25), first term",
        (
            "at the printed n the noise part 2 * sqrt(2d) Delta_g sigma_g log(T/zeta), Delta_g = 2 B_g/(s n), "
            "equals min(...)"
        ),
        identity(
            "2*sqrt(2*d)*Delta_g*sigma_g*ell == m",
            "d B_g sigma_g ell m",
            {"s": "(0, 1]"},
            let={"n": "2*sqrt(2*d)*B_g*sigma_g*ell/m", "Delta_g": "2*B_g/(s*n)"},
        ),
        severity=UTILITY,
        corrected="(4/s) sqrt(2d) B_g sigma_g log(T/zeta)/min(...): the 2 of Delta_g and the 1/s were lost",
        corrected_claim=identity(
            "2*sqrt(2*d)*Delta_g*sigma_g*ell == m",
            "d B_g sigma_g ell m",
            {"s": "(0, 1]"},
            let={"n": "4*sqrt(2*d)*B_g*sigma_g*ell/(s*m)", "Delta_g": "2*B_g/(s*n)"},
        ),
        reading="up to the constant 2 and for a fixed fraction s",
        saved_by=rates(
            "sqrt(d)*Delta_g*sigma_g <= m",
            "1/m",
            "d B_g sigma_g m s",
            constants="s",
            let={"n": "sqrt(d)*B_g*sigma_g/m", "Delta_g": "B_g/(s*n)"},
        ),
    ),
    row(
        "eq26/rate",
        "eq. (26)",
        "the sampling term 1/min(eps_g, eps_H^2)^2 of (25) stays within (26)",
        rates(
            "max(eps_g**(-2), eps_H**(-4)) <= d/sqrt(rho)*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2))",
            "1/eps_H",
            "d eps_g eps_H rho",
            conditions=SMALL,
        ),
        severity=UTILITY,
        corrected_claim=rates(
            "max(eps_g**(-2), eps_H**(-4)) <= d/sqrt(rho)*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))",
            "1/eps_H",
            "d eps_g eps_H rho",
            conditions=("eps_g <= 1", "eps_H <= 1", "rho <= 1", "d >= 1"),
        ),
        corrected="max(eps_g^-2, eps_g^-1 eps_H^-2, eps_H^-4), as in (31)",
        condition="eps_g = alpha, eps_H = sqrt(M alpha), the only case that the paper uses",
        saved_by=rates(
            "max(eps_g**(-2), eps_H**(-4)) <= d/sqrt(rho)*alpha**(-2)",
            "1/alpha",
            "d rho alpha",
            conditions=("rho <= 1", "d >= 1"),
            let={"eps_g": "alpha", "eps_H": "sqrt(alpha)"},
        ),
    ),
    row(
        "eq26/against_eq31",
        "eq. (26) against (31)",
        "both displays have the same dependence on (eps_g, eps_H)",
        same(
            {
                "eq. (26)": "max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2))",
                "eq. (31)": "max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-4))",
            },
            "",
            {"eps_g": "(0, 1)", "eps_H": "(0, 1)"},
        ),
        severity=UTILITY,
        corrected_by="eq26/rate",
        corrected="eps_H^-4 in both",
        condition="equal at (alpha, sqrt(alpha)), where both are alpha^-2",
        saved_by=same(
            {"eq. (26)": "max(alpha**(-2), alpha**(-7/4))", "eq. (31)": "alpha**(-2)"}, "", {"alpha": "(0, 1)"}
        ),
    ),
    row(
        "thmB4/gaussian_order_two",
        "Theorem B.4",
        "e^(epsilon(2)) = e^(1/sigma^2) for the Gaussian",
        identity("exp(alpha/(2*sigma**2)) == exp(1/sigma**2)", "sigma", let={"alpha": "2"}),
    ),
    row(
        "thmB4/which_minimum",
        "eq. (28)",
        "for sigma >= 2 the minimum in (27) is 4 (e^(1/sigma^2) - 1)",
        inequality("4*(exp(x) - 1) <= 2*exp(x)", "", {"x": "[0, 1/4]"}),
    ),
    row(
        "eq28/middle",
        "eq. (28)",
        "(1/(alpha-1)) s^2 alpha (alpha-1)/2 * 4/sigma^2 = 2 s^2 alpha^2/sigma^2",
        identity(
            "s**2*alpha*(alpha - 1)/2*4/sigma**2/(alpha - 1) == 2*s**2*alpha**2/sigma**2",
            "s sigma",
            {"alpha": "[2, 100]"},
        ),
        corrected="2 s^2 alpha/sigma^2",
        repair="2 s^2 alpha/sigma^2 was meant",
        saved_by=identity(
            "s**2*alpha*(alpha - 1)/2*4/sigma**2/(alpha - 1) == 2*s**2*alpha/sigma**2", "s sigma", {"alpha": "[2, 100]"}
        ),
        garbling="a stray exponent 2 is possible",
        explain="The printed value is larger, so as a privacy bound it errs on the safe side.",
    ),
    row(
        "eq28/safe_side",
        "eq. (28) against (27)",
        "the printed approximation 2 s^2 alpha^2/sigma^2 is at least (27), at alpha = 16",
        inequality(
            f"log(1 + s**2*120*min(4*(exp(1/sigma**2) - 1), 2*exp(1/sigma**2)) + {TAIL_27})/15 <= 2*s**2*256/sigma**2",
            "",
            {"s": "(0, 1/10]", "sigma": "[1, 100]"},
            hints=[{"s": "1/100", "sigma": "50"}],
        ),
        severity=UTILITY,
        corrected=(
            "(27) stays above log(1 + 1120 s^3)/15 however large sigma is, so (28) is no accountant for large sigma"
        ),
        corrected_claim=inequality(
            f"log(1 + 1120*s**3) <= log(1 + s**2*120*min(4*(exp(1/sigma**2) - 1), 2*exp(1/sigma**2)) + {TAIL_27})",
            "",
            {"s": "(0, 1/10]", "sigma": "[1, 1000]"},
        ),
        condition="s sigma^2 <= 1/10, where the terms j >= 3 may be left out",
        explain=(
            "The paper writes (28) with an approximation sign, for small s and large sigma; large sigma is the danger."
        ),
    ),
    row(
        "thmB5/count_of_releases",
        "Theorem B.5",
        "a returning run uses k_g + k_H gradients",
        identity("(k_g + k_H)*e_g == (k_g + k_H + 1)*e_g", "k_g k_H e_g"),
        severity=PRIVACY,
        corrected="one more gradient and one more Hessian in the returning iteration, as in Theorem 1",
        corrected_by="thm1/count_of_releases",
        reading="(29) with T covers it",
        saved_by=inequality(
            "(k_g + k_H + 1)*e_g + (k_H + 1)*e_H <= T*e_g + T*e_H", "k_g k_H e_g e_H", {"T": "[k_g + k_H + 1, inf)"}
        ),
        defect="thm1/count_of_releases",
    ),
    row(
        "thmB5/data_dependent",
        "Theorem B.5",
        "epsilon(alpha) is a function of what is known before the run",
        program(
            "sigma_f sigma_g sigma_H s T alpha",
            "thmB5: epsilon <- sigma_f sigma_g sigma_H s alpha k_g k_H",
            "run: k_g k_H <- T",
        ),
        corrected="the bound with T, eq. (29)",
        corrected_claim=program(
            "sigma_f sigma_g sigma_H s T alpha",
            "eq29: bar_epsilon <- sigma_f sigma_g sigma_H s alpha T",
            "guarantee: <- bar_epsilon",
        ),
        reading="only (29) is the guarantee",
        saved_by=program("sigma_f sigma_g sigma_H s T alpha", "eq29: bar_epsilon <- sigma_f sigma_g sigma_H s alpha T"),
        defect="thm1/realised_counts",
    ),
    row(
        "thmB5/shared_batch",
        "Theorem B.5, eq. (29), with Section 3.3",
        (
            "one iteration whose gradient and Hessian share the batch S_k costs at most epsilon'_N(2; sigma, s) "
            "twice (T = 1, order 2, sigma_g = sigma_H = sigma; the other records equal)"
        ),
        inequality(
            ONE_BATCH + " <= 2*log(1 + s**2*min(4*(exp(1/sigma**2) - 1), 2*exp(1/sigma**2)))",
            "",
            {"s": "(0, 1)", "sigma": "[1/5, 10]"},
            hints=[{"s": "1/10", "sigma": "1/2"}],
        ),
        severity=PRIVACY,
        corrected="epsilon'_N once, for both releases together: 1/sigma^2 = 1/sigma_g^2 + 1/sigma_H^2 (on this pair)",
        corrected_claim=inequality(
            ONE_BATCH + " <= log(1 + s**2*min(4*(exp(2/sigma**2) - 1), 2*exp(2/sigma**2)))",
            "",
            {"s": "(0, 1)", "sigma": "[1/5, 10]"},
        ),
        repair="the Hessian is computed on a batch of its own",
        saved_by=inequality(
            "2*log(1 + s**2*(exp(1/sigma**2) - 1)) <= 2*log(1 + s**2*min(4*(exp(1/sigma**2) - 1), 2*exp(1/sigma**2)))",
            "",
            {"s": "(0, 1)", "sigma": "[1/5, 10]"},
        ),
        explain=(
            "Given the noisy gradient the batch is not a fresh sample any more. One draw with probability s brings "
            "both means at once: D_2 = log(1 + s^2 (e^(2/sigma^2) - 1)) exactly, when a record has gradient B_g and "
            "Hessian B_H I, and its replacement and all others have the opposite. Theorem B.8 amplifies the whole "
            "iteration and is not touched."
        ),
    ),
    row(
        "thmB5/shared_batch_repaired",
        "Theorem B.5, corrected",
        "derived: at order 2 the same iteration costs at most epsilon'_N(2; sigma/sqrt 2, s), once",
        inequality(
            ONE_BATCH + " <= log(1 + s**2*min(4*(exp(2/sigma**2) - 1), 2*exp(2/sigma**2)))",
            "",
            {"s": "(0, 1)", "sigma": "[1/5, 10]"},
        ),
        severity=PRIVACY,
        ours=True,
    ),
]
