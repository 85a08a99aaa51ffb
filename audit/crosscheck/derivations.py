"""Where the noise scales of a vector come from, as formulas over what the vector holds.

Names are paths into the vector (``problem.derived.n``, ``schedule.steps``, ``claim.epsilon``) or defined beside the
formula; ``*`` is written, ``log`` is natural, ``^`` is written ``**``. A test evaluates every formula of every vector.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

GAUSSIAN = "sqrt(2 * log(2.5 / claim.delta)) / claim.epsilon"
ZCDP = "(sqrt(claim.epsilon + log(1 / claim.delta)) - sqrt(log(1 / claim.delta))) ** 2"
CALIBRATED = (
    "one common factor on all noise multipliers: the least for which the releases of the longest run, composed exactly "
    "under claim.relation, satisfy delta(claim.epsilon) <= claim.delta"
)

DESCRIBED = (
    "every noise multiplier is sqrt(2 * log(2.5 * N / delta)) / e, where e solves e * sqrt(2 * N * log(2 / delta)) "
    "+ N * e * (exp(e) - 1) = epsilon, and N counts the releases of the longest run (minimax_sosp, Appendix D)"
)
SOLVED = (
    "gradient and hessian have the sigma(T) of second_order_erm.subsampled.SampledBudget at the claim, with rate = "
    "batch / n, T = schedule.steps and no release of f (sigma_f infinite): second_order_erm, eq. (27), (29), (30)"
)
HOW = (
    ("minimax_sosp/dp_rgda:experiment", "@printed", DESCRIBED),
    ("minimax_sosp/", ":described-full@baseline", DESCRIBED),
    ("second_order_erm/tr_b", "@printed", SOLVED),
)  # beginnings and ends of keys whose noise is the root of an equation


@dataclass(frozen=True)
class Derivation:
    """Noise of one algorithm in one reading.

    Args:
        noise: what the schedule's ``noise`` holds, by its name there; ``{k}`` runs over the phases.
        names: definitions, each of what stands before it.
        cite: where the formula stands.
        of: the path of the noise in the schedule.
    """

    noise: Mapping[str, str]
    names: Mapping[str, str] = field(default_factory=dict)
    cite: str = ""
    of: str = "schedule.noise.by_label"


def _budget(of: str, share: str = "0.1 * rho") -> Derivation:
    return Derivation({"rho": "rho", "rho_f": share}, {"rho": ZCDP}, "Proposition A.6, Theorem 4", of)


def _steps() -> Derivation:
    sigma = "sqrt(schedule.steps / rho)"
    return Derivation({"gradient": sigma, "hessian": sigma}, {"rho": ZCDP}, "Proposition A.6")


def _one_shot(lipschitz: str) -> Derivation:
    unit = {"L": lipschitz, "mu": "problem.derived.modulus"}
    return Derivation({"output": f"4 * L / (mu * schedule.n) * {GAUSSIAN}"}, unit, "Algorithm 1, Definition 2")


def _both(lipschitz: str) -> Derivation:
    names = {
        "L": lipschitz,
        "unit": "8 * L / (schedule.n * claim.epsilon) * sqrt(2 * log(5 / claim.delta) / problem.derived.modulus)",
    }
    return Derivation({"x": "unit / sqrt(schedule.mu_x)", "y": "unit / sqrt(schedule.mu_y)"}, names, "Algorithm 3")


def _phased(block: str, other: str, multiplier: str, plan: str = "schedule.plan") -> Derivation:
    names = {
        "L": "problem.loss.derived.lipschitz",
        "mu_k": f"{plan}.regularisers[k - 1]",
        "other": other,
        "unit": f"L / ({plan}.length * sqrt(min(mu_k, other)))",
    }
    noise = {f"{block}/{{k}}": f"4 * unit / sqrt(mu_k) * {multiplier}"}
    return Derivation(noise, names, "line 5 of Algorithms 4 and 5, Section 4.3")


def _as_variance() -> Derivation:
    plain = _phased("x", "problem.loss.concavity", GAUSSIAN)
    noise = {label: f"sqrt({formula})" for label, formula in plain.noise.items()}
    return Derivation(noise, plain.names, "Section 4.3, its word variance taken literally")


def _sampled(of: str) -> Derivation:
    """The schedule's noise holds the claim and the rate; its class says how sigma(T) follows."""
    noise = {"epsilon": "claim.epsilon", "delta": "claim.delta", "rate": f"{of}.batch / problem.derived.n"}
    return Derivation(noise, {}, "eq. (30), Theorem B.8: see the class", f"{of}.noise")


def _pair(block: str) -> Derivation:
    multiplier = "2 * sqrt(2 * log(5 / claim.delta)) / claim.epsilon"
    return _phased(block, "schedule.x_half.other_regulariser", multiplier, "schedule.x_half.plan")


_HALF = "sqrt(2 * log(2.5 / claim.delta)) / claim.epsilon"  # epsilon and delta of this half
_TURNS = {
    "root": "sqrt(log(1 / claim.delta)) / claim.epsilon",
    "turns": "sqrt(schedule.steps / schedule.phase) / schedule.n",
}


def _double(constant: str) -> Derivation:
    noise = {
        "eta/refresh": "c * root * turns",
        "eta/difference": "c * root / schedule.batch",
        "x/refresh": "c * root * max(1 / schedule.refresh_batch, turns)",
        "x/difference": "c * root * max(1 / schedule.batch, turns)",
    }
    return Derivation(noise, {"c": constant, **_TURNS}, "Theorem 6; each times its threshold")


def _recursive() -> Derivation:
    first = "root * G * sqrt(schedule.steps) / (schedule.n * schedule.phase)"
    second = "root * max(1 / schedule.batch, sqrt(schedule.steps) / schedule.n)"
    noise = {
        **dict.fromkeys(("x/refresh", "temperature/refresh"), first),
        **dict.fromkeys(("x/difference", "temperature/difference"), second),
        "value": "root * G * sqrt(schedule.steps) / schedule.n",
    }
    return Derivation(noise, {"G": "schedule.refresh_clip", "root": _TURNS["root"]}, "Theorem 3, Theorem 8")


def _descent_ascent(constant: str) -> Derivation:
    scale = {"c": constant, "root": "sqrt(log(1 / claim.delta)) / claim.epsilon"}
    refresh = "max(1 / schedule.refresh_batch, sqrt(schedule.steps) / (sqrt(schedule.period) * schedule.n))"
    step = "max(1 / schedule.step_batch, sqrt(schedule.steps) / schedule.n)"
    noise = {
        "refresh": f"c * schedule.clip_refresh * root * {refresh}",
        "step": f"c * schedule.clip_step * root * {step}",
    }
    return Derivation(noise, scale, "Algorithm 3, lines 1 and 2")


def _appendix_b2() -> Derivation:
    names = {"root": "sqrt(log(1.25 / claim.delta)) / claim.epsilon"}
    noise = {"refresh": "root / schedule.refresh_batch", "step": "2 * schedule.smoothness * root / schedule.n"}
    return Derivation(noise, names, "Appendix B.2; step: times the length of the last step in y")


def _spider(source: str) -> Derivation:
    names = {"alpha": "0.9", "d": "schedule.d", "logarithm": "log(1 / claim.delta)"}
    if source == "Lemma 3.13":
        names |= {
            "per_gradient": "schedule.lipschitz / schedule.batch + 1 / schedule.batch_slope",
            "per_hessian": "schedule.smoothness / schedule.batch "
            "+ schedule.hessian_lipschitz / (schedule.smoothness * schedule.batch_slope)",
            "reach": "2 * schedule.escape_radius "
            "* sqrt(schedule.escape_steps * schedule.escape_limit * logarithm) / claim.epsilon",
        }
        noise = {"tree": "per_gradient * logarithm / claim.epsilon", "escape": "per_hessian * reach"}
        return Derivation(noise, names, source)
    both = "alpha / sqrt(d)" if source == "Theorem 3.17" else "2 * logarithm * alpha / sqrt(d)"
    return Derivation({"tree": both, "escape": both}, names, source)


def _tree() -> Derivation:
    rho = {"T": "ceil(schedule.n / schedule.batch)", "rho": ZCDP}
    return Derivation({"tree": "schedule.clip * sqrt(ceil(log2(T + 1)) / (2 * rho))"}, rho, "Theorem 4.1, Appendix D")


DERIVATIONS: dict[str, Derivation] = {
    "output_perturbation/algorithm1@printed": _one_shot("problem.derived.lipschitz"),
    "output_perturbation/algorithm1:worst-solver@printed": _one_shot("problem.loss.derived.lipschitz"),
    "output_perturbation/algorithm1:early-stop@printed": _one_shot("problem.loss.derived.lipschitz"),
    "output_perturbation/algorithm1:logistic@printed": _one_shot("problem.derived.lipschitz"),
    "output_perturbation/algorithm2@printed": Derivation(
        {"x/{k}": f"4 * L / (schedule.plan.regularisers[k - 1] * schedule.plan.length) * {GAUSSIAN}"},
        {"L": "problem.loss.derived.lipschitz"},
        "Algorithm 2, line 5",
    ),
    "output_perturbation/algorithm3@printed": _both("problem.loss.derived.lipschitz"),
    "output_perturbation/algorithm3:auc@printed": _both("problem.derived.lipschitz"),
    "output_perturbation/algorithm4@printed": _phased("x", "schedule.other_regulariser", _HALF),
    "output_perturbation/algorithm5@printed": _phased("y", "schedule.other_regulariser", _HALF),
    "output_perturbation/algorithms4and5@printed": _pair("x"),
    "output_perturbation/strongly_concave@printed": _phased("x", "problem.loss.concavity", GAUSSIAN),
    "output_perturbation/strongly_concave:as-variance@printed": _as_variance(),
    "second_order_erm/opt_b@printed": _sampled("schedule"),
    "second_order_erm/opt_b:eq30@printed": _sampled("schedule"),
    "second_order_erm/opt_b:shared-batch@printed": _sampled("schedule"),
    "second_order_erm/two_opt_b@printed": _sampled("schedule.base"),
    "second_order_erm/opt@printed": _budget("schedule.noise"),
    "second_order_erm/opt_ls@printed": _budget("schedule.noise"),
    "second_order_erm/two_opt@printed": _budget("schedule.base.noise"),
    "second_order_erm/two_opt_ls@printed": _budget("schedule.base.noise"),
    "second_order_erm/dp_tr@printed": _steps(),
    "second_order_erm/dp_gd@printed": _steps(),
    **{f"dro/double_spider:{name}@printed": _double("1") for name in (
        "chi_square", "kl", "kl_cvar(0.2)", "cressie_read(3)", "assumptions hold")},
    "dro/double_spider:each record clipped, c = 4@printed": _double("4"),
    **{f"dro/recursive_spider{name}@printed": _recursive() for name in (
        "", ":noise follows all of w", ":sigma_2 of Theorem 8")},
    "dro/single_sample@printed": Derivation(
        {"value": "sqrt(schedule.steps * log(1 / claim.delta)) / (schedule.n * claim.epsilon)"}, {}, "Theorem 3"
    ),
    "dp_ftrl/dp_ftrl@printed": _tree(),
    "dp_ftrl/dp_ftrl:batches@printed": _tree(),
}  # fmt: skip
BY_PREFIX = (
    ("minimax_sosp/dp_rgda:rowclip-c8", _descent_ascent("8")),
    ("minimax_sosp/dp_rgda:appendixB2", _appendix_b2()),
    ("minimax_sosp/dp_rgda:", _descent_ascent("1")),
    ("adaptive_batch/stochastic_spider:lemma-3.13", _spider("Lemma 3.13")),
    ("adaptive_batch/stochastic_spider:lemma-3.14", _spider("Lemma 3.14")),
    ("adaptive_batch/stochastic_spider:escape", _spider("Lemma 3.13")),
    ("adaptive_batch/stochastic_spider:", _spider("Theorem 3.17")),
)


def derivation(key: str) -> Derivation | None:
    """The formulas of a printed reading; None where the noise is calibrated."""
    if key in DERIVATIONS:
        return DERIVATIONS[key]
    if _solved(key) or not key.endswith("@printed"):
        return None
    found = [one for prefix, one in BY_PREFIX if key.startswith(prefix)]
    return found[0] if found else None


def _solved(key: str) -> str:
    return next((how for first, last, how in HOW if key.startswith(first) and key.endswith(last)), "")


def as_data(key: str) -> dict[str, Any]:
    """What a vector says of its noise."""
    found = derivation(key)
    if found is None:
        solved = _solved(key)
        return {"rule": "solved", "how": solved} if solved else {"rule": "calibrated", "how": CALIBRATED}
    return {"rule": "printed", "of": found.of, "names": dict(found.names), "values": dict(found.noise),
            "cite": found.cite}  # fmt: skip
