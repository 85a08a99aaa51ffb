"""Comparator: NISPP, noisy inexact stochastic proximal point (Boob and Guzman 2021), reconstructed as a single pass.

Each step solves the proximal problem (1/B) sum_batch F(z) + lambda (z - z_t) = 0 on a fresh batch to a certified
accuracy and releases the solution with noise; the average is returned.
Guarantee: (epsilon, delta)-DP under replace-one; sensitivity 2L/(lambda B) plus the solver's error, exact noise.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from .base_solver import COVERED, RESIDUAL_FRACTION, no_solver, require_size, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at."""

    n: int
    d: int
    d_y: int
    solver: Solver
    steps: int  # K
    batch: int  # B
    proximal_weight: float  # lambda
    target: float
    sensitivity: float
    noise: Multipliers  # of "z"
    certified: bool


def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> Schedule:
    """sqrt(n) steps on batches of sqrt(n); lambda balances L^2/(lambda sqrt(n)) and the noise against lambda D^2."""
    n, lipschitz = problem.n, problem.loss.lipschitz
    batch = max(1, int(np.sqrt(n)))
    steps = n // batch
    one = Multipliers({"z": 1.0})
    draft = Schedule(n, problem.d, problem.d_y, no_solver, steps, batch, 1.0, 1.0, 1.0, one, certified=False)
    noise = noise_for(run, draft, problem, epsilon, delta).noise
    spread = lipschitz * float(np.sqrt(1 + (problem.d + problem.d_y) * noise.std("z", 2 / batch) ** 2))
    weight = spread * float(np.sqrt(steps)) / diameter
    unit = lipschitz / (weight * batch)
    return replace(
        draft,
        solver=Extragradient(),
        proximal_weight=weight,
        target=RESIDUAL_FRACTION * unit * float(np.sqrt(weight)),
        sensitivity=COVERED * unit,
        noise=noise,
        certified=True,
    )


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the average iterate (x, y), shape (d + d_y,)."""
    require_size(problem.n, schedule.n)
    z = np.zeros(schedule.d + schedule.d_y)
    total = np.zeros_like(z)
    weight = schedule.proximal_weight
    for t in range(schedule.steps):
        batch = tape.fresh(f"batch/{t}", schedule.n, schedule.batch, order="index")
        # GRADIENT: inside the base solver
        step = problem.phase(batch.indices, Regulariser(weight, weight if schedule.d_y else 0.0, centre=z))
        solution = solve(step, schedule.solver, schedule.target, schedule.certified, tape, f"solver/{t}")
        # CLIP: none, by stability of the proximal step
        # NOISE
        sensitivity = schedule.sensitivity
        std = schedule.noise.std("z", sensitivity)
        released = tape.gaussian(f"z/{t}", solution, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        x, y = problem.domain_x.project(released[: schedule.d]), problem.domain_y.project(released[schedule.d :])
        z = np.concatenate([x, y])
        total += z
    return np.asarray(total / schedule.steps)
