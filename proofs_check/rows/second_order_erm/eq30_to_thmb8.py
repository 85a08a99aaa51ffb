"""second_order_erm: rows of eq30, defB1, thmB6, thmB7, thmB8."""

from __future__ import annotations

from dpassay.proofs_check.rows.build import PRIVACY, budget, identity, inequality, privacy

from .minibatch_terms import B8, B8_REGION, row

ROWS = [
    row(
        "eq30/objective",
        "eq. (30)",
        "when the objective max(target - achieved, 0) is zero, the achieved epsilon is at most the target",
        inequality(
            "achieved <= target",
            "achieved target",
            conditions=("max(target - achieved, 0) == 0",),
            hints=[{"achieved": "10", "target": "1"}],
        ),
        severity=PRIVACY,
        corrected="minimise max(achieved - target, 0)",
        repair="the sign is a slip and the excess was meant",
        saved_by=inequality(
            "achieved <= target",
            "",
            {"target": "(0, 10]", "achieved": "(0, 10]"},
            conditions=("max(achieved - target, 0) == 0",),
        ),
        explain="Every parameter choice that overspends the budget minimises the printed objective.",
    ),
    row(
        "defB1/double_sensitivity",
        "Definition B.1",
        "noise N(0, Delta^2 sigma^2) with sigma = sqrt(2 log(1.25/delta)) Delta/epsilon is (epsilon, delta)-DP",
        privacy(
            "D*sigma",
            "D",
            "epsilon",
            "delta",
            "D",
            {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"},
            let={"sigma": "sqrt(2*log(1.25/delta))*D/epsilon"},
            instances=[{"D": "1/10", "epsilon": "1/2", "delta": "1/100000"}],
        ),
        severity=PRIVACY,
        corrected="sigma without the sensitivity, as Theorem B.8 uses it",
        repair="sigma = sqrt(2 log(1.25/delta))/epsilon",
        saved_by=privacy(
            "D*sigma",
            "D",
            "epsilon",
            "delta",
            "D",
            {"epsilon": "(0, 1)", "delta": "(1/100000000, 1/100)"},
            let={"sigma": "sqrt(2*log(1.25/delta))/epsilon"},
        ),
        explain=(
            "The sensitivity is multiplied in twice; for sensitivities below 1 the noise is too small by that factor."
        ),
    ),
    row(
        "thmB6/log_bound",
        "Theorem B.6",
        "log(1 + s(e^eps - 1)) <= s(e^eps - 1)",
        inequality("log(1 + s*(exp(epsilon) - 1)) <= s*(exp(epsilon) - 1)", "", {"s": "(0, 1]", "epsilon": "(0, 5]"}),
    ),
    row(
        "thmB7/same_epsilon",
        "Theorem B.7",
        "epsilon = sqrt(2k log(1/delta')) epsilon + k epsilon (e^epsilon - 1)",
        identity(
            "epsilon == sqrt(2*k*ell)*epsilon + k*epsilon*(exp(epsilon) - 1)", "epsilon ell", {"k": "integer [1, 100]"}
        ),
        corrected="epsilon_0 (and delta_0) on the right-hand side",
        repair="epsilon_0 on the right; then the corollary epsilon_0 = epsilon/(2 sqrt(2k log(1/delta'))) fits",
        saved_by=inequality(
            "sqrt(2*k*log(1/dp))*e0 + k*e0*(exp(e0) - 1) <= epsilon",
            "",
            {"k": "integer [1, 1000]", "dp": "(0, 1/2]", "epsilon": "(0, 1)"},
            let={"e0": "epsilon/(2*sqrt(2*k*log(1/dp)))"},
        ),
        garbling="subscripts 0 lost in rendering are likely",
    ),
    row(
        "thmB7/delta_split",
        "Theorem B.7",
        "delta' = delta/2 and delta_0 = delta/(2k) add up to delta",
        identity("k*(delta/(2*k)) + delta/2 == delta", "k delta"),
        severity=PRIVACY,
    ),
    row(
        "thmB8/epsilon_split",
        "Theorem B.8",
        "4 s epsilon_0 is the per-step epsilon of the corollary for epsilon - epsilon_f",
        identity(
            "4*s*eps0 == gap/(2*sqrt(2*T*log(2/dgap)))",
            "s T gap",
            {"dgap": "(0, 1/100)"},
            let={"eps0": "gap/(8*s*sqrt(2*T*log(2/dgap)))"},
        ),
        severity=PRIVACY,
    ),
    row(
        "thmB8/delta_split",
        "Theorem B.8",
        "T steps of 2 s delta_0 and delta' = (delta - delta_f)/2 add up",
        identity("T*2*s*delta0 + dgap/2 == dgap", "T s dgap", let={"delta0": "dgap/(4*s*T)"}),
        severity=PRIVACY,
    ),
    row(
        "thmB8/amplification_step",
        "Theorem B.8, proof",
        "(2 epsilon_0)-DP with sampling s is (4 s epsilon_0)-DP for epsilon_0 in (0, 1)",
        inequality(
            "log(1 + s*(exp(2*eps0) - 1)) <= 4*s*eps0",
            "",
            {"s": "(0, 1/2)", "eps0": "(0, 1)"},
            hints=[{"s": "1/100", "eps0": "9/10"}],
        ),
        severity=PRIVACY,
        corrected="needs epsilon_0 <= 0.628, where e^(2 epsilon_0) - 1 <= 4 epsilon_0",
        corrected_claim=inequality(
            "log(1 + s*(exp(2*eps0) - 1)) <= 4*s*eps0", "", {"s": "(0, 1/2)", "eps0": "(0, 157/250]"}
        ),
        condition="epsilon_0 <= 0.6",
        saved_by=inequality("exp(2*eps0) - 1 <= 4*eps0", "", {"eps0": "[1/1000, 3/5]"}),
    ),
    row(
        "thmB8/epsilon0_range",
        "Theorem B.8",
        "epsilon_0 is in (0, 1), where the Gaussian mechanism of Definition B.1 is valid",
        budget(
            "eps0 <= 1",
            "",
            B8_REGION,
            let=B8,
            hints=[
                {"epsilon": "9/10", "eps_f": "1/10", "delta": "1/1000", "delta_f": "1/10000", "s": "1/1000", "T": "10"}
            ],
        ),
        severity=PRIVACY,
        corrected_claim=budget(
            "eps0 <= 1",
            "",
            {
                "epsilon": "(0, 1)",
                "eps_f": "(0, epsilon)",
                "delta": "(1/1000000, 1/100)",
                "delta_f": "(0, delta)",
                "T": "integer [1, 10000]",
                "s": "[(epsilon - eps_f)/(8*sqrt(2*T*log(2/(delta - delta_f)))), 1)",
            },
            let=B8,
        ),
        corrected="add the condition s >= (epsilon - eps_f)/(8 sqrt(2 T log(2/(delta - delta_f))))",
        condition="s sqrt(T) is large, as with s fixed and T growing",
        saved_by=budget("eps0 <= 1", "", {**B8_REGION, "s": "[1/10, 1)"}, let=B8),
    ),
    row(
        "thmB8/exact_accounting_small_s",
        "Theorem B.8",
        "the printed noise gives (epsilon, delta)-DP also for very small s (epsilon_f, delta_f set aside)",
        privacy(
            "sigma",
            "sqrt(2)",
            "epsilon - eps_f",
            "delta - delta_f",
            "",
            B8_REGION,
            let=B8,
            count="T",
            rate="s",
            instances=[
                {
                    "epsilon": "9/10",
                    "eps_f": "1/10",
                    "delta": "1/10000",
                    "delta_f": "1/100000",
                    "s": "1/1000",
                    "T": "10",
                }
            ],
        ),
        severity=PRIVACY,
        corrected="add epsilon_0 <= 0.6 (three instances)",
        corrected_as_saved=True,
        condition="epsilon_0 <= 0.6",
        saved_by=privacy(
            "sigma",
            "sqrt(2)",
            "epsilon - eps_f",
            "delta - delta_f",
            "",
            B8_REGION,
            let=B8,
            count="T",
            rate="s",
            instances=[
                {"epsilon": "9/10", "eps_f": "1/10", "delta": "1/10000", "delta_f": "1/100000", "s": s, "T": T}
                for s, T in (("1/50", "4"), ("1/100", "15"), ("1/50", "100"))
            ],
        ),
        explain=(
            "Gradient and Hessian of one step are two unit-sensitivity releases on the same batch, hence "
            "sensitivity sqrt 2."
        ),
    ),
    row(
        "thmB8/absolute_noise",
        "Theorem B.8",
        "the step that estimates T is (epsilon_f, delta_f)-DP with |z|",
        inequality(
            "2*Phi(1/sigma_f) - 1 <= delta_f",
            "",
            {"eps_f": "(0, 1)", "delta_f": "(1/100000000, 1/1000)"},
            let={"sigma_f": "sqrt(2*log(1.25/delta_f))/eps_f"},
            hints=[{"eps_f": "1/2", "delta_f": "1/1000000"}],
        ),
        severity=PRIVACY,
        corrected="unsigned noise and a margin: then the step is (epsilon_f, delta_f)-DP",
        corrected_claim=privacy(
            "sqrt(2*log(1.25/delta_f))/eps_f",
            "1",
            "eps_f",
            "delta_f",
            "",
            {"eps_f": "(0, 1)", "delta_f": "(1/100000000, 1/1000)"},
        ),
        condition="f(w_0) does not depend on the data",
        saved_by=identity("log(1 + exp(0)) == log(2)"),
        defect="eq6/absolute_noise",
    ),
]
