"""Phased output perturbation for convex minimisation (output_perturbation, Algorithm 2).

Minimises E f(x; xi) with f convex, L-Lipschitz and ell-smooth on X (Assumption 3.1).
Guarantee: (epsilon, delta)-DP under replace-one and the excess risk of Theorem 3.7.

Each phase solves a regularised problem on records of its own and releases the noisy solution, which is the centre
of the next phase.  Every phase is (epsilon, delta)-DP, so is the whole (parallel composition, Lemma 2.1).
Printed: solver trusted, noise by Definition 2, iterates may leave X.  Repaired: certified, exact noise, projected.
Completions: base 2 and whole numbers as in `phases`; x_0 = 0 as in the proof.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier, solve
from .phases import Phases, partition, phases


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at; one entry per phase."""

    solver: Solver
    plan: Phases
    targets: tuple[float, ...]  # on sqrt(mu_k) ||x_k - x*_k||
    sensitivities: tuple[float, ...]
    noise_stds: tuple[float, ...]  # sigma_k
    certified: bool
    project: bool


def printed(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None) -> Schedule:
    """Algorithm 2 as printed."""
    return _schedule(problem, mu, solver, 1.0, printed_multiplier(budget), certified=False, project=False)


def repaired(
    problem: Convex, budget: Budget, mu: float, solver: Solver | None = None, residual: float = RESIDUAL_FRACTION
) -> Schedule:
    """Certified solver at `residual` times the paper's accuracy, exact Gaussian noise, projection."""
    return _schedule(problem, mu, solver, residual, exact_multiplier(budget), certified=True, project=True)


def _schedule(
    problem: Convex,
    mu: float,
    solver: Solver | None,
    residual: float,
    multiplier: float,
    *,
    certified: bool,
    project: bool,
) -> Schedule:
    plan = phases(problem.loss.size, mu)
    units = [problem.loss.lipschitz / (mu_k * plan.length) for mu_k in plan.regularisers]  # L / (mu_k n_bar)
    sensitivities = tuple((2 + 2 * residual) * unit for unit in units)  # Lemma 3.5 and the solver's error
    return Schedule(
        solver=solver or GradientDescent(accelerated=True),
        plan=plan,
        targets=tuple(
            residual * float(np.sqrt(mu_k)) * unit for mu_k, unit in zip(plan.regularisers, units, strict=True)
        ),  # line 4
        sensitivities=sensitivities,
        noise_stds=tuple(s * multiplier for s in sensitivities),  # line 5
        certified=certified,
        project=project,
    )


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return x_tilde_K, shape (d,); raises CertificateError when a certified solve falls short."""
    centre = np.zeros(problem.loss.primal)  # x_tilde_0 = x_0, line 1
    batches = partition(tape, problem.loss.size, schedule.plan)
    for k, (batch, mu_k) in enumerate(zip(batches, schedule.plan.regularisers, strict=True)):  # lines 2 and 3
        # GRADIENT: inside the base solver
        phase = problem.phase(batch.indices, Regulariser(x_weight=mu_k, centre=centre))
        target = schedule.targets[k]
        solution = solve(phase, schedule.solver, target, schedule.certified, tape, f"solver/{k + 1}")  # line 4
        # CLIP: none, the stability of the exact solution bounds the sensitivity (Lemma 3.5)
        # NOISE
        std, sensitivity = schedule.noise_stds[k], schedule.sensitivities[k]
        released = tape.gaussian(f"x/{k + 1}", solution, std=std, sensitivity=sensitivity, batch=batch)  # line 5
        # STEP
        centre = problem.domain_x.project(released) if schedule.project else released
    return centre  # Output
