"""Phased output perturbation for convex minimisation (output_perturbation, Algorithm 2).

Minimises E f(x; xi) with f convex, L-Lipschitz and ell-smooth on X (Assumption 3.1).
Guarantee: (epsilon, delta)-DP under replace-one and the excess risk of Theorem 3.7.

Each phase solves a regularised problem on records of its own and releases the noisy solution, which is the centre
of the next phase.  Every phase is (epsilon, delta)-DP, so is the whole (parallel composition, Lemma 2.1).
Printed: solver trusted, noise by Definition 2, iterates may leave X.  Repaired: certified, exact noise, projected.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from .algorithm1 import LOGS, REPAIRS, UNPROJECTED
from .base_solver import COVERED, RESIDUAL_FRACTION, no_solver, printed_multiplier, require_size, solve
from .phases import WHOLE_NUMBERS, Phases, partition, phases

__all__ = ["COMPLETIONS", "REPAIRS", "Schedule", "printed", "repaired", "run"]

START = "x_0 = 0 (y_0 = 0), as the proof has it"
COMPLETIONS = (WHOLE_NUMBERS, LOGS, UNPROJECTED, START)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at; tuples have one entry per phase."""

    n: int
    d: int
    plan: Phases
    solver: Solver
    targets: tuple[float, ...]  # on sqrt(mu_k) ||x_k - x*_k||
    sensitivities: tuple[float, ...]  # of x_k
    noise: Multipliers | Printed  # of "x/1" .. "x/K"
    certified: bool
    project: bool


def printed(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Algorithm 2 as printed."""
    plan = phases(problem.n, mu)  # lines 1 and 3
    units = _units(problem, plan)  # L / (mu_k n_bar)
    sensitivities = tuple(4 * unit for unit in units)
    sigmas = [s * printed_multiplier(epsilon, delta) for s in sensitivities]  # line 5
    return Schedule(
        n=problem.n,
        d=problem.d,
        plan=plan,
        solver=solver or GradientDescent(accelerated=True),
        targets=tuple(float(np.sqrt(mu)) * unit for mu, unit in zip(plan.regularisers, units, strict=True)),  # line 4
        sensitivities=sensitivities,
        noise=Printed({f"x/{k}": sigma for k, sigma in enumerate(sigmas, start=1)}),
        certified=False,
        project=False,
    )


def repaired(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Certified solver at 1/100 of the paper's accuracy, exact Gaussian noise, projection."""
    as_printed = printed(problem, mu, epsilon, delta, solver=no_solver)
    units = _units(problem, as_printed.plan)
    draft = replace(
        as_printed,
        targets=tuple(RESIDUAL_FRACTION * target for target in as_printed.targets),
        sensitivities=tuple(COVERED * unit for unit in units),  # Lemma 3.5 and the solver's error
        noise=Multipliers({f"x/{k}": 1.0 for k in range(1, as_printed.plan.count + 1)}),
        project=True,
    )
    exact = noise_for(run, draft, problem, epsilon, delta)
    return replace(exact, solver=solver or GradientDescent(accelerated=True), certified=True)


def _units(problem: Convex, plan: Phases) -> list[float]:
    """L / (mu_k n_bar): half of the bound of Lemma 3.5."""
    return [problem.loss.lipschitz / (mu_k * plan.length) for mu_k in plan.regularisers]


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return x_tilde_K, shape (d,); raises CertificateError when a certified solve falls short."""
    require_size(problem.n, schedule.n)
    batches = partition(tape, schedule.n, schedule.plan)  # line 1
    centre = np.zeros(schedule.d)  # x_tilde_0 = x_0
    for k, batch in enumerate(batches, start=1):  # line 2
        mu_k = schedule.plan.regularisers[k - 1]  # line 3
        # GRADIENT: inside the base solver
        phase = problem.phase(batch.indices, Regulariser(x_weight=mu_k, centre=centre))
        target = schedule.targets[k - 1]
        x_k = solve(phase, schedule.solver, target, schedule.certified, tape, f"solver/{k}")  # line 4
        # CLIP: none, the stability of the exact solution bounds the sensitivity (Lemma 3.5)
        # NOISE
        sensitivity = schedule.sensitivities[k - 1]
        std = schedule.noise.std(f"x/{k}", sensitivity)  # sigma_k
        released = tape.gaussian(f"x/{k}", x_k, std=std, sensitivity=sensitivity, batch=batch)  # line 5
        # STEP
        centre = problem.domain_x.project(released) if schedule.project else released
    return centre  # Output
