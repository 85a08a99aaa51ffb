"""DP-TR: noisy trust-region steps of fixed radius, the subproblem solved exactly (Wang and Xu 2021).

The baseline of `second_order_erm`, with the explicit test of Definition 1 that its Section 4 adds. Every iteration
releases a gradient and a Hessian. The number of steps, ceil(6 sqrt(M) (f(w0) - f_low) / alpha^1.5), uses a public
bound on f(w0); with M = 1 and a gap of 1/2 it is the 375 and 1061 of Tables 6, 8, 10 and 12.

Guarantee: rho-zCDP with sigma^2 = T / rho.

Cite: wang2021; second_order_erm, Section 4.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, sqrt
from typing import Any

import numpy as np
import scipy

from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.equality import once
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from .calibration import calibrated
from .common import Accuracy, Outcome, Sensitivities, exact_sensitivities, printed_constants, printed_sensitivities

COMPLETIONS = ("number of steps from a public bound on f(w0); radius sqrt(alpha / M); noise split evenly",)
REPAIRS = ("exact sensitivities and exact (epsilon, delta) instead of Proposition A.6",)
Draw = Callable[[str, Batch | None], Batch | None]  # label and the batch before -> the batch; None: all records
UNIT_NOISE = Multipliers({"gradient": 1.0, "hessian": 1.0})  # to be scaled by the calibrator


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


def printed(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the printed schedule: Proposition A.6."""
    public = public_numbers(problem, start, accuracy)
    sensitivity = printed_sensitivities(printed_constants(problem, start), problem.n, problem.d)
    noise = UNIT_NOISE.scaled(sqrt(public["steps"] / zcdp_rho(epsilon, delta)))
    return Schedule(**public, sensitivity=sensitivity, noise=noise)


def repaired(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    public = public_numbers(problem, start, accuracy)
    unit = Schedule(**public, sensitivity=exact_sensitivities(problem, start), noise=UNIT_NOISE)
    return calibrated(run, unit, problem, epsilon, delta)


def public_numbers(problem: SmoothRisk, start: Array, accuracy: Accuracy) -> dict[str, Any]:
    """What the schedules of DP-TR and TR-B share in both readings: all but sensitivities and noise."""
    M, alpha = problem.constants().hessian_lipschitz, accuracy.gradient
    steps = 6 * sqrt(M) * problem.value_bound(start) / (alpha * sqrt(alpha))  # 6 sqrt(M) (f(w0) - f_low) / alpha^1.5
    return {
        "start": start,
        "accuracy": accuracy,
        "radius": sqrt(alpha / M),
        "steps": max(1, ceil(steps - 1e-9)),
    }


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Noisy trust-region steps until the noisy test of Definition 1 passes."""
    return descend(problem, schedule, tape, lambda label, before: None)


def _rows(batch: Batch | None) -> Indices | None:
    return None if batch is None else batch.indices


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, draw: Draw) -> Outcome:
    """The loop of DP-TR and TR-B; `draw` gives the batch of a gradient, and that of the Hessian after it."""
    w, delta_g, delta_H = s.start, s.sensitivity.gradient, s.sensitivity.hessian
    for k in range(s.steps):
        batch = draw("batch", None)
        # GRADIENT: of the full data set, or of the batch
        gradient = problem.gradient(w, _rows(batch))
        # CLIP: none, gradients are bounded by assumption
        # NOISE
        std_g, std_H = s.noise.std("gradient", delta_g), s.noise.std("hessian", delta_H)
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g, batch=batch)
        batch = draw("hessian batch", batch)
        hessian = problem.hessian(w, _rows(batch))
        H = tape.symmetric_gaussian("hessian", hessian, std=std_H, sensitivity=delta_H, batch=batch)
        # STEP
        values, vectors = once(scipy.linalg.eigh, H)
        if np.linalg.norm(g) <= s.accuracy.gradient and values[0] >= -s.accuracy.curvature:
            return Outcome(w, True, k, 0, k + 1)
        w = w + once(trust_region_step, g, values, vectors, s.radius)
    return Outcome(w, False, s.steps, 0, s.steps)


# the step, solved exactly: its matrix and its vector are releases, so it is post-processing
def trust_region_step(g: Array, values: Array, vectors: Array, radius: float) -> Array:
    """Exact minimiser of <g, h> + <h, H h>/2 over ||h|| <= radius for the eigenpairs of H; hard case included."""
    b = vectors.T @ g
    if values[0] > 0 and np.linalg.norm(b / values) <= radius:
        return np.asarray(-vectors @ (b / values))
    lowest = max(0.0, -float(values[0]))
    top = lowest + float(np.linalg.norm(b)) / radius + 1e-300

    def excess(multiplier: float) -> float:
        with np.errstate(divide="ignore"):
            shifted = np.maximum(values + multiplier, 1e-300)
        return 1 / radius - 1 / max(float(np.linalg.norm(b / shifted)), 1e-300)

    near = lowest + 1e-12 * max(1.0, lowest, top - lowest)
    from scipy.optimize import brentq  # here: it takes longer to load than most calls take to run

    hard = excess(near) <= 0  # g has no part along the lowest eigenvector: the step goes on along it to the radius
    multiplier = near if hard else brentq(excess, near, top * (1 + 1e-12), xtol=1e-15, rtol=1e-14)
    h = -b / (values + multiplier)
    h[0] = sqrt(max(0.0, radius**2 - float(h[1:] @ h[1:]))) if hard else h[0]
    return np.asarray(vectors @ h)
