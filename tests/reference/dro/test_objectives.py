"""Gradients by finite differences, the dual against the worst-case reweighting solved independently."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import check_grad, minimize

from dpassay.reference.dro.divergences import DIVERGENCES, chi_square, cressie_read, kl, kl_cvar
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.errors import BadInput

GRADIENT_ERROR = 2e-6  # forward differences with step 1.5e-8: square root of the rounding unit times curvature


@pytest.mark.parametrize("case", DIVERGENCES, ids=lambda case: case.name)
def test_dual_gradients(small_loss, case):
    objective = DualObjective(small_loss, case, weight=2.0, dual_scale=1.7)
    x = np.random.default_rng(5).normal(size=objective.d) * 0.4

    def in_x(p):
        return objective.x_gradients(p, 0.4).mean(axis=0)

    assert check_grad(lambda p: objective.value(p, 0.4), in_x, x) < GRADIENT_ERROR * np.sqrt(len(x))
    step = 1e-5
    numeric = (objective.values(x, 0.4 + step) - objective.values(x, 0.4 - step)) / (2 * step)
    assert objective.eta_gradients(x, 0.4) == pytest.approx(numeric, abs=1e-7)


def test_per_sample_gradients_are_those_of_single_records(small_loss):
    x = np.random.default_rng(6).normal(size=small_loss.d)
    rows = small_loss.loss_gradients(x)
    for i in (0, 7, 13):

        def loss(p, i=i):
            return small_loss.losses(p, np.array([i]))[0]

        assert check_grad(loss, lambda p, i=i: rows[i], x) < GRADIENT_ERROR * np.sqrt(len(x))
        assert small_loss.loss_gradients(x, np.array([i]))[0] == pytest.approx(rows[i])


def test_compositional_gradients(small_loss):
    objective = CompositionalObjective(small_loss, radius=0.5)
    rng = np.random.default_rng(7)
    x, temperature = rng.normal(size=objective.d) * 0.4, 0.8

    def value(w):
        return objective.value(w[:-1], w[-1])

    def gradient(w):
        return np.append(*objective.gradient(w[:-1], w[-1]))

    assert check_grad(value, gradient, np.append(x, temperature)) < 4 * GRADIENT_ERROR

    def inner(w):
        return objective.inner_values(w[:-1], w[-1]).mean()

    def inner_gradient(w):
        return np.append(
            objective.inner_x_gradients(w[:-1], w[-1]).mean(axis=0),
            objective.inner_temperature_gradients(w[:-1], w[-1]).mean(),
        )

    assert check_grad(inner, inner_gradient, np.append(x, temperature)) < 2e-4  # exp(loss/0.8) is large


def robust_value(objective, x):
    """Psi(x) = inf over eta of L(x, eta)."""
    return objective.value(x, objective.best_eta(x))


@pytest.mark.parametrize("case", DIVERGENCES, ids=lambda case: case.name)
def test_robust_value_is_the_worst_case_reweighting(small_loss, case):
    """The dual value equals max over the simplex of sum p loss - weight D_psi(p, 1/n) (eq. (2)), solved by SLSQP."""
    weight = 1.5
    objective = DualObjective(small_loss, case, weight)
    x = np.random.default_rng(8).normal(size=objective.d)
    losses, n = small_loss.losses(x), small_loss.n

    def negative(p):
        return weight * np.mean(case.generator(np.maximum(n * p, 0.0))) - p @ losses

    top = min(1.0, case.generator_range[1] / n)
    solved = minimize(
        negative,
        np.full(n, 1 / n),
        method="SLSQP",
        bounds=[(0.0, top)] * n,
        options={"ftol": 1e-13, "maxiter": 500},
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1.0},
    )
    assert robust_value(objective, x) == pytest.approx(-solved.fun, abs=2e-6)


def test_dual_scale_changes_only_the_coordinate(small_loss):
    x = np.random.default_rng(9).normal(size=small_loss.d)
    plain, scaled = (DualObjective(small_loss, chi_square(), 1.0, scale) for scale in (1.0, 3.0))
    assert scaled.value(x, 0.2) == pytest.approx(plain.value(x, 0.6))
    assert robust_value(scaled, x) == pytest.approx(robust_value(plain, x))


def test_kl_dual_and_composition_agree(small_loss):
    """Minimising eq. (3) over eta with psi = KL gives lambda log mean exp(loss/lambda), eq. (5) with radius 0."""
    x = np.random.default_rng(10).normal(size=small_loss.d)
    dual, composed = DualObjective(small_loss, kl(), 0.7), CompositionalObjective(small_loss, radius=0.0)
    assert robust_value(dual, x) == pytest.approx(composed.value(x, 0.7), abs=1e-9)


def test_bad_weight():
    with pytest.raises(BadInput, match="weight = 0"):
        DualObjective(None, kl(), 0)


# Conjugates against their definition, the printed Table 1 against the conjugates.
CASES = [*DIVERGENCES, cressie_read(0.5), cressie_read(-1.0), cressie_read(2.5)]
ids = [case.name for case in CASES]


def one(function, value):
    return float(function(np.array([value]))[0])


@pytest.mark.parametrize("case", CASES, ids=ids)
@settings(max_examples=60)
@given(t=st.floats(1e-6, 30.0), u=st.floats(-6.0, 6.0))
def test_fenchel_young(case, t, u):
    """psi(t) + psi*(u) >= t u, with equality at t = psi*'(u)."""
    if u < case.conjugate_limit:
        tangent = one(case.conjugate_derivative, u)
        gap = one(case.generator, tangent) + one(case.conjugate, u) - tangent * u
        scale = 1.0 + abs(tangent * u) + abs(one(case.conjugate, u))
        assert abs(gap) <= 1e-9 * scale  # a dozen roundings of numbers of this size
        slack = one(case.generator, t) + one(case.conjugate, u) - t * u
        assert slack >= -1e-9 * (scale + abs(t * u))


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_conjugate_equals_numerical_supremum(case):
    grid = np.concatenate([np.linspace(0, 3, 30_001), np.geomspace(3, 400, 30_001)])
    grid = grid[grid <= case.generator_range[1]]
    grid = np.append(grid, case.generator_range[1]) if math.isfinite(case.generator_range[1]) else grid
    for u in np.linspace(-3.0, 0.9 * min(case.conjugate_limit, 2.0), 15):
        with np.errstate(divide="ignore"):
            best = np.max(grid * u - case.generator(grid))
        assert one(case.conjugate, u) == pytest.approx(best, abs=2e-6)  # grid spacing 1e-4, curvature about one


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_derivative_by_finite_differences(case):
    points = np.linspace(-2.0, 0.8 * min(case.conjugate_limit, 2.0), 41)
    step = 1e-6
    numeric = (case.conjugate(points + step) - case.conjugate(points - step)) / (2 * step)
    assert case.conjugate_derivative(points) == pytest.approx(numeric, abs=1e-4, rel=1e-4)


def test_printed_table_1():
    """Table 1: the Cressie-Read row holds for k > 1, the chi-square and CVaR rows do not; counterexamples."""
    assert one(cressie_read(3.0).printed_conjugate, 0.7) == pytest.approx(one(cressie_read(3.0).conjugate, 0.7))
    assert one(chi_square().conjugate, 1.0) == 1.5
    assert one(chi_square().printed_conjugate, 1.0) == 1.25
    assert one(kl_cvar(0.2).conjugate, 0.0) == 0.0
    assert one(kl_cvar(0.2).printed_conjugate, 0.0) == pytest.approx((1 + math.log(0.2)) / 0.2 - 1)  # -4.05
    assert one(cressie_read(-1.0).conjugate, 0.6) == math.inf
    assert one(cressie_read(-1.0).printed_conjugate, 0.6) == 1.0


def test_printed_chi_square_belongs_to_twice_the_generator_on_the_whole_line():
    """It is the conjugate of (t - 1)^2 over all t; over t >= 0 the conjugate stays at -1 below u = -2."""
    u = np.linspace(-2, 3, 11)
    assert chi_square().printed_conjugate(u) == pytest.approx(2 * chi_square().conjugate(u / 2))
    assert one(chi_square().printed_conjugate, -4.0) == 0.0
    assert 2 * one(chi_square().conjugate, -2.0) == -1.0


def test_no_conjugate_of_table_1_is_non_negative_everywhere():
    """Assumption 3 asks psi* >= 0 on its domain; psi*(0) = 0 with slope 1 makes it negative just below zero."""
    for case in CASES:
        assert one(case.conjugate, 0.0) == pytest.approx(0.0, abs=1e-12)
        assert one(case.conjugate, -0.1) < 0


@pytest.mark.parametrize("make, value", [(kl_cvar, 1.0), (kl_cvar, 0.0), (cressie_read, 1.0), (cressie_read, 0.0)])
def test_bad_parameters_are_named(make, value):
    with pytest.raises(BadInput, match=f"= {value}"):
        make(value)
