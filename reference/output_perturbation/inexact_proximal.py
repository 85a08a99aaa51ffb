"""Comparator: NISPP, noisy inexact stochastic proximal point (Boob and Guzman 2021), reconstructed as a single pass.

Each step solves the proximal problem (1/B) sum_batch F(z) + lambda (z - z_t) = 0 on a fresh batch to a certified
accuracy and releases the solution with noise; the average is returned.
Guarantee: (epsilon, delta)-DP under replace-one; sensitivity 2L/(lambda B) plus the solver's error, exact noise.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at."""

    solver: Solver
    steps: int  # K
    batch_size: int  # B
    proximal_weight: float  # lambda
    target: float
    sensitivity: float
    noise_std: float


def reconstructed(problem: Convex, budget: Budget, diameter: float, solver: Solver | None = None) -> Schedule:
    """sqrt(n) steps on batches of sqrt(n); lambda balances L^2/(lambda sqrt(n)) and the noise against lambda D^2."""
    loss = problem.loss
    batch_size = max(1, int(np.sqrt(loss.size)))
    steps = loss.size // batch_size
    d, multiplier = loss.primal + loss.dual, exact_multiplier(budget)
    spread = loss.lipschitz * float(np.sqrt(1 + d * (2 * multiplier / batch_size) ** 2))
    weight = spread * float(np.sqrt(steps)) / diameter
    unit = loss.lipschitz / (weight * batch_size)
    sensitivity = (2 + 2 * RESIDUAL_FRACTION) * unit
    target = RESIDUAL_FRACTION * unit * float(np.sqrt(weight))
    return Schedule(solver or Extragradient(), steps, batch_size, weight, target, sensitivity, sensitivity * multiplier)


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the average iterate (x, y), shape (d_x + d_y,)."""
    loss, d_x = problem.loss, problem.loss.primal
    z = np.zeros(loss.primal + loss.dual)
    total = np.zeros_like(z)
    weight = schedule.proximal_weight
    for t in range(schedule.steps):
        batch = tape.fresh(f"batch/{t}", loss.size, schedule.batch_size, order="index")
        # GRADIENT: inside the base solver
        step = problem.phase(batch.indices, Regulariser(weight, weight if loss.dual else 0.0, centre=z))
        solution = solve(step, schedule.solver, schedule.target, True, tape, f"solver/{t}")
        # CLIP: none, by stability of the proximal step
        # NOISE
        std, sensitivity = schedule.noise_std, schedule.sensitivity
        released = tape.gaussian(f"z/{t}", solution, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        z = np.concatenate([problem.domain_x.project(released[:d_x]), problem.domain_y.project(released[d_x:])])
        total += z
    return np.asarray(total / schedule.steps)
