"""Problems with known condition numbers, shared by the solver tests."""

import numpy as np
import pytest

from dpassay.reference.problems.finite_sum import FiniteSum, Regulariser
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss, regularised
from tests.reference.games import box_game, boxes


def _rows(rng, n, d):
    rows = rng.normal(size=(n, d))
    return rows / np.linalg.norm(rows, axis=1)[:, None]


@pytest.fixture
def ridge():
    def make(kappa=20.0, n=60, d=4, radius=None, seed=1):
        rng = np.random.default_rng(seed)
        features = _rows(rng, n, d)
        targets = np.clip(features @ rng.normal(size=d), -1, 1)
        return regularised(SquaredLoss(features, targets, radius or 5.0), 1.0 / kappa, radius)

    return make


@pytest.fixture
def logistic():
    def make(kappa=20.0, n=60, d=4, radius=None, seed=2):
        rng = np.random.default_rng(seed)
        features = _rows(rng, n, d)
        return regularised(LogisticLoss(features, np.sign(features @ rng.normal(size=d))), 0.25 / kappa, radius)

    return make


@pytest.fixture
def game():
    def make(kappa=8.0, n=40, spread=1.0, seed=3):
        rng = np.random.default_rng(seed)
        loss = box_game(rng, n, 4, 3)
        return FiniteSum(loss, Regulariser(spread / kappa, 1.0 / kappa), *boxes(loss))

    return make
