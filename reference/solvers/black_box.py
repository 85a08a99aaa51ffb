"""Other people's optimisers as base solvers: scipy.optimize and scikit-learn.

Nothing is known about their accuracy, and nothing has to be: the certificate is computed from the point they return.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.optimize import Bounds, NonlinearConstraint, minimize, root

from dpassay.reference.errors import BadInput
from dpassay.reference.extras import Later
from dpassay.reference.problems.domains import Ball, Box, Everywhere
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss
from dpassay.reference.types import Array

from .protocol import Oracle, Solution, certify

linear_model = Later("sklearn.linear_model")


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
        bounds = Bounds(domain.lower, domain.upper) if isinstance(domain, Box) else None
        options: Any = {"maxiter": self.iterations, "ftol": 1e-16, "gtol": 1e-14, "maxfun": 10 * self.iterations}

        def gradient(z: Array) -> Array:
            return oracle.operator(z)

        found: Any = minimize(problem.value, start, jac=gradient, method="L-BFGS-B", bounds=bounds, options=options)
        if isinstance(domain, Ball) and np.linalg.norm(found.x) > domain.radius:
            inside = NonlinearConstraint(lambda z: np.atleast_1d(z @ z), -np.inf, domain.radius**2)
            found = minimize(
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
        found: Any = root(oracle.operator, problem.project(problem.centre), method="hybr", options={"xtol": 1e-14})
        point, certificate = certify(oracle, problem.project(found.x), target)
        return Solution(point, certificate, oracle.evaluations)


@dataclass(frozen=True)
class ScikitLearn:
    """scikit-learn's `Ridge` and `LogisticRegression`, without intercept.

    Count: one full pass per reported iteration (Ridge's direct solve counts as none), plus the certificate.
    """

    name: str = "scikit-learn"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; raises BadInput for a loss or a centre that scikit-learn cannot express.  Deterministic."""
        oracle, loss = Oracle(problem), problem.loss
        unconstrained = replace(problem, domain_x=Everywhere())
        if isinstance(loss, SquaredLoss):
            z = self._ridge(loss, unconstrained)
        elif isinstance(loss, LogisticLoss):
            if np.any(problem.centre):
                raise BadInput("centre", problem.centre.tolist()[:3], "LogisticRegression shrinks towards zero only")
            model = linear_model.LogisticRegression(
                C=1.0 / (problem.n * problem.strong_convexity),
                fit_intercept=False,
                tol=1e-12,
                max_iter=10_000,
                solver="newton-cholesky",
            ).fit(loss.features, loss.labels)
            oracle.evaluations += problem.n * int(np.max(model.n_iter_))
            z = np.asarray(model.coef_[0], dtype=np.float64)
        else:
            raise BadInput("loss", type(loss).__name__, "scikit-learn adapter knows SquaredLoss and LogisticLoss")
        point, certificate = certify(oracle, problem.project(z), target)
        return Solution(point, certificate, oracle.evaluations)

    def _ridge(self, loss: SquaredLoss, problem: FiniteSum) -> Array:
        """Ridge around a centre c is ridge around zero for the targets b - W c."""
        centre = problem.centre
        model = linear_model.Ridge(alpha=problem.n * problem.regulariser.x_weight, fit_intercept=False, solver="svd")
        model.fit(loss.features, loss.targets - loss.features @ centre)
        return centre + np.asarray(model.coef_, dtype=np.float64)
