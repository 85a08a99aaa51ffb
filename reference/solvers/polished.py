"""Any solver as a start: gradient steps follow until the certificate holds, so nothing it did can break a claim."""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import FiniteSum

from .protocol import Oracle, Solution, Solver, run_until_certified


@dataclass(frozen=True)
class Polished:
    """A solver whose point is taken to the accuracy that was asked for, by projected gradient steps.

    A solver that is only certified may have to be refused, and a refusal depends on the data. Here it cannot happen:
    the steps start from the better of its point and the regulariser's centre, and ``steps_needed`` of them, a public
    number, are proved to be enough. Only the time depends on the solver.

    Args:
        solver: whatever it is, its certificate is not looked at. A point that is not finite counts as the centre.

    Count: that of the solver, two passes to compare the starts, then two or three per step.
    """

    solver: Solver

    @property
    def name(self) -> str:
        """Short name."""
        return f"{getattr(self.solver, 'name', 'solver')}, polished"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve a minimisation problem; raises BadInput for a saddle problem."""
        limit = steps_needed(problem, target)
        oracle, centre = Oracle(problem), problem.project(problem.centre)
        found = self.solver(problem, target, rng)
        oracle.evaluations += found.evaluations
        step = 1.0 / problem.smoothness

        def advance(z: Array) -> Array:
            return problem.project(z - step * oracle.operator(z))

        start = centre
        if np.isfinite(found.point).all():
            given = problem.project(found.point)
            with np.errstate(over="ignore", invalid="ignore"):  # a start that overflows compares as no better
                moved = [float(np.linalg.norm(z - advance(z))) for z in (given, centre)]
            start = given if moved[0] < moved[1] else centre
        return run_until_certified(oracle, start, advance, target, limit)


def steps_needed(problem: FiniteSum, target: float) -> int:
    """Gradient steps with step 1/ell after which the certificate holds, from either start, whatever the data are.

    Strong convexity bounds the centre's distance to the solution by G/mu, G the norm of its gradient: at most L of the
    data part, and what a centre outside of the domain adds. A start that moves less in one step is no farther than
    ``_farther`` times that. A step takes sqrt(1 - mu/ell) off the distance, and the certificate is at
    most 4 ell / sqrt(mu) times it, since it adds two differences of at most ell times the step to each other.
    ``target`` is on sqrt(mu) times the distance.
    """
    if problem.d_y:
        raise BadInput("problem", "saddle", "gradient steps need not come near a saddle point; certify the solver")
    if not (np.isfinite(problem.loss.lipschitz) and target > 0):
        raise BadInput("target", target, "must be positive, and L of the loss finite")
    mu, ell = problem.strong_convexity, problem.smoothness
    centre = problem.project(problem.centre)
    outside = float(np.linalg.norm(centre - problem.centre))
    gradient = problem.loss.lipschitz + problem.regulariser.x_weight * outside
    farthest = _farther(ell / mu) * gradient / mu
    decay = -0.5 * np.log1p(-mu / ell) if mu < ell else np.inf
    return 1 + int(np.ceil(max(0.0, np.log(4 * ell / np.sqrt(mu) * farthest / target)) / decay))


def _farther(kappa: float) -> float:
    """How much farther from the solution a start may be that moves less in one step of 1/ell.

    A step moves between 1 - sqrt(1 - 1/kappa) and 1 + sqrt(1 - 1/kappa) times the distance (triangle inequality).
    """
    shrunk = float(np.sqrt(1 - 1 / kappa))
    return (1 + shrunk) / (1 - shrunk)
