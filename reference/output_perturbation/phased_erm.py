"""Comparator: phased ERM (Feldman, Koren and Talwar 2020, Algorithm 3), reconstructed from its description.

Minimises a convex E f(x; xi): halving phases n_k = n/2^k with steps eta_k = eta/4^k; each phase solves
(1/n_k) sum f + (1/(eta_k n_k)) ||x - x_{k-1}||^2 on fresh records and adds noise proportional to L eta_k.
Guarantee: (epsilon, delta)-DP under replace-one; noise by the exact Gaussian trade-off, not by the original constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """One entry per phase."""

    solver: Solver
    lengths: tuple[int, ...]  # n_k
    regularisers: tuple[float, ...]  # 2 / (eta_k n_k)
    targets: tuple[float, ...]
    sensitivities: tuple[float, ...]
    noise_stds: tuple[float, ...]


def reconstructed(problem: Convex, budget: Budget, diameter: float, solver: Solver | None = None) -> Schedule:
    """eta = (diameter/L) min(4/sqrt(n), epsilon/sqrt(d log(1/delta))), as in the source."""
    loss = problem.loss
    private = budget.epsilon / np.sqrt(loss.primal * np.log(1 / budget.delta))
    eta = diameter / loss.lipschitz * min(4 / np.sqrt(loss.size), private)
    lengths = [loss.size // 2**k for k in range(1, int(np.log2(loss.size)) + 1)]
    regularisers = [2 / (eta * 4.0**-k * n_k) for k, n_k in enumerate(lengths, start=1)]
    units = [loss.lipschitz / (mu_k * n_k) for mu_k, n_k in zip(regularisers, lengths, strict=True)]
    sensitivities = [(2 + 2 * RESIDUAL_FRACTION) * unit for unit in units]
    return Schedule(
        solver=solver or GradientDescent(accelerated=True),
        lengths=tuple(lengths),
        regularisers=tuple(float(mu_k) for mu_k in regularisers),
        targets=tuple(
            float(RESIDUAL_FRACTION * np.sqrt(mu_k) * unit) for mu_k, unit in zip(regularisers, units, strict=True)
        ),
        sensitivities=tuple(float(s) for s in sensitivities),
        noise_stds=tuple(float(s * exact_multiplier(budget)) for s in sensitivities),
    )


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the last phase's private solution, shape (d,)."""
    x = np.zeros(problem.loss.primal)
    for k, n_k in enumerate(schedule.lengths):
        batch = tape.fresh(f"phase/{k + 1}", problem.loss.size, n_k, order="index")
        # GRADIENT: inside the base solver
        phase = problem.phase(batch.indices, Regulariser(x_weight=schedule.regularisers[k], centre=x))
        solution = solve(phase, schedule.solver, schedule.targets[k], True, tape, f"solver/{k + 1}")
        # CLIP: none, by stability
        # NOISE
        std, sensitivity = schedule.noise_stds[k], schedule.sensitivities[k]
        released = tape.gaussian(f"x/{k + 1}", solution, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        x = problem.domain_x.project(released)
    return x
