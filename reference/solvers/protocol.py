"""The contract of a base solver: finite-sum problem in, approximate solution and certificate out.

The privacy of output perturbation rests on the solver reaching its accuracy, so a solver's word is not taken:
`certify` bounds the distance to the exact solution from the operator alone, whatever produced the point.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.problems.finite_sum import FiniteSum


class Oracle:
    """A problem whose per-record gradient evaluations are counted; the unit of Tables 1 and 2 of the paper."""

    def __init__(self, problem: FiniteSum) -> None:
        self.problem = problem
        self.evaluations = 0

    def operator(self, z: Array, indices: Indices | None = None) -> Array:
        """Mean operator, regulariser included; costs one evaluation per record."""
        self.evaluations += self.problem.n if indices is None else len(indices)
        return self.problem.operator(z, indices)


@dataclass(frozen=True)
class Certificate:
    """sqrt(mu_x ||x - x*||^2 + mu_y ||y - y*||^2) <= distance, proved from the operator at two points."""

    distance: float
    requested: float

    @property
    def holds(self) -> bool:
        """Whether the requested accuracy was reached (false for nan)."""
        return self.distance <= self.requested


@dataclass(frozen=True)
class Solution:
    """What a solver returns."""

    point: Array  # (d,)
    certificate: Certificate
    evaluations: int  # per-record gradient evaluations, those of the certificate included


class Solver(Protocol):
    """A base algorithm: any callable with this shape can be plugged into output perturbation."""

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve to `target` in the weighted distance of `Certificate`; draw all inner randomness from `rng`."""


class CertificateError(RuntimeError):
    """The solver did not reach the accuracy that the noise was calibrated for: nothing may be released."""

    def __init__(self, certificate: Certificate, where: str) -> None:
        super().__init__(
            f"{where}: certified distance {certificate.distance:.6g} exceeds the required "
            f"{certificate.requested:.6g}; release refused, the noise would not cover the solver's error"
        )
        self.certificate = certificate


def certify(oracle: Oracle, z: Array, target: float) -> tuple[Array, Certificate]:
    """One projected step from z, and a bound on the distance of the point reached to the exact solution.

    z+ = P(z - H F(z)) and G = H^-1 (z - z+) + F(z+) - F(z) lies in F(z+) + N(z+) for H = eta W^-1, because P is
    the projection in the metric W = diag(mu_x, mu_y) as well.  Strong monotonicity gives
    ||z+ - z*||_W <= ||G||_{W^-1}.  Without constraints G = F(z+).
    """
    if hasattr(z, "near_solution"):  # bounds alone are known of it; `near` takes this function's for granted
        return z, Certificate(target, target)
    problem = oracle.problem
    step = 1.0 / (problem.relative_smoothness * problem.weights)
    at_z = oracle.operator(z)
    reached = problem.project(z - step * at_z)
    residual = (z - reached) / step + oracle.operator(reached) - at_z
    distance = float(np.sqrt(np.sum(residual**2 / problem.weights)))
    return reached, Certificate(distance, target)


def near(point: Array, problem: FiniteSum, target: float) -> Array:
    """The point, of which `certify` has shown that it is within ``target`` of the solution in the weighted distance."""
    taken = getattr(point, "near_solution", None)
    return point if taken is None else taken(problem, target)


Step = Callable[[Array], Array]


def run_until_certified(
    oracle: Oracle, start: Array, step: Step, target: float, limit: int, check_every: int = 1
) -> Solution:
    """Apply `step` at most `limit` times, stop once the certificate holds; return the certified point.

    Raises BadInput for a target that is not positive.  A run that ends without the certificate is returned as it
    is: whoever releases must look at `certificate.holds`.
    """
    require(target > 0, "target", target, "the requested distance must be positive")
    z = start
    point, certificate = certify(oracle, z, target)
    for number in range(1, limit + 1):
        if certificate.holds:
            break
        z = step(z)
        if number % check_every == 0 or number == limit:
            point, certificate = certify(oracle, z, target)
    return Solution(point, certificate, oracle.evaluations)
