"""The level is shared among thresholds and families: the simultaneous bound against a plain twin."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import beta

from dpassay.audit.results import SoundBound
from dpassay.audit.scores import labels, one_run
from dpassay.audit.scores.thresholds import epsilon_simultaneous


def twin(p, q, delta, alpha):
    """Every event 'above the k-th largest of the rare side', each at its share of the level, by hand."""
    best = 0.0
    for rare, frequent in ((p, q), (-q, -p), (q, p), (-p, -q)):
        n = len(rare)
        ranks = sorted({int(np.round(k)) for k in np.geomspace(1, n, max(2, int(3 * np.log2(n + 1))))})
        for rank in ranks:
            cut = np.sort(rare)[::-1][rank - 1]
            share = alpha / 4 / len(ranks)
            hits, above = int(np.sum(frequent > cut)), rank - 1
            low = beta.ppf(0.2 * share, hits, len(frequent) - hits + 1) if hits else 0.0
            high = beta.ppf(1 - 0.8 * share, above + 1, n - above)
            if low > delta:
                best = max(best, np.log(low - delta) - np.log(high))
    return best


@pytest.mark.parametrize(("n", "seed"), [(50, 0), (400, 1)])
def test_each_threshold_has_its_share(n, seed):
    rng = np.random.default_rng(seed)
    p, q = rng.normal(0, 1, n), rng.normal(3, 1, n)
    found = epsilon_simultaneous(p, q, 1e-3, 0.95).epsilon
    assert found == pytest.approx(twin(p, q, 1e-3, 0.05), rel=1e-9) and found > 0.5


@pytest.mark.parametrize(("promise", "share"), [(None, 1.0), (0.01, 0.3), (0.3, 0.05), (0.7, 0.02)])
@pytest.mark.parametrize("sizes", [(900, 900), (900, 600), (20, 20), (19, 30)])
def test_the_readings_of_labels_share_the_level_and_read_what_is_hidden(monkeypatch, sizes, promise, share):
    """Outward, four or six readings inwards, one event: what each is given adds up to the level, not to more."""
    given, read, plain = [], [], labels.plan_outward

    def planned(blocks, alpha, corrupted, prior, kept):
        plan = plain(blocks, alpha, corrupted, prior, kept=kept)
        known = np.arange(blocks.size.size)
        weights = np.where((known >= plan.top) & (known < plan.bottom), 0, int(promise is not None))
        return replace(plan, weights=weights, epsilon=promise or 0.0)

    def judged(blocks, plan, allowed, prior):
        given.append(allowed[-1].level)
        return 0.0, {"direction": "up", "guesses": 1, "wrong": 0}

    def refuted(tally, labels, corrupted, alpha, odds, above):
        given.append(alpha * (1.0 if isinstance(corrupted, float) else corrupted[-1].level))
        return 0.0

    def piled(one, other, rng, far=()):
        read.append(one.size + other.size)
        return np.zeros(1), np.zeros(1)

    def event(p, q, delta, rng, confidence, above):
        given.append(1 - confidence)
        return SimpleNamespace(epsilon=0.0)

    for name, stand_in in (
        ("plan_outward", planned),
        ("judge", judged),
        ("largest_refuted", refuted),
        ("epsilon_split", event),
        ("tally", piled),
        ("tally_both_ends", piled),
    ):
        monkeypatch.setattr(labels, name, stand_in)
    rng = np.random.default_rng(2)
    labels.epsilon_labels(rng.normal(size=sizes[0]), rng.normal(size=sizes[1]), 0.0, rng, 0.95)
    assert sum(given) == pytest.approx(0.05, rel=1e-12) and min(given) > 0
    many = sum(sizes) > 500 or len(given) > len(read) + (min(sizes) >= 20)
    outward = many and promise is not None
    orders = 6 if sizes[0] == sizes[1] else 4
    assert len(read) == (orders // 2 if outward and promise > 0.5 else orders)  # the direction is known then
    assert len(given) - len(read) == (min(sizes) >= 20) + outward  # one event from 20 a side on; outwards
    left = 0.05 - (given[-1] if min(sizes) >= 20 else 0.0)
    assert sum(given[outward : outward + len(read)]) == pytest.approx(left * (share if many else 1.0), rel=1e-9)


@pytest.mark.parametrize("dear", [0.8 * one_run.CHEAP, (one_run.CHEAP + one_run.DEAR) / 2])
def test_coins_of_one_run_share_the_level_and_pay_for_corrupted_ones(monkeypatch, dear):
    """m delta coins are found out in expectation."""
    given, count = [], 2 * one_run.MIXED_FROM
    delta = dear * 0.05 / count

    def outward(low, high, rng, alpha, allowed, signs):
        given.append(alpha)
        assert (allowed.expected, allowed.level) == (pytest.approx(count * delta), alpha)
        assert allowed.gain == (0.5 if dear <= one_run.CHEAP else 0.42)
        return 0.0, {}

    def other(values, coins, delta, rng, alpha, above=0.0):
        given.append(alpha)
        return SoundBound(epsilon=0.0, delta=delta, confidence=1 - alpha, method="x", runs=1, evidence={})

    monkeypatch.setattr(one_run, "read_outward", outward)

    def reading(*words):
        called.append("reading")
        return other(*words)

    def guessing(*words):
        called.append("guessing")
        return other(*words)

    called = []
    monkeypatch.setattr(one_run, "_by_reading", reading)
    monkeypatch.setattr(one_run, "_by_guessing", guessing)
    rng = np.random.default_rng(0)
    one_run.epsilon_one_run(rng.normal(size=count), rng.random(count) < 0.5, delta, rng, 0.95)
    share = one_run.OUTWARD_SHARE if dear <= one_run.CHEAP else one_run.MIXED_SHARE
    assert given == pytest.approx([0.05 * share, 0.05 * (1 - share)]) and min(given) > 0
    assert called == ["reading" if dear <= one_run.CHEAP else "guessing"]


def test_the_wealth_that_refutes_pays_for_corrupted_coins():
    """The twin: the best number c of coins, each worth 1 + exp(-epsilon), with m delta / (c + 1) of the level."""
    epsilons, alpha, count, delta = np.array([0.1, 1.0, 3.0]), 0.05, 1000, 1e-5
    found = one_run.needed_log_wealth(epsilons, count, delta, alpha)
    for epsilon, needed in zip(epsilons, found, strict=True):
        left = {c: alpha - count * delta / (c + 1) for c in range(5000)}
        best = min(c * np.log1p(np.exp(-epsilon)) - np.log(one) for c, one in left.items() if one > 0)
        assert best - 1e-9 <= needed <= best * 1.02 + 0.02
