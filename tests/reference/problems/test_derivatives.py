"""Problems: derivatives by differences, constants and sensitivities by a search, closed forms, refusals."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import erm, real_data
from dpassay.reference.problems.auc import AUCLoss
from dpassay.reference.problems.bent_game import BentGame
from dpassay.reference.problems.domains import Ball, Box
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Regulariser
from dpassay.reference.problems.margin_losses import LOSSES
from dpassay.reference.problems.matrix_sensing import initial_point, make_matrix_sensing
from dpassay.reference.problems.real_data import breast_cancer
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.saddles import cosine_saddle
from dpassay.reference.problems.strongly_convex import LinearLoss, LogisticLoss, SquaredLoss
from dpassay.reference.problems.waves import WaveRisk
from dpassay.reference.solvers.exact import closed_form
from tests.reference.problems.made import box_game, boxes


def of_loss(name):
    rng = np.random.default_rng(3)
    x = real_data.into_unit_ball(rng.normal(size=(40, 5)))
    return erm.ErmProblem(x, rng.choice([-1.0, 1.0], 40), LOSSES[name])


WAVES = [WaveRisk(np.array([1.0, -1, -1, 1, -1]), 6, **one) for one in ({}, {"well": 50.0, "well_frequency": 0.3})]
PROBLEMS = [of_loss(name) for name in sorted(LOSSES)]


@pytest.fixture(params=PROBLEMS, ids=sorted(LOSSES))
def problem(request):
    return request.param


@pytest.fixture(params=WAVES, ids=["default", "narrow well"])
def waves(request):
    return request.param


EVERY = pytest.mark.parametrize("risk", [*PROBLEMS, *WAVES], ids=[*sorted(LOSSES), "waves", "narrow waves"])


@EVERY
def test_derivatives_agree_with_central_differences(risk):
    """Truncation h^2 and rounding 1e-16 / h, in units of the values, which are K |w|^2 for waves."""
    rng, h, scale = np.random.default_rng(4), 1e-4, 1e-6 * getattr(risk, "well", 0.02)
    for _ in range(10):
        w, v = rng.normal(size=(2, risk.d))
        slope = (risk.value(w + h * v) - risk.value(w - h * v)) / (2 * h)
        assert slope == pytest.approx(risk.gradient(w) @ v, abs=scale)
        bend = (risk.gradient(w + h * v) - risk.gradient(w - h * v)) / (2 * h)
        assert bend == pytest.approx(risk.hessian(w) @ v, abs=scale)


@EVERY
def test_a_mean_over_a_batch_is_the_mean_of_its_records(risk):
    w, rows = np.linspace(-1, 1, risk.d), np.array([3, 3, 0, 1])
    for name in ("value", "gradient", "hessian"):
        parts = [getattr(risk, name)(w, np.array([i])) for i in rows]
        assert getattr(risk, name)(w, rows) == pytest.approx(np.mean(parts, axis=0), rel=1e-12, abs=1e-15)


def test_blocks_do_not_matter(problem, monkeypatch):
    whole = problem.hessian(w := np.linspace(-1, 1, 5))
    monkeypatch.setattr(erm, "BLOCK_ROWS", 7)
    assert problem.hessian(w) == pytest.approx(whole, abs=1e-15) and np.array_equal(whole, whole.T)
    assert problem.gradient(w) == pytest.approx(problem.gradients(w).mean(axis=0), abs=1e-15)


@EVERY
def test_constants_bound_every_record_and_are_nearly_reached(risk):
    """400 points: none above a constant, half of each is reached, no loss is negative.

    In a ball of radius 4; waves near and far (their periods are 6 and 600).
    """
    rng, waves = np.random.default_rng(5), isinstance(risk, WaveRisk)
    k, tops = risk.constants(radius=3000.0 if waves else 4.0), np.zeros(4)
    for _ in range(400):
        w = rng.normal(size=risk.d)
        w *= 10.0 ** rng.uniform(-1, 3) if waves else 4 * rng.uniform() ** 0.2 / np.linalg.norm(w)
        u, row = w + 1e-3 * rng.normal(size=risk.d), rng.integers(2 if waves else risk.n, size=1)
        a, b = risk.hessian(w, row), risk.hessian(u, row)
        third = np.linalg.norm(a - b, 2) / np.linalg.norm(u - w)
        found = [risk.value(w, row), np.linalg.norm(risk.gradient(w, row)), np.linalg.norm(a, 2), third]
        assert found[0] >= 0
        tops = np.maximum(tops, found)
    bounds = np.array([k.value, k.gradient, k.hessian, k.hessian_lipschitz])
    rounding = 1e-6 * k.hessian * np.array([0, 0, 0, 1])  # of entries near K, divided by the step
    assert (tops <= bounds * (1 + 1e-9) + rounding).all()
    assert waves or (tops >= 0.5 * bounds).all(), (tops, bounds)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_link_and_regulariser_bounds_are_the_suprema(name):
    loss = LOSSES[name]
    m = np.linspace(-40, 40, 800_001)
    third = np.gradient(loss.link.curvature(m), m)
    pairs = [(loss.link.slope(m), loss.link.slope_bound), (loss.link.curvature(m), loss.link.curvature_bound)]
    for curve, bound in [*pairs, (third, loss.link.third_bound)]:
        assert np.abs(curve).max() == pytest.approx(bound, rel=1e-6)  # grid of 1e-4
    r, t = loss.regulariser, np.linspace(-3, 3, 600_001)
    jerk = np.gradient(r.curvature(t), t)
    found = [np.abs(c).max() for c in (r.value(t), r.slope(t), r.curvature(t), jerk)]
    bounds = r.bounds(3.0)
    if r.name == "saturating":
        found[0] = r.value(np.array([1e9]))[0]
    assert found == pytest.approx(bounds, rel=1e-6, abs=1e-6)


def moves(risk, other, w):
    """How far value, gradient and Hessian move between neighbours, over what is declared."""
    declared = risk.value_sensitivity(w), risk.gradient_sensitivity(), risk.hessian_sensitivity()
    apart = (np.linalg.norm(getattr(risk, one)(w) - getattr(other, one)(w)) for one in ("value", "gradient", "hessian"))
    return np.array([*apart]) / declared


def test_sensitivities_hold_for_replaced_records_and_are_reached(problem):
    """Replace-one over 300 random pairs: never above; the value sensitivity is attained by aligned opposite records."""
    rng = np.random.default_rng(6)
    w = rng.normal(size=5)
    for _ in range(300):
        x = real_data.into_unit_ball(rng.normal(size=(1, 5)))[0]
        assert (moves(problem, problem.replace(int(rng.integers(40)), x, rng.choice([-1.0, 1.0])), w) <= 1 + 1e-9).all()
    aligned = w / np.linalg.norm(w)
    one, two = problem.replace(0, aligned, 1.0), problem.replace(0, aligned, -1.0)
    assert moves(one, two, w)[0] == pytest.approx(1, rel=1e-9)


def test_one_pair_of_waves_attains_all_three_sensitivities_at_once(waves):
    other, rng = waves.replace(0, -1.0), np.random.default_rng(3)
    found = moves(waves, other, np.concatenate([[0.0, 0.0], rng.normal(size=4)]))
    assert found[0] == pytest.approx(1, rel=1e-9) and (found >= 0.99).all()
    for _ in range(300):
        w = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 3)
        rounding = np.array([1e-12 * waves.value(w) / waves.value_sensitivity(w) + 1e-9, 1e-6, 1e-9])
        assert (moves(waves, other, w) <= 1 + rounding).all()
        assert max(waves.value(w), other.value(w)) <= waves.value_bound(w) * (1 + 1e-12)


def test_printed_loss_b_rewards_misclassification():
    rng = np.random.default_rng(1)
    x = real_data.into_unit_ball(rng.normal(size=(1, 5)))
    problem = erm.ErmProblem(x, np.array([1.0]), LOSSES["loss_b_printed"])
    assert problem.value(x[0]) > problem.value(-x[0])


def jacobian(function, point):
    return approx_fprime(point, function, 1e-7)


TOLERANCE = 1e-5  # forward differences: half a step times the curvature


@pytest.fixture(scope="module")
def sensing():
    return make_matrix_sensing(np.random.default_rng(0), rows=4, columns=5, rank=2, samples=12, signal_norm=6.0)


def saddle_value(problem, x, y):
    """f(x, y)."""
    return float(np.mean(y * problem.residuals(x) - 0.5 * y**2))


def test_matrix_sensing_value_function_is_the_inner_maximum(sensing):
    rng = np.random.default_rng(1)
    x, _ = initial_point(sensing, rng, scale=1.0)
    best = sensing.residuals(x)  # y*(x)
    assert sensing.value(x) == pytest.approx(saddle_value(sensing, x, best), rel=1e-12)
    found = minimize(lambda y: -saddle_value(sensing, x, y), np.zeros(12))
    assert -found.fun == pytest.approx(sensing.value(x), rel=1e-6)
    # equation (4): the gradient of Phi is the x part at the maximiser
    everyone = np.arange(12)
    np.testing.assert_allclose(
        sensing.value_gradient(x), sensing.gradients_x(x, best, everyone).mean(axis=0), atol=1e-12
    )


def test_matrix_sensing_derivatives(sensing):
    rng = np.random.default_rng(2)
    x, y = rng.standard_normal(sensing.d), rng.standard_normal(12)
    chosen = np.array([3, 7])

    def each(x, y):
        return y[chosen] * sensing.residuals(x, chosen) - 0.5 * y[chosen] ** 2

    np.testing.assert_allclose(sensing.gradients_x(x, y, chosen), jacobian(lambda x: each(x, y), x), atol=TOLERANCE)
    np.testing.assert_allclose(sensing.gradients_y(x, y, chosen), jacobian(lambda y: each(x, y), y), atol=TOLERANCE)
    np.testing.assert_allclose(sensing.value_gradient(x), jacobian(sensing.value, x), atol=1e-4)
    np.testing.assert_allclose(sensing.value_hessian(x), jacobian(sensing.value_gradient, x), atol=TOLERANCE)
    np.testing.assert_allclose(
        sensing.value_gradients(x, np.arange(12)).mean(axis=0), sensing.value_gradient(x), atol=1e-12
    )


def test_sampled_landscape_keeps_its_mean_and_differs_by_record():
    problem = cosine_saddle((1.0, 0.5, -0.3), 50, np.random.default_rng(7))
    x, everyone = np.random.default_rng(8).standard_normal(3), np.arange(50)
    np.testing.assert_allclose(problem.gradient(x), jacobian(problem.value, x), atol=TOLERANCE)
    np.testing.assert_allclose(problem.hessian(x), jacobian(problem.gradient, x), atol=TOLERANCE)
    np.testing.assert_allclose(problem.gradients(x, everyone).mean(axis=0), problem.gradient(x), atol=1e-12)
    np.testing.assert_allclose(problem.hessians(x, everyone).mean(axis=0), problem.hessian(x), atol=1e-12)
    assert np.ptp(problem.gradients(x, everyone), axis=0).max() > 0.1


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


SADDLES = losses()


def random_point(rng, loss, domain_x, domain_y):
    z = rng.normal(size=loss.d + loss.d_y) * rng.choice([0.3, 3.0])
    return np.concatenate([domain_x.project(z[: loss.d]), domain_y.project(z[loss.d :])])


@pytest.mark.parametrize("name", SADDLES)
def test_operator_is_the_gradient_of_the_values(name):
    loss, domain_x, domain_y = SADDLES[name]
    rng = np.random.default_rng(1)
    z = random_point(rng, loss, domain_x, domain_y)
    indices = np.arange(loss.n)
    numeric = jacobian(lambda z: loss.values(z, indices), z)
    numeric[:, loss.d :] *= -1
    assert loss.rows(z, indices) == pytest.approx(numeric, abs=TOLERANCE)
    assert loss.mean_operator(z) == pytest.approx(loss.rows(z, indices).mean(axis=0), abs=1e-12)
    assert loss.subset(indices[5:9]).rows(z, np.arange(4)) == pytest.approx(loss.rows(z, indices[5:9]))


@pytest.mark.parametrize("name", [name for name in SADDLES if name != "bent"])  # it jumps
def test_constants_bound_every_record_on_the_domain(name):
    """200 random pairs of points: Lipschitz, smooth and monotone constants hold for every record (seed 2)."""
    loss, domain_x, domain_y = SADDLES[name]
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
    loss, domain_x, domain_y = SADDLES[name]
    problem = FiniteSum(loss, Regulariser(3.0, 3.0 if loss.d_y else 0.0), domain_x, domain_y)
    z = closed_form(problem)
    assert problem.operator(z) == pytest.approx(np.zeros(len(z)), abs=1e-12)


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
        (lambda: AUCLoss(NAN, SIGNS, 0.5, 1.0, 1.0), r"features\[1\]"),
        (lambda: AUCLoss(GOOD, 2 * SIGNS, 0.5, 1.0, 1.0), r"labels\[0\]"),
        (lambda: AUCLoss(GOOD, SIGNS, np.nan, 1.0, 1.0), "positive_share"),
        (lambda: BilinearLoss(np.ones((2, 1, 1)), np.ones((2, 2)), 1.0, 1.0, 1.0, 1.0), r"linear\[0\]"),
        (lambda: erm.ErmProblem(np.zeros((2, 2)), np.ones(3), LOSSES["loss_a"]), "features.shape"),
        (lambda: WaveRisk(np.array([0.0, 1.0]), 3), "signs"),
        (lambda: WaveRisk(np.ones(3), 1), "d"),
    ],
)
def test_records_that_break_the_constants_are_refused_by_name(make, field):
    """Others are inputs to refuse among the vectors."""
    with pytest.raises(BadInput, match=f"^{field} = "):
        make()
