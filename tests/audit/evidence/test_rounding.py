"""The outward test, levels of corrupted labels and the p-value of an event against 50 digits: none is too small."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from dpassay.audit.evidence import events, weighted
from dpassay.audit.scores import outward

EXACTLY = mpmath.mpf("1e-40")
epsilons = st.floats(-6, 2.3).map(lambda power: 10.0**power) | st.just(0.0)
deltas = st.floats(-300, -0.5).map(lambda power: 10.0**power) | st.just(0.0)


@pytest.fixture(autouse=True)
def _digits():
    with mpmath.workdps(50):
        yield


def binomial(count, rate, top):
    """P(K = 0), ..., P(K = top)."""
    if rate in (0, 1):
        return [mpmath.mpf(int(k == count * rate)) for k in range(top + 1)]
    found = [(1 - rate) ** count]
    for k in range(top):
        found.append(found[-1] * (count - k) / (k + 1) * rate / (1 - rate))
    return found


# -- labels revealed outwards -------------------------------------------------------------------------------
def weighted_tail(classes, wrong, epsilon):
    """P(the weighted number of wrong guesses is at most ``wrong``), by exact convolution."""
    law = [mpmath.mpf(1)]
    for one in classes:
        rate = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon) + mpmath.mpf(one.log_odds)))
        more = binomial(one.count, rate, one.count)
        longer = [mpmath.mpf(0)] * (len(law) + one.weight * one.count)
        for (i, a), (k, b) in itertools.product(enumerate(law), enumerate(more)):
            longer[i + one.weight * k] += a * b
        law = longer
    return mpmath.fsum(law[: wrong + 1])


classes = st.lists(
    st.builds(weighted.Guesses, st.integers(1, 8), st.integers(0, 25), st.sampled_from([-0.4, 0.0, 0.4])),
    min_size=1,
    max_size=3,
)


@settings(max_examples=30, deadline=None)
@given(classes, st.floats(0, 1), epsilons)
def test_a_p_value_of_many_classes_is_rounded_up(guesses, place, epsilon):
    wrong = int(place * sum(one.weight * one.count for one in guesses))
    found, truth = weighted.p_value(guesses, wrong, epsilon), weighted_tail(guesses, wrong, epsilon)
    assert min(truth, 1) <= found <= truth + 3 * weighted.ROUNDING


def rights_for_certain(guesses, corrupted):
    """Every way in which so many guesses, or fewer, are right for certain."""
    ranges = [range(min(one.count, corrupted) + 1) for one in guesses]
    for taken in itertools.product(*ranges):
        if sum(taken) <= corrupted:
            yield [
                weighted.Guesses(one.weight, one.count - less, one.log_odds)
                for one, less in zip(guesses, taken, strict=True)
            ]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.tuples(st.integers(5, 12), st.integers(0, 3)), min_size=6, max_size=6),
    st.sampled_from([1, -1]),
    st.sampled_from([0.0, 0.3]),
    st.integers(0, 2),
    st.floats(-4, -0.5),
)
def test_what_is_judged_is_refuted_in_truth(sizes, sign, prior, corrupted, log_level):
    """The bound of the hidden blocks, whichever of them are right for certain: at most the level, exactly."""
    level = 10.0**log_level
    size = np.array([float(one) for one, _ in sizes])
    odd = np.array([float(min(one, few)) for one, few in sizes])
    high = np.arange(6) < 3 if sign > 0 else np.arange(6) >= 3
    blocks = outward.Blocks(size, np.where(high, size - odd, odd), np.arange(6), np.linspace(-2, 2, 6))
    plan = outward.Plan(2, 4, sign, np.array([8, 3, 0, 0, 3, 8]))
    found, seen = outward.judge(blocks, plan, [weighted.Allowance(corrupted, level)], prior)
    if found > 0:
        hidden = [0, 1, 4, 5]
        guesses = [weighted.Guesses(int(plan.weights[k]), int(size[k]), prior if high[k] else -prior) for k in hidden]
        wrong = int(sum(plan.weights[k] * odd[k] for k in hidden))
        assert seen["wrong"] == sum(odd[k] for k in hidden)
        merged = {}
        for one in guesses:
            key = one.weight, one.log_odds
            merged[key] = merged.get(key, 0) + one.count
        guesses = [weighted.Guesses(weight, count, odds) for (weight, odds), count in merged.items()]
        assert max(weighted_tail(left, wrong, found) for left in rights_for_certain(guesses, corrupted)) <= level


@settings(max_examples=25, deadline=None)
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


# -- one event ----------------------------------------------------------------------------------------------
def upper_tail(count, rate, least):
    """P(K >= least), from the shorter side."""
    if least <= 0 or least > count or rate in (0, 1):
        return mpmath.mpf(int(least <= 0 or (rate == 1 and least <= count)))
    above = least > count * rate
    k = least if above else least - 1
    term = mpmath.binomial(count, k) * rate**k * (1 - rate) ** (count - k)
    total = mpmath.mpf(0)
    while term > EXACTLY and 0 <= k <= count:
        total += term
        term *= (
            (count - k) / mpmath.mpf(k + 1) * rate / (1 - rate) if above else k * (1 - rate) / rate / (count - k + 1)
        )
        k += 1 if above else -1
    return total if above else 1 - total


def exceeds_by_chance(hits, sizes, epsilon, delta, p):
    """P(an excess as large as that seen, or larger) if D' has the event as often as the claim allows; hits on Q, P."""
    (hits_q, hits_p), (n_q, n_p) = hits, sizes
    slope = float(np.exp(epsilon))

    def errors(of_q, of_p):
        return events._errors(of_q / n_q, np.array([float(of_p)]), n_q, n_p, slope, delta)

    seen, total = errors(hits_q, hits_p), mpmath.mpf(0)
    q = min(mpmath.mpf(1), mpmath.exp(mpmath.mpf(epsilon)) * p + mpmath.mpf(delta))
    for of_p, chance in enumerate(binomial(n_p, p, min(n_p, 60))):
        if chance > mpmath.mpf("1e-20"):
            low, high = 0, n_q + 1  # the least hits of Q that exceed the claim by as much
            while low < high:
                middle = (low + high) // 2
                low, high = (low, middle) if errors(middle, of_p) >= seen else (middle + 1, high)
            total += chance * upper_tail(n_q, q, low)
    return total


@settings(max_examples=40, deadline=None)
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
