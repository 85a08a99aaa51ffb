"""Comparator: phased ERM (Feldman, Koren and Talwar 2020, Algorithm 3), reconstructed from its description.

Minimises a convex E f(x; xi): halving phases n_k = n/2^k with steps eta_k = eta/4^k; each phase solves
(1/n_k) sum f + (1/(eta_k n_k)) ||x - x_{k-1}||^2 on fresh records and adds noise proportional to L eta_k.
Guarantee: (epsilon, delta)-DP under replace-one; noise by the exact Gaussian trade-off, not by the original constants.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .base_solver import RESIDUAL_FRACTION, no_solver, require_size, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Fixed before the data are looked at; tuples have one entry per phase."""

    n: int
    d: int
    solver: Solver
    lengths: tuple[int, ...]  # n_k
    regularisers: tuple[float, ...]  # 2 / (eta_k n_k)
    targets: tuple[float, ...]
    sensitivities: tuple[float, ...]
    noise: Multipliers  # of "x"
    certified: bool


def calibrated(
    problem: Convex, diameter: float, epsilon: float, delta: float, *, solver: Solver | None = None
) -> Schedule:
    """eta = (diameter/L) min(4/sqrt(n), epsilon/sqrt(d log(1/delta))), as in the source."""
    lipschitz, n = problem.loss.lipschitz, problem.n
    private = epsilon / np.sqrt(problem.d * np.log(1 / delta))
    eta = diameter / lipschitz * min(4 / np.sqrt(n), private)
    lengths = [n // 2**k for k in range(1, int(np.log2(n)) + 1)]
    regularisers = [float(2 / (eta * 4.0**-k * n_k)) for k, n_k in enumerate(lengths, start=1)]
    units = [lipschitz / (mu_k * n_k) for mu_k, n_k in zip(regularisers, lengths, strict=True)]
    draft = Schedule(
        n=n,
        d=problem.d,
        solver=no_solver,
        lengths=tuple(lengths),
        regularisers=tuple(regularisers),
        targets=tuple(
            float(RESIDUAL_FRACTION * np.sqrt(mu_k) * unit) for mu_k, unit in zip(regularisers, units, strict=True)
        ),
        sensitivities=tuple((2 + 2 * RESIDUAL_FRACTION) * unit for unit in units),
        noise=Multipliers({"x": 1.0}),
        certified=False,
    )
    exact = noise_for(run, draft, problem, epsilon, delta)
    return replace(exact, solver=solver or GradientDescent(accelerated=True), certified=True)


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return the last phase's private solution, shape (d,)."""
    require_size(problem.n, schedule.n)
    x = np.zeros(schedule.d)
    for k, n_k in enumerate(schedule.lengths):
        batch = tape.fresh(f"phase/{k + 1}", schedule.n, n_k, order="index")
        # GRADIENT: inside the base solver
        phase = problem.phase(batch.indices, Regulariser(x_weight=schedule.regularisers[k], centre=x))
        solution = solve(phase, schedule.solver, schedule.targets[k], schedule.certified, tape, f"solver/{k + 1}")
        # CLIP: none, by stability
        # NOISE
        sensitivity = schedule.sensitivities[k]
        std = schedule.noise.std("x", sensitivity)
        released = tape.gaussian(f"x/{k + 1}", solution, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        x = problem.domain_x.project(released)
    return x
