"""Appendix C of adaptive_batch: an SOSP of the empirical loss, and what it says about the population.

The paper takes the empirical SOSP from Ganesh et al. (2023) without printing that method. Reconstruction: full-batch
noisy gradient steps (the noise itself perturbs saddles), each released once; of x_1, x_2, ... the one with the smallest
released gradient is returned (x_0 may be a saddle), which is post-processing. Theorem C.1 then adds its generalisation
error.
Guarantee: T full-batch Gaussian releases of sensitivity 2 G / n, calibrated exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from dpassay.reference.accounting.gdp import gaussian_std
from dpassay.reference.errors import require
from dpassay.reference.problems.interfaces import MinimisationProblem
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .theorems import Constants, empirical_route_accuracy, generalisation_error


@dataclass(frozen=True)
class EmpiricalSchedule:
    """T, eta and the noise of one full-batch gradient release."""

    steps: int
    step_size: float
    std: float
    sensitivity: float

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.step_size > 0, "step_size", self.step_size, "must be positive")
        require(self.std >= 0, "std", self.std, "must not be negative")


@dataclass(frozen=True, eq=False)
class EmpiricalResult:
    """The returned point and all iterates."""

    x: Array
    iterates: Array


def empirical_schedule(c: Constants, steps: int | None = None) -> EmpiricalSchedule:
    """eta = 1/M and T = B M / alpha^2 steps at the printed accuracy, noise by exact composition."""
    alpha = empirical_route_accuracy(c)
    require(alpha < c.lipschitz, "alpha", alpha, f"Appendix C says nothing unless alpha < G = {c.lipschitz:.4g}")
    count = steps or ceil(c.initial_gap * c.smoothness / alpha**2)
    sensitivity = 2 * c.lipschitz / c.n
    std = (1 + 1e-9) * gaussian_std(c.epsilon, c.delta, sensitivity, count)
    return EmpiricalSchedule(count, 1 / c.smoothness, std, sensitivity)


def empirical_route(
    problem: MinimisationProblem, schedule: EmpiricalSchedule, tape: Tape, start: Array | None = None
) -> EmpiricalResult:
    """Run the reconstruction from `start` (zeros when not given)."""
    x = np.zeros(problem.d) if start is None else start
    everyone = np.arange(problem.n)
    best, smallest, iterates = x, np.inf, [x]
    for _ in range(schedule.steps):
        mean = problem.gradients(x, everyone).mean(axis=0)
        released: Array = tape.gaussian("gradient", mean, std=schedule.std, sensitivity=schedule.sensitivity)
        norm = float(np.linalg.norm(released))
        if norm < smallest and len(iterates) > 1:  # not x_0
            best, smallest = x, norm
        x = x - schedule.step_size * released
        iterates.append(x)
    return EmpiricalResult(best, np.array(iterates))


def population_accuracy(c: Constants, empirical: float, radius: float) -> float:
    """Gradient norm on the population that Theorem C.1 guarantees for a point with the given empirical one."""
    return empirical + generalisation_error(c, radius)[0]
