"""Output perturbation for strongly-convex-strongly-concave saddle points (output_perturbation, Algorithm 3).

Solves min_x max_y (1/n) sum_i f(x, y; xi_i) under Assumption 4.2.
Guarantee: (epsilon, delta)-DP under replace-one and the duality gaps of Theorem 4.4.

Printed: x and y are two releases of (epsilon/2, delta/2) each, composed; sigma_x and sigma_y as in line 2.
Repaired: (sqrt(mu_x) x, sqrt(mu_y) y) is ONE release of sensitivity (2 + 2 r) L/(n sqrt(mu)), which is what
Lemma 4.3 bounds, so nothing is composed; certified solver, exact Gaussian noise, projection.
Completions: logs in sigma are natural; L is that of the full f on X times Y, or of the data part (Lemma 4.5).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier, solve


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at."""

    solver: Solver
    target: float  # on sqrt(mu_x ||x - x*||^2 + mu_y ||y - y*||^2)
    joint_sensitivity: float  # of (sqrt(mu_x) x, sqrt(mu_y) y)
    x_std: float  # sigma_x
    y_std: float  # sigma_y
    jointly: bool
    certified: bool
    project: bool


def printed(
    problem: FiniteSum, budget: Budget, solver: Solver | None = None, lipschitz: float | None = None
) -> Schedule:
    """Algorithm 3 as printed."""
    unit = joint_unit(problem, lipschitz)
    multiplier = 4 * unit * printed_multiplier(budget, parts=2)  # (8 L/(n epsilon)) sqrt(2 log(5/delta)/mu)
    return _schedule(problem, solver, unit, 4 * unit, multiplier, repaired_reading=False)


def repaired(
    problem: FiniteSum,
    budget: Budget,
    solver: Solver | None = None,
    lipschitz: float | None = None,
    residual: float = RESIDUAL_FRACTION,
) -> Schedule:
    """One joint release with exact noise, from a certified solver."""
    unit = joint_unit(problem, lipschitz)
    joint = (2 + 2 * residual) * unit
    return _schedule(problem, solver, residual * unit, joint, joint * exact_multiplier(budget), repaired_reading=True)


def joint_unit(problem: FiniteSum, lipschitz: float | None = None) -> float:
    """L / (n sqrt(mu)): half of the bound of Lemma 4.3 on the weighted distance of the saddle points."""
    bound = problem.lipschitz if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "f is Lipschitz on a bounded domain only; give one, or the data part's L")
    return float(bound / (problem.size * np.sqrt(problem.modulus)))


def _schedule(
    problem: FiniteSum, solver: Solver | None, target: float, joint: float, scaled_std: float, *, repaired_reading: bool
) -> Schedule:
    return Schedule(
        solver=solver or Extragradient(),
        target=target,  # eq. (3)
        joint_sensitivity=joint,
        x_std=scaled_std / float(np.sqrt(problem.strong_convexity)),  # line 2
        y_std=scaled_std / float(np.sqrt(problem.strong_concavity)),  # line 2
        jointly=repaired_reading,
        certified=repaired_reading,
        project=repaired_reading,
    )


def run(problem: FiniteSum, schedule: Schedule, tape: Tape) -> Array:
    """Return (x_tilde, y_tilde), shape (d_x + d_y,); raises CertificateError when a certified solve falls short."""
    # GRADIENT: inside the base solver
    solution = solve(problem, schedule.solver, schedule.target, schedule.certified, tape, "solver")  # line 1
    # CLIP: none, the stability of the saddle point bounds the sensitivity (Lemma 4.3)
    # NOISE
    d_x, joint = problem.loss.primal, schedule.joint_sensitivity
    mu_x, mu_y = problem.strong_convexity, problem.strong_concavity
    if schedule.jointly:
        scale = np.sqrt(problem.weights)
        std = schedule.x_std * float(np.sqrt(mu_x))  # equal to y_std sqrt(mu_y)
        released = tape.gaussian("pair", scale * solution, std=std, sensitivity=joint) / scale
    else:
        x_sensitivity, y_sensitivity = joint / float(np.sqrt(mu_x)), joint / float(np.sqrt(mu_y))  # eq. (19)
        x = tape.gaussian("x", solution[:d_x], std=schedule.x_std, sensitivity=x_sensitivity)  # Output
        y = tape.gaussian("y", solution[d_x:], std=schedule.y_std, sensitivity=y_sensitivity)  # Output
        released = np.concatenate([x, y])
    # STEP: none, one shot
    point: Array = problem.project(released) if schedule.project else released
    return point
