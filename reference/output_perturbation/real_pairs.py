"""Neighbours in real data: the replacement of one record that pulls the solution hardest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.types import Array

RECORDS = 200
RADIUS = 4.0


@lru_cache(maxsize=8)
def logistic(strong_convexity: float) -> Pair[FiniteSum]:
    """Regularised logistic regression on the first records of the breast-cancer set."""

    def make(features: Array, labels: Array) -> FiniteSum:
        return regularised(LogisticLoss(features, labels), strong_convexity, RADIUS)

    return _hardest(make)


@lru_cache(maxsize=8)
def ranking(mu: float) -> Pair[FiniteSum]:
    """Regularised AUC maximisation on the same records; the share of positives is public and stays."""
    share = float((breast_cancer()[1][:RECORDS] > 0).mean())

    def make(features: Array, labels: Array) -> FiniteSum:
        loss = AUCLoss(features, labels, share, 1.0, 1.0)
        return FiniteSum(loss, Regulariser(mu, mu), *loss.domains)

    return _hardest(make)


def _hardest(make: Callable[[Array, Array], FiniteSum]) -> Pair[FiniteSum]:
    """Real records but one, and for that one the two records that pull the solution farthest apart.

    To first order a record with operator F at the solution pulls by J^-1 F / n, J the Jacobian of the whole operator.
    Candidates are the real records and the unit vectors along the singular directions of J^-1, with either label.
    """
    features, labels = (part[:RECORDS] for part in breast_cancer())
    whole = make(features, labels)
    z = Exact()(whole, 1e-6, np.random.default_rng(0)).point
    pull = np.sqrt(whole.weights)[:, None] * np.linalg.inv(_jacobian(whole, z))
    columns = features.shape[1]
    directions = np.linalg.svd(pull[:, :columns])[2]
    records = np.vstack([features, directions, -directions])
    records, signs = np.vstack([records, records]), np.repeat([1.0, -1.0], len(records))
    images = make(records, signs).loss.rows(z, np.arange(len(records))) @ pull.T
    squares = (images**2).sum(axis=1)
    first, second = np.unravel_index(np.argmax(squares[:, None] + squares - 2 * images @ images.T), (len(records),) * 2)
    sides = []
    for chosen in (second, first):
        own, signs_of = features.copy(), labels.copy()
        own[0], signs_of[0] = records[chosen], signs[chosen]
        sides.append(make(own, signs_of))
    return Pair(sides[0], sides[1], 0, f"record 0 is replaced; the other {RECORDS - 1} are real")


def _jacobian(problem: FiniteSum, z: Array) -> Array:
    """Of the operator, by central differences."""
    step = 1e-5
    return np.stack(
        [(problem.operator(z + e) - problem.operator(z - e)) / (2 * step) for e in step * np.eye(len(z))], axis=1
    )
