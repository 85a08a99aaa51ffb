"""Problems of the two second-order papers: derivatives against finite differences, constants by sampling."""

import numpy as np
import pytest
from scipy.optimize import approx_fprime, minimize

from dpassay.reference.problems.matrix_sensing import initial_point, make_matrix_sensing
from dpassay.reference.problems.saddles import cosine_saddle

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
