"""The level of the score audits without sampling error: every outcome, or every mechanism, of small cases."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from scipy.sparse import coo_matrix
from scipy.special import ndtri
from scipy.stats import multinomial

from dpassay.audit.evidence import curves, label_bets
from dpassay.audit.evidence.weighted import Allowance
from dpassay.audit.results import Verdict
from dpassay.audit.scores import labels, one_run, outward
from dpassay.reference import guarantee


def _compositions(count, parts):
    if parts == 1:
        yield (count,)
        return
    for first in range(count + 1):
        yield from ((first, *rest) for rest in _compositions(count - first, parts - 1))


def _extremal(epsilon, delta):
    """Answers -2 (only without the record), -1, 1, 2 (only with it): their laws on D and on D'."""
    low = (1 - delta) / (1 + np.exp(epsilon))
    law = np.array([delta, 1 - delta - low, low, 0.0])
    return np.array([-2.0, -1.0, 1.0, 2.0]), law, law[::-1]


def _false_claims(epsilon, delta, sizes, confidence, claims):
    """Probability of each false claim, summed over all outcomes; two orders of reading for each."""
    scores, on_d, on_e = _extremal(epsilon, delta)
    total = np.zeros(len(claims))
    sides = [_likely(size, law) for size, law in zip(sizes, (on_d, on_e), strict=True)]
    for (a, of_a), (b, of_b) in itertools.product(*sides):
        p, q = np.repeat(scores, a), np.repeat(scores, b)
        for seed in range(2):
            rng = np.random.default_rng([seed, *a, *b])
            total += [of_a * of_b / 2 * claim(p, q, rng, confidence) for claim in claims]
    return total


def _likely(count, law):
    """Counts of each answer that are possible, with their probabilities."""
    found = [(parts, float(multinomial.pmf(parts, count, law))) for parts in _compositions(count, law.size)]
    return [one for one in found if one[1] > 0]


@pytest.mark.some(1)
@pytest.mark.parametrize(("epsilon", "delta", "sizes"), [(0, 0, (5, 5)), (0.5, 0, (5, 5)), (0.5, 0.1, (3, 2))])
@pytest.mark.parametrize("confidence", [0.2, pytest.param(0.5, marks=pytest.mark.slow), 0.8])  # seconds each
def test_no_bound_or_test_claims_too_much_on_its_hardest_pair(epsilon, delta, sizes, confidence):
    """The claims are true, and the levels so large that small samples can break them."""
    claim = guarantee.approx_dp(epsilon, delta)
    claims = [
        lambda p, q, rng, c: labels.epsilon_labels(p, q, delta, rng, c).epsilon > epsilon,
        lambda p, q, rng, c: curves.refute_curve(p, q, claim, rng, c).verdict is Verdict.VIOLATED,
    ]
    found = _false_claims(epsilon, delta, sizes, confidence, claims)
    assert (found <= 1 - confidence).all()
    assert confidence > 0.5 or delta > 0 or found.min() > 0, "no false claims at all would show nothing"


# -- labels: how many there are, and in which order they are read -----------------------------------------------
def _read(high, low, at, rng):
    """How many of so many cards of a shuffled pile, sorted by score, are of `high`: the reading order itself."""
    scores, sides = np.concatenate([high, low]), np.arange(high.size + low.size) < high.size
    order = np.lexsort((rng.random(scores.size), -scores))
    return np.append(0, np.cumsum(sides[order]))[at]


@settings(max_examples=60)
@given(st.lists(st.floats(allow_nan=False), max_size=25), st.lists(st.floats(allow_nan=False), max_size=25))
def test_without_ties_between_the_sides_the_counts_are_those_of_the_sorted_pile(a, b):
    high, low = np.unique(a), np.setdiff1d(np.unique(b), np.unique(a))
    at, rng = np.arange(high.size + low.size + 1), np.random.default_rng(0)
    assert label_bets.tops(high, low, at, rng).tolist() == _read(high, low, at, rng).tolist()


def test_ties_are_read_in_random_order():
    """Mean and covariance of the counts at four depths against 4,000 shuffled piles, within four standard errors."""
    high, low = np.array([0.0, 1.0, 1.0, 1.0, 2.0]), np.array([0.0, 0.0, 1.0, 1.0, 2.0, 3.0])
    at, rng = np.array([2, 4, 7, 9]), np.random.default_rng(2)
    ours, piles = (np.array([read(high, low, at, rng) for _ in range(4_000)]) for read in (label_bets.tops, _read))
    assert np.abs(ours.mean(axis=0) - piles.mean(axis=0)).max() < 4 * np.sqrt(2 / 4_000)
    assert np.abs(np.cov(ours.T) - np.cov(piles.T)).max() < 0.07


def _label_laws(size, share, top):
    """All label sequences, highest score first, that `labelled(size, size)` and two tied groups of scores can give.

    With probability `share` a score is in the upper group, whose labels are Q with probability `top`. Yields the
    sequences of one length (rows) and their probabilities.
    """
    for length in range(size, 2 * size + 1):
        rows = np.array(list(itertools.product((False, True), repeat=length)))
        weight = np.zeros(len(rows))
        bottom = (0.5 - share * top) / (1 - share)
        for upper, lower in _compositions(length, 2):
            rate = np.repeat([top, bottom], (upper, lower))
            times = multinomial.pmf((upper, lower), length, (share, 1 - share))
            weight += times * np.where(rows, rate, 1 - rate).prod(axis=1)
        of_q = rows.sum(axis=1)
        of_p = length - of_q
        full_q, full_p = (of_q == size) & (of_p <= size), (of_p == size) & (of_q <= size)
        yield rows, weight * (full_q / 2 + full_p / 2)  # the next coin is for the side that has run out


@pytest.mark.parametrize("size", [1, 2, 4, 6])
@pytest.mark.parametrize("epsilon", [0.0, 0.5, 1.5])
def test_labels_until_a_side_runs_out_are_no_better_than_fair_coins(size, epsilon):
    """P(wealth ever reaches c) <= 1 / c for every c, target and either law, though the number of labels is random."""
    limit = 1 / (1 + np.exp(-epsilon))
    for share, target in itertools.product((0.3, 0.5), label_bets.TARGETS):
        hit, miss = label_bets.ladder_gains(np.array([epsilon]), np.array([target]))
        best, chance = [], []
        for rows, weight in _label_laws(size, share, limit):
            wealth = np.cumsum(np.where(rows, hit[0, 0], max(miss[0], -1e9)), axis=1)
            best.append(wealth.max(axis=1))
            chance.append(weight)
        reached, chances = np.concatenate(best), np.concatenate(chance)
        assert chances.sum() == pytest.approx(1)
        for log_c in np.unique(reached[reached > 0]):
            assert chances[reached >= log_c - 1e-12].sum() * np.exp(log_c) <= 1 + 1e-9


def test_the_number_of_labels_follows_that_law():
    rng = np.random.default_rng(0)
    found = [label_bets.labelled(4, 4, rng) for _ in range(8_000)]
    for rows, weight in _label_laws(4, 0.5, 0.5):
        for of_q in range(rows.shape[1] + 1):
            expected = weight[rows.sum(axis=1) == of_q].sum()
            seen = np.mean([pair == (rows.shape[1] - of_q, of_q) for pair in found])
            assert abs(seen - expected) <= 4 * np.sqrt(expected * (1 - expected) / 8_000) + 1e-12


def _over_all_mechanisms(wins, count, epsilon, delta):
    """The largest share of wins of any (epsilon, delta)-DP mechanism that ranks `count` canaries by their fair coins.

    `wins`, shape (rankings, coin vectors), says what wins; linear program over all conditional laws of the ranking.
    """
    rankings, vectors = wins.shape
    pairs = [(s, s ^ (1 << j)) for s in range(vectors) for j in range(count)]
    law = np.arange(rankings * vectors).reshape(rankings, vectors)
    spare = law.size + np.arange(len(pairs) * rankings).reshape(len(pairs), rankings)
    rows, columns, values = [], [], []
    for k, (one, other) in enumerate(pairs):  # law(one) - e^epsilon law(other) <= spare, and the spares sum to delta
        first = k * (rankings + 1)
        for column, value in ((law[:, one], 1.0), (law[:, other], -np.exp(epsilon)), (spare[k], -1.0)):
            rows.append(first + np.arange(rankings))
            columns.append(column)
            values.append(np.full(rankings, value))
        rows.append(np.full(rankings, first + rankings))
        columns.append(spare[k])
        values.append(np.ones(rankings))
    triple = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    limits = np.tile(np.append(np.zeros(rankings), delta), len(pairs))
    sums = coo_matrix((np.ones(law.size), (np.tile(np.arange(vectors), rankings), np.arange(law.size))),
                      shape=(vectors, law.size + spare.size))  # fmt: skip
    aim = -np.append(wins.ravel() / vectors, np.zeros(spare.size))
    shape = (limits.size, law.size + spare.size)
    return -linprog(aim, coo_matrix(triple, shape=shape), limits, sums, np.ones(vectors), method="highs").fun


def _wins(count, judge):
    """Which rankings of the canaries, with which coins, are judged a violation."""
    rankings = list(itertools.permutations(range(count)))
    vectors = [np.array([s >> j & 1 for j in range(count)]) for s in range(2**count)]
    judged = [[judge(np.array(ranking, dtype=float), coins) for coins in vectors] for ranking in rankings]
    return np.array(judged, dtype=float)


def _bound_exceeds(epsilon, delta, confidence):
    def judge(scores, coins):
        return one_run.epsilon_one_run(scores, coins, delta, np.random.default_rng(0), confidence).epsilon > epsilon

    return judge


def _curve_refuted(epsilon, delta, confidence):
    def judge(scores, coins):
        claim = guarantee.approx_dp(epsilon, delta)
        found = one_run.one_run_curve(scores, coins, claim, np.random.default_rng(0), confidence)
        return found.verdict is Verdict.VIOLATED

    return judge


@pytest.mark.parametrize("judge", [_bound_exceeds, _curve_refuted])
@pytest.mark.parametrize(
    ("count", "epsilon", "delta", "confidence"),
    [
        (3, 0.0, 0.02, 0.2),
        (3, 0.5, 0.0, 0.2),
        (3, 0.0, 0.2, 0.5),
        (4, 0.0, 0.0, 0.8),
        pytest.param(4, 0.0, 0.02, 0.8, marks=pytest.mark.slow),
        pytest.param(4, 0.5, 0.1, 0.5, marks=pytest.mark.slow),
    ],
)
def test_one_run_keeps_its_level_whatever_ranks_the_canaries(judge, count, epsilon, delta, confidence):
    """The worst of all (epsilon, delta)-DP mechanisms, canaries failing together or not, does not win too often."""
    wins = _wins(count, judge(epsilon, delta, confidence))
    assert _over_all_mechanisms(wins, count, epsilon, delta) <= 1 - confidence + 1e-9


def test_the_worst_mechanism_wins_where_its_delta_is_not_paid_for():
    """Red case: judged at delta = 0, a (0, 0.5)-DP ranking of four canaries wins too often at level 0.2."""
    wins = _wins(4, _bound_exceeds(0.0, 0.0, 0.8))
    assert _over_all_mechanisms(wins, 4, 0.0, 0.5) > 0.25


def _outward_exceeds(epsilon, delta, confidence, corrupted=True):
    """The outward reading of so few canaries: blocks of one, the outer ones hidden, a plan that learns."""

    def judge(scores, coins):
        count = coins.size
        quantiles = ndtri((np.arange(count) + 0.5) / count)
        of_q = coins[np.argsort(-scores)].astype(float)
        blocks = outward.Blocks(np.ones(count), of_q, np.arange(count), quantiles)
        plan = outward.plan_outward(blocks, 1 - confidence, signs=(1,))
        if plan is None:
            return False
        left = 1 - confidence - count * delta / 2 * corrupted
        return outward.judge(blocks, plan, [Allowance(0, left)])[0] > epsilon

    return judge


@pytest.mark.parametrize(  # the second is the red case: delta is not paid for
    ("delta", "paid", "least", "most"),
    [
        pytest.param(0.02, True, 0.1, 0.8, marks=pytest.mark.more),
        pytest.param(0.5, False, 0.8001, 1.0, marks=pytest.mark.slow),
    ],
)
def test_the_outward_reading_keeps_its_level_whatever_ranks_the_canaries(delta, paid, least, most):
    """Four canaries, epsilon 0.5, level 0.8."""
    wins = _wins(4, _outward_exceeds(0.5, delta, 0.2, paid))
    assert least < _over_all_mechanisms(wins, 4, 0.5, delta) <= most + 1e-9
