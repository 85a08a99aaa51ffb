"""scikit-learn's estimators as base solvers of output perturbation: how far their point is from the solution.

scikit-learn claims nothing about privacy. What is searched is Algorithm 1 of `output_perturbation` as printed, which
takes a solver at its word (line 1: within L/(mu n) of the solution), with an estimator in the solver's place: with its
defaults, and with options that a user may well choose. What breaks the claim is then what the estimator returns.

Under add-remove a record that is not there has no features, so its loss is constant and n is public. That is one way to
replace a record, with solutions at most L/(mu n) apart in place of 2L/(mu n). Were it left out, n would be n - 1: the
schedule, made for a public n, would not fit, and the solutions could be 2L/(mu (n - 1)) apart.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.arrays import Array
from dpassay.reference.extras import Later
from dpassay.reference.output_perturbation import algorithm1
from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss, regularised
from dpassay.reference.solvers.polished import Polished
from dpassay.reference.solvers.protocol import Certificate, Solution, Solver
from dpassay.reference.solvers.scikit_learn import LOGISTIC, ScikitLearn, ScikitLearnSGD
from dpassay.reference.space import Rows, Sizes, Space

from .data import ABSENT, space_of
from .model import Model

EPSILON, DELTA, MU = 0.9, 1e-5, 0.1
CROWD, MANY, SHORT = 1000, 100_000, 0.1  # records beside the searched ones; length of those of the many
SMALL = {"n": (1, 2, 3, 5, 8), "d": (1, 2, 3)}
DEFAULT_TOL, DEFAULT_ITERATIONS = 1e-4, 100  # of LogisticRegression (1.9.1)
linear_model = Later("sklearn.linear_model")


@dataclass(frozen=True)
class OnItsOwn:
    """``LogisticRegression`` with options that make it solve something else than the problem, at its word.

    Args:
        intercept: fit one, in place of the last feature, which is 1.
        balanced: class weights computed from the labels.
        solver: scikit-learn's name.
    """

    intercept: bool = False
    balanced: bool = False
    solver: str = "lbfgs"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Fit on the records as they are; raises what the estimator raises."""
        assert isinstance(problem.loss, LogisticLoss)
        features, labels = problem.loss.features, problem.loss.labels
        model = linear_model.LogisticRegression(
            C=1.0 / (problem.n * problem.strong_convexity),
            solver=self.solver,
            tol=1e-10,
            max_iter=10_000,
            fit_intercept=self.intercept,
            class_weight="balanced" if self.balanced else None,
            random_state=0,
        ).fit(features[:, :-1] if self.intercept else features, labels)
        point = np.append(model.coef_[0], model.intercept_) if self.intercept else model.coef_[0]
        return Solution(np.asarray(point, dtype=np.float64), Certificate(target, target), 0)


def _logistic(rows: Array, sizes: Sizes) -> FiniteSum:
    """The searched records alone; the last column is the label."""
    return regularised(LogisticLoss(rows[:, :-1], rows[:, -1]), MU)


def _ridge(rows: Array, sizes: Sizes) -> FiniteSum:
    """Least squares; the last column is the target. No solution is longer than 1 / sqrt(mu), whatever the data."""
    features = rows[:, :-1] / np.sqrt(max(1, rows.shape[1] - 1))
    return regularised(SquaredLoss(features, rows[:, -1], radius=MU**-0.5), MU)


def _crowd(intercept: bool, rows: Array, sizes: Sizes) -> FiniteSum:
    """A thousand records of one class without features come first, and one of the other, so that both are there."""
    width = rows.shape[1] - 1
    features = np.vstack([np.zeros((CROWD + 1, width)), rows[:, :-1]])
    labels = np.concatenate([np.ones(CROWD), [-1.0], rows[:, -1]])
    if not intercept:
        return regularised(LogisticLoss(features, labels), MU)
    ones = np.ones((len(features), 1))
    return regularised(LogisticLoss(np.hstack([features, ones]), labels, feature_bound=2**0.5), MU)


def _many(rows: Array, sizes: Sizes) -> FiniteSum:
    """A hundred thousand records whose gradient at zero is scikit-learn's default tolerance, less a fifth of a record.

    They lie on one line; each contributes SHORT / 2 with the sign of its label.
    """
    width, sign = rows.shape[1] - 1, (DEFAULT_TOL * MANY - 0.2) / (SHORT / 2)
    labels = np.where(np.arange(MANY) < round((MANY + sign) / 2), 1.0, -1.0)
    features = np.zeros((MANY, width))
    features[:, 0] = SHORT
    return regularised(LogisticLoss(np.vstack([features, rows[:, :-1]]), np.append(labels, rows[:, -1])), MU)


def _filled(problem: Any, rows: Array, sizes: Sizes) -> Any:
    """A record that is not there has no features; the label does not matter then, but must be one."""
    gone = np.all(rows == ABSENT, axis=1)
    nothing = np.append(np.zeros(rows.shape[1] - 1), 1.0)
    return problem(np.where(gone[:, None], nothing, rows), sizes)


def _space(
    problem: Any, solver: Solver, sizes: Mapping[str, Sequence[int]], rows: Rows, relation: Relation = "replace-one"
) -> Space:
    def schedule(sizes: Sizes) -> algorithm1.Schedule:
        template = problem(_template(rows, sizes), sizes)
        return algorithm1.printed(template, EPSILON, DELTA, solver=solver, lipschitz=template.loss.lipschitz)

    made = problem if relation == "replace-one" else partial(_filled, problem)
    return space_of(relation, rows, sizes, made, schedule)


def _template(rows: Rows, sizes: Sizes) -> Array:
    """Records of these sizes that hold nothing."""
    found = np.zeros((sizes["n"], rows.columns(sizes)))
    found[:, -1] = 1.0 if rows.labels else 0.0
    return found


LABELLED, BOXED = Rows(labels=(-1.0, 1.0)), Rows("d", None, (-1.0, 1.0))
FEW = {"n": (1, 2), "d": (1, 2)}


def models() -> Sequence[Model]:
    """Estimators with their defaults; then what is done to them in practice; then what mends it."""
    lbfgs = ScikitLearn("lbfgs", DEFAULT_TOL, DEFAULT_ITERATIONS)
    in_order = ScikitLearnSGD(rate="constant", start=0.1, shuffle=False)
    found = [
        _model(f"LogisticRegression, {name}", _logistic, ScikitLearn(name, DEFAULT_TOL, DEFAULT_ITERATIONS), SMALL)
        for name in LOGISTIC
    ]
    ridge = {"n": SMALL["n"], "d": (2, 3)}
    found += [
        _model(f"Ridge, {name}", _ridge, ScikitLearn(name, DEFAULT_TOL, 1000), ridge, BOXED) for name in ("auto", "sag")
    ]
    found += [
        _model("SGDClassifier", _logistic, ScikitLearnSGD(), SMALL),
        _model("SGDRegressor", _ridge, ScikitLearnSGD(), ridge, BOXED),
        _model("LogisticRegression, data of any classes", _logistic, OnItsOwn(), SMALL),
        _model("LogisticRegression, sag, data of any features", _logistic, OnItsOwn(solver="sag"), SMALL),
        _model("LogisticRegression, 100,000 records", _many, lbfgs, FEW, examples=30),
        _model("LogisticRegression, 100,000 records, polished", _many, Polished(lbfgs), FEW, examples=30),
        _model("LogisticRegression, intercept", partial(_crowd, True), OnItsOwn(intercept=True), FEW),
        _model(
            "LogisticRegression, liblinear, intercept", partial(_crowd, True), OnItsOwn(True, False, "liblinear"), FEW
        ),
        _model("LogisticRegression, balanced", partial(_crowd, False), OnItsOwn(balanced=True), FEW),
        _model("SGDClassifier, 1,000 records, constant rate, in order", partial(_crowd, False), in_order, FEW),
        _model("SGDClassifier, the same, polished", partial(_crowd, False), Polished(in_order), FEW),
    ]
    return found


def _model(
    name: str,
    problem: Any,
    solver: Solver,
    sizes: Mapping[str, Sequence[int]],
    rows: Rows = LABELLED,
    examples: int = 60,
) -> Model:
    relations: tuple[Relation, ...] = ("replace-one", "add-remove") if rows.labels else ("replace-one",)
    spaces = {relation: _space(problem, solver, sizes, rows, relation) for relation in relations}
    return Model(name, algorithm1.run, EPSILON, spaces, "the noisy solution", examples, DELTA)
