"""Bounds of a rate against 60 digits, and what rests on them: nothing is refuted that is not."""

import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from dpassay.audit import bounds
from dpassay.audit.likelihood import curve
from dpassay.reference.accounting.calibrate import noise_factor, scaled
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.accounting.parts import Part, delta_of


def test_what_rounding_may_add_to_the_wealth_is_asked_for_beside_the_level():
    """A billionth, and a thousandth of it for each term: a sum of n logarithms below 36 loses 1e-15 each."""
    for n in (1, 10**6):
        assert bounds.needed_log_wealth(0.05, n) - np.log(20) == pytest.approx(1e-9 + n * 1e-12, abs=1e-14)


@pytest.mark.parametrize("error", [1e-9, -1e-9, 0.3])
@pytest.mark.parametrize(("k", "n"), [(3, 10), (9, 10), (1, 1000), (999, 1000)])
def test_an_inverse_that_errs_is_moved_until_its_tail_is_small_enough(monkeypatch, error, k, n):
    """By what it erred, and twice that, whatever it said: a planted error of the library."""
    low, high = bounds.clopper_pearson_lower(k, n, 0.05), bounds.clopper_pearson_upper(k, n, 0.05)
    for name in ("betaincinv", "betainccinv"):
        plain, sign = getattr(bounds, name), 1 if name == "betaincinv" else -1
        monkeypatch.setattr(bounds, name, lambda *a, plain=plain, sign=sign: plain(*a) * (1 + sign * error))
    found_low, found_high = bounds.clopper_pearson_lower(k, n, 0.05), bounds.clopper_pearson_upper(k, n, 0.05)
    assert found_low <= low * (1 + 1e-11) and found_high >= high * (1 - 1e-11)
    assert binom.sf(k - 1, n, found_low) <= 0.05 and binom.cdf(k, n, found_high) <= 0.05
    assert found_low == pytest.approx(low, rel=3 * abs(error)) and found_high < 1
    assert found_high == pytest.approx(high, rel=3 * abs(error))


def test_at_the_ends_and_where_the_inverse_has_no_answer_the_bound_is_the_trivial_one(monkeypatch):
    for k, n in ((0, 10), (0, 10**9)):
        assert repr(float(bounds.clopper_pearson_lower(k, n, 0.05))) == "0.0"
        assert bounds.clopper_pearson_upper(n - k, n, 0.05) == 1.0
    assert repr(float(bounds.clopper_pearson_lower(5, 10, 1e-261))) == "0.0"
    assert bounds.clopper_pearson_upper(5, 10, 1e-261) == 1.0
    assert bounds.clopper_pearson_lower(5, 10, 1e-259) > 0 and bounds.clopper_pearson_upper(5, 10**6, 1e-259) < 1
    for name in ("betaincinv", "betainccinv"):
        monkeypatch.setattr(bounds, name, lambda *_: np.array(np.nan))
    assert bounds.clopper_pearson_lower(3, 10, 0.05) == 0.0
    assert bounds.clopper_pearson_upper(3, 10, 0.05) == 1.0


counts = st.integers(1, 600).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
levels = st.floats(-300, -0.1).map(lambda power: 10.0**power)


@settings(max_examples=20, deadline=None)
@given(counts, levels)
@example((7, 1000), 1e-300)  # SciPy's inverse says 0.52 here, where 1e-64 is left instead of 1e-300
@example((0, 10**9), 0.05)  # one minus a lower bound lost eight digits
@example((3, 10**9), 1e-9)
@example((105, 143), 1e-277)  # and its tail is wrong here, at 1e-290 by a factor of 1e15
def test_clopper_pearson_is_on_its_safe_side_of_60_digits(count_of, alpha):
    """At the bound the tail has the level at most; a millionth nearer it has more (not at 1e-30, nor next to one)."""
    k, n = count_of
    low, high = float(bounds.clopper_pearson_lower(k, n, alpha)), float(bounds.clopper_pearson_upper(k, n, alpha))
    with mpmath.workdps(60):

        def at_most(count, rate, rest):
            """P(Binomial(n, rate) <= count), term by term; rest is 1 - rate."""
            term, total = mpmath.mpf(rest) ** n, mpmath.mpf(0)
            for one in range(count + 1):
                total += term
                term *= mpmath.mpf(n - one) / (one + 1) * rate / rest
            return total

        assert high == 1 or at_most(k, mpmath.mpf(high), 1 - mpmath.mpf(high)) <= alpha
        assert low == 0 or (n > 10**6 and k > 0) or at_most(n - k, 1 - mpmath.mpf(low), mpmath.mpf(low)) <= alpha
        if alpha > 1e-30 and high < 1 - 1e-8:  # nearer to one a rounding is more than a millionth of what is left
            nearer = mpmath.mpf(high) * (1 - 1e-6) if high < 0.5 else 1 - (1 - mpmath.mpf(high)) * (1 + 1e-6)
            assert at_most(k, nearer, 1 - nearer) > alpha


@settings(max_examples=4, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.5, 12))
def test_a_curve_lies_below_what_betting_refutes(seed, log):
    """Bets of the curve are its own: the exact mixture at the bound."""
    samples = np.random.default_rng(seed).exponential(size=(1, 100)) ** 2 * 1e-6
    found = curve.lower_bounds(samples, bounds.needed_log_wealth(math.exp(-log), 100))
    for row, bound in zip(samples, found, strict=True):
        if bound > 0:
            with mpmath.workdps(60):
                ratio = [mpmath.mpf(one) / mpmath.mpf(bound) for one in row]
                mixed = [mpmath.fprod(1 - mpmath.mpf(b) + mpmath.mpf(b) * r for r in ratio) for b in curve._BETS]
                assert mpmath.fsum(mixed) / len(mixed) >= mpmath.exp(mpmath.mpf(log))


@pytest.mark.parametrize(
    ("kind", "epsilon", "delta", "count"), [("gaussian", 200.0, 1e-300, 10**7), ("sampled", 1.0, 1e-300, 100)]
)
def test_calibrated_noise_meets_its_budget(kind, epsilon, delta, count):
    found = Account(((Part(kind, 1e-2, rate=1.0), count),))
    enough = scaled(found, noise_factor(found, epsilon, delta))
    (part, _), *_ = enough.common
    mu = part.size * math.sqrt(count)
    assert gdp_epsilon(mu, delta) <= epsilon
    assert delta_of(enough.common, "replace-one", epsilon) <= delta * (1 + 1e-6)
    assert gdp_epsilon(mu * 1.005, delta) > epsilon * (1 - 1e-3)
