import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom, norm

from dpassay.audit.evidence import fdp
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput


def test_one_canary_is_exact():
    """One canary, one guess: right with probability at most Phi(1/2) = 0.691 under 1-GDP."""
    assert not fdp.fdp_refuted(guarantee.gdp(1.0), 1, 1, 1)
    assert fdp.fdp_refuted(guarantee.gdp(1.0), 1, 1, 1, alpha=0.75)
    assert not fdp.fdp_refuted(guarantee.gdp(1.0), 1, 1, 1, alpha=float(norm.cdf(0.5)) - 0.01)
    assert fdp.fdp_p_value(guarantee.gdp(1.0), 1, 1, 1) == pytest.approx(norm.cdf(0.5), rel=0.01)


@pytest.mark.parametrize(
    "claim", [guarantee.gdp(1.3), guarantee.approx_dp(1.0, 0.01), guarantee.from_pairs([(0.5, 0.2)])]
)
def test_the_envelope_is_the_curve(claim):
    lines = fdp.envelope(claim)
    points = np.linspace(0.001, 0.999, 200)
    which = np.searchsorted(lines.starts, points, side="right") - 1
    values = np.array(lines.heights)[which] + np.array(lines.slopes)[which] * points
    assert np.allclose(np.maximum(values, 0), claim.trade_off(points), atol=1e-12)


def _by_linear_program(claim, canaries, guesses, correct):
    """The largest P(at least `correct` right) that the inequalities of the module's head allow."""
    levels = np.arange(guesses + 1)
    rows, limits = [], []
    for i in range(1, guesses + 1):
        right = np.where(levels >= i, levels, 0) / canaries
        wrong = np.where(levels >= i - 1, guesses - levels, 0) / canaries
        for epsilon, delta in zip(claim.epsilons, claim.deltas, strict=True):  # wrong >= 1 - delta - e^eps (1 - right)
            rows.append(np.exp(epsilon) * right - wrong)
            limits.append(np.exp(epsilon) - (1 - delta))
    wanted = -1.0 * (levels >= correct)
    return -linprog(wanted, rows, limits, np.ones((1, guesses + 1)), [1.0]).fun


@pytest.mark.parametrize("claim", [guarantee.gdp(0.7), guarantee.approx_dp(1.0, 0.01), guarantee.approx_dp(0.5, 0.0)])
@pytest.mark.parametrize(("canaries", "guesses", "correct"), [(12, 12, 10), (30, 10, 9), (8, 8, 8), (40, 15, 12)])
def test_the_recursion_solves_the_linear_program(claim, canaries, guesses, correct):
    exact = _by_linear_program(claim, canaries, guesses, correct)
    assert fdp.fdp_p_value(claim, canaries, guesses, correct, steps=40) == pytest.approx(exact, rel=1e-6)


@given(st.integers(1, 60), st.integers(0, 60), st.integers(0, 60), st.floats(0.0, 4.0))
def test_never_below_what_randomised_response_attains(guesses, more, correct, epsilon):
    """It answers each coin with the largest odds allowed, independently: a lower bound of the worst case."""
    correct = min(correct, guesses)
    found = fdp.fdp_p_value(guarantee.approx_dp(epsilon), guesses + more, guesses, correct)
    assert found >= min(1.0, binom.sf(correct - 1, guesses, expit(epsilon))) * (1 - 1e-6)


def _exactly(claim, canaries, guesses, correct, alpha):
    """The recursion of the module's head in 50 digits: is P_0 above 1?"""
    with mpmath.workdps(50):
        pairs = zip(claim.epsilons.tolist(), claim.deltas.tolist(), strict=True)
        lines = [(1 - mpmath.mpf(delta), mpmath.exp(mpmath.mpf(epsilon))) for epsilon, delta in pairs]
        right = mpmath.mpf(alpha) * correct / canaries
        wrong = mpmath.mpf(alpha) * (guesses - correct) / canaries
        for i in range(correct, 0, -1):
            more = max(wrong, *(height - slope * (1 - right) for height, slope in lines))
            right, wrong = right + mpmath.mpf(i - 1) / (guesses - i + 1) * (more - wrong), more
            if right + wrong > mpmath.mpf(guesses) / canaries:
                return True
        return right + wrong > mpmath.mpf(guesses) / canaries


@settings(max_examples=25, deadline=None)
@example(76, 12, 0.9921875, 0.99999, 0)  # a p-value of 1e-9: one minus it has lost seven digits
@example(38, 628, 0.96875, 0.125, 0)  # few guesses of many canaries: their share is taken from one
@given(st.integers(4, 300), st.integers(0, 10**5), st.floats(0.5, 1.0), st.floats(0.01, 15), st.sampled_from([0, 1e-8]))
def test_what_is_refuted_is_refuted_in_truth(guesses, more, share, epsilon, delta):
    """At the p-value, to the last digit: without a margin 19 of 37 such levels refuted what they should not."""
    claim, correct = guarantee.approx_dp(epsilon, delta), max(1, int(share * guesses))
    found = fdp.fdp_p_value(claim, guesses + more, guesses, correct, steps=50)
    assert found == 1 or _exactly(claim, guesses + more, guesses, correct, found)


def test_bad_counts():
    for counts in ((5, 6, 1), (5, 4, 5), (5, 0, 0), (5, 4, -1)):
        with pytest.raises(BadInput, match="guesses"):
            fdp.fdp_p_value(guarantee.gdp(1.0), *counts)
