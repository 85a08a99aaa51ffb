"""The exact test of one event: its level where the claim is just true, its power, and what it refuses."""

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpassay.audit.evidence import events
from dpassay.reference import guarantee


def _level(n_q, n_p, p, epsilon, delta, level):
    """Exact rejection probability at q = e^epsilon p + delta, by summing over all outcomes."""
    q = min(1.0, float(np.exp(epsilon)) * p + delta)
    total = 0.0
    for hits_p in range(n_p + 1):
        weight = float(binom.pmf(hits_p, n_p, p))
        if weight < 1e-9:
            continue
        low, high = -1, n_q  # p-values fall in hits_q
        while high - low > 1:
            middle = (low + high) // 2
            refuted = events.event_p_value(middle, n_q, hits_p, n_p, epsilon, delta) <= level
            low, high = (low, middle) if refuted else (middle, high)
        if events.event_p_value(high, n_q, hits_p, n_p, epsilon, delta) <= level:
            total += weight * float(binom.sf(high - 1, n_q, q))
    return total


EPSILONS, SHARES, SIZES = (-0.7, 0.0, 1.0, 3.0), (0.02, 0.3, 0.9), ((12, 12), (30, 10), (10, 40))


@pytest.mark.some(6)
@pytest.mark.parametrize(
    ("epsilon", "share", "sizes"),
    [(e, s, SIZES[(k - i) % 3]) for i, e in enumerate(EPSILONS) for k, s in enumerate(SHARES)],
)
def test_the_level_is_kept_exactly(epsilon, share, sizes):
    """Every outcome is summed; the claim is just true, delta 0 and 0.05; 5 % level. Each two of the three meet once."""
    n_q, n_p = sizes
    for delta in (0.0, 0.05):
        back = max(delta, 1 - np.exp(epsilon) + np.exp(epsilon) * delta) if epsilon < 0 else delta
        p = share * min(1.0, (1 - back) / float(np.exp(epsilon)))
        assert _level(n_q, n_p, p, epsilon, back, 0.05) <= 0.05


def _errors(hits_q, n_q, hits_p, n_p, slope, delta):
    """Standard errors of the excess, by hand."""
    rate = min((hits_p + 0.5) / (n_p + 1), 0.5)
    share = hits_q / n_q
    variance = share * (1 - share) / n_q + slope**2 * rate * (1 - rate) / n_p
    return (share - slope * hits_p / n_p - delta) / math.sqrt(variance) if variance else math.inf


@pytest.mark.parametrize(
    ("hits_q", "n_q", "hits_p", "n_p", "epsilon", "delta"),
    [(1, 4, 0, 4, 0.0, 0.0), (4, 5, 1, 7, 0.3, 0.0), (9, 12, 3, 11, 0.5, 0.1), (3, 6, 0, 5, 1.0, 0.0),
     (5, 9, 1, 20, 1.0, 0.02)],
)  # fmt: skip
def test_the_p_value_is_the_largest_probability_over_all_rates(hits_q, n_q, hits_p, n_p, epsilon, delta):
    """Enumerated at 801 rates p of D; at most 6 % and 2e-7 above it (blocks, cells, the level of the interval)."""
    slope, exact = math.exp(epsilon), 0.0
    seen = _errors(hits_q, n_q, hits_p, n_p, slope, delta)
    assert events.count_errors(hits_q, n_q, hits_p, n_p, epsilon, delta) == pytest.approx(seen, rel=1e-12)
    worse = [[_errors(q, n_q, p, n_p, slope, delta) >= seen - 1e-9 for p in range(n_p + 1)] for q in range(n_q + 1)]
    for rate in np.linspace(0, 1, 801):
        of_q = binom.pmf(np.arange(n_q + 1), n_q, min(1.0, slope * rate + delta))
        exact = max(exact, float(of_q @ np.array(worse) @ binom.pmf(np.arange(n_p + 1), n_p, rate)))
    assert exact <= events.event_p_value(hits_q, n_q, hits_p, n_p, epsilon, delta) <= 1.06 * exact + 2e-7


def test_power_is_that_of_a_fixed_sample():
    """Laplace noise 10 % too small, the best event, 10,000 a side: 4.6 standard errors, p about 2e-6."""
    hits_p = round(10_000 * 0.5 * np.exp(-1 / 0.9))
    assert 1e-7 < events.event_p_value(5000, 10_000, hits_p, 10_000, 1.0, 0.0) < 1e-4
    assert events.event_p_value(30, 10_000, 0, 10_000, 1.0, 0.0) < 1e-4
    assert events.event_p_value(3, 10_000, 1, 10_000, 1.0, 0.0) > 0.3
    assert events.event_p_value(0, 10, 0, 10, 0.0, 0.0) == 1.0


def test_the_best_event_is_found_on_either_side():
    rng = np.random.default_rng(0)
    p, q = rng.normal(size=5000), rng.normal(2, 1, 5000)
    for sign in (1, -1):
        event = events.best_event(sign * p, sign * q, guarantee.gdp(1.0))
        fresh = sign * rng.normal(size=5000), sign * rng.normal(2, 1, 5000)
        assert events.judge_event(event, *fresh) < 1e-6
    claim = guarantee.gdp(2.0)
    wrong = [events.judge_event(events.best_event(p, q, claim), rng.normal(size=999), rng.normal(2, 1, 999))
             for _ in range(20)]  # fmt: skip
    assert np.mean(np.array(wrong) <= 0.05) <= 0.2


def test_ties_infinities_and_single_scores(recwarn):
    claim = guarantee.approx_dp(1.0)
    for p, q in (([0.0], [0.0]), ([0.0, 0.0], [np.inf, np.inf]), ([-np.inf], [1.0]), ([1.0] * 50, [2.0] * 50)):
        event = events.best_event(np.array(p), np.array(q), claim)
        assert 0 <= events.judge_event(event, np.array(p), np.array(q)) <= 1 and event.words
    assert not recwarn.list


def test_an_event_in_words_and_in_counts():
    scores = np.array([1.0, 2.0, 2.0, 3.0])
    for at, below, words, hits in (
        (False, False, "> 2", 1),
        (True, False, ">= 2", 3),
        (False, True, "<= 2", 3),
        (True, True, "< 2", 1),
    ):
        event = events.Event(2.0, at, below, 1.0, 0.0, 0.0)
        assert event.words == words and event.hits(scores) == hits


@pytest.mark.parametrize("below", [False, True])
@pytest.mark.parametrize("at", [False, True])
def test_the_best_event_says_whether_the_cut_belongs_to_it(at, below):
    """Scores 0, 1, 2: the side on which Q lies shows whether 1 counts."""
    inside = {(False, False): [2], (True, False): [1, 2], (False, True): [0, 1], (True, True): [0]}[at, below]
    rng = np.random.default_rng(1)
    q = rng.choice(inside, 400).astype(float)
    p = rng.choice([one for one in (0, 1, 2) if one not in inside], 400).astype(float)
    event = events.best_event(p, q, guarantee.approx_dp(1.0, 0.0))
    assert event.hits(q) == 400 and event.hits(p) == 0
