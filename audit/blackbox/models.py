"""What learns a score from a feature matrix: trees, logistic regression, a kernel, and the direction of the means.

Columns are centred and scaled by their quartiles and cut at five such units, so that outputs of any size do.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dpassay.reference.types import Array, Indices

from .columns import tamed

Score = Callable[[Array], Array]
KERNEL_ROWS = 4000
CENTRES = 30
WHITENED = 256  # columns up to which the direction of the means takes correlations into account
LIMIT = 5.0  # units at which a column is cut
REMEMBERED = 4  # training and test part of both sides
LARGEST_KEPT = 20_000_000  # entries of an answer that is kept


@dataclass(frozen=True)
class Scale:
    """Centre and unit of each column."""

    centre: Array
    unit: Array

    @staticmethod
    def fit(x: Array) -> Scale:
        """Median and quartile distance; where the quartiles coincide, the whole range; 1 for a constant."""
        low, centre, high = np.quantile(x, [0.25, 0.5, 0.75], axis=0, method="nearest")
        spread = np.where(high > low, (high - low) / 1.35, (x.max(axis=0) - x.min(axis=0)) / 2)
        return Scale(centre, np.where(spread > 0, spread, 1.0))

    def __call__(self, x: Array) -> Array:
        """Scaled and cut."""
        with np.errstate(over="ignore"):  # an infinity is cut like any large number
            return np.asarray(np.clip((x - self.centre) / self.unit, -LIMIT, LIMIT))


def boosting(x: Array, y: Indices, rng: np.random.Generator) -> Score:
    """Trees on all columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import, and not needed for a number

    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        learning_rate=0.15,
        min_samples_leaf=max(5, len(y) // 2000),
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    ).fit(x, y)
    return lambda z: np.asarray(model.decision_function(z))


def logistic(x: Array, y: Indices) -> Score:
    """On scaled columns and their squares."""
    from sklearn.linear_model import LogisticRegression

    scale = Scale.fit(x)

    def expand(z: Array) -> Array:
        scaled = scale(z)
        return np.concatenate([scaled, scaled**2], axis=1)

    model = LogisticRegression(C=0.3, max_iter=300, tol=1e-3).fit(expand(x), y)
    return lambda z: np.asarray(model.decision_function(expand(z)))


def kernel(x: Array, y: Indices, rng: np.random.Generator) -> Score:
    """Logistic regression on the Gaussian kernel with a few random rows as centres (Nystroem)."""
    from sklearn.kernel_approximation import Nystroem
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline

    keep = rng.permutation(len(x))[:KERNEL_ROWS]
    scale = Scale.fit(x[keep])
    centres = Nystroem(gamma=1 / x.shape[1], n_components=CENTRES, random_state=int(rng.integers(2**31)))
    model = make_pipeline(centres, LogisticRegression(C=1.0, max_iter=200, tol=1e-2))
    if len(keep) < CENTRES or np.unique(y[keep]).size < 2:
        return lambda z: np.zeros(len(z))
    model.fit(scale(x[keep]), y[keep])
    return lambda z: np.asarray(model.decision_function(scale(z)))


def direction(p: Array, q: Array, squared: bool) -> Score:
    """Along the difference of the means of all columns (or of their squares), whitened where they are not too many."""
    scale = Scale.fit(tamed(np.concatenate([p, q])))

    def shape(z: Array) -> Array:
        return scale(tamed(z)) ** (2 if squared else 1)

    x, y = shape(p), shape(q)
    shift = y.mean(axis=0) - x.mean(axis=0)
    variance = 0.5 * (x.var(axis=0) + y.var(axis=0)) + 1e-6
    if squared or x.shape[1] > WHITENED or min(len(x), len(y)) < 4 * x.shape[1]:
        weights = shift / variance
    else:
        within = 0.5 * (np.cov(x.T).reshape(variance.size, -1) + np.cov(y.T).reshape(variance.size, -1))
        weights = np.linalg.solve(0.9 * within + 0.1 * np.diag(variance), shift)
    return lambda z: np.asarray(shape(z) @ weights)


class Remembered:
    """A function of tables that knows its last answers: events, bets and pictures ask for the same scores.

    Tables are not changed in between: they are told apart by identity.
    """

    def __init__(self, function: Callable[[Array], Array]):
        self._function = function
        self._known: list[tuple[Array, Array]] = []

    def __call__(self, table: Array) -> Array:
        """The function's answer."""
        for known, answer in self._known:
            if known is table:
                return answer
        answer = self._function(table)
        if answer.size <= LARGEST_KEPT:
            self._known = [(table, answer), *self._known][:REMEMBERED]
        return answer
