"""DP-GD: noisy gradient steps first, then the iterates are searched for one that passes (Wang, Chen and Xu 2019).

The baseline that `second_order_erm` could not make work (its footnote 3). T noisy gradients are released along the
way; the iterates are then tried in the order of their noisy gradient norms, each with a noisy Hessian, until one
passes Definition 1.

Guarantee: rho-zCDP with sigma^2 = T / rho (T gradients, at most T Hessians).

Cite: wang2019; second_order_erm, Section 1.
"""

from dataclasses import dataclass, replace
from math import ceil, sqrt

import numpy as np

from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape

from .calibration import calibrated
from .common import Accuracy, Outcome, Sensitivities, exact_sensitivities, printed_constants, printed_sensitivities
from .eigen import Dense

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
    noise: Multipliers


def printed(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the printed schedule: Proposition A.6."""
    sensitivity = printed_sensitivities(printed_constants(problem, start), problem.n, problem.d)
    schedule = _schedule(problem, start, accuracy, sensitivity)
    sigma = sqrt(schedule.steps / zcdp_rho(epsilon, delta))
    return replace(schedule, noise=schedule.noise.scaled(sigma))


def repaired(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the repaired schedule for T gradients and at most T Hessians: see REPAIRS."""
    unit = _schedule(problem, start, accuracy, exact_sensitivities(problem, start))
    return calibrated(run, unit, problem, epsilon, delta)


def _schedule(problem: SmoothRisk, start: Array, accuracy: Accuracy, sensitivity: Sensitivities) -> Schedule:
    """With noise multipliers of one."""
    G = problem.constants().smoothness
    T = max(1, ceil(2 * G * problem.value_bound(start) / accuracy.gradient**2))
    return Schedule(start, accuracy, G, T, sensitivity, Multipliers({"gradient": 1.0, "hessian": 1.0}))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """T noisy gradient steps, then the search."""
    s, w = schedule, schedule.start
    delta_g, delta_H = s.sensitivity.gradient, s.sensitivity.hessian
    std_g, std_H = s.noise.std("gradient", delta_g), s.noise.std("hessian", delta_H)
    iterates, norms = [], []
    for _t in range(s.steps):
        # GRADIENT: of the full data set
        gradient = problem.gradient(w)
        # CLIP: none, gradients are bounded by assumption
        # NOISE
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g)
        # STEP
        iterates.append(w)
        norms.append(float(np.linalg.norm(g)))
        w = w - g / s.smoothness
    tried = 0
    for t in np.argsort(norms, kind="stable"):
        if norms[t] > s.accuracy.gradient:
            break
        H = tape.symmetric_gaussian("hessian", problem.hessian(iterates[t]), std=std_H, sensitivity=delta_H)
        tried += 1
        if Dense().pair(H, s.accuracy.curvature, tape)[0] >= -s.accuracy.curvature:
            return Outcome(iterates[t], True, s.steps, 0, tried)
    return Outcome(iterates[int(np.argmin(norms))], False, s.steps, 0, tried)
