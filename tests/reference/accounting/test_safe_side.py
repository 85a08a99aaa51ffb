"""Closed forms against 60 digits: no number is on the unsound side, and none is far on the other one.

epsilon to 200, delta to 1e-300, mu from 1e-6 to 100; and the points at which earlier versions were wrong.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference.accounting.gdp import gdp_delta, gdp_deltas, gdp_epsilon, gdp_mu, zcdp_rho
from dpassay.reference.accounting.parts import Part, composed, delta_of, epsilon_of
from dpassay.reference.accounting.renyi import renyi_delta, renyi_epsilon
from dpassay.reference.errors import BadInput

CLOSE = 1e-11  # relative; the roundings that are added up reach 6e-12
mus = st.floats(-6, 2).map(lambda power: 10.0**power)
epsilons = st.floats(-9, 2.3).map(lambda power: 10.0**power)
deltas = st.floats(-300, -0.001).map(lambda power: 10.0**power)


def exact(epsilon, mu):
    """delta(epsilon) of mu-GDP to 60 digits."""
    with mpmath.workdps(60):
        e, m = mpmath.mpf(epsilon), mpmath.mpf(mu)

        def phi(z):
            return mpmath.erfc(-z / mpmath.sqrt(2)) / 2

        return phi(m / 2 - e / m) - mpmath.exp(e) * phi(-m / 2 - e / m)


def near(value, truth, relative=CLOSE):
    return abs(mpmath.mpf(value) - truth) <= relative * abs(truth)


@settings(max_examples=100)
@given(epsilons | st.just(0.0), mus, st.floats(-6, 37))
def test_a_delta_is_rounded_up(epsilon, mu, deviations):
    """At an epsilon of either sign, and along the curve, where delta goes from one to its smallest number."""
    for one in (epsilon, -epsilon, max(0.0, mu * mu / 2 + mu * deviations)):
        found, truth = gdp_delta(one, mu), exact(one, mu)
        assert min(truth, 1) <= found <= 1 and (near(found, truth) or truth < 1e-300)


@settings(max_examples=100)
@given(mus, deltas)
def test_an_epsilon_is_rounded_up(mu, delta):
    found = gdp_epsilon(mu, delta)
    assert math.isfinite(found) and exact(found, mu) <= delta
    lower = found * (1 - 1e-9) - 1e-12 * mu
    assert lower <= 0 or exact(lower, mu) > delta


@settings(max_examples=100)
@given(epsilons, deltas)
def test_a_mu_is_rounded_down(epsilon, delta):
    found = gdp_mu(epsilon, delta)
    assert 0 < found < math.inf and exact(epsilon, found) <= delta
    assert exact(epsilon, found * (1 + 1e-9)) > delta


@settings(max_examples=100)
@given(epsilons, deltas)
def test_a_rho_is_rounded_down(epsilon, delta):
    with mpmath.workdps(60):
        log = -mpmath.log(delta)
        rho = (mpmath.sqrt(epsilon + log) - mpmath.sqrt(log)) ** 2
        assert zcdp_rho(epsilon, delta) <= rho and near(zcdp_rho(epsilon, delta), rho, 1e-14)


def test_many_releases_of_next_to_nothing_at_a_delta_of_next_to_nothing():
    """Composition by untilted transforms ends at 1e-15 or so. (As binomial sums: `test_compose.py`.)"""
    parts = ((Part("pure", 1e-6), 10_000),)
    assert gdp_epsilon(1e-4, 1e-300) * 0.98 < epsilon_of(parts, "replace-one", 1e-300) < 0.004
    both = (*parts, (Part("sampled", 0.5, 0.1), 3))
    assert math.isfinite(epsilon_of(both, "replace-one", 1e-300))
    assert delta_of(parts, "replace-one", 0.0100001) == 0.0


@pytest.mark.parametrize("kind", ["laplace", "pure", "sampled"])
@pytest.mark.parametrize(("size", "count"), [(0.5, 8), (0.1, 300), (2.0, 3)])
def test_renyi_divergences_bound_what_the_grid_finds(kind, size, count):
    """The grid is pessimistic by less than a hundredth here, the orders by up to a fifth."""
    parts, grid = ((Part(kind, size), count),), composed(((Part(kind, size), count),), "replace-one", 1e-20)[0]
    shown = renyi_epsilon(parts, 1e-5)
    assert 0.99 < shown / grid.epsilon(1e-5) < 1.25
    for epsilon in (0.0, shown / 2, shown):
        assert 0.99 * grid.delta(epsilon) < renyi_delta(parts, epsilon) <= 1.0


def test_one_order_by_hand():
    """Order 2 of randomised response at log 3: log(3/4 3 + 1/4 1/3); with a hundredth less it would not be a bound."""
    truth = math.log(0.75 * 3 + 0.25 / 3)
    delta = 1e-5
    at_two = truth + math.log(0.5) - math.log(2 * delta)
    assert renyi_epsilon(((Part("pure", math.log(3)), 1),), delta) <= at_two * (1 + 1e-8)
    laplace = math.log(2 / 3 * math.exp(1) + 1 / 3 * math.exp(-2))
    assert renyi_epsilon(((Part("laplace", 1.0), 1),), delta) <= (laplace + math.log(0.5) - math.log(2 * delta)) * 1.1


@pytest.mark.parametrize(("epsilon", "mu"), [(1e300, 1e-3), (1e200, 1.0), (50.0, 1e-200), (3000.0, 2.0)])
def test_beyond_what_a_float_can_hold_a_delta_is_next_to_nothing(epsilon, mu):
    assert gdp_delta(epsilon, mu) == 1e-320
    assert gdp_deltas(np.array([epsilon, 0.0]), mu)[0] == 1e-320


def test_nothing_released_and_everything():
    for epsilon, delta in ((0.0, 0.0), (2.0, 0.0), (-2.0, -math.expm1(-2.0)), (math.inf, 0.0), (-math.inf, 1.0)):
        assert gdp_delta(epsilon, 0.0) == delta
    assert gdp_delta(-math.inf, 0.0) == gdp_delta(-800.0, math.inf) == gdp_delta(5.0, math.inf) == 1.0
    assert gdp_delta(math.inf, math.inf) == 0.0
    assert gdp_epsilon(math.inf, 0.5) == math.inf and gdp_epsilon(0.0, 0.5) == 0.0
    assert gdp_epsilon(0.1, 0.9) == 0.0 < gdp_epsilon(0.1, 0.01)
    for delta in (0.0, 1.0, -0.1, 1.1):
        with pytest.raises(BadInput, match="delta"):
            gdp_epsilon(1.0, delta)
    for refused in (gdp_epsilon, lambda mu, epsilon: gdp_delta(epsilon, mu)):
        with pytest.raises(BadInput, match="mu"):
            refused(-0.1, 0.5)
