"""DP-GD: noisy gradient steps first, then the iterates are searched for one that passes (Wang, Chen and Xu 2019).

The baseline that `second_order_erm` could not make work (its footnote 3). T noisy gradients are released along the
way; the iterates are then tried in the order of their noisy gradient norms, each with a noisy Hessian, until one
passes Definition 1.

Guarantee: rho-zCDP with sigma^2 = T / rho (T gradients, at most T Hessians).

Cite: wang2019; second_order_erm, Section 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np

from dpassay.reference.accounting.gdp import gdp_mu, zcdp_rho
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .common import Accuracy, Outcome, Sensitivities, exact_sensitivities, printed_constants, printed_sensitivities
from .eigen import Dense
from .short_step import Reading

COMPLETIONS = (
    "T = ceil(2 G (public bound on f(w0)) / alpha^2); iterates in the order of their released gradient norms",
    "when no iterate passes, the one with the smallest noisy gradient is returned, not certified",
)
REPAIRS = ("exact sensitivities and exact (epsilon, delta) instead of Proposition A.6",)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run."""

    start: Array
    accuracy: Accuracy
    smoothness: float  # G
    steps: int  # T
    sensitivity: Sensitivities
    sigma: float


def make(
    reading: Reading,
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    radius: float = inf,
) -> Schedule:
    """Return the schedule for T gradients and at most T Hessians."""
    constants = printed_constants(problem, start, radius)
    T = max(1, ceil(2 * constants.smoothness * problem.value_bound(start) / accuracy.gradient**2))
    if reading == "printed":
        rho, sensitivity = zcdp_rho(epsilon, delta), printed_sensitivities(constants, problem.n, problem.d)
    else:
        rho, sensitivity = gdp_mu(epsilon, delta) ** 2 / 2 * (1 - 1e-10), exact_sensitivities(problem, start)
    return Schedule(start, accuracy, constants.smoothness, T, sensitivity, sqrt(T / rho))


# GRADIENT: the full data set. CLIP: none, bounded by assumption.
def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """T noisy gradient steps, then the search."""
    s, w = schedule, schedule.start
    iterates, norms = [], []
    for _t in range(s.steps):
        # NOISE
        g = tape.gaussian(
            "gradient", problem.gradient(w), std=s.sensitivity.gradient * s.sigma, sensitivity=s.sensitivity.gradient
        )
        iterates.append(w)
        norms.append(float(np.linalg.norm(g)))
        # STEP
        w = w - g / s.smoothness
    tried = 0
    for t in np.argsort(norms, kind="stable"):
        if norms[t] > s.accuracy.gradient:
            break
        H = tape.symmetric_gaussian(
            "hessian", problem.hessian(iterates[t]), std=s.sensitivity.hessian * s.sigma,
            sensitivity=s.sensitivity.hessian,
        )  # fmt: skip
        tried += 1
        if Dense().pair(H, s.accuracy.curvature, tape)[0] >= -s.accuracy.curvature:
            return Outcome(iterates[t], True, s.steps, 0, tried)
    return Outcome(iterates[int(np.argmin(norms))], False, s.steps, 0, tried)
