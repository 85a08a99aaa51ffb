"""Comparator: NSEG, noisy stochastic extragradient (Boob and Guzman 2021), reconstructed.

Each step reads two batches, one for the look-ahead and one for the move, and adds Gaussian noise to both operators;
the average look-ahead point is returned.  Single pass: fresh batches, every record meets one Gaussian release, an exact
account.  Many passes: batches sampled without replacement, n^2 gradients as in Table 1, accounted with amplification.
Guarantee: (epsilon, delta)-DP under replace-one.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .budget import Budget, exact_multiplier
from .noisy_gradient import sampled_multiplier


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at."""

    steps: int  # T
    batch_size: int  # B
    step_size: float  # gamma
    sensitivity: float
    noise_std: float
    single_pass: bool = True


def many_passes(problem: Convex, budget: Budget, diameter: float) -> Schedule:
    """n^2 gradients in all: T = n^2 / (2 B) steps on two sampled batches of B = sqrt(n)."""
    loss = problem.loss
    batch_size = max(1, int(np.sqrt(loss.size)))
    steps = max(1, loss.size**2 // (2 * batch_size))
    sensitivity = 2 * loss.lipschitz / batch_size
    noise_std = sensitivity * sampled_multiplier(batch_size / loss.size, 2 * steps, budget)
    spread = loss.lipschitz**2 + (loss.primal + loss.dual) * noise_std**2
    step_size = min(0.5 / max(loss.smoothness, 1e-12), diameter / float(np.sqrt(steps * spread)))
    return Schedule(steps, batch_size, step_size, sensitivity, noise_std, single_pass=False)


def reconstructed(problem: Convex, budget: Budget, diameter: float) -> Schedule:
    """sqrt(n)/2 steps on batches of sqrt(n): balances the two terms of the source's bound for a single pass."""
    loss = problem.loss
    batch_size = max(1, int(np.sqrt(loss.size)))
    steps = loss.size // (2 * batch_size)
    sensitivity = 2 * loss.lipschitz / batch_size
    noise_std = sensitivity * exact_multiplier(budget)
    spread = loss.lipschitz**2 + (loss.primal + loss.dual) * noise_std**2
    step_size = min(0.5 / max(loss.smoothness, 1e-12), diameter / float(np.sqrt(steps * spread)))
    return Schedule(steps, batch_size, step_size, sensitivity, noise_std)


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the average look-ahead point (x, y), shape (d_x + d_y,)."""
    loss, d_x = problem.loss, problem.loss.primal

    def noisy(label: str, point: Array, batch: Batch) -> Array:
        # GRADIENT
        mean = loss.rows(point, batch.indices).mean(axis=0)
        # CLIP: none, gradients are bounded by L
        # NOISE
        std, sensitivity = schedule.noise_std, schedule.sensitivity
        value: Array = tape.gaussian(label, mean, std=std, sensitivity=sensitivity, batch=batch)
        return value

    def step(point: Array, direction: Array) -> Array:
        moved = point - schedule.step_size * direction
        return np.concatenate([problem.domain_x.project(moved[:d_x]), problem.domain_y.project(moved[d_x:])])

    def records(label: str) -> Batch:
        if schedule.single_pass:
            return tape.fresh(label, loss.size, schedule.batch_size, order="index")
        return tape.batch(label, loss.size, schedule.batch_size)

    z = np.zeros(loss.primal + loss.dual)
    total = np.zeros_like(z)
    for t in range(schedule.steps):
        # STEP
        first = records(f"ahead/{t}")
        ahead = step(z, noisy(f"ahead/{t}", z, first))
        second = records(f"move/{t}")
        z = step(z, noisy(f"move/{t}", ahead, second))
        total += ahead
    return np.asarray(total / schedule.steps)
