"""Output perturbation for strongly convex minimisation (output_perturbation, Algorithm 1).

Minimises (1/n) sum_i f(x; xi_i) with f convex, L-Lipschitz, ell-smooth and mu-strongly convex on X (Assumption 3.2).
Guarantee: (epsilon, delta)-DP under replace-one and the excess risks of Theorem 3.4.

Printed: the solver is trusted to come within L/(mu n); sensitivity 4L/(mu n) (eq. 8), noise by Definition 2 with
half of delta kept for solvers that fail; the output may leave X.
Repaired: the solver's accuracy is certified, so nothing can fail and all of delta goes to the noise; the error is
driven to RESIDUAL_FRACTION L/(mu n); noise from the exact Gaussian trade-off; the output is projected on X.
Completions (the text leaves them open): log is natural in sigma; L is that of the full f on X.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at."""

    solver: Solver
    target: float  # on sqrt(mu) ||A(S) - x*||
    sensitivity: float  # of A(S)
    noise_std: float  # sigma
    certified: bool
    project: bool


def printed(
    problem: FiniteSum, budget: Budget, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """Algorithm 1 as printed; `lipschitz` overrides L (for instance the data part's, by Lemma 3.5)."""
    unit = stability_unit(problem, lipschitz)  # L / (mu n)
    sensitivity = 4 * unit  # eq. (8)
    return Schedule(
        solver=solver or GradientDescent(accelerated=True),
        target=float(np.sqrt(problem.strong_convexity)) * unit,  # line 1
        sensitivity=sensitivity,
        noise_std=sensitivity * printed_multiplier(budget),  # 4 L sqrt(2 log(2.5/delta)) / (mu n epsilon)
        certified=False,
        project=False,
    )


def repaired(
    problem: FiniteSum,
    budget: Budget,
    solver: Solver | None = None,
    lipschitz: float | None = None,
    residual: float = RESIDUAL_FRACTION,
) -> Schedule:
    """Certified solver at `residual` times the paper's accuracy, exact Gaussian noise, projection."""
    unit = stability_unit(problem, lipschitz)
    sensitivity = (2 + 2 * residual) * unit  # Lemma 3.3 and the solver's error on both datasets
    return Schedule(
        solver=solver or GradientDescent(accelerated=True),
        target=residual * float(np.sqrt(problem.strong_convexity)) * unit,
        sensitivity=sensitivity,
        noise_std=sensitivity * exact_multiplier(budget),
        certified=True,
        project=True,
    )


def stability_unit(problem: FiniteSum, lipschitz: float | None = None) -> float:
    """L / (mu n): half of the stability bound of Lemma 3.3."""
    bound = problem.lipschitz if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "a strongly convex f is Lipschitz on a bounded domain only; give a radius")
    return bound / (problem.strong_convexity * problem.size)


def run(problem: FiniteSum, schedule: Schedule, tape: Tape) -> Array:
    """Return the private minimiser x_tilde, shape (d,); raises CertificateError when a certified solve falls short."""
    # GRADIENT: inside the base solver
    solution = solve(problem, schedule.solver, schedule.target, schedule.certified, tape, "solver")  # line 1
    # CLIP: none, the stability of the exact solution bounds the sensitivity (Lemma 3.3)
    # NOISE
    released: Array = tape.gaussian(
        "output", solution, std=schedule.noise_std, sensitivity=schedule.sensitivity
    )  # Output
    # STEP: none, one shot
    return problem.project(released) if schedule.project else released
