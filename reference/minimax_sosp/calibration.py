"""Noise for DP-RGDA: advanced composition as Appendix D describes it, and exact composition of Gaussians."""

from __future__ import annotations

from dataclasses import replace
from math import expm1, log, sqrt

from scipy.optimize import brentq

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.accounting.gdp import gaussian_std
from dpassay.reference.errors import require, require_budget

from .schedule import NoiseRule, Schedule

ROUNDING = 1 + 1e-9  # so that re-accounting the releases, which rounds up, stays within the budget

REPAIRS = (
    "clip every per-sample gradient (difference), then average: the printed clip of the mean leaves sensitivity 2 C",
    "both sequences (u and v), all T K inner steps and all refreshes are counted; the text counts T and T/q",
    "replace-one sensitivity 2 C / S for every mean, in place of C / S",
    "one fixed noise level for the differences: proportional to |y_k - y_{k-1}| it vanishes at k = 0, where x moved",
    "at a refresh the recursion restarts at x_t, without a difference: the printed x_{t,-1} = x_{t-1} adds one twice",
    "noise from exact accounting: composed Gaussians, amplified by sampling where batches are smaller than the data",
)
# Appendix D already clips every record, counts every access and uses 2 C / S
EXPERIMENT_REPAIRS = REPAIRS[-2:]


def exact_multiplier(epsilon: float, delta: float, releases: int) -> float:
    """Noise std over sensitivity such that `releases` full-batch Gaussian releases are exactly (epsilon, delta)-DP."""
    return ROUNDING * gaussian_std(epsilon, delta, 1.0, releases)


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


def amplified_multiplier(schedule: Schedule, epsilon: float, delta: float) -> float:
    """The same with secret batches without replacement (replace-one), by composed privacy loss distributions.

    v and u of one draw share their batch: one sampled release of sqrt(2) times the size.
    """
    require_budget(epsilon, delta)
    counts = ((schedule.refresh_batch, schedule.refreshes), (schedule.step_batch, schedule.differences))

    def spent(multiplier: float) -> float:
        size = sqrt(2) / multiplier
        parts = tuple((Part("sampled", size, batch / schedule.records), count) for batch, count in counts if count)
        return Account(parts).epsilon(delta)

    high = exact_multiplier(epsilon, delta, schedule.releases)
    low = high
    while spent(low) <= epsilon:
        high, low = low, low / 2
    found = float(brentq(lambda multiplier: spent(multiplier) - epsilon, low, high, rtol=1e-4))
    while spent(found) > epsilon:  # the root finder may stop on the wrong side
        found *= 1.0005
    return found


def rule_from_multiplier(schedule: Schedule, multiplier: float, name: str) -> NoiseRule:
    """Noise proportional to the replace-one sensitivities 2 C / S."""
    refresh = 2 * schedule.clip_refresh / schedule.refresh_batch
    step = 2 * schedule.clip_step / schedule.step_batch
    return NoiseRule(name, multiplier * refresh, multiplier * step, refresh, step)


def repaired(schedule: Schedule, epsilon: float, delta: float, repairs: tuple[str, ...] = REPAIRS) -> Schedule:
    """The same parameters, with what breaks privacy mended and noise by exact accounting; `repairs` says what was."""
    schedule = replace(schedule, clip_each=True, restart_at_refresh=True, repairs=repairs)
    full = schedule.refresh_batch == schedule.step_batch == schedule.records
    if full:
        multiplier = exact_multiplier(epsilon, delta, schedule.releases)
    else:
        multiplier = amplified_multiplier(schedule, epsilon, delta)
    return schedule.with_noise(rule_from_multiplier(schedule, multiplier, "exact composition"))
