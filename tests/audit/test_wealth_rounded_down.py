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
