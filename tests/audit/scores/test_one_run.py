"""One run with many canaries: level where they fail together, power, ties, and what is refused."""

import numpy as np
import pytest
from scipy.stats import binomtest

from dpassay.audit.results import Verdict
from dpassay.audit.scores import one_run
from dpassay.audit.scores.one_run import ENDS, Canaries, Guessing, plans
from dpassay.reference import guarantee
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput


def _canaries(seed, m, mu=1.0):
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins, rng


def test_more_canaries_never_worsen_the_bound():
    """Mean of 4 runs (seeds 0-3), Gaussian canaries mu = 1: rises 100, 1e3, 1e4, 1e5 and stays sound."""
    means = []
    for m in (100, 1000, 10_000, 100_000):
        found = [one_run.epsilon_one_run(*_canaries(seed, m)[:2], 1e-5, np.random.default_rng(0)) for seed in range(4)]
        means.append(np.mean([one.epsilon for one in found]))
    assert 0 < means[0] < means[1] < means[2] < means[3] < gdp_epsilon(1.0, 1e-5)


def test_canaries_that_show_at_one_end_only_are_guessed_there():
    """One in ten of the included canaries stands out (seed 1): nothing is to be learned from the other end."""
    rng = np.random.default_rng(1)
    coins = rng.random(20_000) < 0.5
    scores = rng.normal(size=20_000) + 8 * (coins & (rng.random(20_000) < 0.1))
    found = one_run.epsilon_one_run(scores, coins, 1e-5, rng)
    assert found.evidence["end"] == "high end" and found.epsilon > 3
    turned = one_run.epsilon_one_run(-scores, ~coins, 1e-5, rng)
    assert turned.evidence["end"] == "low end" and turned.epsilon > 3


def test_numbers_of_guesses_share_the_level_and_are_those_that_were_fixed():
    for share in (0.02, 0.3, 1.0):
        assert sum(plan.level for plan in plans(share)) == pytest.approx(1.0)
    rng = np.random.default_rng(2)
    scores, coins, _ = _canaries(2, 501)
    canaries, order = Canaries.of(scores, coins), np.argsort(scores)
    for end, made in (("high end", order[-50:]), ("low end", order[:50]), ("both ends", [*order[:25], *order[-25:]])):
        guesses, right = Guessing(0.1, end, 1.0).guess(canaries, rng)
        high = scores[made] > np.median(scores)
        assert guesses == 50 and right == int((coins[made] == high).sum()) and end in ENDS


def test_curve_level_and_power():
    """Gaussian canaries: claim mu = 1 (true) refuted in at most 5 % (m = 300), mu = 0.4 nearly always (m = 2,000)."""
    true, small, wrong, caught = guarantee.gdp(1.0), guarantee.gdp(0.4), 0, 0
    for seed in range(40):
        scores, coins, rng = _canaries(seed, 300)
        wrong += one_run.one_run_curve(scores, coins, true, rng).verdict is Verdict.VIOLATED
    for seed in range(10):
        scores, coins, rng = _canaries(seed, 2000)
        caught += one_run.one_run_curve(scores, coins, small, rng).verdict is Verdict.VIOLATED
    assert binomtest(wrong, 40, 0.05, alternative="greater").pvalue > 1e-3 and caught >= 9


def test_ties_are_ranked_at_random_and_never_by_the_coins():
    rng = np.random.default_rng(0)
    coins = rng.random(101) < 0.5
    ranks, same = one_run.check_canaries(np.where(coins, 1.0, 0.0), coins, rng)
    assert sorted(ranks) == list(range(101)) and (same == coins).all()
    assert ranks[coins].min() > ranks[~coins].max()
    shuffled = [one_run.check_canaries(np.zeros(5), np.ones(5), np.random.default_rng(k))[0] for k in range(2)]
    assert sorted(shuffled[0]) == sorted(shuffled[1]) and (shuffled[0] != shuffled[1]).any()
    untied = rng.normal(size=50)
    assert (one_run.check_canaries(untied, coins[:50], rng)[0] == untied).all()


def test_bad_coins_and_one_canary():
    rng = np.random.default_rng(0)
    for bad in ([1.0, 2.0], [1.0]):
        with pytest.raises(BadInput, match="included"):
            one_run.epsilon_one_run([0.0, 1.0], bad, 0.0, rng)
    with pytest.raises(BadInput, match=r"delta = -1e-09: must lie in \[0, 1\)"):
        one_run.epsilon_one_run([0.0, 1.0], [0, 1], -1e-9, rng)
    assert one_run.epsilon_one_run([3.0], [1], 0.5, rng).epsilon == 0.0
    with pytest.raises(BadInput, match=r"scores = '1 canary'.*at least two"):
        one_run.one_run_curve([3.0], [1], guarantee.gdp(1.0), rng)
