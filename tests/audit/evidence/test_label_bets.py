import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom, norm

from dpassay.audit.evidence import fdp, label_bets
from dpassay.audit.scores.anytime_kept import STEPS, EpsilonSequence
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput


def _naive(high, low, depth, rng):
    """Cards in a shuffled pile, sorted by score: the reading order itself."""
    scores, sides = np.concatenate([high, low]), np.arange(high.size + low.size) < high.size
    order = np.lexsort((rng.random(scores.size), -scores))
    return int(sides[order][:depth].sum())


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False), max_size=25), st.lists(st.floats(allow_nan=False), max_size=25))
def test_without_ties_between_the_sides_the_counts_are_those_of_the_sorted_pile(a, b):
    high, low = np.unique(a), np.setdiff1d(np.unique(b), np.unique(a))
    at = np.arange(high.size + low.size + 1)
    found = label_bets.tops(high, low, at, np.random.default_rng(0))
    assert found.tolist() == [_naive(high, low, d, np.random.default_rng(1)) for d in at]


def test_ties_are_read_in_random_order():
    """Mean and covariance of the counts at four depths against 8,000 shuffled piles, within four standard errors."""
    high, low = np.sort(np.array([0.0, 1.0, 1.0, 1.0, 2.0])), np.sort(np.array([0.0, 0.0, 1.0, 1.0, 3.0, 2.0]))
    at, rng = np.array([2, 4, 7, 9]), np.random.default_rng(2)
    ours = np.array([label_bets.tops(high, low, at, rng) for _ in range(8_000)])
    piles = []
    scores, sides = np.concatenate([high, low]), np.arange(11) < 5
    for _ in range(8_000):
        order = np.lexsort((rng.random(11), -scores))
        piles.append(np.cumsum(sides[order])[at - 1])
    assert np.abs(ours.mean(axis=0) - np.mean(piles, axis=0)).max() < 4 * np.sqrt(2 / 8_000)
    assert np.abs(np.cov(ours.T) - np.cov(np.transpose(piles))).max() < 0.05


def test_nothing_is_drawn_where_ties_are_of_one_side():
    """Two equal scores of one side are one card: whoever draws next gets what it would have got."""
    rng, plain = np.random.default_rng(4), np.random.default_rng(4)
    found = label_bets.tops(np.array([1.0, 3.0, 3.0]), np.array([0.0, 0.0, 2.0]), np.arange(1, 7), rng)
    assert found.tolist() == [1, 2, 2, 3, 3, 3] and rng.random() == plain.random()


# The bound that may be looked at after every block: it holds at all looks together, and it grows.
def test_it_grows_with_the_data_and_says_how_much_it_saw():
    rng, sequence, bounds = np.random.default_rng(0), EpsilonSequence(1e-5), []
    for _ in range(10):
        bound = sequence.update(rng.normal(size=2000), rng.normal(1.5, 1, 2000), rng)
        bounds.append(bound.epsilon)
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0] > 0
    assert bounds[-1] > 2.0 and bound.runs == 40_000 and bound.evidence["blocks"] == 10


@pytest.mark.parametrize("sizes", [(2000, 100), (100, 2000)])
def test_blocks_of_unequal_sides(sizes):
    rng, sequence = np.random.default_rng(1), EpsilonSequence(0.0)
    for _ in range(5):
        sequence.update(rng.normal(size=sizes[0]), rng.normal(3, 1, sizes[1]), rng)
    assert sequence.epsilon > 2


def test_bad_input():
    with pytest.raises(BadInput, match="delta"):
        EpsilonSequence(1.0)
    with pytest.raises(BadInput, match="scores_p"):
        EpsilonSequence(0.0).update([], [1.0], np.random.default_rng(0))


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_what_refutes_is_a_wealth_of_one_over_the_level(confidence):
    """Ville's inequality asks for 1 / (1 - confidence), for every epsilon up to the bound."""
    sequence, enough = EpsilonSequence(1e-5, confidence), -np.log(1 - confidence)
    sequence.peaks[:4] = [enough + 1e-9, enough + 1e-9, enough - 1e-9, enough + 1e-9]
    assert sequence.epsilon == STEPS[1]
    sequence.peaks[0] = enough - 1e-9
    assert sequence.epsilon == 0.0


# Numbers of right guesses against a trade-off curve: exact for one canary, the inequalities of many solved.
def test_one_canary_is_exact():
    """One canary, one guess: right with probability at most Phi(1/2) = 0.691 under 1-GDP."""
    assert fdp.fdp_p_value(guarantee.gdp(1.0), 1, 1, 1) == pytest.approx(norm.cdf(0.5), rel=0.01)


@pytest.mark.parametrize(
    "claim", [guarantee.gdp(1.3), guarantee.approx_dp(1.0, 0.01), guarantee.from_pairs([(0.5, 0.2)])]
)
def test_the_envelope_is_the_curve(claim):
    lines = fdp.envelope(claim)
    points = np.linspace(0.001, 0.999, 200)
    which = np.searchsorted(lines[0], points, side="right") - 1
    values = np.array(lines[1])[which] + np.array(lines[2])[which] * points
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
