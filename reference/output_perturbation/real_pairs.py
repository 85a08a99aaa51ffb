"""Neighbours in real data: the record whose flipped label pulls the solution hardest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache

import numpy as np

from dpassay.reference.lockstep import Pair
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.domains import Array
from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.strongly_convex import LogisticLoss, regularised
from dpassay.reference.solvers.exact import Exact

RECORDS = 200
RADIUS = 4.0


@lru_cache(maxsize=8)
def logistic(strong_convexity: float) -> Pair[FiniteSum]:
    """Regularised logistic regression on the first records of the breast-cancer set."""

    def make(features: Array, labels: Array) -> FiniteSum:
        return regularised(LogisticLoss(features, labels), strong_convexity, RADIUS)

    return _flipped(make)


@lru_cache(maxsize=8)
def ranking(mu: float) -> Pair[FiniteSum]:
    """Regularised AUC maximisation on the same records; the share of positives is public and stays."""
    share = float((breast_cancer()[1][:RECORDS] > 0).mean())

    def make(features: Array, labels: Array) -> FiniteSum:
        loss = AUCLoss(features, labels, share, 1.0, 1.0)
        return FiniteSum(loss, Regulariser(mu, mu), *loss.domains)

    return _flipped(make)


def _flipped(make: Callable[[Array, Array], FiniteSum]) -> Pair[FiniteSum]:
    """Flip the label with the largest difference of gradients at the solution, in the metric that the solution sees."""
    features, labels = (part[:RECORDS] for part in breast_cancer())
    here, every = make(features, labels), np.arange(RECORDS)
    z = Exact()(here, 1e-6, np.random.default_rng(0)).point
    flipped = make(features, -labels)
    pull = (here.loss.rows(z, every) - flipped.loss.rows(z, every)) / np.sqrt(here.weights)
    target = int(np.argmax(np.linalg.norm(pull, axis=1)))
    there = labels.copy()
    there[target] *= -1
    return Pair(here, make(features, there), target, f"the label of record {target} is flipped")
