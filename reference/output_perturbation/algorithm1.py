"""Output perturbation for strongly convex minimisation (output_perturbation, Algorithm 1).

Minimises (1/n) sum_i f(x; xi_i) with f convex, L-Lipschitz, ell-smooth and mu-strongly convex on X (Assumption 3.2).
Guarantee: (epsilon, delta)-DP under replace-one and the excess risks of Theorem 3.4.

Printed: the solver is trusted to come within L/(mu n); sensitivity 4L/(mu n) (eq. 8), noise by Definition 2 with
half of delta kept for solvers that fail; the output may leave X.
Repaired: the solver's accuracy is certified, so nothing can fail and all of delta goes to the noise; the error is
driven to RESIDUAL_FRACTION L/(mu n); noise from the exact Gaussian trade-off; the output is projected on X.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from .base_solver import COVERED, RESIDUAL_FRACTION, no_solver, printed_multiplier, require_size, solve

LOGS = "logs in sigma are natural; the solver's accuracy is met, so the delta kept for failures is not used"
MISSED = "logs in sigma are natural; the solver misses its accuracy in every run"
UNPROJECTED = "the noisy output is not projected on the domain: the text adds noise and stops"
FULL_L = "L is that of the full f on the domain (Assumption 3.2)"
DATA_L = "L is that of the data part (Lemma 3.5): the regularised f is not Lipschitz on R^d"
COMPLETIONS = (LOGS, UNPROJECTED, FULL_L)

EXACT = "noise from the exact Gaussian trade-off at all of delta"
CERTIFIED = "solver certified at 1/100 of the printed distance"
PROJECTED = "released points are projected on the domain"
REPAIRS = (EXACT, CERTIFIED, PROJECTED)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at."""

    n: int
    d: int
    solver: Solver
    target: float  # on sqrt(mu) ||A(S) - x*||
    sensitivity: float  # of A(S)
    noise: Multipliers | Printed  # of "output"
    certified: bool
    project: bool


def printed(
    problem: FiniteSum, epsilon: float, delta: float, *, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """Algorithm 1 as printed; ``lipschitz`` overrides L (for instance the data part's, by Lemma 3.5)."""
    unit = stability_unit(problem, lipschitz)  # L / (mu n)
    sensitivity = 4 * unit  # eq. (8)
    sigma = sensitivity * printed_multiplier(epsilon, delta)  # Output: 4 L sqrt(2 log(2.5/delta)) / (mu n epsilon)
    return Schedule(
        n=problem.n,
        d=problem.d,
        solver=solver or GradientDescent(accelerated=True),
        target=float(np.sqrt(problem.strong_convexity)) * unit,  # line 1
        sensitivity=sensitivity,
        noise=Printed({"output": sigma}),
        certified=False,
        project=False,
    )


def repaired(
    problem: FiniteSum, epsilon: float, delta: float, *, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """Certified solver at 1/100 of the paper's accuracy, exact Gaussian noise, projection."""
    unit = stability_unit(problem, lipschitz)
    draft = replace(
        printed(problem, epsilon, delta, solver=no_solver, lipschitz=lipschitz),
        target=RESIDUAL_FRACTION * float(np.sqrt(problem.strong_convexity)) * unit,
        sensitivity=COVERED * unit,  # Lemma 3.3 and the solver's error on both datasets
        noise=Multipliers({"output": 1.0}),
        project=True,
    )
    exact = noise_for(run, draft, problem, epsilon, delta)
    return replace(exact, solver=solver or GradientDescent(accelerated=True), certified=True)


def stability_unit(problem: FiniteSum, lipschitz: float | None = None) -> float:
    """L / (mu n): half of the stability bound of Lemma 3.3."""
    bound = problem.lipschitz if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "a strongly convex f is Lipschitz on a bounded domain only; give a radius")
    return bound / (problem.strong_convexity * problem.n)


def run(problem: FiniteSum, schedule: Schedule, tape: Tape) -> Array:
    """Return the private minimiser x_tilde, shape (d,); raises CertificateError when a certified solve falls short."""
    require_size(problem.n, schedule.n)
    # GRADIENT: inside the base solver
    solution = solve(problem, schedule.solver, schedule.target, schedule.certified, tape, "solver")  # line 1
    # CLIP: none, the stability of the exact solution bounds the sensitivity (Lemma 3.3)
    # NOISE
    sensitivity = schedule.sensitivity
    std = schedule.noise.std("output", sensitivity)
    released: Array = tape.gaussian("output", solution, std=std, sensitivity=sensitivity)  # Output
    # STEP: none, one shot
    return problem.project(released) if schedule.project else released
