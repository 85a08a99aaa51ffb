import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit.scores import reading


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
    found = reading.tops(high, low, at, np.random.default_rng(0))
    assert found.tolist() == [_naive(high, low, d, np.random.default_rng(1)) for d in at]


def test_ties_are_read_in_random_order():
    """Mean and covariance of the counts at four depths against 8,000 shuffled piles, within four standard errors."""
    high, low = np.sort(np.array([0.0, 1.0, 1.0, 1.0, 2.0])), np.sort(np.array([0.0, 0.0, 1.0, 1.0, 3.0, 2.0]))
    at, rng = np.array([2, 4, 7, 9]), np.random.default_rng(2)
    ours = np.array([reading.tops(high, low, at, rng) for _ in range(8_000)])
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
    found = reading.tops(np.array([1.0, 3.0, 3.0]), np.array([0.0, 0.0, 2.0]), np.arange(1, 7), rng)
    assert found.tolist() == [1, 2, 2, 3, 3, 3] and rng.random() == plain.random()


def test_both_ends_add_up():
    rng = np.random.default_rng(3)
    high, low = np.sort(rng.normal(1, 1, 40)), np.sort(rng.normal(0, 1, 60))
    hits, misses = reading.tally_both_ends(high, low, rng)
    assert ((hits + misses) % 2 == 0).all() and hits[-1] + misses[-1] == 100
    of_high = np.argsort(np.concatenate([high, low])) < 40
    for made, right in zip((hits + misses).astype(int) // 2, hits, strict=True):
        assert right == of_high[100 - made :].sum() + (~of_high[:made]).sum()
    assert reading.tally(high[:0], low[:0], rng)[0].size == 0


def test_of_two_ends_the_shorter_one_says_how_deep_both_are_read():
    """Those that may be read at the high end are 3 and 2, at the low end 1 and 3, and the other way round."""
    rng, ends = np.random.default_rng(0), (np.array([7.0, 8.0, 9.0]), np.array([6.5, 7.5]))
    far = np.array([1.0]), np.array([2.0, 3.0, 4.0])
    hits, misses = reading.tally_both_ends(*ends, rng, far)
    assert (hits + misses).tolist() == [2.0, 4.0, 6.0, 8.0]
    assert hits.tolist() == [1.0, 3.0, 4.0, 6.0]  # 9, 8, 7.5, 7 from above; 1, 2, 3, 4 from below
    short = reading.tally_both_ends(*far, rng, ends)
    assert float(short[0][-1] + short[1][-1]) == 8.0


def test_the_walk_stops_at_the_first_step_that_is_not_refuted():
    """Also when a later step would be refuted again (the red case of fixed-sequence testing)."""
    tallies = [(np.array([10.0]), np.array([0.0]))]
    gain = np.full((40, 1), 0.5)
    needed = np.full(40, 4.0)
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed) == 40
    needed[20] = 5.1
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed) == 20
    with_a_miss = [(np.array([10.0]), np.array([1.0]))]
    assert reading.refuted_steps(with_a_miss, gain, np.array([-np.inf]), needed) == 0
    assert reading.refuted_steps(tallies * 2, gain, np.array([0.0]), needed) == 20


@pytest.mark.parametrize("longest", [0, 1, 2, 5000])
def test_depths(longest):
    at = reading.depths(longest)
    assert (np.diff(at) > 0).all() and (at.size == 0 or (at[0], at[-1]) == (1, longest))


def test_only_what_shows_more_is_read_on(monkeypatch):
    """One step is asked for first; the ladder is then walked in blocks of sixteen, never in one piece."""
    asked, plain = [], reading.log_wealths
    monkeypatch.setattr(
        reading, "log_wealths", lambda one, hit, *rest: asked.append(len(hit)) or plain(one, hit, *rest)
    )
    tallies, gain, needed = [(np.array([10.0]), np.array([0.0]))], np.full((40, 1), 0.5), np.full(40, 4.0)
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed, beyond=7) == 40 and asked == [1, 16, 16, 8]
    needed[7] = 5.1
    asked.clear()
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed, beyond=7) == 0 and asked == [1]
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed, beyond=99) == 7
    needed[39] = 5.1
    assert reading.refuted_steps(tallies, gain, np.array([-np.inf]), needed, beyond=99) == 0


def test_the_wealth_is_the_best_of_all_depths_and_a_mean_of_targets():
    """By hand: 3 right and 1 wrong guess, then 5 and 4; two targets with shares of the stake."""
    hit, miss = np.log([[1.5, 1.2]]), np.log([0.4, 0.9])
    plain = max(
        0.25 * 1.5**right * 0.4**wrong + 0.75 * 1.2**right * 0.9**wrong for right, wrong in ((3.0, 1.0), (5.0, 4.0))
    )
    tallies = [(np.array([3.0, 5.0]), np.array([1.0, 4.0]))]
    found = reading.log_wealths(tallies, hit, miss, np.array([0.25, 0.75]))
    assert found == pytest.approx([np.log(plain)], rel=1e-12)
    nothing = [(np.zeros(0), np.zeros(0))]
    assert reading.refuted_steps(nothing, np.array([[0.5]]), np.zeros(1), np.array([1.0])) == 0
    both = reading.log_wealths(tallies + nothing, hit, miss, np.array([0.25, 0.75]))
    assert both == pytest.approx([max(np.log(plain), 0.0) - np.log(2)], rel=1e-12)


def test_more_than_rounding_may_add_is_asked_for():
    """A billionth, and two parts in 1e15 of each label read."""
    for right, more in ((10.0, 1e-9), (2.0**22, 1e-9 + 2.0**22 * 2e-15)):
        tallies = [(np.array([right]), np.array([0.0]))]
        for share, steps in ((0.9, 0), (1.1, 1)):
            needed = np.array([0.5 * right - share * more])
            assert reading.refuted_steps(tallies, np.array([[0.5]]), np.array([0.0]), needed) == steps
