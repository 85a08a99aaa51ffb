"""scikit-learn's linear models as base solvers: ``Ridge``, ``LogisticRegression``, ``SGDRegressor``, ``SGDClassifier``.

Each is fitted without intercept and without class weights, on exactly the objective of the problem: an intercept that
is not regularised makes the problem lose its strong convexity, and class weights computed from labels let one record
move all the others. Their stopping rules say nothing about the distance to the solution (``tol`` bounds a gradient, a
dual gap or the progress of a pass, each in a unit of its own), so the certificate is computed from the point they
return; ``Polished`` takes such a point to the accuracy that was asked for, whatever it was.

``LogisticRegression`` and ``SGDClassifier`` refuse data of one class, which would tell a neighbour apart. So a record
of each class is added whose features are zero: its gradient is zero everywhere, and the solution stays what it is.
"""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput, require
from dpassay.reference.extras import Later
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss

from .protocol import Oracle, Solution, certify

linear_model = Later("sklearn.linear_model")

RIDGE = ("auto", "svd", "cholesky", "lsqr", "sparse_cg", "sag", "saga")
LOGISTIC = ("lbfgs", "liblinear", "newton-cg", "newton-cholesky", "sag", "saga")
_STATES = 2**31  # scikit-learn's random states are 32-bit integers


@dataclass(frozen=True)
class ScikitLearn:
    """``Ridge`` for squared losses, ``LogisticRegression`` for logistic ones.

    Args:
        solver: scikit-learn's name of one; empty: the one without iterations or with second derivatives (``svd``,
            ``newton-cholesky``).
        tol, iterations: scikit-learn's ``tol`` and ``max_iter``; its defaults are 1e-4 and, for ``LogisticRegression``,
            100.

    Count: one full pass per reported iteration (a direct solve counts as none), plus the certificate.
    """

    solver: str = ""
    tol: float = 1e-12
    iterations: int = 10_000

    def __post_init__(self) -> None:
        names = {"", *RIDGE, *LOGISTIC}
        require(self.solver in names, "solver", self.solver, f"must be one of {', '.join(sorted(names - {''}))}")

    @property
    def name(self) -> str:
        """Short name."""
        return f"scikit-learn {self.solver}".rstrip()

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; raises BadInput for a loss or a centre that scikit-learn cannot express.

        ``sag``, ``saga`` and ``liblinear`` take their random state from ``rng``, the others are deterministic.
        """
        oracle = Oracle(problem)
        try:
            if isinstance(problem.loss, SquaredLoss):
                z = self._ridge(problem.loss, oracle, rng)
            elif isinstance(problem.loss, LogisticLoss):
                z = self._logistic(problem.loss, oracle, rng)
            else:
                raise _unknown(problem)
        except ZeroDivisionError:  # sag, where features are nothing beside the regulariser: the centre is the solution
            z = problem.centre
        return _certified(oracle, z, target)

    def _options(self, model: str, known: tuple[str, ...], usual: str, rng: np.random.Generator) -> dict[str, Any]:
        require(self.solver in ("", *known), "solver", self.solver, f"{model} knows {', '.join(known)}")
        state = int(rng.integers(_STATES)) if self.solver in ("sag", "saga", "liblinear") else None
        own = {"solver": self.solver or usual, "random_state": state}
        return {"fit_intercept": False, "tol": self.tol, "max_iter": self.iterations, **own}

    def _ridge(self, loss: SquaredLoss, oracle: Oracle, rng: np.random.Generator) -> Array:
        """Ridge around a centre c is ridge around zero for the targets b - W c."""
        problem, options = oracle.problem, self._options("Ridge", RIDGE, "svd", rng)
        model = linear_model.Ridge(alpha=problem.n * problem.regulariser.x_weight, **options)
        _quietly_fit(model, loss.features, loss.targets - loss.features @ problem.centre)
        oracle.evaluations += problem.n * int(np.max(model.n_iter_ or 0))
        return problem.centre + np.asarray(model.coef_, dtype=np.float64)

    def _logistic(self, loss: LogisticLoss, oracle: Oracle, rng: np.random.Generator) -> Array:
        options = self._options("LogisticRegression", LOGISTIC, "newton-cholesky", rng)
        problem = _centred(oracle.problem)
        model = linear_model.LogisticRegression(C=1.0 / (problem.n * problem.strong_convexity), **options)
        _quietly_fit(model, *both_classes(loss.features, loss.labels))
        oracle.evaluations += problem.n * int(np.max(model.n_iter_))
        return np.asarray(model.coef_[0], dtype=np.float64)


@dataclass(frozen=True)
class ScikitLearnSGD:
    """``SGDRegressor`` for squared losses, ``SGDClassifier`` for logistic ones, with scikit-learn's own defaults.

    Args:
        tol, iterations: scikit-learn's ``tol`` (of the training loss from pass to pass) and ``max_iter``.
        rate, start: ``learning_rate`` and ``eta0``; empty and 0: scikit-learn's.
        shuffle: by a random state from the generator; without it the order of the records is what it is.

    Count: one full pass per reported epoch, plus the certificate.
    """

    tol: float = 1e-3
    iterations: int = 1000
    rate: str = ""
    start: float = 0.0
    shuffle: bool = True

    @property
    def name(self) -> str:
        """Short name."""
        return f"scikit-learn SGD {self.rate}".rstrip()

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Run; raises BadInput for a loss or a centre that scikit-learn cannot express."""
        oracle, loss = Oracle(problem), _centred(problem).loss
        options: dict[str, Any] = {"learning_rate": self.rate} if self.rate else {}
        options |= {"eta0": self.start} if self.start else {}
        options |= {"tol": self.tol, "max_iter": self.iterations, "fit_intercept": False, "shuffle": self.shuffle}
        options["random_state"] = int(rng.integers(_STATES))
        if isinstance(loss, SquaredLoss):
            model = linear_model.SGDRegressor(alpha=problem.strong_convexity, **options)
            _quietly_fit(model, loss.features, loss.targets)
        elif isinstance(loss, LogisticLoss):
            features, labels = both_classes(loss.features, loss.labels)
            alpha = problem.strong_convexity * problem.n / len(features)  # its mean is over the two records more
            model = linear_model.SGDClassifier(loss="log_loss", alpha=alpha, **options)
            _quietly_fit(model, features, labels)
        else:
            raise _unknown(problem)
        oracle.evaluations += problem.n * int(model.n_iter_)
        return _certified(oracle, np.ravel(np.asarray(model.coef_, dtype=np.float64)), target)


def both_classes(features: Array, labels: Array) -> tuple[Array, Array]:
    """The records (n, d) and their labels (n,), then a record of each class without features: shapes (n + 2, d)."""
    return np.vstack([features, np.zeros((2, features.shape[1]))]), np.append(labels, [-1.0, 1.0])


def _centred(problem: FiniteSum) -> FiniteSum:
    if np.any(problem.centre):
        raise BadInput("centre", problem.centre.tolist()[:3], "this estimator shrinks towards zero only")
    return problem


def _unknown(problem: FiniteSum) -> BadInput:
    return BadInput("loss", type(problem.loss).__name__, "scikit-learn adapter knows SquaredLoss and LogisticLoss")


def _quietly_fit(model: Any, features: Array, targets: Array) -> None:
    """Fit; that it did not converge is what the certificate says, in numbers."""
    from sklearn.exceptions import ConvergenceWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(features, targets)


def _certified(oracle: Oracle, z: Array, target: float) -> Solution:
    point, certificate = certify(oracle, oracle.problem.project(z), target)
    return Solution(point, certificate, oracle.evaluations)
