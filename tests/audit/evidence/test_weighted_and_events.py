"""Weighted labels, levels of corrupted ones and the p-value of an event against 50 digits: none is too small."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit
from scipy.stats import binom

from dpassay.audit.bounds import clopper_pearson_lower
from dpassay.audit.evidence import events, weighted
from dpassay.audit.evidence.weighted import ROUNDING, Allowance, Guesses, p_value, weighted_epsilon
from dpassay.audit.scores import outward
from dpassay.reference import guarantee

epsilons = st.floats(-6, 2.3).map(lambda power: 10.0**power) | st.just(0.0)
deltas = st.floats(-300, -0.5).map(lambda power: 10.0**power) | st.just(0.0)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(50):
        yield


def binomial(count, rate, top):
    """P(K = 0), ..., P(K = top)."""
    found = [(1 - rate) ** count]
    for k in range(top):
        found.append(found[-1] * (count - k) / (k + 1) * rate / (1 - rate))
    return found


def binomial_tail(count, odds, least):
    """P(K >= least), K binomial with these odds of a hit: the shorter side, from its largest term on."""
    if least <= 0 or least > count:
        return mpmath.mpf(int(least <= 0))
    upper = least > count * odds / (1 + odds)
    k = least if upper else least - 1
    term, total = mpmath.binomial(count, k) * odds**k / (1 + odds) ** count, mpmath.mpf(0)
    while term > total * mpmath.mpf("1e-40"):
        total += term
        term *= mpmath.mpf(count - k) / (k + 1) * odds if upper else mpmath.mpf(k) / (count - k + 1) / odds
        k += 1 if upper else -1
    return total if upper else 1 - total


# -- labels revealed outwards -------------------------------------------------------------------------------
@settings(max_examples=30)
@given(st.integers(1, 3000), st.floats(0, 1), st.floats(0, 60), st.floats(-30, 30), st.integers(1, 5))
@example(10**6, 0.37656, 0.5, 0.0, 1)  # by logarithms of factorials it was up to 8e-11 too small
@example(10**7, 3.261e-4, 8.0, 0.0, 1)
@example(10**9, 6.019e-6, 12.0, 0.0, 1)  # and off by 7e-8
def test_a_p_value_of_one_class_is_rounded_up(count, place, epsilon, odds, weight):
    most = int(place * count)
    found = p_value([Guesses(weight, count, odds)], most * weight, epsilon)
    truth = binomial_tail(count, mpmath.exp(mpmath.mpf(epsilon) + mpmath.mpf(odds)), count - most)
    assert min(truth, 1) <= found <= min(1, truth + 2 * ROUNDING + 4e-15 * math.sqrt(count))


def weighted_tail(classes, wrong, epsilon):
    """P(the weighted number of wrong guesses is at most ``wrong``), by exact convolution."""
    law = [mpmath.mpf(1)]
    for one in classes:
        rate = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon) + mpmath.mpf(one.log_odds)))
        longer = [mpmath.mpf(0)] * (len(law) + one.weight * one.count)
        for (i, a), (k, b) in itertools.product(enumerate(law), enumerate(binomial(one.count, rate, one.count))):
            longer[i + one.weight * k] += a * b
        law = longer
    return mpmath.fsum(law[: wrong + 1])


@settings(max_examples=30)
@given(
    st.lists(st.builds(Guesses, st.integers(1, 8), st.integers(0, 25), st.sampled_from([-0.4, 0.0, 0.4])),
             min_size=1, max_size=3),
    st.floats(0, 1),
    epsilons,
)  # fmt: skip
def test_a_p_value_of_many_classes_is_rounded_up(guesses, place, epsilon):
    wrong = int(place * sum(one.weight * one.count for one in guesses))
    found, truth = p_value(guesses, wrong, epsilon), weighted_tail(guesses, wrong, epsilon)
    assert min(truth, 1) <= found <= truth + 3 * ROUNDING


def rights_for_certain(guesses, corrupted):
    """Every way in which so many guesses, or fewer, are right for certain."""
    for taken in itertools.product(*(range(min(one.count, corrupted) + 1) for one in guesses)):
        if sum(taken) <= corrupted:
            pairs = zip(guesses, taken, strict=True)
            yield [Guesses(one.weight, one.count - less, one.log_odds) for one, less in pairs]


@settings(max_examples=12)
@given(
    st.lists(st.tuples(st.integers(5, 12), st.integers(0, 3)), min_size=6, max_size=6),
    st.sampled_from([1, -1]),
    st.sampled_from([0.0, 0.3]),
    st.integers(0, 2),
    st.floats(-4, -0.5),
)
def test_what_is_judged_is_refuted_in_truth(sizes, sign, prior, corrupted, log_level):
    """The bound of the hidden blocks, whichever of them are right for certain: at most the level, exactly."""
    level, hidden = 10.0**log_level, [0, 1, 4, 5]
    size = np.array([float(one) for one, _ in sizes])
    odd = np.array([float(min(one, few)) for one, few in sizes])
    high = np.arange(6) < 3 if sign > 0 else np.arange(6) >= 3
    blocks = outward.Blocks(size, np.where(high, size - odd, odd), np.arange(6), np.linspace(-2, 2, 6))
    plan = outward.Plan(2, sign, np.array([8, 3, 0, 0, 3, 8]))
    found, seen = outward.judge(blocks, plan, [Allowance(corrupted, level)], prior)
    if found > 0:
        guesses = [Guesses(int(plan.weights[k]), int(size[k]), prior if high[k] else -prior) for k in hidden]
        wrong = int(plan.weights @ odd)
        assert seen["wrong"] == odd[hidden].sum()
        assert max(weighted_tail(left, wrong, found) for left in rights_for_certain(guesses, corrupted)) <= level


@pytest.mark.parametrize("wrong", [0, 7, 20, 40])
def test_no_choice_of_corrupted_labels_leaves_fewer_wrong_ones(wrong):
    """Sides of unequal sizes: heavy guesses that are hardly ever wrong, lighter ones that often are."""
    classes = [Guesses(8, 6, 3.0), Guesses(7, 6, -3.0)]
    told = p_value(weighted.corrupt(classes, 5), wrong, 0.5)
    assert all(p_value(left, wrong, 0.5) <= told + 1e-12 for left in rights_for_certain(classes, 5))


@settings(max_examples=25)
@given(st.floats(0, 9), st.floats(-300, 1.3), st.floats(-6, -0.3))
@example(9.0, 1.0, -1.3)
def test_levels_of_independently_corrupted_labels_keep_within_the_level(log_labels, log_expected, log_alpha):
    labelled, alpha = int(10**log_labels), 10.0**log_alpha
    delta = min(0.5, 10.0**log_expected / labelled)
    found = weighted.independent(labelled, delta, alpha)
    top = min(labelled, found[-1].corrupted)
    chances = binomial(labelled, mpmath.mpf(delta), top)
    whole = 1 - mpmath.fsum(chances)  # more than the last number: always refuted
    for chance, corrupted in zip(chances, range(top + 1), strict=True):
        level = next(one.level for one in found if one.corrupted >= corrupted)
        whole += chance * mpmath.mpf(level)
    assert whole <= alpha and whole > 0.3 * alpha


@pytest.mark.parametrize("epsilon", [0.0, 200.0, 700.0, 1e300])
@pytest.mark.parametrize("odds", [-800.0, 0.0, 800.0])
def test_guesses_that_are_certain(epsilon, odds):
    """No wrong one where none may be wrong: nothing is refuted; where all must be: everything is."""
    found = p_value([Guesses(3, 100, odds)], 0, epsilon)
    assert found == 1 if epsilon + odds > 100 else found < 1e-8
    assert p_value([Guesses(3, 100, odds)], 301, epsilon) == 1.0


def test_a_long_law_has_no_negative_probability():
    """Transforms leave -1e-20 where nothing is."""
    start, law = weighted.law_of([Guesses(2, 2000), Guesses(5, 3000, 0.3)], 1.0)
    assert law.min() == 0.0 and law.sum() == pytest.approx(1) and start > 0
    mean = 2 * 2000 * expit(-1.0) + 5 * 3000 * expit(-1.3)
    assert (start + np.arange(law.size)) @ law == pytest.approx(mean)


@pytest.mark.parametrize(("count", "wrong"), [(5, 0), (30, 0), (10**9, 0), (100, 3), (5000, 700), (2_000_000, 500_000)])
def test_the_largest_refuted_epsilon_is_that_of_clopper_and_pearson(count, wrong):
    """Where all guesses have one weight; the search doubles and then halves fifteen times."""
    found = weighted_epsilon([Guesses(5, count)], 5 * wrong, [Allowance(0, 0.05)])
    right = clopper_pearson_lower(count - wrong, count, 0.05)
    exact = np.log(right / (1 - right))
    assert exact - 8e-4 < found <= exact + 1e-6
    assert p_value([Guesses(5, count)], 5 * wrong, found) <= 0.05
    assert weighted_epsilon([Guesses(5, count)], 5 * wrong, [Allowance(2, 0.05)]) <= found
    assert weighted_epsilon([Guesses(1, count)], count, [Allowance(0, 0.05)]) == 0.0
    assert weighted_epsilon([Guesses(1, 0)], 0, [Allowance(0, 0.05)]) == 0.0
    assert weighted_epsilon([Guesses(1, 10**9)], 0, [Allowance(0, 1 - 1e-9)]) <= 40.0


# -- one event ----------------------------------------------------------------------------------------------
def exceeds_by_chance(hits, sizes, epsilon, delta, p):
    """P(an excess as large as that seen, or larger) if D' has the event as often as the claim allows; hits on Q, P."""
    (hits_q, hits_p), (n_q, n_p) = hits, sizes
    slope = math.exp(epsilon)
    seen, total = errors(hits_q, n_q, hits_p, n_p, slope, delta), mpmath.mpf(0)
    q = mpmath.exp(mpmath.mpf(epsilon)) * p + mpmath.mpf(delta)
    for of_p, chance in enumerate(binomial(n_p, p, min(n_p, 60))):
        if chance > mpmath.mpf("1e-20"):
            low, high = 0, n_q + 1  # the least hits of Q that exceed the claim by as much
            while low < high:
                middle = (low + high) // 2
                exceeded = errors(middle, n_q, of_p, n_p, slope, delta) >= seen
                low, high = (low, middle) if exceeded else (middle + 1, high)
            total += chance * (binomial_tail(n_q, q / (1 - q), low) if q < 1 else int(low <= n_q))
    return total


def errors(hits_q, n_q, hits_p, n_p, slope, delta):
    """Standard errors of the excess, by hand."""
    rate, share = min((hits_p + 0.5) / (n_p + 1), 0.5), hits_q / n_q
    variance = share * (1 - share) / n_q + slope**2 * rate * (1 - rate) / n_p
    return (share - slope * hits_p / n_p - delta) / math.sqrt(variance) if variance else math.inf


@settings(max_examples=15)
@given(
    st.integers(2, 40) | st.floats(5, 9).map(lambda power: int(10**power)),
    st.integers(2, 40) | st.floats(5, 9).map(lambda power: int(10**power)),
    st.floats(0, 12),
    st.floats(0, 1) | st.floats(0, 60),
    deltas,
    st.floats(0, 4),
    st.integers(0, 2**32),
)
@example(10**9, 10**9, 3.0, 0.5, 1e-300, 3.0, 1)
@example(30, 10**9, 0.0, 10.0, 0.0, 2.0, 2)
def test_the_p_value_of_an_event_is_at_least_its_probability(n_q, n_p, rate, shift, delta, deviations, seed):
    """At rates of D that nobody told it: the one the counts were drawn from, and a little more."""
    rng = np.random.default_rng(seed)
    p = min(0.9, rate / n_p)
    epsilon = max(0.0, min(200.0, -math.log(max(p, 1e-80)) - shift))
    q = min(1.0, math.exp(epsilon) * p + delta)
    if n_q * min(q, 1 - q) > 400:  # the twin would take seconds
        n_q = max(2, int(400 / min(q, 1 - q)))
    hits_p = int(rng.binomial(n_p, p))
    hits_q = int(min(n_q, rng.binomial(n_q, q) + deviations * math.sqrt(n_q * q * (1 - q))))
    found = events.event_p_value(hits_q, n_q, hits_p, n_p, epsilon, delta)
    if found < 1:
        for at in (p, min(0.9, (hits_p + 1) / n_p)):
            assert exceeds_by_chance((hits_q, hits_p), (n_q, n_p), epsilon, delta, mpmath.mpf(at)) <= found


@pytest.mark.parametrize("epsilon", [400.0, 800.0, math.inf, -400.0])
def test_an_event_refutes_no_epsilon_whose_square_overflows(epsilon):
    assert events.event_p_value(5, 5, 0, 5, epsilon, 0.0) == 1.0


@pytest.mark.parametrize(("hits_q", "n_q", "hits_p", "n_p", "epsilon", "delta"), [
    (1, 4, 0, 4, 0.0, 0.0), (4, 5, 1, 7, 0.3, 0.0), (9, 12, 3, 11, 0.5, 0.1), (3, 6, 0, 5, 1.0, 0.0),
    (5, 9, 1, 20, 1.0, 0.02), (12, 12, 5, 9, -0.7, 0.6), (9, 10, 4, 12, -0.3, 0.0),
])  # fmt: skip
def test_the_p_value_is_the_largest_probability_over_all_rates(hits_q, n_q, hits_p, n_p, epsilon, delta):
    """Enumerated at 801 rates p of D; at most 6 % and 2e-7 above it (blocks, cells, the level of the interval).

    A claim at an epsilon below zero is held to what it says of the complement, with the sides exchanged.
    """
    found = events.event_p_value(hits_q, n_q, hits_p, n_p, epsilon, delta)
    if epsilon < 0:
        hits_q, n_q, hits_p, n_p = n_p - hits_p, n_p, n_q - hits_q, n_q
        epsilon, delta = -epsilon, max(0.0, 1 - math.exp(-epsilon) * (1 - delta))
    slope, rates = math.exp(epsilon), np.linspace(0, 1, 801)
    seen = errors(hits_q, n_q, hits_p, n_p, slope, delta)
    assert events.count_errors(hits_q, n_q, hits_p, n_p, epsilon, delta) == pytest.approx(seen, rel=1e-12)
    of_q = binom.pmf(np.arange(n_q + 1)[:, None], n_q, np.minimum(1.0, slope * rates + delta))
    of_p = binom.pmf(np.arange(n_p + 1)[:, None], n_p, rates)
    worse = [[errors(q, n_q, p, n_p, slope, delta) >= seen - 1e-9 for p in range(n_p + 1)] for q in range(n_q + 1)]
    exact = float((of_q * (np.array(worse, dtype=float) @ of_p)).sum(axis=0).max())
    assert exact <= found <= 1.06 * exact + 2e-7


@pytest.mark.parametrize(
    ("at", "below", "words", "inside"),
    [
        (False, False, "> 1", [2]),
        (True, False, ">= 1", [1, 2]),
        (False, True, "<= 1", [0, 1]),
        (True, True, "< 1", [0]),
    ],
)
def test_an_event_says_whether_the_cut_belongs_to_it_and_so_does_the_best_one(at, below, words, inside):
    """Scores 0, 1, 2: the side on which Q lies shows whether 1 counts."""
    event = events.Event(1.0, at, below, 1.0, 0.0, 0.0)
    assert event.words == words and np.flatnonzero(event.inside(np.arange(3.0))).tolist() == inside
    rng = np.random.default_rng(1)
    q = rng.choice(inside, 400).astype(float)
    p = rng.choice([one for one in (0, 1, 2) if one not in inside], 400).astype(float)
    best = events.best_event(p, q, guarantee.approx_dp(1.0, 0.0))
    assert best.hits(q) == 400 and best.hits(p) == 0
