"""second_order_erm: rows of sd, alg2, lemma7, thm5, alg3, lemma6."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, UTILITY, identity, inequality, program, same, units

from .line_search_terms import LEMMA6, ROOT, STEP, row

ROWS = [
    row(
        "sd/query_sensitivity_gradient",
        "Algorithm 3",
        "the query q_g changes by at most (2/n) gamma B_g |g~| when one record is replaced",
        identity("(B_g*gamma*g - (-B_g*gamma*g))/n == 2*gamma*B_g*g/n", "B_g gamma g n"),
        severity=PRIVACY,
        explain=(
            "Each record's l(w) - l(w - gamma g~) lies in [-B_g gamma |g~|, B_g gamma |g~|] and the rest of q_g is "
            "public."
        ),
    ),
    row(
        "sd/query_sensitivity_curvature",
        "Algorithm 3",
        "the query q_H changes by at most (2/n) gamma B_g",
        identity("(B_g*gamma - (-B_g*gamma))/n == 2*gamma*B_g/n", "B_g gamma n"),
        severity=PRIVACY,
    ),
    row(
        "sd/query_sensitivity_units",
        "Algorithm 3",
        "the query sensitivity is a function value",
        units("gamma*B_g*g == f", gamma="l**2/v", B_g="v/l", g="v/l", f="v"),
    ),
    row(
        "sd/sensitivity_at_first_step",
        "Algorithm 3",
        "the sensitivity at the first (largest) step covers the later ones",
        inequality(
            "2*b*gamma*beta**i*B_g/n <= 2*b*gamma*B_g/n",
            "gamma B_g n",
            {"b": "(1, inf)", "beta": "(0, 1)", "i": "[0, 50]"},
        ),
        severity=PRIVACY,
    ),
    row(
        "alg2/svt_threshold_noise",
        "Algorithm 2",
        "threshold noise Lap(2 lambda Delta) is AboveThreshold at epsilon = 1/lambda",
        identity("2*lam*Delta == 2*Delta/epsilon", "lam Delta", let={"epsilon": "1/lam"}),
        severity=PRIVACY,
    ),
    row(
        "alg2/svt_query_noise",
        "Algorithm 2",
        "query noise Lap(4 lambda Delta) is AboveThreshold at epsilon = 1/lambda",
        identity("4*lam*Delta == 4*Delta/epsilon", "lam Delta", let={"epsilon": "1/lam"}),
        severity=PRIVACY,
    ),
    row(
        "alg2/svt_zcdp",
        "Theorem 5, proof",
        "(1/lambda)-DP gives (1/(2 lambda^2))-zCDP",
        identity("epsilon**2/2 == 1/(2*lam**2)", "lam", let={"epsilon": "1/lam"}),
        severity=PRIVACY,
    ),
    row(
        "alg2/i_max",
        "Algorithm 2",
        "i_max = floor(log_beta(gamma-bar/gamma-init)) + 1 is at least 1",
        inequality(
            "1 <= floor(log(1/b)/log(beta)) + 1",
            "",
            {"b": "(1, 100]", "beta": "[1/10, 9/10]"},
            hints=[{"b": "2", "beta": "1/2"}],
        ),
        explain="log_beta of a number below one is positive for beta < 1.",
    ),
    row(
        "alg2/tries_stay_above_fallback",
        "Algorithm 2",
        "the last tried step is at least the fall-back step",
        inequality("1 <= b*beta**floor(log(1/b)/log(beta))", "", {"b": "(1, 100]", "beta": "[1/10, 9/10]"}),
    ),
    row(
        "lemma7/i_max",
        "Lemma 7, Lemma D.3",
        "i_max = floor(log_beta max(b_g, b_H)) + 1 is at least 1",
        inequality(
            "1 <= floor(log(b)/log(beta)) + 1",
            "",
            {"b": "(1, 100]", "beta": "[1/10, 9/10]"},
            hints=[{"b": "2", "beta": "1/2"}],
        ),
        severity=UTILITY,
        corrected="i_max = floor(log_beta(1/max(b_g, b_H))) + 1, as Algorithm 2 has it",
        corrected_as_saved=True,
        reading="the base is 1/beta, as Algorithm 2 has it",
        saved_by=inequality("1 <= floor(log(b)/log(1/beta)) + 1", "", {"b": "(1, 100]", "beta": "[1/10, 9/10]"}),
        explain="For b = 2, beta = 1/2 the printed value is 0, and log i_max in (16) does not exist.",
    ),
    row(
        "lemma7/i_max_places",
        "Lemma 7 against Algorithm 2",
        "both places give the same i_max (before rounding)",
        same(
            {"Algorithm 2": "log(gbar/(b*gbar))/log(beta)", "Lemma 7": "log(b)/log(beta)"},
            "gbar",
            {"b": "(1, 100]", "beta": "[1/10, 9/10]"},
        ),
        corrected="log_beta(1/b)",
        repair="the sign inside the logarithm was lost",
        saved_by=same(
            {"Algorithm 2": "log(gbar/(b*gbar))/log(beta)", "Lemma 7": "log(b)/log(1/beta)"},
            "gbar",
            {"b": "(1, 100]", "beta": "[1/10, 9/10]"},
        ),
        defect="lemma7/i_max",
    ),
    row(
        "lemma7/two_betas",
        "Lemma 7",
        "beta in i_max is defined",
        program("beta_g beta_H b_g b_H", "lemma7: i_max <- beta b_g b_H"),
        corrected=(
            "the larger of the two values for (beta_g, b_g) and (beta_H, b_H): then both step sizes go below 1/b"
        ),
        corrected_claim=inequality(
            "max(b_g*beta_g**i, b_H*beta_H**i) <= 1",
            "",
            {"b_g": "(1, 100]", "b_H": "(1, 100]", "beta_g": "[1/10, 9/10]", "beta_H": "[1/10, 9/10]"},
            let={"i": "max(floor(log(b_g)/log(1/beta_g)), floor(log(b_H)/log(1/beta_H))) + 1"},
        ),
        repair="one beta for both kinds of step",
        saved_by=program("beta b_g b_H", "lemma7: i_max <- beta b_g b_H"),
    ),
    row(
        "thm5/schedule",
        "eq. (14)",
        "with (14) the bound bar-rho equals rho",
        identity(
            "(1/sf2 + 3*T/s2)/2 == rho",
            "T rho_f gap",
            let={"rho": "rho_f + gap", "sf2": "1/(2*rho_f)", "s2": "3*T/(2*(rho - rho_f))"},
        ),
        severity=PRIVACY,
    ),
    row(
        "thm5/count_of_releases",
        "Theorem 5",
        "a returning run uses k_g + k_H gradients and k_H Hessians",
        identity(
            (
                "(k_g + k_H)/s_g**2 + k_H/s_H**2 + (k_g + k_H)/lam**2 == (k_g + k_H + 1)/s_g**2 + (k_H + 1)/s_H**2 "
                "+ (k_g + k_H)/lam**2"
            ),
            "k_g k_H s_g s_H lam",
        ),
        severity=PRIVACY,
        corrected="k_g + k_H + 1 gradients and k_H + 1 Hessians, as in Theorem 1",
        corrected_by="thm1/count_of_releases",
        reading="bar-rho with T is the guarantee, and it covers the returning iteration",
        saved_by=inequality(
            "(k_g + k_H + 1)/s_g**2 + (k_H + 1)/s_H**2 + (k_g + k_H)/lam**2 <= T/s_g**2 + T/s_H**2 + T/lam**2",
            "k_g k_H s_g s_H lam",
            {"T": "[k_g + k_H + 1, inf)"},
        ),
        defect="thm1/count_of_releases",
    ),
    row(
        "alg3/absolute_noise",
        "Algorithm 3",
        "T computed from f(w_0) + |z| is (epsilon, 1e-5)-DP for some finite epsilon",
        inequality("2*Phi(1/sigma_f) - 1 <= 1/100000", domain={"sigma_f": "[1/10, 1000]"}, hints=[{"sigma_f": "1"}]),
        severity=PRIVACY,
        corrected="unsigned noise and a margin: as private as f(w_0) + z",
        corrected_by="eq6/cost_of_absolute_noise",
        condition="w_0 = 0 with the logistic loss: f(w_0) = log 2 for all data",
        saved_by=identity("log(1 + exp(0)) == log(2)"),
        explain="As for Algorithm 1: delta is 2 Phi(1/sigma_f) - 1.",
        defect="eq6/absolute_noise",
    ),
    row(
        "alg3/output_on_every_path",
        "Algorithm 3",
        "the algorithm has an output on every path",
        program(
            "T", "init: w <-", "loop", "step: w <- w", "if", "return: output <- w", "end", "end", "caller: <- output"
        ),
        corrected_by="alg1/output_on_every_path",
        corrected="return w_T when the loop ends",
        condition="on the event of Theorem 8 the loop returns within T iterations",
        saved_by=program("T", "init: w <-", "return: output <- w", "caller: <- output"),
        defect="alg1/output_on_every_path",
    ),
    row(
        "lemma6/discriminant",
        "Lemma 6",
        "c_H < 1 - c - sqrt(8 c2/3) makes the roots of r real",
        inequality(
            "0 <= (1 - c - c_H)**2/4 - 2*c2/3",
            "",
            {"c": "(0, 1/3)", "c2": "(0, 1/3 - c)", "c_H": "(0, 1 - c - sqrt(8*c2/3))"},
        ),
        explain="(1 - c - c_H)^2 >= 8 c2/3.",
    ),
    row(
        "lemma6/roots",
        "eq. (15)",
        "the printed roots solve r(t) = 0 (product form)",
        identity(
            "-t**2/6 + h*t - c2 == (t - t1)*(t2 - t)/6",
            "t",
            LEMMA6,
            let={**ROOT, "t1": "3*h - 3*disc", "t2": "3*h + 3*disc"},
        ),
    ),
    row(
        "lemma6/root_order",
        "eq. (15), (37)",
        "read in order, t1 (plus) < t2 (minus)",
        inequality("3*h + 3*disc < 3*h - 3*disc", "", LEMMA6, let=ROOT),
        corrected="t1, t2 = 3/2 (1 - c - c_H) -+ 3 sqrt(...)",
        corrected_as_saved=True,
        reading="the signs are not meant in order; t1 is the smaller root",
        saved_by=inequality("3*h - 3*disc < 3*h + 3*disc", "", LEMMA6, let=ROOT),
        garbling="plus-minus for minus-plus; printed the same twice",
    ),
    row(
        "lemma6/roots_positive",
        "Lemma 6",
        "both roots are positive",
        inequality("0 < 3*h - 3*disc", "", LEMMA6, let=ROOT),
    ),
    row(
        "lemma6/gradient_sufficient_decrease",
        "Lemma 6, proof",
        "gamma <= 2(1 - c1 - c_g)/G gives 1 - G gamma/2 - c1 >= c_g",
        inequality(
            "c_g <= 1 - G*gamma/2 - c1",
            "G",
            {"c1": "(0, 1/2)", "c_g": "(0, 1 - c1)", "gamma": "(0, 2*(1 - c1 - c_g)/G]"},
        ),
    ),
    row(
        "lemma6/gradient_smoothness",
        "Lemma 6, proof",
        "the smoothness bound with |noise| = c1 |g| is -gamma (1 - G gamma/2 - c1)|g|^2",
        identity("-gamma*(g**2 - c1*g**2) + G*gamma**2*g**2/2 == -gamma*(1 - G*gamma/2 - c1)*g**2", "gamma g c1 G"),
    ),
    row(
        "lemma6/reparametrisation",
        "Lemma 6, proof",
        "g(gamma) - c_H gamma^2 |lambda|/2 = t r(t) |lambda|^3/M^2 with gamma = t|lambda|/M",
        identity(
            (
                "gamma**2*(1 - c)*lam/2 - gamma*c2*lam**2/M - M*gamma**3/6 - c_H*gamma**2*lam/2 == t*(-t**2/6 + (1 "
                "- c - c_H)*t/2 - c2)*lam**3/M**2"
            ),
            "t lam M c c2 c_H",
            let=STEP,
        ),
    ),
]
