"""The exact law of weighted labels against 60 digits: never on the unsound side, up to 1e9 guesses."""

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from dpassay.audit.evidence import weighted
from dpassay.audit.evidence.weighted import ROUNDING, Allowance, Guesses, p_value


def tail(count, most, log_odds):
    """P(Binomial(count, expit(log_odds)) <= most), from the largest term down."""
    with mpmath.workdps(60):
        rate = 1 / (1 + mpmath.exp(-mpmath.mpf(log_odds)))
        term = mpmath.binomial(count, most) * rate**most * (1 - rate) ** (count - most)
        total = mpmath.mpf(0)
        for k in range(most, -1, -1):
            total += term
            if k < count * rate and term < total * mpmath.mpf("1e-30"):
                break
            term *= mpmath.mpf(k) / (count - k + 1) * mpmath.exp(-mpmath.mpf(log_odds))
        return total


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0, 60), st.floats(-30, 30), st.integers(1, 5))
def test_a_p_value_of_one_class_is_rounded_up(count, place, epsilon, odds, weight):
    most = int(place * count)
    found, truth = p_value([Guesses(weight, count, odds)], most * weight, epsilon), tail(count, most, -epsilon - odds)
    assert min(truth, 1) <= found <= min(1, truth + 2 * ROUNDING)


@pytest.mark.parametrize(("count", "epsilon"), [(10**6, 0.5), (10**6, 8.0), (10**7, 8.0), (10**9, 12.0)])
def test_a_p_value_of_very_many_guesses_is_rounded_up(count, epsilon):
    """By logarithms of factorials it was up to 8e-11 too small at 1e6 guesses, and off by 7e-8 at 1e9."""
    rate = 1 / (1 + np.exp(epsilon))
    most = int(count * rate - 1.6 * np.sqrt(count * rate))
    truth = tail(count, most, -epsilon)
    assert truth < p_value([Guesses(1, count)], most, epsilon) < truth + 1e-10


@pytest.mark.parametrize("epsilon", [0.0, 200.0, 700.0, 1e300])
@pytest.mark.parametrize("odds", [-800.0, 0.0, 800.0])
def test_guesses_that_are_certain(epsilon, odds):
    """No wrong one where none may be wrong: nothing is refuted; where all must be: everything is."""
    found = p_value([Guesses(3, 100, odds)], 0, epsilon)
    assert found == 1 if epsilon + odds > 100 else found < 1e-8


def test_a_long_law_has_no_negative_probability():
    """Transforms leave -1e-20 where nothing is."""
    start, law = weighted.law_of([Guesses(2, 2000), Guesses(5, 3000, 0.3)], 1.0)
    assert law.min() == 0.0 and law.sum() == pytest.approx(1) and start > 0
    mean = 2 * 2000 * expit(-1.0) + 5 * 3000 * expit(-1.3)
    assert (start + np.arange(law.size)) @ law == pytest.approx(mean)


def test_nothing_is_certain_and_no_probability_exceeds_one():
    assert p_value([Guesses(1, 10)], 10, 0.5) == p_value([Guesses(1, 10)], 99, 0.5) == 1.0
    assert p_value([Guesses(1, 10)], -1, 0.5) == ROUNDING + 2e-15 * np.sqrt(10)
    assert p_value([Guesses(2, 10**6)], 3, 0.5) == ROUNDING + 2e-15 * 1000


@pytest.mark.parametrize("count", [5, 10, 2000, 10**6, 10**9])
def test_the_largest_refuted_epsilon_has_the_level(count):
    """No wrong guess of n: (1 + e^-epsilon)^-n = 5 %; the search doubles and then halves fifteen times."""
    found = weighted.weighted_epsilon([Guesses(1, count)], 0, [Allowance(0, 0.05)])
    exact = -np.log(np.expm1(-np.log(0.05) / count))
    assert exact - 8e-4 < found <= exact
    assert p_value([Guesses(1, count)], 0, found) <= 0.05
    assert weighted.weighted_epsilon([Guesses(1, count)], count, [Allowance(0, 0.05)]) == 0.0
    assert weighted.weighted_epsilon([Guesses(1, 0)], 0, [Allowance(0, 0.05)]) == 0.0
    assert weighted.weighted_epsilon([Guesses(1, 10**9)], 0, [Allowance(0, 1 - 1e-9)]) <= 40.0
