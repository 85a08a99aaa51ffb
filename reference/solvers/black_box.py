"""scipy.optimize as base solver (scikit-learn: ``scikit_learn.py``).

Nothing is known about their accuracy, and nothing has to be: the certificate is computed from the point they return.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.extras import Later
from dpassay.reference.problems.domains import Ball, Box
from dpassay.reference.problems.finite_sum import FiniteSum

from .protocol import Oracle, Solution, certify

optimize = Later("scipy.optimize")


@dataclass(frozen=True)
class ScipyMinimise:
    """`scipy.optimize.minimize`: L-BFGS-B, with SLSQP when the solution lies outside a ball.

    Count: one full pass per gradient call.
    """

    iterations: int = 15_000
    name: str = "scipy L-BFGS-B"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve a minimisation problem; raises BadInput for a saddle problem.  Deterministic."""
        if problem.d_y:
            raise BadInput("problem", "saddle", "scipy.optimize.minimize has no saddle points; use ScipyRoot")
        oracle, domain = Oracle(problem), problem.domain_x
        start = problem.project(problem.centre)
        bounds = optimize.Bounds(domain.lower, domain.upper) if isinstance(domain, Box) else None
        options: Any = {"maxiter": self.iterations, "ftol": 1e-16, "gtol": 1e-14, "maxfun": 10 * self.iterations}

        def gradient(z: Array) -> Array:
            return oracle.operator(z)

        found: Any = optimize.minimize(
            problem.value, start, jac=gradient, method="L-BFGS-B", bounds=bounds, options=options
        )
        if isinstance(domain, Ball) and np.linalg.norm(found.x) > domain.radius:
            inside = optimize.NonlinearConstraint(lambda z: np.atleast_1d(z @ z), -np.inf, domain.radius**2)
            found = optimize.minimize(
                problem.value,
                problem.project(found.x),
                jac=gradient,
                method="SLSQP",
                constraints=[inside],
                options={"maxiter": self.iterations, "ftol": 1e-16},
            )
        point, certificate = certify(oracle, problem.project(found.x), target)
        return Solution(point, certificate, oracle.evaluations)


@dataclass(frozen=True)
class ScipyRoot:
    """`scipy.optimize.root` (hybrid Powell) on the operator: saddle points in the interior of the domain."""

    name: str = "scipy root"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; a root outside the domain is projected, and then the certificate says what it is worth."""
        oracle = Oracle(problem)
        found: Any = optimize.root(
            oracle.operator, problem.project(problem.centre), method="hybr", options={"xtol": 1e-14}
        )
        point, certificate = certify(oracle, problem.project(found.x), target)
        return Solution(point, certificate, oracle.evaluations)
