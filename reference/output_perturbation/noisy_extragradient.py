"""Comparator: NSEG, noisy stochastic extragradient (Boob and Guzman 2021), reconstructed.

Each step reads two batches, one for the look-ahead and one for the move, and adds Gaussian noise to both operators;
the average look-ahead point is returned.  Batches are fresh: every record meets one Gaussian release.
Guarantee: (epsilon, delta)-DP under replace-one.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.tape import Tape

from .base_solver import require_size


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at."""

    n: int
    d: int
    d_y: int
    steps: int  # T
    batch: int  # B
    step_size: float  # gamma
    sensitivity: float
    noise: Multipliers  # of "ahead" and "move"


def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> Schedule:
    """Batches of B = sqrt(n) and sqrt(n)/2 steps, which balance the two terms of the source's bound."""
    n, lipschitz = problem.n, problem.loss.lipschitz
    batch = max(1, int(np.sqrt(n)))
    steps = max(1, n // (2 * batch))
    one, sensitivity = Multipliers({"ahead": 1.0, "move": 1.0}), 2 * lipschitz / batch
    draft = Schedule(n, problem.d, problem.d_y, steps, batch, 0.0, sensitivity, one)
    exact = noise_for(run, draft, problem, epsilon, delta)
    spread = lipschitz**2 + (problem.d + problem.d_y) * exact.noise.std("ahead", sensitivity) ** 2
    step_size = min(0.5 / max(problem.loss.smoothness, 1e-12), diameter / float(np.sqrt(steps * spread)))
    return replace(exact, step_size=step_size)


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the average look-ahead point (x, y), shape (d + d_y,)."""
    require_size(problem.n, schedule.n)
    d = schedule.d

    def noisy(label: str, t: int, point: Array) -> Array:
        batch = tape.fresh(f"{label}/{t}", schedule.n, schedule.batch, order="index")
        # GRADIENT
        mean = problem.loss.rows(point, batch.indices).mean(axis=0)
        # CLIP: none, gradients are bounded by L
        # NOISE
        std = schedule.noise.std(label, schedule.sensitivity)
        value: Array = tape.gaussian(f"{label}/{t}", mean, std=std, sensitivity=schedule.sensitivity, batch=batch)
        return value

    def step(point: Array, direction: Array) -> Array:
        moved = point - schedule.step_size * direction
        return np.concatenate([problem.domain_x.project(moved[:d]), problem.domain_y.project(moved[d:])])

    z = np.zeros(schedule.d + schedule.d_y)
    total = np.zeros_like(z)
    for t in range(schedule.steps):
        # STEP
        ahead = step(z, noisy("ahead", t, z))
        z = step(z, noisy("move", t, ahead))
        total += ahead
    return np.asarray(total / schedule.steps)
