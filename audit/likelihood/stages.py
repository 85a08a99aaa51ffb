"""Drawing the runs of a likelihood audit in stages, so that it may stop early; and how far its bound may be off.

The stake of every point of the grid is fixed by the pilot, so its capital is a non-negative supermartingale in the
runs. "Capital of the first point that must not be rejected reaches 1 / alpha" has probability at most alpha at every
stopping time (Ville), and a walk that stops there has then rejected nothing that it must not. So looking at the bound
after each stage, and stopping when it is large enough, costs nothing of the level.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from scipy.special import ndtri

from dpassay.audit.phases import time_is_up
from dpassay.reference.arrays import Array
from dpassay.reference.findings import merge

from .pilot import Plan, average, excess
from .samplers import Losses, Sampler

_STAGES = (0.125, 0.25, 0.5, 1.0)  # of the runs, each on top of those before


def drawn(
    final: Sampler, plan: Plan, runs: int, seed: int, bound: Callable[[Losses], float], enough: float | None
) -> tuple[Losses, float]:
    """The losses, and the bound of epsilon that they show.

    Args:
        final: the sampler in the direction of the plan.
        runs: how many, if it does not stop earlier.
        bound: of all losses so far.
        enough: stop as soon as the bound is at least this; None: draw all runs at once.
    """
    if enough is None:
        losses = final.sample(plan.tilts, plan.shares, runs, (seed, 2))
        return losses, bound(losses)
    found: Losses | None = None
    epsilon = 0.0
    for stage, part in enumerate(_STAGES):
        size = max(10, round(part * runs)) - (0 if found is None else len(found.loss))
        if size <= 0:
            continue
        losses = final.sample(plan.tilts, plan.shares, size, (seed, 2, stage))
        found = losses if found is None else joined(found, losses)
        epsilon = bound(found)
        if epsilon >= enough or time_is_up():
            break
    assert found is not None
    return found, epsilon


def joined(one: Losses, other: Losses) -> Losses:
    """Two samples under the same tilts as one."""
    findings = list(one.findings)
    merge(findings, other.findings)
    movements = dict(one.movements)
    for label, movement in other.movements.items():
        movements[label] = movements[label].with_other(movement) if label in movements else movement
    return Losses(
        np.concatenate([one.loss, other.loss]),
        np.concatenate([one.log_weights, other.log_weights]),
        findings,
        one.inexact or other.inexact,
        movements,
        one.checked + other.checked,
    )


def upper_limit(loss: Array, weight: Array, delta: float, alpha: float) -> float:
    """The largest epsilon that these losses do not speak against, at level ``alpha``: by the normal law, an estimate.

    Where ``delta(epsilon)`` as seen, and so many standard errors more, falls to ``delta``.
    """
    if average(excess(loss, weight, 700.0)) > delta:
        return math.inf
    errors = float(-ndtri(alpha)) / math.sqrt(len(loss))

    def possible(epsilon: float) -> bool:
        x = excess(loss, weight, epsilon)
        middle = average(x)
        return middle + errors * math.sqrt(average((x - middle) ** 2)) > delta

    low, high = 0.0, max(1.0, 2 * float(np.max(loss[np.isfinite(loss)], initial=1.0)))
    if possible(high):
        return math.inf
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if possible(middle) else (low, middle)
    return high
