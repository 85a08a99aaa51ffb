"""Noise for DP-RGDA: advanced composition as Appendix D describes it, and exact composition of Gaussians."""

from __future__ import annotations

from dataclasses import replace
from math import expm1, log, sqrt

from scipy.optimize import brentq

from dpassay.reference.errors import require, require_budget
from dpassay.reference.gdp import gaussian_std

from .schedule import NoiseRule, Schedule

REPAIRS = (
    "clip every per-sample gradient (difference), then average: the printed clip of the mean leaves sensitivity 2 C",
    "both sequences (u and v), all T K inner steps and all refreshes are counted; the text counts T and T/q",
    "replace-one sensitivity 2 C / S for every mean, in place of C / S",
    "one fixed noise level for the differences: proportional to |y_k - y_{k-1}| it vanishes at k = 0, where x moved",
    "at a refresh the recursion restarts at x_t: the printed x_{t,-1} = x_{t-1} adds one gradient difference twice",
    "noise from the exact composition of Gaussians (no amplification by sampling is claimed)",
)


def exact_multiplier(epsilon: float, delta: float, releases: int) -> float:
    """Noise std over sensitivity such that `releases` full-batch Gaussian releases are exactly (epsilon, delta)-DP."""
    return gaussian_std(epsilon, delta, 1.0, releases)


def advanced_composition_multiplier(epsilon: float, delta: float, releases: int) -> float:
    """Noise std over sensitivity when the budget is split by advanced composition (Appendix D), half of delta each.

    epsilon = e sqrt(2 N log(2/delta)) + N e (exp(e) - 1); each release by the classical Gaussian mechanism.
    """
    require_budget(epsilon, delta)
    require(releases >= 1, "releases", releases, "must be at least 1")

    def total(each: float) -> float:
        return each * sqrt(2 * releases * log(2 / delta)) + releases * each * expm1(each) - epsilon

    each = float(brentq(total, 0.0, epsilon))
    return sqrt(2 * log(1.25 * 2 * releases / delta)) / each


def rule_from_multiplier(schedule: Schedule, multiplier: float, name: str) -> NoiseRule:
    """Noise proportional to the replace-one sensitivities 2 C / S."""
    refresh = 2 * schedule.clip_refresh / schedule.refresh_batch
    step = 2 * schedule.clip_step / schedule.step_batch
    return NoiseRule(name, multiplier * refresh, multiplier * step, refresh, step)


def repaired(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """The same parameters, with what breaks privacy mended and noise by exact accounting."""
    multiplier = exact_multiplier(epsilon, delta, schedule.releases)
    return replace(
        schedule,
        noise=rule_from_multiplier(schedule, multiplier, "exact composition"),
        clip_each=True,
        restart_at_refresh=True,
        repairs=REPAIRS,
    )
