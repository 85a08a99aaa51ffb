"""L, ell, mu of every problem against finite differences and against the data; gradients against differences."""

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.bent_game import BentGame
from dpassay.reference.problems.domains import Ball, Box
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LinearLoss, LogisticLoss, SquaredLoss
from dpassay.reference.solvers.exact import Exact, closed_form
from tests.reference.games import box_game, boxes

RADIUS = 2.0


def losses():
    rng = np.random.default_rng(8)
    x, y = breast_cancer()
    x, y = x[:80], y[:80]
    game = box_game(rng, 30, 3, 2)
    ranking = AUCLoss(x, y, 0.6, RADIUS, 1.5)
    ball = Convex(LinearLoss(x, 0.7)).domain_x
    return {
        "linear": (LinearLoss(x, 0.7), ball, ball),
        "squared": (SquaredLoss(x, y, RADIUS), ranking.domains[0], ball),
        "logistic": (LogisticLoss(x, y), ranking.domains[0], ball),
        "game": (game, *boxes(game)),
        "auc": (ranking, *ranking.domains),
        "bent": (BentGame(x[:, :2], 0.8, 0.5, 0.3), Ball(3.0), Box(0.0, np.inf, 1)),
    }


LOSSES = losses()


def random_point(rng, loss, domain_x, domain_y):
    z = rng.normal(size=loss.d + loss.d_y) * rng.choice([0.3, 3.0])
    return np.concatenate([domain_x.project(z[: loss.d]), domain_y.project(z[loss.d :])])


@pytest.mark.parametrize("name", LOSSES)
def test_operator_is_the_gradient_of_the_values(name):
    loss, domain_x, domain_y = LOSSES[name]
    rng = np.random.default_rng(1)
    z = random_point(rng, loss, domain_x, domain_y)
    indices = np.arange(loss.n)
    step = 1e-6
    numeric = np.stack(
        [loss.values(z + step * e, indices) - loss.values(z - step * e, indices) for e in np.eye(len(z))],
        axis=1,
    )
    numeric /= 2 * step
    numeric[:, loss.d :] *= -1
    assert loss.rows(z, indices) == pytest.approx(numeric, abs=1e-7)
    assert loss.mean_operator(z) == pytest.approx(loss.rows(z, indices).mean(axis=0), abs=1e-12)
    assert loss.subset(indices[5:9]).rows(z, np.arange(4)) == pytest.approx(loss.rows(z, indices[5:9]))


@pytest.mark.parametrize("name", [name for name in LOSSES if name != "bent"])  # it jumps
def test_constants_bound_every_record_on_the_domain(name):
    """200 random pairs of points: Lipschitz, smooth and monotone constants hold for every record (seed 2)."""
    loss, domain_x, domain_y = LOSSES[name]
    rng = np.random.default_rng(2)
    indices = np.arange(loss.n)
    steepest = sharpest = 0.0
    for _ in range(200):
        u, v = (random_point(rng, loss, domain_x, domain_y) for _ in range(2))
        at_u, at_v = loss.rows(u, indices), loss.rows(v, indices)
        steepest = max(steepest, float(np.linalg.norm(at_u, axis=1).max()))
        gap = float(np.linalg.norm(u - v))
        sharpest = max(sharpest, float(np.linalg.norm(at_u - at_v, axis=1).max()) / gap if gap else 0.0)
        dual_gap = float(np.sum((u - v)[loss.d :] ** 2))
        monotone = (at_u - at_v) @ (u - v)
        assert monotone.min() >= loss.strong_concavity * dual_gap - 1e-9
    assert steepest <= loss.lipschitz * (1 + 1e-9)
    assert sharpest <= loss.smoothness * (1 + 1e-9)
    assert steepest >= 0.15 * loss.lipschitz  # the constants are not far off either
    assert sharpest >= 0.15 * loss.smoothness


@pytest.mark.parametrize("name", ["squared", "game", "auc"])
def test_closed_form_is_a_zero_of_the_operator(name):
    loss, domain_x, domain_y = LOSSES[name]
    problem = FiniteSum(loss, Regulariser(3.0, 3.0 if loss.d_y else 0.0), domain_x, domain_y)
    z = closed_form(problem)
    assert problem.operator(z) == pytest.approx(np.zeros(len(z)), abs=1e-12)


@pytest.mark.parametrize("name", ["game", "auc"])
def test_a_saddle_point_has_no_better_reply(name):
    loss, domain_x, domain_y = LOSSES[name]
    problem = FiniteSum(loss, Regulariser(0.1, 0.05), domain_x, domain_y)
    z = Exact()(problem, 1e-9, np.random.default_rng(0)).point
    rng = np.random.default_rng(3)
    for _ in range(200):
        other = random_point(rng, loss, domain_x, domain_y)
        moved_x = np.concatenate([other[: loss.d], z[loss.d :]])
        moved_y = np.concatenate([z[: loss.d], other[loss.d :]])
        assert problem.value(moved_y) - 1e-9 <= problem.value(z) <= problem.value(moved_x) + 1e-9


GOOD = np.eye(3)
SIGNS = np.array([1.0, -1.0, 1.0])
NAN = np.array([[1.0, 0, 0], [0, np.nan, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    ("make", "field"),
    [
        (lambda: LogisticLoss(NAN, SIGNS), r"features\[1\]"),
        (lambda: LogisticLoss(2 * GOOD, SIGNS), r"features\[0\]"),
        (lambda: LogisticLoss(GOOD, np.array([1.0, 0.0, 1.0])), r"labels\[1\]"),
        (lambda: LogisticLoss(GOOD, SIGNS[:2]), "labels.shape"),
        (lambda: LogisticLoss(GOOD[:0], SIGNS), "features.shape"),
        (lambda: SquaredLoss(GOOD, np.array([0.0, np.nan, 0.0]), 1.0), r"targets\[1\]"),
        (lambda: LinearLoss(NAN), r"records\[1\]"),
        (lambda: AUCLoss(NAN, SIGNS, 0.5, 1.0, 1.0), r"features\[1\]"),
        (lambda: AUCLoss(GOOD, 2 * SIGNS, 0.5, 1.0, 1.0), r"labels\[0\]"),
        (lambda: AUCLoss(GOOD, SIGNS, np.nan, 1.0, 1.0), "positive_share"),
        (lambda: BilinearLoss(np.full((2, 1, 1), np.nan), np.ones((2, 2)), 1.0, 1.0), r"matrices\[0\]"),
        (lambda: BilinearLoss(np.ones((2, 1, 1)), np.ones((2, 2)), 1.0, 1.0, 0.5), "matrices"),
        (lambda: BilinearLoss(np.ones((2, 1, 1)), np.ones((2, 2)), 1.0, 1.0, 1.0, 1.0), r"linear\[0\]"),
    ],
)
def test_records_that_break_the_constants_are_refused_by_name(make, field):
    with pytest.raises(BadInput, match=field):
        make()
