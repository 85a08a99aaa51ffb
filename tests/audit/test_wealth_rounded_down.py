"""Wealth of the bettors against 60 digits: nothing is refuted that is not, however near; hardly anything is missed."""

from __future__ import annotations

import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit import bounds
from dpassay.audit.likelihood.curve import lower_bounds
from dpassay.audit.scores.thresholds import epsilon_from_counts
from dpassay.reference.accounting.calibrate import noise_factor, scaled
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.accounting.parts import Part, delta_of

BETS = np.array([0.0625, 0.5])


def wealth(x, m0):
    """The mixture's wealth, exactly."""
    with mpmath.workdps(60):
        parts = []
        for bet in map(mpmath.mpf, BETS):
            parts.append(mpmath.fprod(1 - bet + bet * mpmath.mpf(one) / mpmath.mpf(m0) for one in x))
        return mpmath.fsum(parts) / len(BETS)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 60), st.floats(-300, -0.2))
def test_a_mean_is_refuted_if_and_only_if_it_is(seed, n, power):
    """The level is put next to the exact wealth: above it by one part in 1e15, and below it by one in 1e8."""
    m0 = 10.0**power
    x = np.minimum(1.0, m0 * 3 * np.random.default_rng(seed).exponential(size=n))
    exact = wealth(x, m0)
    if not 1 + mpmath.mpf(1e-6) < exact < mpmath.mpf(1e300):
        return
    assert not bounds.betting_rejects(x, m0, float(1 / exact * (1 - mpmath.mpf(1e-15))), BETS)
    assert bounds.betting_rejects(x, m0, min(0.999999, float(1 / exact * (1 + mpmath.mpf(1e-8)))), BETS)


def test_without_the_margin_rounding_refutes():
    """Red: the level is above the exact wealth's inverse by less than a float shows; old sums refuted 40 % of these."""
    wrong = 0
    for seed in range(100):
        x = np.random.default_rng(seed).exponential(size=40) * 0.02
        exact = wealth(x, 0.01)
        if exact > 2:
            logs = bounds.betting_log_capital(x, 0.01, BETS)
            wrong += bool(logs >= -np.log(float(1 / exact * (1 - mpmath.mpf(1e-16)))))
    assert wrong > 10


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 12))
def test_a_curve_lies_below_what_betting_refutes(seed, log):
    """Bets of the curve are its own: the exact mixture at the bound."""
    from dpassay.audit.likelihood import curve

    samples = np.random.default_rng(seed).exponential(size=(1, 100)) ** 2 * 1e-6
    found = lower_bounds(samples, bounds.needed_log_wealth(math.exp(-log), 100))
    for row, bound in zip(samples, found, strict=True):
        if bound > 0:
            with mpmath.workdps(60):
                ratio = [mpmath.mpf(one) / mpmath.mpf(bound) for one in row]
                mixed = [mpmath.fprod(1 - mpmath.mpf(b) + mpmath.mpf(b) * r for r in ratio) for b in curve._BETS]
                assert mpmath.fsum(mixed) / len(mixed) >= mpmath.exp(mpmath.mpf(log))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.integers(1, 10**9), st.floats(0, 0.5), st.floats(-12, -0.5))
def test_an_epsilon_of_counts_is_no_more_than_its_limits_say(hits, n, delta, power):
    hits, alpha = min(hits, n), 10.0**power
    found = float(epsilon_from_counts(hits, n, n - hits, n, delta, alpha))
    low = float(bounds.clopper_pearson_lower(hits, n, 0.2 * alpha))
    high = float(bounds.clopper_pearson_upper(n - hits, n, 0.8 * alpha))
    with mpmath.workdps(60):
        truth = mpmath.log((mpmath.mpf(low) - mpmath.mpf(delta)) / mpmath.mpf(high)) if low > delta else mpmath.mpf(0)
        assert max(0, truth - mpmath.mpf(2e-15) * (1 + abs(truth))) <= found <= max(mpmath.mpf(0), truth)


def check_calibrated(kind, epsilon, delta, count):
    found = Account(((Part(kind, 1e-2, rate=1.0), count),))
    enough = scaled(found, noise_factor(found, epsilon, delta))
    (part, _), *_ = enough.common
    mu = part.size * math.sqrt(count)
    assert gdp_epsilon(mu, delta) <= epsilon
    assert delta_of(enough.common, "replace-one", epsilon) <= delta * (1 + 1e-6)
    assert gdp_epsilon(mu * 1.005, delta) > epsilon * (1 - 1e-3)


@pytest.mark.parametrize("case", [("gaussian", 200.0, 1e-300, 10**7), ("sampled", 1.0, 1e-300, 100)])
def test_calibrated_noise_meets_its_budget(case):
    """Gaussians in closed form, ten million of them, and on a grid."""
    check_calibrated(*case)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["gaussian", "sampled"])
@pytest.mark.parametrize("count", [1, 10**4, 10**6])
@pytest.mark.parametrize(("epsilon", "delta"), [(1e-3, 1e-12), (1.0, 1e-300), (200.0, 1e-5)])
def test_calibrated_noise_meets_every_budget(kind, epsilon, delta, count):
    check_calibrated(kind, epsilon, delta, count)
