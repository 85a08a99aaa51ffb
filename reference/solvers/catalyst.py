"""Catalyst: any base solver inside an (accelerated) proximal-point loop.

Each outer step solves the problem with (tau/2) ||z - anchor||^2 added in the metric W, well enough to halve the
residual, and moves the anchor to the solution; minimisation adds Nesterov's momentum (Lin, Mairal and Harchaoui
2015), saddle problems do not (Palaniappan and Bach 2016, Section 5).
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.types import Array

from .protocol import Oracle, Solution, Solver, certify
from .saddle_variance_reduced import SaddleSAGA, SaddleSVRG
from .variance_reduced import SVRG


def shifted(problem: FiniteSum, tau: float, anchor: Array) -> FiniteSum:
    """The problem plus (tau/2) ||z - anchor||_W^2 (minus on y), W = diag(mu_x, mu_y)."""
    old, extra = problem.regulariser_weights, tau * problem.weights
    total = old + extra
    centre = (old * problem.centre + extra * anchor) / total
    reg = problem.regulariser
    grown = Regulariser(
        reg.x_weight + tau * problem.strong_convexity,
        reg.y_weight + tau * problem.strong_concavity if problem.d_y else 0.0,
        centre,
    )
    return replace(problem, regulariser=grown)


@dataclass(frozen=True)
class Catalyst:
    """Count: with SVRG inside, (n + sqrt(n kappa)) for minimisation and (n + sqrt(n) kappa) for saddle points."""

    inner: Solver
    name: str
    limit: int = 2000

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; the inner solver draws from `rng`."""
        oracle, saddle = Oracle(problem), bool(problem.d_y)
        kappa = problem.loss.smoothness / problem.modulus
        tau = max(0.0, kappa / (np.sqrt(problem.n) if saddle else problem.n) - 1)
        if tau == 0:
            return self.inner(problem, target, rng)  # well enough conditioned as it is
        root = float(np.sqrt(1 / (1 + tau)))
        momentum = 0.0 if saddle else (1 - root) / (1 + root)
        point, certificate = certify(oracle, problem.project(problem.centre), target)
        previous = anchor = point
        bound = certificate.distance
        for _ in range(self.limit):
            if certificate.holds:
                break
            inner_target = bound / (4 * float(np.sqrt(1 + tau)))  # a quarter of the residual, in the shifted metric
            found = self.inner(shifted(problem, tau, anchor), inner_target, rng)
            oracle.evaluations += found.evaluations
            point, certificate = certify(oracle, found.point, target)
            anchor = point + momentum * (point - previous)
            previous = point
            bound = min(bound, certificate.distance)
        return Solution(point, certificate, oracle.evaluations)


def accelerated_svrg() -> Catalyst:
    """Catalyst around SVRG, for minimisation."""
    return Catalyst(SVRG(), "accelerated SVRG")


def accelerated_saddle_svrg() -> Catalyst:
    """The accelerated SVRG of Palaniappan and Bach."""
    return Catalyst(SaddleSVRG(), "accelerated SVRG (saddle)")


def accelerated_saddle_saga() -> Catalyst:
    """The accelerated SAGA of Palaniappan and Bach."""
    return Catalyst(SaddleSAGA(), "accelerated SAGA (saddle)")
