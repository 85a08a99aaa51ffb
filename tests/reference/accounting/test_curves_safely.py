"""Curves of single releases against 120 digits: never below the truth, and hardly above it.

Rates from 1e-9 to 1, mu from 1e-6 to 100, epsilon to 200 of either sign, delta down to 1e-300.
"""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.curves import curve, end_of, laplace_delta, response_delta
from dpassay.reference.accounting.gdp import gdp_deltas
from dpassay.reference.accounting.parts import Part, mu_of
from dpassay.reference.accounting.sampled import sampled_curve
from dpassay.reference.errors import BadInput

rates = st.floats(-9, 0).map(lambda power: 10.0**power)
mus = st.floats(-6, 2).map(lambda power: 10.0**power)
epsilons = st.floats(-9, 2.3).map(lambda power: 10.0**power) | st.just(0.0)
places = st.floats(-3, 12)  # along a curve: how many deviations epsilon is from the middle


def phi(z):
    return mpmath.erfc(-z / mpmath.sqrt(2)) / 2


def stick(epsilon, up, down, q):
    """``(1-q) N(0) + q N(up)`` against ``(1-q) N(0) + q N(down)``, up > down: P - e^eps P' beyond where they are equal.

    The loss increases; the cut is found by bisection.
    """
    with mpmath.workdps(70):
        e, q, up, down = (mpmath.mpf(one) for one in (epsilon, q, up, down))

        def log_of(x, move):
            return mpmath.log(1 - q + q * mpmath.exp(move * x - move**2 / 2))

        low, high = mpmath.mpf(-400), mpmath.mpf(400)
        for _ in range(240):
            middle = (low + high) / 2
            if log_of(middle, up) - log_of(middle, down) < e:
                low = middle
            else:
                high = middle

        def mass(move):
            return (1 - q) * phi(-low) + q * phi(move - low)

        return max(mpmath.mpf(0), mass(up) - mpmath.exp(e) * mass(down))


def against_null(epsilon, q, mu, backward):
    """The cut in closed form."""
    with mpmath.workdps(120):
        a, q, mu = mpmath.exp(mpmath.mpf(epsilon)), mpmath.mpf(q), mpmath.mpf(mu)
        level = (a - 1 + q) / q if not backward else (1 / a - 1 + q) / q
        if level <= 0:
            return max(mpmath.mpf(0), 1 - a) if backward else 1 - a
        cut = mpmath.log(level) / mu + mu / 2
        if backward:  # N(0) where the mixture is small
            return max(mpmath.mpf(0), phi(cut) - a * ((1 - q) * phi(cut) + q * phi(cut - mu)))
        return max(mpmath.mpf(0), (1 - q) * phi(-cut) + q * phi(mu - cut) - a * phi(-cut))


def fair(found, truth, relative=1e-9, absolute=1e-15):
    """Not below, and hardly above."""
    return truth <= found <= truth * (1 + relative) + mpmath.mpf(absolute)


@settings(max_examples=60, deadline=None)
@given(epsilons, mus)
def test_many_gaussian_deltas_are_rounded_up(epsilon, mu):
    found = float(gdp_deltas(np.array([epsilon]), mu)[0])
    assert fair(found, against_null(epsilon, 1.0, mu, False), 1e-10, 1e-300 if epsilon > mu * mu / 2 else 1e-13)


def sampled_delta(epsilon, q, mu, sampling="without-replacement", relation="replace-one"):
    return float(sampled_curve(np.array([epsilon]), q, mu, sampling, relation)[0])


@settings(max_examples=120, deadline=None)
@given(rates, mus, epsilons)
@example(0.1, 0.8, 0.0)
@example(1e-9, 100.0, 200.0)
def test_fixed_size_batches_are_rounded_up(q, mu, epsilon):
    found = sampled_delta(epsilon, q, mu)
    assert fair(found, max(against_null(epsilon, q, mu, way) for way in (False, True)))


@settings(max_examples=80, deadline=None)
@given(rates, mus, places)
def test_tails_of_sampled_releases_keep_their_digits(q, mu, deviations):
    """Where delta goes from q to 1e-300; it was rounded to the nearest number, and to zero below 1e-16."""
    inner = max(1e-6, mu * mu / 2 + 3 * deviations * mu)
    epsilon = math.log1p(q * math.expm1(min(inner, 600.0)))
    found, truth = sampled_delta(epsilon, q, mu), against_null(epsilon, q, mu, False)
    assert truth <= found
    # the grid of floats of epsilon itself moves delta by so much
    assert found <= truth * (1 + 1e-9 + 1e-14 * inner / mu * max(1.0, 3 * deviations) / q) + mpmath.mpf(1e-300) or (
        found <= against_null(epsilon, q, mu, True) * (1 + 1e-9)
    )


def test_a_record_that_cannot_be_missed_shows_whenever_it_is_in_the_batch():
    """The two laws lie 1,000 standard deviations apart: delta is the sampling rate."""
    for epsilon in (0.0, 1.0, 30.0):  # what is lost grows as mu^2
        assert sampled_delta(epsilon, 0.1, 1000.0, "poisson") == pytest.approx(0.1, rel=1e-8)


@settings(max_examples=10, deadline=None)
@given(rates, mus, epsilons)
@example(1e-9, 1e-3, 1e-13)
def test_poisson_batches_are_rounded_up(q, mu, epsilon):
    with mpmath.workdps(70):
        truth = stick(epsilon, mu / 2, -mu / 2, q)
    assert fair(sampled_delta(epsilon, q, mu, "poisson"), truth, 1e-9, 1e-11)
    added = against_null(epsilon, q, mu / 2, False)  # from 0 up the larger of the two directions
    assert fair(sampled_delta(epsilon, q, mu, "poisson", "add-remove"), added)


@settings(max_examples=60)
@given(epsilons, st.floats(-9, 2.8).map(lambda power: 10.0**power))
def test_pure_and_laplace_curves_are_rounded_up(epsilon, size):
    with mpmath.workdps(120):
        e, s = mpmath.mpf(epsilon), mpmath.mpf(size)
        pure = max(mpmath.mpf(0), (mpmath.exp(s) - mpmath.exp(e)) / (1 + mpmath.exp(s)))
        laplace = max(mpmath.mpf(0), 1 - mpmath.exp((e - s) / 2))
    assert fair(float(response_delta(np.array([epsilon]), size)[0]), pure, 1e-14, 0)
    assert fair(float(laplace_delta(np.array([epsilon]), size)[0]), laplace, 1e-14, 0)


@settings(max_examples=100)
@given(rates.filter(lambda rate: rate < 1), st.floats(-12, 2.8).map(lambda power: 10.0**power))
@example(1e-9, 1e-6)
def test_a_pure_epsilon_amplified_is_rounded_up(q, size):
    """As a difference of logarithms it lost all digits of the last example: 1e-15."""
    with mpmath.workdps(60):
        truth = mpmath.log1p(mpmath.mpf(q) * mpmath.expm1(mpmath.mpf(size)))
    assert fair(Part("pure", size, q).pure_epsilon, truth, 1e-11, 0)


@given(st.lists(st.tuples(mus, st.integers(1, 10**7)), min_size=1, max_size=5))
def test_a_mu_of_many_parts_is_rounded_up(sizes):
    with mpmath.workdps(60):
        truth = mpmath.sqrt(mpmath.fsum(count * mpmath.mpf(mu) ** 2 for mu, count in sizes))
    assert fair(mu_of((Part("gaussian", mu), count) for mu, count in sizes), truth, 1e-14, 0)


@pytest.mark.parametrize("relation", ["add-remove", "replace-one"])
def test_a_grid_ends_where_neither_direction_has_more(relation):
    """Under add-remove the direction of the absent record ends at log(1 / (1 - rate)), long before the other."""
    part = Part("sampled", 1.0, 0.3, "poisson")
    for least in (1e-9, 1e-30):
        end = end_of(part, relation, least)
        for backward in (False, True):
            assert curve(part, relation, np.array([end]), backward)[0] <= least
        assert max(curve(part, relation, np.array([0.98 * end]), way)[0] for way in (False, True)) > least


def test_a_curve_is_zero_from_the_largest_loss_on():
    """Above-threshold has a curve of its own only where its queries have a share; a pure part never."""
    part = Part("above-threshold", 1.0, share=0.5, queries=3)
    at = np.array([0.0, 0.5, 0.999, 1.0, 2.0])
    found, pure = (curve(one, "replace-one", at) for one in (part, Part("pure", 1.0)))
    assert found[4] == pure[4] == 0 and (found[:3] > 0).all() and (found <= pure).all() and found[1] < 0.99 * pure[1]
    assert pure[1] == pytest.approx((math.e - math.exp(0.5)) / (1 + math.e), rel=1e-9)
    seldom = Part("pure", 1.0, 0.1)
    assert curve(seldom, "replace-one", at) == pytest.approx(response_delta(at, seldom.pure_epsilon), rel=1e-12)
    assert seldom.pure_epsilon < 0.2


@settings(max_examples=60, deadline=None)
@given(rates, mus, epsilons)
@example(1.0, 1.0, 0.5)
@example(0.3, 1.0, 0.2)
@example(0.01, 3.0, 1e-3)
@example(0.5, 2.0, 5.0)
def test_each_direction_of_poisson_batches_by_itself(q, mu, epsilon):
    """With the record against without it, and the other way round, which ends at log(1 / (1 - q))."""
    for backward in (False, True):
        found = sampled_curve(np.array([epsilon]), q, mu, "poisson", "add-remove", backward)[0]
        assert fair(float(found), against_null(epsilon, q, mu / 2, backward))
    assert sampled_curve(np.array([epsilon]), q, mu, "without-replacement", "replace-one")[0] == max(
        sampled_curve(np.array([epsilon]), q, 2 * mu, "poisson", "add-remove", way)[0] for way in (False, True)
    )


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_sampled_release_that_nothing_bounds_costs_more_than_any_claim():
    assert Account(((Part("sampled", 1e120, 0.05, "poisson"), 80),)).epsilon(1e-5) > 1e200


def test_what_a_sampled_release_may_not_be():
    with pytest.raises(BadInput, match="relation = 'add-remove': fixed-size batches have no add-remove neighbours"):
        sampled_delta(1.0, 0.1, 1.0, "without-replacement", "add-remove")
