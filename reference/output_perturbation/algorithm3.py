"""Output perturbation for strongly-convex-strongly-concave saddle points (output_perturbation, Algorithm 3).

Solves min_x max_y (1/n) sum_i f(x, y; xi_i) under Assumption 4.2.
Guarantee: (epsilon, delta)-DP under replace-one and the duality gaps of Theorem 4.4.

Printed: x and y are two releases of (epsilon/2, delta/2) each, composed; sigma_x and sigma_y as in line 2.
Repaired: (sqrt(mu_x) x, sqrt(mu_y) y) is ONE release of sensitivity (2 + 2 r) L/(n sqrt(mu)), which is what
Lemma 4.3 bounds, so nothing is composed; certified solver, exact Gaussian noise, projection.
L is that of the full f on X times Y, or of the data part (Lemma 4.5).
"""

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.gradient_descent import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from . import algorithm1
from .algorithm1 import LOGS, UNPROJECTED
from .base_solver import COVERED, RESIDUAL_FRACTION, no_solver, printed_multiplier, require_size, solve

SHARED = (
    "what all records share (coupling, curvature) belongs to the regulariser of Lemma 4.5: L is that of their own terms"
)
FULL_L = "L is that of the full f on the domain (Assumption 4.2)"
COMPLETIONS = (LOGS, UNPROJECTED, SHARED)

JOINT = "(x, y) is one joint release in the metric that Lemma 4.3 bounds; nothing is composed"
REPAIRS = (*algorithm1.REPAIRS, JOINT)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at."""

    n: int
    d: int
    d_y: int
    mu_x: float
    mu_y: float
    solver: Solver
    target: float  # on sqrt(mu_x ||x - x*||^2 + mu_y ||y - y*||^2)
    sensitivity: float  # of (sqrt(mu_x) x, sqrt(mu_y) y)
    noise: Multipliers | Printed  # of "pair" if jointly, else of "x" and "y"
    jointly: bool
    certified: bool
    project: bool


def printed(
    problem: FiniteSum, epsilon: float, delta: float, *, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """Algorithm 3 as printed."""
    unit = joint_unit(problem, lipschitz)  # L / (n sqrt(mu))
    scaled = 4 * unit * printed_multiplier(epsilon, delta, parts=2)  # (8 L/(n epsilon)) sqrt(2 log(5/delta)/mu)
    sigma_x = scaled / float(np.sqrt(problem.strong_convexity))  # line 2
    sigma_y = scaled / float(np.sqrt(problem.strong_concavity))  # line 2
    return Schedule(
        n=problem.n,
        d=problem.d,
        d_y=problem.d_y,
        mu_x=problem.strong_convexity,
        mu_y=problem.strong_concavity,
        solver=solver or Extragradient(),
        target=unit,  # eq. (3)
        sensitivity=4 * unit,
        noise=Printed({"x": sigma_x, "y": sigma_y}),
        jointly=False,
        certified=False,
        project=False,
    )


def repaired(
    problem: FiniteSum, epsilon: float, delta: float, *, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """One joint release with exact noise, from a certified solver."""
    unit = joint_unit(problem, lipschitz)
    draft = replace(
        printed(problem, epsilon, delta, solver=no_solver, lipschitz=lipschitz),
        target=RESIDUAL_FRACTION * unit,
        sensitivity=COVERED * unit,  # Lemma 4.3 and the solver's error on both datasets
        noise=Multipliers({"pair": 1.0}),
        jointly=True,
        project=True,
    )
    exact = noise_for(run, draft, problem, epsilon, delta)
    return replace(exact, solver=solver or Extragradient(), certified=True)


def joint_unit(problem: FiniteSum, lipschitz: float | None = None) -> float:
    """L / (n sqrt(mu)): half of the bound of Lemma 4.3 on the weighted distance of the saddle points."""
    bound = problem.lipschitz if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "f is Lipschitz on a bounded domain only; give one, or the data part's L")
    return float(bound / (problem.n * np.sqrt(problem.modulus)))


def run(problem: FiniteSum, schedule: Schedule, tape: Tape) -> Array:
    """Return (x_tilde, y_tilde), shape (d + d_y,); raises CertificateError when a certified solve falls short."""
    require_size(problem.n, schedule.n)
    # GRADIENT: inside the base solver
    solution = solve(problem, schedule.solver, schedule.target, schedule.certified, tape, "solver")  # line 1
    # CLIP: none, the stability of the saddle point bounds the sensitivity (Lemma 4.3)
    # NOISE
    joint, noise = schedule.sensitivity, schedule.noise
    if schedule.jointly:
        scale = np.sqrt(problem.weights)
        pair = tape.gaussian("pair", scale * solution, std=noise.std("pair", joint), sensitivity=joint)
        released = pair / scale
    else:
        x_moves, y_moves = joint / float(np.sqrt(schedule.mu_x)), joint / float(np.sqrt(schedule.mu_y))  # eq. (19)
        x = tape.gaussian("x", solution[: schedule.d], std=noise.std("x", x_moves), sensitivity=x_moves)  # Output
        y = tape.gaussian("y", solution[schedule.d :], std=noise.std("y", y_moves), sensitivity=y_moves)  # Output
        released = np.concatenate([x, y])
    # STEP: none, one shot
    point: Array = problem.project(released) if schedule.project else released
    return point
