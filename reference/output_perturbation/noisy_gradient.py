"""Comparators: noisy SGD (Bassily et al. 2019) and DP-SGDA (Yang et al. 2022), reconstructed.

Both are the same loop on the operator: minimisation has no y, DP-SGDA descends in x and ascends in y, noise on both.
T = min(n/8, n^2 epsilon^2/(32 d log(1/delta))) steps on batches of n sqrt(epsilon/(4T)) records, average returned.
The originals sample with replacement and use moments-accountant constants; here batches are drawn without replacement
and the noise is calibrated by the project's accountant for these batches.
Guarantee: (epsilon, delta)-DP under replace-one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.optimize import brentq

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at."""

    steps: int  # T
    batch_size: int  # m
    step_size: float  # eta
    sensitivity: float  # of a batch mean of gradients
    noise_std: float


def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> Schedule:
    """Steps, batches and step size of the sources; noise from the accountant."""
    loss = problem.loss
    n, d = loss.n, loss.d + loss.d_y
    private = n**2 * epsilon**2 / (32 * d * np.log(1 / delta))
    steps = max(1, int(min(n / 8, private)))
    batch_size = min(n, max(1, round(n * float(np.sqrt(epsilon / (4 * steps))))))
    sensitivity = 2 * loss.lipschitz / batch_size
    noise_std = sensitivity * sampled_multiplier(batch_size / n, steps, epsilon, delta)
    step_size = diameter / float(np.sqrt(steps * (loss.lipschitz**2 + d * noise_std**2)))
    return Schedule(steps, batch_size, step_size, sensitivity, noise_std)


@lru_cache(maxsize=64)
def sampled_multiplier(rate: float, steps: int, epsilon: float, delta: float) -> float:
    """Std per unit of sensitivity so that `steps` releases at this sampling rate are (epsilon, delta)-DP."""

    def excess(log_multiplier: float) -> float:
        part = Part("sampled", float(np.exp(-log_multiplier)), rate, "without-replacement")
        return Account(((part, steps),)).epsilon(delta) - epsilon

    high = np.log(8 * np.sqrt(2 * steps * np.log(1 / delta)) / epsilon)
    found = brentq(excess, np.log(0.3), high, xtol=1e-3)
    return float(np.exp(found + 2e-3))  # on the safe side of the tolerance


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the average iterate (x, y), shape (d_x + d_y,)."""
    loss = problem.loss
    z = np.zeros(loss.d + loss.d_y)
    total = np.zeros_like(z)
    for t in range(schedule.steps):
        batch = tape.batch(f"batch/{t}", loss.n, schedule.batch_size)
        # GRADIENT
        mean = loss.rows(z, batch.indices).mean(axis=0)
        # CLIP: none, gradients are bounded by L
        # NOISE
        std, sensitivity = schedule.noise_std, schedule.sensitivity
        noisy = tape.gaussian(f"gradient/{t}", mean, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        moved = z - schedule.step_size * noisy
        z = np.concatenate([problem.domain_x.project(moved[: loss.d]), problem.domain_y.project(moved[loss.d :])])
        total += z
    return np.asarray(total / schedule.steps)
