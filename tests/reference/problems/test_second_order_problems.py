"""Problems of the two second-order papers: derivatives against finite differences, constants by sampling."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.matrix_sensing import initial_point, make_matrix_sensing
from dpassay.reference.problems.saddles import cosine_saddle
from dpassay.reference.problems.waves import WaveRisk

STEP = 1e-6  # central differences: error step^2 + eps/step, about 1e-9 for functions of size one
TOLERANCE = 2e-6


def jacobian(function, point):
    columns = []
    for j in range(point.size):
        shift = np.zeros_like(point)
        shift[j] = STEP
        columns.append((function(point + shift) - function(point - shift)) / (2 * STEP))
    return np.stack(columns, axis=-1)


@pytest.fixture(scope="module")
def sensing():
    return make_matrix_sensing(np.random.default_rng(0), rows=4, columns=5, rank=2, samples=12, signal_norm=6.0)


def saddle_value(problem, x, y):
    """f(x, y)."""
    return float(np.mean(y * problem.residuals(x) - 0.5 * y**2))


def test_matrix_sensing_value_function_is_the_inner_maximum(sensing):
    rng = np.random.default_rng(1)
    x, _ = initial_point(sensing, rng, scale=1.0)
    best = sensing.best_response(x)
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
    np.testing.assert_allclose(sensing.value_gradient(x), approx_fprime(x, sensing.value, 1e-7), atol=1e-4)
    np.testing.assert_allclose(sensing.value_hessian(x), jacobian(sensing.value_gradient, x), atol=TOLERANCE)
    np.testing.assert_allclose(
        sensing.value_gradients(x, np.arange(12)).mean(axis=0), sensing.value_gradient(x), atol=1e-12
    )


def test_sampled_landscape_keeps_its_mean_and_differs_by_record():
    problem = cosine_saddle((1.0, 0.5, -0.3), 50, np.random.default_rng(7))
    x, everyone = np.random.default_rng(8).standard_normal(3), np.arange(50)
    np.testing.assert_allclose(problem.gradient(x), approx_fprime(x, problem.value, 1e-7), atol=1e-5)
    np.testing.assert_allclose(problem.hessian(x), jacobian(problem.gradient, x), atol=TOLERANCE)
    np.testing.assert_allclose(problem.gradients(x, everyone).mean(axis=0), problem.gradient(x), atol=1e-12)
    np.testing.assert_allclose(problem.hessians(x, everyone).mean(axis=0), problem.hessian(x), atol=1e-12)
    assert np.ptp(problem.gradients(x, everyone), axis=0).max() > 0.1


# The worst-case risk: derivatives, bounds that hold everywhere, and sensitivities that one pair attains at once.
@pytest.fixture(params=[{}, {"well": 50.0, "well_frequency": 0.3}], ids=["default", "narrow well"])
def risk(request):
    return WaveRisk(np.array([1.0, -1.0, -1.0, 1.0, -1.0]), 6, **request.param)


def test_derivatives_agree_with_central_differences(risk):
    """Truncation h^2 K and rounding of values near K |w|^2: relative to K."""
    rng, h = np.random.default_rng(1), 1e-4
    for _ in range(10):
        w, v = rng.normal(size=(2, 6))
        scale = 1e-6 * risk.well
        slope = (risk.value(w + h * v) - risk.value(w - h * v)) / (2 * h)
        assert slope == pytest.approx(risk.gradient(w) @ v, abs=scale)
        bend = (risk.gradient(w + h * v) - risk.gradient(w - h * v)) / (2 * h)
        assert bend == pytest.approx(risk.hessian(w) @ v, abs=scale)


def test_a_mean_over_a_batch_is_the_mean_of_its_signs(risk):
    w, rows = np.linspace(-1, 1, 6), np.array([0, 1, 2])
    for name in ("value", "gradient", "hessian"):
        parts = [getattr(risk, name)(w, np.array([i])) for i in rows]
        assert getattr(risk, name)(w, rows) == pytest.approx(np.mean(parts, axis=0), rel=1e-12)


def test_constants_bound_every_record_everywhere(risk):
    """300 points, near and far (the waves' periods are 6 and 600): no loss is negative, no bound is passed."""
    rng, k = np.random.default_rng(2), risk.constants(radius=3000.0)
    for _ in range(300):
        w = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 3)
        u = w + 1e-3 * rng.normal(size=6)
        for i in (np.array([0]), np.array([1])):
            a, b = risk.hessian(w, i), risk.hessian(u, i)
            assert 0 <= risk.value(w, i) <= k.value
            assert np.linalg.norm(risk.gradient(w, i)) <= k.gradient
            assert np.linalg.norm(a, 2) <= k.hessian * (1 + 1e-12)
            # 1e-9: rounding of entries near K, divided by the step
            assert np.linalg.norm(a - b, 2) <= k.hessian_lipschitz * np.linalg.norm(u - w) + 1e-9 * k.hessian


def test_one_pair_attains_all_three_sensitivities_at_once(risk):
    other, rng = risk.replace(0, -1.0), np.random.default_rng(3)
    w = np.concatenate([[0.0, 0.0], rng.normal(size=4)])
    assert abs(risk.value(w) - other.value(w)) == pytest.approx(risk.value_sensitivity(w), rel=1e-9)
    assert np.linalg.norm(risk.gradient(w) - other.gradient(w)) >= 0.99 * risk.gradient_sensitivity()
    assert np.linalg.norm(risk.hessian(w) - other.hessian(w)) >= 0.99 * risk.hessian_sensitivity()
    for _ in range(300):
        w = rng.normal(size=6) * 10.0 ** rng.uniform(-1, 3)
        assert abs(risk.value(w) - other.value(w)) <= risk.value_sensitivity(w) * (1 + 1e-9) + 1e-12 * risk.value(w)
        assert np.linalg.norm(risk.gradient(w) - other.gradient(w)) <= risk.gradient_sensitivity() * (1 + 1e-6)
        assert np.linalg.norm(risk.hessian(w) - other.hessian(w)) <= risk.hessian_sensitivity() * (1 + 1e-9)
        assert max(risk.value(w), other.value(w)) <= risk.value_bound(w) * (1 + 1e-12)


@pytest.mark.parametrize(("signs", "d", "field"), [(np.array([0.0, 1.0]), 3, "signs"), (np.ones(3), 1, "d")])
def test_bad_records_are_named(signs, d, field):
    with pytest.raises(BadInput) as caught:
        WaveRisk(signs, d)
    assert caught.value.field == field
