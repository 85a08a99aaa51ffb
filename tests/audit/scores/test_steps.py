"""Short steps at an end of the scores of one run: they are found, and the coins that are judged do not choose."""

import numpy as np
import pytest

from dpassay.audit.scores import found_out, one_run, steps
from dpassay.audit.scores.guessing import Canaries
from dpassay.audit.scores.outward import Plan
from dpassay.audit.scores.ranked import Blocks, blocks_of

MANY, DELTA = 100_000, 1e-5


def _canaries(seed, rate, side="in"):
    """Scores that say nothing, but for a share `rate` of those on one side, which stand at that end."""
    rng = np.random.default_rng([5, seed])
    coins = rng.random(MANY) < 0.5
    scores = rng.normal(size=MANY)
    shown = (coins if side == "in" else ~coins) & (rng.random(MANY) < rate)
    scores[shown] = (9.0 if side == "in" else -9.0) + rng.random(int(shown.sum()))
    return scores, coins


@pytest.mark.some(1)
@pytest.mark.parametrize("side", ["in", "out"])
def test_three_canaries_in_a_thousand_that_are_known_for_certain_are_seen(side):
    """About 150 of 100,000: the median of 7 bounds is above 0.9 (of 40: 1.6), for either end (seeds 0-6)."""
    found = []
    for seed in range(7):
        scores, coins = _canaries(seed, 0.003, side)
        found.append(one_run.epsilon_one_run(scores, coins, DELTA, np.random.default_rng([1, seed])))
    assert np.median([one.epsilon for one in found]) > 0.9
    ends = [one.evidence["end"] for one in found]
    assert ends.count("high end" if side == "in" else "low end") >= 6


def test_where_nothing_is_shown_there_is_no_step():
    """Red case of the search: five samples that say nothing (seeds 0-4), no bound above 0.05."""
    for seed in range(5):
        scores, coins = _canaries(seed, 0.0)
        found = one_run.epsilon_one_run(scores, coins, DELTA, np.random.default_rng([1, seed]))
        assert found.epsilon < 0.05 and found.method == one_run.OUTWARDS


def test_coins_that_are_judged_do_not_choose_the_step():
    """Turning over every coin that is neither told nor revealed leaves the step as it was."""
    scores, coins = _canaries(0, 0.003)
    _, known = steps.tell(scores, 0.05, np.random.default_rng(3))
    told, used = (Canaries.of(scores[one], coins[one]) for one in (known, ~known))
    blocks = blocks_of(used.low, used.high, np.random.default_rng(0))
    plan = Plan(12, blocks.size.size - 12, 1, np.zeros(blocks.size.size, dtype=np.int64))
    pooled = np.sort(scores[~known])
    at_top, at_bottom = int(blocks.size[: plan.top].sum()), int(blocks.size[plan.bottom :].sum())
    hidden = ~known & ((scores >= pooled[-at_top]) | (scores <= pooled[at_bottom - 1]))
    turned = Canaries.of(scores[~known], (coins ^ hidden)[~known])
    others = blocks_of(turned.low, turned.high, np.random.default_rng(0))
    assert 0 < hidden.sum() == at_top + at_bottom

    def promise(guesses, right, above):
        return max(0.0, right / guesses * np.log(guesses) - above)

    first, second = (steps.step_of(told, one, some, plan, promise) for one, some in ((used, blocks), (turned, others)))
    assert first is not None and first.end == "high end" and first == second
    assert first.right(used) + first.right(turned) == first.guesses


def test_who_is_told_depends_on_ranks_and_our_own_draws():
    """As many of each e-fold of depth; the pilot is among them (100,000 scores, seed 0)."""
    scores = np.random.default_rng(1).normal(size=MANY)
    pilot, known = steps.tell(scores, 0.01, np.random.default_rng(0))
    again = steps.tell(np.exp(scores), 0.01, np.random.default_rng(0))[1]
    assert np.array_equal(known, again) and not (pilot & ~known).any()
    from_top = known[np.argsort(-scores)]
    for low, high in ((54, 147), (147, 400)):
        assert abs(from_top[low:high].sum() - steps.TOLD) < 4 * np.sqrt(steps.TOLD)
    assert abs(pilot.mean() - 0.01) < 5 * np.sqrt(0.01 / MANY)


def test_of_fewer_canaries_the_pilot_alone_is_told():
    for many in (100, 29_999):
        pilot, known = steps.tell(np.arange(float(many)), 0.1, np.random.default_rng(0))
        assert np.array_equal(pilot, known) and abs(pilot.sum() - many / 10) <= 1
    pilot, known = steps.tell(np.arange(30_000.0), 0.01, np.random.default_rng(0))
    assert known.sum() > pilot.sum() + 10


def _ranked(right, gap=3):
    """Coins told, the highest first, 'in' where right; above each of them so many scores more are hidden."""
    scores = -np.arange(len(right), dtype=float)
    hidden = (scores[:, None] + 0.5 + 0.1 * np.arange(gap)).ravel()
    return Canaries.of(scores, np.array(right, dtype=bool)), Canaries.of(hidden, np.ones(hidden.size, dtype=bool))


def test_a_step_needs_eight_right_coins_where_the_curve_knows_nothing_and_forty_are_looked_at():
    """m right ones of m are m log((m + 1/2) / (m + 1) * 2) nats of evidence: 4.4 of 7, 5.1 of 8."""
    found = steps._steps(*_ranked([True] * 60), np.array([180.0, 1.0]), np.array([0.5, 0.5]))
    assert [count for count, _ in found] == [3 * m for m in range(8, 41)]
    assert [rate for _, rate in found] == pytest.approx([(m + 0.5) / (m + 1) for m in range(8, 41)])
    assert steps._steps(*_ranked([True] * 60), np.array([30.0]), np.array([0.5])) == found[:2]  # nine lie in that block
    assert steps._steps(*_ranked([True] * 60, gap=0), np.array([180.0]), np.array([0.5])) == []
    assert steps._steps(*_ranked([True] * 60), np.array([]), np.array([])) == []


def test_a_step_ends_at_a_right_coin_and_is_right_more_often_than_not():
    """Of a curve that says "out" two right coins are evidence, and so is every second one, but nothing to guess by."""
    sides = np.array([300.0]), np.array([0.01])
    assert steps._steps(*_ranked([False, True] * 20), *sides) == []
    found = steps._steps(*_ranked([True, True, False] * 10), *sides)
    assert [count // 3 for count, _ in found] == [m for m in range(2, 31) if m % 3]


def test_both_ends_are_looked_at_alike(monkeypatch):
    """The curve foresees the first 60 hidden scores and not the next: a step ends among these, at either end."""
    told, used = _ranked([True] * 40)
    size, odds = np.array([60.0, 120.0, 400.0, 50.0]), np.array([2.2, 0.0, 0.0, 0.0])
    found = []
    for turned in (False, True):
        way = slice(None, None, -1) if turned else slice(None)
        monkeypatch.setattr(steps, "revealed_log_odds", lambda *_, way=way, sign=-1 if turned else 1: sign * odds[way])
        plan = Plan(1, 2, 1, np.zeros(4), 0.0) if turned else Plan(2, 3, 1, np.zeros(4), 0.0)
        sides = (told.turned(), used.turned()) if turned else (told, used)
        blocks = Blocks(size[way], np.zeros(4), np.arange(4), np.zeros(4))
        found.append(steps.step_of(*sides, blocks, plan, lambda guesses, right, most: 1 / guesses))
    high, low = found
    assert (high.high, high.low, high.rate) == (low.low, low.high, low.rate) and high.low == 0
    assert 60 < high.high < 90
    assert (high.end, low.end) == ("high end", "low end") and high.guesses == high.high


def test_who_is_told_by_the_scores_could_have_been_found_out(monkeypatch):
    """Only the pilot is drawn without a look at the scores: all others count where coins may be corrupted."""
    seen = []

    def levels(expected, alpha, **how):
        seen.append(expected)
        return found_out.FoundOut(expected, alpha, **how)

    monkeypatch.setattr(one_run, "FoundOut", levels)
    rng, many = np.random.default_rng(0), 40_000
    bound = one_run.epsilon_one_run(rng.standard_normal(many), rng.random(many) < 0.5, 1e-5, rng)
    assert seen == [pytest.approx(0.9 * many * 1e-5)]
    assert bound.evidence["used"] < 0.9 * many
