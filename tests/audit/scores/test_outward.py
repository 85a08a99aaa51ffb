"""Labels revealed outwards: the hidden ones do not choose how they are judged, and the test of them is exact."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binomtest

from dpassay.audit.bounds import clopper_pearson_lower
from dpassay.audit.evidence import weighted
from dpassay.audit.evidence.weighted import Allowance, Guesses
from dpassay.audit.scores import outward
from dpassay.audit.scores.outward import blocks_of, plan_outward, read_outward

ALPHA = 0.05


def _sides(rng, labels, mean):
    """Scores N(0, 1) of D and N(mean, 1) of D', sorted, by fair coins."""
    of_q = rng.random(labels) < 0.5
    scores = rng.normal(mean * of_q, 1.0)
    return np.sort(scores[~of_q]), np.sort(scores[of_q])


@pytest.mark.parametrize(("count", "wrong"), [(100, 3), (5000, 700), (2_000_000, 500_000), (30, 0)])
def test_one_weight_is_clopper_pearson(count, wrong):
    found = weighted.weighted_epsilon([Guesses(5, count)], 5 * wrong, [Allowance(0, ALPHA)])
    right = clopper_pearson_lower(count - wrong, count, ALPHA)
    assert found == pytest.approx(np.log(right / (1 - right)), abs=1e-3)
    assert weighted.weighted_epsilon([Guesses(5, count)], 5 * wrong, [Allowance(2, ALPHA)]) <= found


@pytest.mark.parametrize("wrong", [0, 7, 20, 40])
def test_no_choice_of_corrupted_labels_leaves_fewer_wrong_ones(wrong):
    """Sides of unequal sizes: heavy guesses that are hardly ever wrong, lighter ones that often are."""
    heavy, light, corrupted = Guesses(8, 6, 3.0), Guesses(7, 6, -3.0), 5
    told = weighted.p_value(weighted.corrupt([heavy, light], corrupted), wrong, 0.5)
    for k in range(corrupted + 1):
        split = [replace(heavy, count=6 - k), replace(light, count=6 - corrupted + k)]
        assert weighted.p_value(split, wrong, 0.5) <= told + 1e-12


@pytest.mark.some(1)
@pytest.mark.parametrize("mean", [0.0, 0.5, 2.0])
def test_hidden_labels_do_not_choose_the_plan(mean):
    """Whatever the hidden labels are, the plan is the same; red case: a revealed block does change some plan."""
    rng, changed = np.random.default_rng(4), 0
    for _ in range(5):
        blocks = blocks_of(*_sides(rng, 3000, mean), rng)
        plan = plan_outward(blocks, ALPHA)
        if plan is None:
            continue
        for _ in range(3):
            other = rng.binomial(blocks.size.astype(int), rng.random()).astype(float)
            hidden = plan.weights > 0
            again = plan_outward(replace(blocks, of_q=np.where(hidden, other, blocks.of_q)), ALPHA)
            assert again is not None and (again.top, again.bottom, again.sign) == (plan.top, plan.bottom, plan.sign)
            assert np.array_equal(again.weights, plan.weights)
            turned = plan_outward(replace(blocks, of_q=np.where(hidden, blocks.of_q, other)), ALPHA)
            changed += turned is None or not np.array_equal(turned.weights, plan.weights)
    assert changed or mean == 0


@pytest.mark.some(1)
@pytest.mark.parametrize("epsilon", [0.3, 2.0])
def test_the_level_is_kept_and_the_bound_is_near(epsilon):
    """Randomised response, where each label is right with the largest probability: 40 samples of 300, level 5 %."""
    rng, found = np.random.default_rng(5), []
    for _ in range(40):
        of_q = rng.random(300) < 0.5
        answer = np.where(rng.random(300) < expit(epsilon), of_q, ~of_q) + 0.0
        sides = np.sort(answer[~of_q]), np.sort(answer[of_q])
        found.append(read_outward(*sides, rng, ALPHA, [Allowance(0, ALPHA)])[0])
    wrong = int(np.sum(np.array(found) > epsilon))
    assert binomtest(wrong, 40, ALPHA, alternative="greater").pvalue > 1e-3
    assert np.median(found) > epsilon - 0.7


def test_gaussian_scores_are_judged_near_the_ceiling():
    """mu = 1, 2,000 labels: no sound test can have a median above 2.04 (`benchmarks/scores_ceiling.py`)."""
    rng = np.random.default_rng(6)
    found = [read_outward(*_sides(rng, 2000, 1.0), rng, ALPHA, [Allowance(0, ALPHA)])[0] for _ in range(15)]
    assert 1.6 < np.median(found) < 2.2


def test_tied_scores_share_a_point_and_no_block_crosses_a_big_tie():
    rng = np.random.default_rng(7)
    blocks = blocks_of(np.sort(rng.integers(0, 2, 500) * 1.0), np.sort(rng.integers(0, 2, 500) * 1.0), rng)
    assert blocks.places.size == 2 and np.all(np.diff(blocks.places) > 0)
    ones = float(blocks.size[blocks.point == 0].sum())
    assert blocks.size.sum() == 1000 and 400 < ones < 600


def test_both_directions_may_be_guessed_unless_one_is_told():
    low, high = _sides(np.random.default_rng(3), 600, 1.5)
    for sides in ((low, high), (-high[::-1], -low[::-1]), (high, low)):
        default, both, up, down = (
            read_outward(*sides, np.random.default_rng(0), ALPHA, [Allowance(0, ALPHA)], **told)
            for told in ({}, {"signs": (1, -1)}, {"signs": (1,)}, {"signs": (-1,)})
        )
        assert default == both == max(up, down, key=lambda one: one[0]) and min(up[0], down[0]) == 0 < both[0]


def test_few_labels_and_no_signal():
    rng = np.random.default_rng(8)
    assert read_outward(np.zeros(20), np.ones(19), rng, ALPHA, [Allowance(0, ALPHA)]) == (0.0, {})
    same = np.arange(1000.0)
    assert read_outward(same, same + 0.5, rng, ALPHA, [Allowance(0, ALPHA)])[0] == 0
    for sides in ((np.zeros(50), np.zeros(50)), (np.full(50, -np.inf), np.full(50, np.inf))):
        assert read_outward(*sides, rng, ALPHA, [Allowance(0, ALPHA)])[0] >= 0


# -- the curve and the plan, each part against a plain twin ---------------------------------------------------
PLACES = np.array([-2.0, -1.4, -1.0, -0.3, -0.295, 0.5, 1.1, 2.4])


def dense(places, stiffness):
    """The penalty as a full matrix, from its differences; points nearer than 0.01 count as 0.01 apart."""
    gaps = np.maximum(np.diff(places), 0.01)
    slopes = np.diff(np.eye(places.size), axis=0) / gaps[:, None]
    bends = np.diff(slopes, axis=0)
    scale = 2 * stiffness / (gaps[:-1] + gaps[1:])
    return slopes.T @ (0.3 * gaps[:, None] * slopes) + bends.T @ (scale[:, None] * bends)


def _some_blocks():
    point = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7])
    size = np.array([5.0, 9.0, 20.0, 11.0, 40.0, 40.0, 30.0, 12.0, 6.0])
    return outward.Blocks(size, np.round(size * expit(-PLACES[point])), point, PLACES)


@pytest.mark.parametrize("hidden", [(), (0, 1), (0, 7, 8)])
def test_the_curve_is_the_most_likely_one_under_its_penalty(hidden):
    """At the largest penalised likelihood the slopes of both cancel; whatever the hidden labels are."""
    blocks, known = _some_blocks(), np.ones(9, dtype=bool)
    known[list(hidden)] = False
    penalty = outward._penalty(PLACES, 4.0)
    curve = outward.log_odds_curve(blocks, known, np.zeros(8), penalty)
    tried, hits = (np.bincount(blocks.point, known * one, 8) for one in (blocks.size, blocks.of_q))
    assert dense(PLACES, 4.0) @ curve == pytest.approx(hits - tried * expit(curve), abs=2e-3)
    other = replace(blocks, of_q=np.where(known, blocks.of_q, 0.0))
    assert np.array_equal(outward.log_odds_curve(other, known, np.zeros(8), penalty), curve)
    once = outward.log_odds_curve(blocks, known, curve, penalty)
    assert once == pytest.approx(curve, abs=1e-3)  # where it begins does not matter
    weight = np.diag(tried * expit(curve) * expit(-curve) + 1e-5)
    fit = (hits * np.log(expit(curve)) + (tried - hits) * np.log(expit(-curve))).sum()
    prior, after = dense(PLACES, 4.0) + 1e-5 * np.eye(8), dense(PLACES, 4.0) + weight
    evidence = fit - 0.5 * curve @ dense(PLACES, 4.0) @ curve
    evidence += 0.5 * np.linalg.slogdet(prior)[1] - 0.5 * np.linalg.slogdet(after)[1]
    assert outward._evidence(blocks, known, curve, penalty) == pytest.approx(evidence, rel=1e-8)
