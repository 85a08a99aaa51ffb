"""Losses A and B and the worst-case waves: derivatives by differences, constants and sensitivities by a search."""

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import erm, real_data
from dpassay.reference.problems.margin_losses import LOSSES
from dpassay.reference.problems.waves import WaveRisk


def of_loss(name):
    rng = np.random.default_rng(3)
    x = real_data.into_unit_ball(rng.normal(size=(40, 5)))
    return erm.ErmProblem(x, rng.choice([-1.0, 1.0], 40), LOSSES[name]())


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


def test_constants_bound_every_record_and_are_nearly_reached(problem):
    """Random search on a ball of radius 4 (400 points): never above a constant; the link's part reached to 1%."""
    rng = np.random.default_rng(5)
    k = problem.constants(radius=4.0)
    tops = np.zeros(4)
    for _ in range(400):
        w = rng.normal(size=5)
        w *= 4 * rng.uniform() ** 0.2 / np.linalg.norm(w)
        u = w + 1e-4 * rng.normal(size=5)
        step = np.linalg.norm(u - w)
        i = int(rng.integers(problem.n))
        a, b = problem.hessian(w, np.array([i])), problem.hessian(u, np.array([i]))
        row = np.array([i])
        tops = np.maximum(
            tops,
            [
                problem.values(w, row)[0],
                np.linalg.norm(problem.gradients(w, row)[0]),
                np.linalg.norm(a, 2),
                np.linalg.norm(a - b, 2) / step,
            ],
        )
    bounds = np.array([k.value, k.gradient, k.hessian, k.hessian_lipschitz])
    assert (tops <= bounds * (1 + 1e-9)).all()
    assert (tops >= 0.5 * bounds).all(), (tops, bounds)


@pytest.mark.parametrize("name", sorted(LOSSES))
def test_link_and_regulariser_bounds_are_the_suprema(name):
    loss = LOSSES[name]()
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


def test_assumption_2_needs_a_ball(problem):
    """No loss of the paper is bounded on R^d (logistic or ridge grows); ridge has no gradient bound either."""
    k = problem.constants()
    assert np.isinf(k.value)
    assert np.isinf(k.gradient) == (problem.loss.regulariser.name == "ridge")


def test_sensitivities_hold_for_replaced_records_and_are_reached(problem):
    """Replace-one over 300 random pairs: never above; the value sensitivity is attained by aligned opposite records."""
    rng = np.random.default_rng(6)
    w = rng.normal(size=5)
    for _ in range(300):
        x = real_data.into_unit_ball(rng.normal(size=(1, 5)))[0]
        other = problem.replace(int(rng.integers(40)), x, float(rng.choice([-1, 1])))
        assert abs(problem.value(w) - other.value(w)) <= problem.value_sensitivity(w) * (1 + 1e-9)
        assert np.linalg.norm(problem.gradient(w) - other.gradient(w)) <= problem.gradient_sensitivity()
        assert np.linalg.norm(problem.hessian(w) - other.hessian(w)) <= problem.hessian_sensitivity()
    aligned = w / np.linalg.norm(w)
    one, two = problem.replace(0, aligned, 1.0), problem.replace(0, aligned, -1.0)
    assert abs(one.value(w) - two.value(w)) == pytest.approx(problem.value_sensitivity(w), rel=1e-9)


def test_printed_loss_b_rewards_misclassification():
    rng = np.random.default_rng(1)
    x = real_data.into_unit_ball(rng.normal(size=(1, 5)))
    problem = erm.ErmProblem(x, np.array([1.0]), LOSSES["loss_b_printed"]())
    assert problem.value(x[0]) > problem.value(-x[0])


@pytest.mark.parametrize(
    ("features", "labels", "field"),
    [
        (np.full((2, 2), np.nan), np.ones(2), "features"),
        (np.full((2, 2), 1.0), np.ones(2), "features"),
        (np.zeros((2, 2)), np.array([0.0, 1.0]), "labels"),
        (np.zeros((2, 2)), np.ones(3), "features.shape"),
    ],
)
def test_bad_data_is_named(features, labels, field):
    with pytest.raises(BadInput) as caught:
        erm.ErmProblem(features, labels, LOSSES["loss_a"]())
    assert caught.value.field == field


# The waves: bounds that hold everywhere, and sensitivities that one pair attains at once.
def test_constants_bound_every_record_everywhere(waves):
    """300 points, near and far (the waves' periods are 6 and 600): no loss is negative, no bound is passed."""
    rng, k = np.random.default_rng(2), waves.constants(radius=3000.0)
    for _ in range(300):
        w = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 3)
        u = w + 1e-3 * rng.normal(size=6)
        for i in (np.array([0]), np.array([1])):
            a, b = waves.hessian(w, i), waves.hessian(u, i)
            assert 0 <= waves.value(w, i) <= k.value
            assert np.linalg.norm(waves.gradient(w, i)) <= k.gradient
            assert np.linalg.norm(a, 2) <= k.hessian * (1 + 1e-12)
            # 1e-9: rounding of entries near K, divided by the step
            assert np.linalg.norm(a - b, 2) <= k.hessian_lipschitz * np.linalg.norm(u - w) + 1e-9 * k.hessian


def test_one_pair_attains_all_three_sensitivities_at_once(waves):
    other, rng = waves.replace(0, -1.0), np.random.default_rng(3)
    w = np.concatenate([[0.0, 0.0], rng.normal(size=4)])
    assert abs(waves.value(w) - other.value(w)) == pytest.approx(waves.value_sensitivity(w), rel=1e-9)
    assert np.linalg.norm(waves.gradient(w) - other.gradient(w)) >= 0.99 * waves.gradient_sensitivity()
    assert np.linalg.norm(waves.hessian(w) - other.hessian(w)) >= 0.99 * waves.hessian_sensitivity()
    for _ in range(300):
        w = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 3)
        assert abs(waves.value(w) - other.value(w)) <= waves.value_sensitivity(w) * (1 + 1e-9) + 1e-12 * waves.value(w)
        assert np.linalg.norm(waves.gradient(w) - other.gradient(w)) <= waves.gradient_sensitivity() * (1 + 1e-6)
        assert np.linalg.norm(waves.hessian(w) - other.hessian(w)) <= waves.hessian_sensitivity() * (1 + 1e-9)
        assert max(waves.value(w), other.value(w)) <= waves.value_bound(w) * (1 + 1e-12)


@pytest.mark.parametrize(("signs", "d", "field"), [(np.array([0.0, 1.0]), 3, "signs"), (np.ones(3), 1, "d")])
def test_bad_signs_are_named(signs, d, field):
    with pytest.raises(BadInput) as caught:
        WaveRisk(signs, d)
    assert caught.value.field == field
