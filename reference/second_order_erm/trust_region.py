"""DP-TR and TR-B: noisy trust-region steps of fixed radius, the subproblem solved exactly (Wang and Xu 2021).

The baseline of `second_order_erm`, with the explicit test of Definition 1 that its Section 4 adds. Every iteration
releases a gradient and a Hessian. The number of steps, ceil(6 sqrt(M) (f(w0) - f_low) / alpha^1.5), uses a public
bound on f(w0); with M = 1 and a gap of 1/2 it is the 375 and 1061 of Tables 6, 8, 10 and 12.

Guarantee: rho-zCDP with sigma^2 = T / rho; on batches, (epsilon, delta) by eq. (30) or exact composition.

Cite: wang2021; second_order_erm, Section 4.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf, sqrt

import numpy as np
from scipy.linalg import eigh
from scipy.optimize import brentq

from dpassay.reference.accounting.gdp import gdp_mu, zcdp_rho
from dpassay.reference.errors import require
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .common import Accuracy, Outcome, Sensitivities, exact_sensitivities, printed_constants, printed_sensitivities
from .opt_b import scaled
from .short_step import Reading
from .subsampled import ExactSampledBudget, SampledBudget

COMPLETIONS = (
    "number of steps from a public bound on f(w0); radius sqrt(alpha / M); noise split evenly",
    "TR-B: one batch serves the gradient and the Hessian of a step",
)
REPAIRS = (
    "exact sensitivities and exact (epsilon, delta) instead of Proposition A.6",
    "TR-B: the Hessian has a batch of its own; noise by exact composition",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run; `batch_size` None means the full data set."""

    reading: Reading
    start: Array
    accuracy: Accuracy
    radius: float  # sqrt(alpha / M)
    steps: int  # T
    sensitivity: Sensitivities
    sigma: float  # noise multiplier of both releases
    batch_size: int | None = None


def step_count(accuracy: Accuracy, hessian_lipschitz: float, gap: float) -> int:
    """Return T = ceil(6 sqrt(M) (f(w0) - f_low) / alpha^1.5)."""
    steps = 6 * sqrt(hessian_lipschitz) * gap / (accuracy.gradient * sqrt(accuracy.gradient))
    return max(1, ceil(steps - 1e-9))


def make(
    reading: Reading,
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    batch_size: int | None = None,
    radius: float = inf,
) -> Schedule:
    """Return the schedule of DP-TR, or of TR-B when a batch size is given."""
    require(batch_size is None or 1 <= batch_size <= problem.n, "batch_size", batch_size, f"must lie in 1..{problem.n}")
    constants, size = printed_constants(problem, start, radius), batch_size or problem.n
    T = step_count(accuracy, constants.hessian_lipschitz, problem.value_bound(start))
    if reading == "printed":
        sensitivity = printed_sensitivities(constants, size, problem.d)
    else:
        sensitivity = scaled(exact_sensitivities(problem, start), problem.n / size)
    if batch_size is None:
        rho = zcdp_rho(epsilon, delta) if reading == "printed" else gdp_mu(epsilon, delta) ** 2 / 2 * (1 - 1e-10)
        sigma = sqrt(T / rho)
    elif reading == "printed":
        sigma = SampledBudget(epsilon, delta, size / problem.n, part_f=0.0).sigma(T)
    else:
        sigma = ExactSampledBudget(epsilon, delta, size / problem.n).sigma(T)
    trust = sqrt(accuracy.gradient / constants.hessian_lipschitz)
    return Schedule(reading, start, accuracy, trust, T, sensitivity, sigma, batch_size)


# GRADIENT: full or one batch per step. CLIP: none, bounded by assumption.
def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Noisy trust-region steps until the noisy test of Definition 1 passes."""
    s, w = schedule, schedule.start
    for k in range(s.steps):
        batch = None if s.batch_size is None else tape.batch("batch", problem.n, s.batch_size)
        # NOISE
        g = tape.gaussian(
            "gradient",
            problem.gradient(w, None if batch is None else batch.indices),
            std=s.sensitivity.gradient * s.sigma,
            sensitivity=s.sensitivity.gradient,
            batch=batch,
        )
        if s.batch_size is not None and s.reading != "printed":
            batch = tape.batch("hessian batch", problem.n, s.batch_size)
        H = tape.symmetric_gaussian(
            "hessian",
            problem.hessian(w, None if batch is None else batch.indices),
            std=s.sensitivity.hessian * s.sigma,
            sensitivity=s.sensitivity.hessian,
            batch=batch,
        )
        # STEP
        values, vectors = eigh(H)
        if np.linalg.norm(g) <= s.accuracy.gradient and values[0] >= -s.accuracy.curvature:
            return Outcome(w, True, k, 0, k + 1)
        w = w + trust_region_step(g, values, vectors, s.radius)
    return Outcome(w, False, s.steps, 0, s.steps)


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
    if excess(near) <= 0:  # hard case: g has no part along the lowest eigenvector
        shifted = np.maximum(values + near, 1e-300)
        h = np.where(values - values[0] <= 1e-10, 0.0, -b / shifted)
        h[0] = sqrt(max(0.0, radius**2 - float(h @ h)))
        return np.asarray(vectors @ h)
    multiplier = brentq(excess, near, top * (1 + 1e-12), xtol=1e-15, rtol=1e-14)
    return np.asarray(-vectors @ (b / (values + multiplier)))
