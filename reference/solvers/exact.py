"""Exact solutions: a linear system when the loss is quadratic and the solution is inside, else to rounding."""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.problems.finite_sum import FiniteSum

from .gradient_descent import Extragradient, GradientDescent
from .protocol import Oracle, Solution, certify


def closed_form(problem: FiniteSum) -> Array | None:
    """Zero of the mean operator when the loss is quadratic and the zero lies in the domain, else None."""
    affine = problem.loss.affine()
    if affine is None:
        return None
    matrix, offset = affine
    weights = problem.regulariser_weights
    z = np.asarray(np.linalg.solve(matrix + np.diag(weights), weights * problem.centre - offset), dtype=np.float64)
    outside = np.abs(problem.project(z) - z)
    return z if (outside <= 1e-15 + 1e-12 * np.abs(z)).all() else None  # rounding of the projection


@dataclass(frozen=True)
class Exact:
    """Closed form if there is one, else full gradients down to the rounding floor; ignores the requested target."""

    name = "exact"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve as well as float64 allows; `rng` is not used."""
        oracle = Oracle(problem)
        z = closed_form(problem)
        if z is None:
            floor = min(target, 1e-11 * max(1.0, problem.loss.lipschitz) / np.sqrt(problem.modulus))
            solver = Extragradient() if problem.d_y else GradientDescent(accelerated=True)
            found = solver(problem, float(floor), rng)
            oracle.evaluations += found.evaluations
            z = found.point
        point, certificate = certify(oracle, z, target)
        return Solution(point, certificate, oracle.evaluations)
