"""DP-TR: noisy trust-region steps of fixed radius, the subproblem solved exactly (Wang and Xu 2021).

The baseline of `second_order_erm`, with the explicit test of Definition 1 that its Section 4 adds. Every iteration
releases a gradient and a Hessian. The number of steps, ceil(6 sqrt(M) (f(w0) - f_low) / alpha^1.5), uses a public
bound on f(w0); with M = 1 and a gap of 1/2 it is the 375 and 1061 of Tables 6, 8, 10 and 12.

Guarantee: rho-zCDP with sigma^2 = T / rho.

Cite: wang2021; second_order_erm, Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import inf, sqrt

import numpy as np
from scipy.linalg import eigh

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.noise import Multipliers
from dpassay.reference.once import once
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .common import Accuracy, Outcome, Sensitivities, exact_sensitivities, printed_constants, printed_sensitivities
from .dry_run import ZeroRisk, spends_most
from .trust_region import step_count, trust_region_step

COMPLETIONS = ("number of steps from a public bound on f(w0); radius sqrt(alpha / M); noise split evenly",)
REPAIRS = ("exact sensitivities and exact (epsilon, delta) instead of Proposition A.6",)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run."""

    start: Array
    accuracy: Accuracy
    radius: float  # sqrt(alpha / M)
    steps: int  # T
    sensitivity: Sensitivities
    noise: Multipliers


def printed(
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    radius: float = inf,
) -> Schedule:
    """Return the printed schedule: Proposition A.6. `radius` bounds ||w|| where the loss is ridge."""
    constants = printed_constants(problem, start, radius)
    T = step_count(accuracy, constants.hessian_lipschitz, problem.value_bound(start))
    sigma = sqrt(T / zcdp_rho(epsilon, delta))
    return Schedule(
        start=start,
        accuracy=accuracy,
        radius=sqrt(accuracy.gradient / constants.hessian_lipschitz),
        steps=T,
        sensitivity=printed_sensitivities(constants, problem.n, problem.d),
        noise=Multipliers({"gradient": sigma, "hessian": sigma}),
    )


def repaired(
    problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float, *, radius: float = inf
) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    constants = printed_constants(problem, start, radius)
    unit = Schedule(
        start=start,
        accuracy=accuracy,
        radius=sqrt(accuracy.gradient / constants.hessian_lipschitz),
        steps=step_count(accuracy, constants.hessian_lipschitz, problem.value_bound(start)),
        sensitivity=exact_sensitivities(problem, start),
        noise=Multipliers({"gradient": 1.0, "hessian": 1.0}),
    )
    longest = partial(spends_most, 2 * accuracy.curvature)
    return noise_for(run, unit, ZeroRisk(problem.n, problem.d), epsilon, delta, longest=longest)


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Noisy trust-region steps until the noisy test of Definition 1 passes."""
    s, w = schedule, schedule.start
    delta_g, delta_H = s.sensitivity.gradient, s.sensitivity.hessian
    for k in range(s.steps):
        # GRADIENT: of the full data set
        gradient, hessian = problem.gradient(w), problem.hessian(w)
        # CLIP: none, gradients are bounded by assumption
        # NOISE
        std_g, std_H = s.noise.std("gradient", delta_g), s.noise.std("hessian", delta_H)
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g)
        H = tape.symmetric_gaussian("hessian", hessian, std=std_H, sensitivity=delta_H)
        # STEP
        values, vectors = once(eigh, H)
        if np.linalg.norm(g) <= s.accuracy.gradient and values[0] >= -s.accuracy.curvature:
            return Outcome(w, True, k, 0, k + 1)
        w = w + once(trust_region_step, g, values, vectors, s.radius)
    return Outcome(w, False, s.steps, 0, s.steps)
