"""second_order_erm: assumptions, Algorithm 1 and Theorem 1."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import (
    PRIVACY,
    UTILITY,
    identity,
    inequality,
    privacy,
    program,
    releases,
    rows_of,
    units,
)

row = rows_of("second_order_erm")

LABELS = {"g": "gradient", "h": "hessian", "k_g": "taken/gradient", "k_H": "taken/curvature"}

RETURNING = {name: ("second_order_erm/opt_returning", label) for name, label in LABELS.items()}

RUNNING = {name: ("second_order_erm/opt", label) for name, label in LABELS.items()}

UNITS = {"G": "v/l**2", "M": "v/l**3", "eps_g": "v/l", "eps_H": "v/l**2"}

T_OF = {"min_dec": "min(eps_g**2/G, eps_H**3/M**2)", "T": "1/min_dec", "sigma": "sqrt(T/rho)"}

SMALL = ("eps_g <= 1", "eps_H <= 1", "rho <= 1", "d >= 1")

CLAIMED = "d/sqrt(rho)*max(eps_g**(-2), 1/(eps_g*eps_H**2), eps_H**(-7/2))"

ROWS = [
    row(
        "eq4/delta_f",
        "eq. (4)",
        "losses in [0, B]: replacing one of n records moves the mean by at most B/n",
        identity("(B - 0)/n == B/n", "B n"),
    ),
    row(
        "eq4/delta_g",
        "eq. (4)",
        "gradients of norm <= B_g: replacing one of n records moves the mean by at most 2 B_g/n",
        inequality("abs(a - b)/n <= 2*B_g/n", "B_g n", {"a": "[-B_g, B_g]", "b": "[-B_g, B_g]"}),
        explain="Attained by opposite gradients of norm B_g.",
    ),
    row(
        "eq4/delta_H",
        "eq. (4)",
        "Frobenius norm <= sqrt(rank) times operator norm, so Delta_H = 2 B_H sqrt(d)/n",
        identity("sqrt(d*(2*B_H/n)**2) == 2*B_H*sqrt(d)/n", "B_H n d"),
        explain="d eigenvalues of size at most 2 B_H/n each; attained when all of them have that size.",
    ),
    row(
        "assumption2/loss_bounded",
        "Assumption 2 and Section 4",
        "inferred: the experiment's loss is bounded by a constant B for all w (tried at a margin of -B, whatever B is)",
        inequality("log(1 + exp(B)) + lam*B**2/(1 + B**2) <= B", "B lam"),
        corrected="on the ball |w| <= R with |x| <= 1 the loss is at most log(1 + e^R) + lambda p (equal coordinates)",
        corrected_claim=inequality(
            "log(1 + exp(m)) + lam*p*x**2/(1 + x**2) <= log(1 + exp(R)) + lam*p",
            "lam",
            {"R": "(0, 100]", "p": "integer [1, 1000]", "m": "[-R, R]", "x": "[-R, R]"},
        ),
        reading=(
            "values of f are released only at w_0, a public point with a finite loss for bounded features (log 2 at "
            "w_0 = 0)"
        ),
        saved_by=identity("log(1 + exp(0)) == log(2)"),
        ours=True,
    ),
    row(
        "footnote2/logistic_smooth",
        "Footnote 2",
        "the logistic loss has second derivative s(1-s) <= 1/4",
        inequality("s*(1 - s) <= 1/4", domain={"s": "[0, 1]"}),
    ),
    row(
        "footnote2/logistic_hessian_lipschitz",
        "Footnote 2",
        "the logistic loss has third derivative at most 1/(6 sqrt 3)",
        inequality("s*(1 - s)*(1 - 2*s) <= 1/(6*sqrt(3)) ", domain={"s": "[0, 1]"}),
    ),
    row(
        "sec4/regulariser_curvature",
        "Section 4, r(w)",
        "w^2/(1+w^2) has second derivative >= -1/2 (u stands for w^2)",
        inequality("(2 - 6*u)/(1 + u)**3 >= -1/2", domain={"u": "[0, inf)"}),
    ),
    row(
        "sec4/regulariser_smooth",
        "Section 4, r(w)",
        "w^2/(1+w^2) has second derivative <= 2 (u stands for w^2)",
        inequality("(2 - 6*u)/(1 + u)**3 <= 2", domain={"u": "[0, inf)"}),
    ),
    row(
        "sec1/alpha_2ns_units",
        "Section 1",
        "sqrt(M alpha) is a curvature: the pair (alpha, sqrt(M alpha)) has matching units",
        units("sqrt(M*alpha) == eps_H", M="v/l**3", alpha="v/l", eps_H="v/l**2"),
    ),
    row(
        "eq7/units",
        "eq. (7)",
        "the steps 1/G * gradient and 2|lambda|/M are lengths",
        units("eps_g/G == 2*eps_H/M", **UNITS),
    ),
    row(
        "eq10/units",
        "eq. (10)",
        "both terms of MIN_DEC are function values",
        units("min(eps_g**2/(2*G), 2*eps_H**3/M**2) == f", f="v", **UNITS),
    ),
    row(
        "eq9/units",
        "eq. (9a)",
        "epsilon_g and epsilon_H^2/M are both gradients",
        units("min(eps_g, eps_H**2/M) == g", g="v/l", **UNITS),
    ),
    row(
        "thm1/bar_rho_schedule",
        "eq. (8)",
        "with (8) the bound bar-rho equals rho",
        identity(
            "(1/sf2 + T/s2 + T/s2)/2 == rho",
            "T rho_f gap",
            let={"rho": "rho_f + gap", "sf2": "1/(2*rho_f)", "s2": "T/(rho - rho_f)"},
        ),
        severity=PRIVACY,
    ),
    row(
        "thm1/count_of_releases",
        "Theorem 1",
        (
            "a run of k_g gradient and k_H curvature steps releases k_g + k_H gradients and k_H Hessians "
            "(transcript of the reference)"
        ),
        releases("g + h <= k_g + 2*k_H", RETURNING, [{"T": "5"}]),
        severity=PRIVACY,
        corrected_claim=releases("g + h == k_g + 2*k_H + 2", RETURNING, [{"T": "5"}]),
        corrected="a run that returns has looked at one more gradient and one more Hessian: k_g + k_H + 1 and k_H + 1",
        condition="the run did not return (all T iterations were steps), so nothing more was looked at",
        saved_by=releases("g + h <= k_g + 2*k_H", RUNNING, [{"T": "5"}, {"T": "20"}]),
        explain="The iteration that returns w_k draws a noisy gradient and a noisy Hessian and takes no step.",
    ),
    row(
        "thm1/realised_counts",
        "Theorem 1",
        "rho is a function of what is known before the run",
        program(
            "sigma_f sigma_g sigma_H T",
            "thm1: rho <- sigma_f sigma_g sigma_H k_g k_H",
            "alg1: k_g k_H <- sigma_g sigma_H T",
        ),
        severity=PRIVACY,
        corrected="bar-rho, with T in place of the counts",
        corrected_as_saved=True,
        reading="only bar-rho, which uses T, is claimed as the guarantee",
        saved_by=program("sigma_f sigma_g sigma_H T", "thm1: bar_rho <- sigma_f sigma_g sigma_H T"),
    ),
    row(
        "thm1/bar_rho_dominates",
        "Theorem 1",
        "bar-rho covers every run of at most T iterations, the returning one included",
        inequality(
            "(k_g + k_H + 1)/s_g**2 + (k_H + 1)/s_H**2 <= T/s_g**2 + T/s_H**2",
            "k_g k_H s_g s_H",
            {"T": "[k_g + k_H + 1, inf)"},
        ),
        severity=PRIVACY,
    ),
    row(
        "eq6/absolute_noise",
        "eq. (6), Algorithm 1",
        "T computed from f(w_0) + |z| is (epsilon, 1e-5)-DP for some finite epsilon",
        inequality(
            "2*Phi(1/sigma_f) - 1 <= 1/100000",
            domain={"sigma_f": "[1/10, 1000]"},
            hints=[{"sigma_f": "1"}, {"sigma_f": "10"}],
        ),
        severity=PRIVACY,
        corrected="T = ceil((f(w_0) + z + margin - f_low)/MIN_DEC) with z unsigned: as private as f(w_0) + z",
        corrected_by="eq6/cost_of_absolute_noise",
        condition=(
            "w_0 = 0 with the logistic loss (the paper does not say so): f(w_0) = log 2 for all data and T is public"
        ),
        saved_by=identity("log(1 + exp(-y*0)) - log(2) == 0", "y"),
        explain=(
            "|z| >= 0 never lowers f. Take f(w_0|D') - f_low a multiple m of MIN_DEC and f(w_0|D) = f(w_0|D') - "
            "Delta_f: T = m has probability P(|z| <= Delta_f) = 2 Phi(1/sigma_f) - 1 under D and 0 under D'. That "
            "is the delta it costs."
        ),
    ),
    row(
        "eq6/iterations_suffice",
        "eq. (6), D.3",
        "T leaves room for the returning iteration: floor(q) + 1 <= ceil(q + s) for s > 0, q = (f_0 - f_low)/MIN_DEC",
        inequality("floor(q) + 1 <= ceil(q + s)", "s", {"q": "[0, 1000]"}),
        severity=UTILITY,
        explain="Looks one short, but |z| > 0 almost surely pushes the ceiling up.",
    ),
    row(
        "alg1/first_iterate",
        "Algorithm 1",
        "the loop reads only iterates that were written",
        program(
            "MIN_DEC eps_g eps_H sigma_f f_low",
            "init: w_0 z <- sigma_f",
            "eq6: T <- w_0 z f_low MIN_DEC",
            "sigma: sigma_g sigma_H <- T",
            "loop",
            "grad: g_k <- w_1 sigma_g",
            "end",
        ),
        corrected="for k = 0, ..., T - 1",
        corrected_as_saved=True,
        reading="the index starts at 0",
        saved_by=program("sigma_g", "init: w_0 <-", "loop", "grad: g_k <- w_0 sigma_g", "end"),
    ),
    row(
        "alg1/output_on_every_path",
        "Algorithm 1",
        "the algorithm has an output on every path",
        program(
            "T", "init: w <-", "loop", "step: w <- w", "if", "return: output <- w", "end", "end", "caller: <- output"
        ),
        corrected="return w_T when the loop ends",
        corrected_claim=program(
            "T",
            "init: w <-",
            "loop",
            "step: w <- w",
            "if",
            "return: output <- w",
            "end",
            "end",
            "end: output <- w",
            "caller: <- output",
        ),
        condition="on the event of Corollary 3 the loop returns within T iterations",
        saved_by=program("T", "init: w <-", "return: output <- w", "caller: <- output"),
    ),
    row(
        "eq6/cost_of_absolute_noise",
        "eq. (6) with eq. (8) and Proposition A.6",
        "T computed with |z| at sigma_f = 10 costs the epsilon of rho_f = 1/(2 sigma_f^2) at delta = 1e-5",
        privacy(
            "sigma_f",
            "1",
            "rho_f + sqrt(4*rho_f*log(1/delta))",
            "delta",
            "sigma_f",
            {"delta": "(0, 1/100)"},
            failure="2*Phi(1/sigma_f) - 1",
            let={"rho_f": "1/(2*sigma_f**2)"},
            instances=[{"sigma_f": "10", "delta": "1/100000"}],
        ),
        severity=PRIVACY,
        corrected="z unsigned: then T, a function of f(w_0) + z, costs the epsilon of rho_f",
        corrected_claim=privacy(
            "sigma_f",
            "1",
            "rho_f + sqrt(4*rho_f*log(1/delta))",
            "delta",
            "sigma_f",
            {"delta": "(0, 1/100)"},
            let={"rho_f": "1/(2*sigma_f**2)"},
            instances=[{"sigma_f": "10", "delta": "1/100000"}],
        ),
        condition="f(w_0) is the same for all data (w_0 = 0), then T costs nothing",
        saved_by=identity("log(1 + exp(-y*0)) - log(2) == 0", "y"),
        explain=(
            "The event of eq6/absolute_noise has probability 2 Phi(1/sigma_f) - 1 = 0.08 on one data set and 0 on "
            "the other, so no epsilon is enough at delta = 1e-5."
        ),
        defect="eq6/absolute_noise",
    ),
]
