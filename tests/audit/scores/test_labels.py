"""Label readings in small, where every step can be counted by hand."""

import math

import numpy as np
import pytest

from dpassay.audit.scores import labels


def test_as_many_are_left_as_were_asked_for():
    """Drawn without replacement: 5 of 8 values go, each at most once (50 draws)."""
    rng = np.random.default_rng(1)
    for _ in range(50):
        left = labels.without(np.arange(8), 5, rng)
        assert len(left) == len(set(left.tolist())) == 3
    assert labels.without(np.arange(8), 0, rng).tolist() == list(range(8))


def test_the_ladder_has_steps_of_two_thousandths_at_its_foot_and_rises():
    assert labels.LADDER[:4].tolist() == [0.0, 0.002, 0.004, 0.006]
    assert np.all(np.diff(labels.LADDER) > 0)
    assert 39.9 < labels.LADDER[-1] < 40.0
    steps = np.diff(labels.LADDER)
    assert steps[labels.LADDER[:-1] < 2.9].max() < 0.021 and steps.max() < 0.051


def test_finer_targets_are_thirds_of_the_smallest_and_share_a_twentieth():
    targets, shares = labels.stakes_on(100_000)
    assert targets[:4].tolist() == labels.TARGETS.tolist()
    assert targets[4:] == pytest.approx([0.1 / 3, 0.1 / 3**2])
    assert shares[4:] == pytest.approx([0.025, 0.025]) and shares.sum() == pytest.approx(1.0)
    assert len(labels.stakes_on(50_000)[0]) == 6 and len(labels.stakes_on(30_000)[0]) == 5
    targets, shares = labels.stakes_on(100)
    assert len(targets) == 4 and shares == pytest.approx([0.25] * 4)


def test_the_largest_refuted_step_is_the_last_one_that_was_refuted():
    """40 right guesses of 40: the wealth is a mixture of known factors, so the step can be computed here."""
    right, wrong = np.array([40.0]), np.array([0.0])

    def refuted(epsilon):
        miss = 1 / (1 + math.exp(epsilon))
        factors = [(1 - miss * (1 - target)) * (1 + math.exp(-epsilon)) for target in labels.TARGETS]
        return np.mean(np.power(factors, 40)) >= 1 / 0.05

    steps = [step for step in labels.LADDER.tolist() if refuted(step)]
    assert steps == labels.LADDER[: len(steps)].tolist()
    assert labels.largest_refuted((right, wrong), 40, 0.0, 0.05) == steps[-1]


def test_the_larger_side_is_seen_from_either_end_and_from_both():
    """Two disjoint samples of 97, labelled in full: three of the six readings show much, and as much from one end."""
    low = np.arange(97.0)
    whole = labels.Ends.of(low, low + 200, (97, 97), (97, 97))
    found = labels._read(whole, 194, 0.0, 0.0, np.random.default_rng(3), 0.05, 0.0)
    assert [name for value, name in found if value > 2.0] == [
        "high scores guessed to be of D'", "low scores guessed to be of D",
        "high scores guessed to be of D', low ones of D",
    ]  # fmt: skip
    by_q, by_p, _ = (value for value, _ in found if value > 2.0)
    assert by_q == pytest.approx(by_p, abs=0.5)


def test_the_low_end_is_read_as_the_high_one_of_scores_turned_over():
    """97 scores a side one apart (seed 4), and the same with both signs and sides turned: each order has its twin."""
    rng = np.random.default_rng(4)
    p, q = np.sort(rng.normal(size=97)), np.sort(rng.normal(2.0, 1.0, 97))
    ends = [labels.Ends.of(one, other, (97, 97), (97, 97)) for one, other in ((p, q), (-q[::-1], -p[::-1]))]
    one, other = (labels._read(each, 194, 0.0, 0.0, np.random.default_rng(0), 0.05, 0.0) for each in ends)
    (high, _), (low, _) = one[0], one[1]
    assert high > 1 and low > 1 and high != low
    assert (high, low) == (other[1][0], other[0][0])
    assert [one.tolist() for one in ends[0].turned().high] == [(-p[::-1]).tolist(), (-q[::-1]).tolist()]


@pytest.mark.parametrize(("inwards", "shown"), [(0.5, 1.0), (2.0, 2.0)])
def test_where_many_labels_are_corrupted_the_better_of_both_ways_is_told(monkeypatch, inwards, shown):
    seen = {"direction": "up", "guesses": 3, "wrong": 1}
    monkeypatch.setattr(labels, "read_outward", lambda *_: (1.0, seen))
    monkeypatch.setattr(labels, "_read", lambda *_: [(0.1, "other"), (inwards, "name")])
    values = np.arange(50.0)
    value, told = labels._apart(values, values, 0.0, 0.1, np.random.default_rng(0), 0.05)
    assert value == shown and told["read"] == ("outwards" if inwards < 1 else "inwards")


def test_what_stays_hidden_is_read_inwards_with_all_of_the_level_where_nothing_was_seen():
    """25 of 20,000 scores of each side stand at the very end (seed 7): they were judged with a share of 0.05."""
    rng = np.random.default_rng(7)
    p, q = rng.normal(size=20_000), rng.normal(size=20_000)
    p[:25], q[:25] = -50.0 - rng.random(25), 50.0 + rng.random(25)
    found = labels.epsilon_labels(p, q, 0.0, rng)
    assert found.evidence == {"by": "high scores guessed to be of D', low ones of D", "read": "inwards"}
    few = labels.largest_refuted((np.array([50.0]), np.array([0.0])), 40_000, 0.0, 0.05 * 0.95 * 0.05 / 6)
    assert found.epsilon > few + 0.2


@pytest.mark.parametrize("turned", [False, True])
def test_hidden_ends_are_the_largest_and_the_smallest(turned):
    low, high = np.arange(10.0), np.arange(10.0) + 0.5
    ends = labels.Ends.of(low, high, (1, 2), (3, 0))
    if turned:
        ends = ends.turned().turned()
    found = [one.tolist() for side in (ends.high, ends.low) for one in side]
    assert found == [[9.0], [8.5, 9.5], [0.0, 1.0, 2.0], []]


def test_wealth_that_the_revealed_labels_give_a_share_pays_for_the_most_corrupted_labels():
    """Levels by their number: the wealth must make up for each of them with its own level."""
    right, wrong, levels = np.array([60.0]), np.array([0.0]), [labels.Allowance(0, 0.04), labels.Allowance(9, 0.06)]
    one, other = (labels.largest_refuted((right, wrong), 100, [level], 0.5) for level in levels)
    assert labels.largest_refuted((right, wrong), 100, levels, 0.5) == min(one, other) == other < one
    assert one == labels.largest_refuted((right, wrong), 100, 0.0, 0.02)
    gain = labels.ladder_gains(np.array([other]), labels.TARGETS)[0].max()
    assert gain == pytest.approx(np.log1p(np.exp(-other)))
    assert other <= labels.largest_refuted((right, wrong), 100, 0.0, 0.03 * np.exp(-9 * gain)) <= other + 0.051


def test_scores_that_are_all_equal_say_nothing_and_say_so():
    found = labels.epsilon_labels([1.0] * 30, [1.0] * 30, 0.0, np.random.default_rng(0))
    assert found.epsilon == 0.0 and "all scores are equal" in found.evidence["hint"]
    other = labels.epsilon_labels([1.0, 2.0] * 15, [1.0, 2.0] * 15, 0.0, np.random.default_rng(0))
    assert other.epsilon == 0.0 and "hint" not in other.evidence


def test_one_score_a_side_shows_nothing_and_is_no_error():
    """One label may be read from one end, and from both in turn not even that one."""
    for seed in range(5):
        assert labels.epsilon_labels([1.0], [2.0], 0.0, np.random.default_rng(seed)).epsilon == 0.0


def test_what_shows_the_bound_is_named():
    """Few labels are read inwards alone, many outwards; one in fifty that stands at the very end is an event."""
    few = labels.epsilon_labels(np.arange(15.0), np.arange(15.0) + 100, 0.0, np.random.default_rng(0))
    assert few.epsilon > 1 and "guessed" in few.evidence["by"] and few.evidence["read"] == "inwards"
    rng = np.random.default_rng(1)
    many = labels.epsilon_labels(rng.normal(size=900), rng.normal(2, 1, 900), 0.0, rng)
    assert many.evidence["by"] == "high scores guessed to be of D'" and many.evidence["read"] == "outwards"
    assert many.epsilon > 2
    assert many.evidence["guesses"] > 10 * many.evidence["wrong"] > 0
    q = np.where(np.arange(3000) < 60, 50.0, rng.normal(size=3000))
    ends = labels.epsilon_labels(rng.normal(size=3000), q, 1e-3, rng)
    assert ends.evidence["by"] != "nothing seen" and ends.epsilon > 1
    none = labels.epsilon_labels([1.0, 2.0], [1.0, 2.0], 0.0, np.random.default_rng(0))
    assert none.epsilon == 0.0 and none.evidence["by"] == "nothing seen"
