"""Losses A and B: derivatives against finite differences, constants against a search, blocks against the naive sum."""

import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.problems import erm, real_data
from dpassay.reference.problems.margin_losses import LOSSES


@pytest.fixture(params=sorted(LOSSES))
def problem(request):
    rng = np.random.default_rng(3)
    x = real_data.into_unit_ball(rng.normal(size=(40, 5)))
    return erm.ErmProblem(x, rng.choice([-1.0, 1.0], 40), LOSSES[request.param]())


def test_derivatives_agree_with_central_differences(problem):
    rng = np.random.default_rng(4)
    h = 1e-5  # truncation h^2 and rounding 1e-16 / h are both near 1e-10
    for _ in range(5):
        w, v = rng.normal(size=(2, 5))
        slope = (problem.value(w + h * v) - problem.value(w - h * v)) / (2 * h)
        assert slope == pytest.approx(problem.gradient(w) @ v, abs=1e-8)
        bend = (problem.gradient(w + h * v) - problem.gradient(w - h * v)) / (2 * h)
        assert bend == pytest.approx(problem.hessian(w) @ v, abs=1e-8)


def test_means_are_means_of_records_and_blocks_do_not_matter(problem, monkeypatch):
    w = np.linspace(-1, 1, 5)
    rows = np.array([3, 3, 7, 11])
    assert problem.value(w, rows) == pytest.approx(problem.values(w, rows).mean(), abs=1e-15)
    assert problem.gradient(w) == pytest.approx(problem.gradients(w).mean(axis=0), abs=1e-15)
    naive = np.mean([problem.hessian(w, np.array([i])) for i in range(problem.n)], axis=0)
    whole = problem.hessian(w)
    monkeypatch.setattr(erm, "BLOCK_ROWS", 7)
    assert problem.hessian(w) == pytest.approx(whole, abs=1e-15)
    assert whole == pytest.approx(naive, abs=1e-15)
    assert np.array_equal(whole, whole.T)


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
