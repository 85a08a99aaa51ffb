"""Scores: the bounds reach what they promise, keep their level, take any scores, and say what shows.

Two samples first, then labels revealed outwards, what floats can hold, and one run with many canaries.
"""

import json
import math
import sys
from dataclasses import asdict, replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.special import expit

from dpassay.audit.claims.scores import hints
from dpassay.audit.evidence import curves
from dpassay.audit.evidence.events import event_p_value
from dpassay.audit.evidence.fixed_guesses import fdp_p_value
from dpassay.audit.evidence.weighted import Allowance
from dpassay.audit.results import ClaimTest, Verdict
from dpassay.audit.scores import files, labels, one_run, outward
from dpassay.audit.scores.one_run import Guessing, plans
from dpassay.audit.scores.outward import blocks_of, plan_outward, read_outward
from dpassay.reference import BadInput, guarantee

ALPHA = 0.05
WHOLE = [Allowance(0, ALPHA)]  # the level, no label corrupted
TRUE_EPSILON = 4.3766  # of N(1, 1) against N(0, 1) at delta = 1e-5


def _event(p, q, delta, rng):
    return labels.read_event(np.array(p), np.array(q), delta, rng, ALPHA)[0]


def _labels(p, q, delta, rng):
    return labels.epsilon_labels(p, q, delta, rng).epsilon


def _gauss(seed, n, mu=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(mu, size=n), rng


@pytest.mark.parametrize("flip", [False, True])
def test_curve_test_sees_both_directions_and_either_sign(flip):
    """Randomised response at 1.5 against 1, ties (seed 3); mu = 1 against 0.9, 1e4 a side: 98 of 100 measured."""
    rng = np.random.default_rng(3)
    p, q = (rng.random(5000) < 0.02).astype(float), (rng.random(5000) < 0.09).astype(float)
    if flip:
        p, q = -q, -p
    claim = guarantee.approx_dp(1.0, 0.0)
    assert curves.refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED
    assert curves.refute_curve(q, p, claim, rng).verdict is Verdict.VIOLATED
    assert curves.refute_curve(p, q, guarantee.approx_dp(1.6, 0.0), rng).verdict is not Verdict.VIOLATED
    found = [curves.refute_curve(*_gauss(seed, 10_000)[:2], guarantee.gdp(0.9), rng) for seed in range(4)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) >= 3


@pytest.mark.parametrize(("bound", "floors"), [(_event, (1.0, 1.8)), (_labels, (1.6, 2.4))])
def test_sound_bounds_reach_beyond_the_measured_peers(bound, floors):
    """Peers on N(1,1) v N(0,1) at delta 1e-5: 1.12 at 1e3 and 2.01 at 1e4 scores a side (seed 4)."""
    for n, floor in zip((1000, 10_000), floors, strict=True):
        p, q, rng = _gauss(4, n)
        for sides in ((p, q), (-q, -p)):
            assert floor < bound(*sides, 1e-5, rng) < TRUE_EPSILON


SOME = st.lists(st.floats(allow_nan=False), min_size=4, max_size=30)


@settings(max_examples=12)
@given(SOME, SOME)
def test_any_scores_are_accepted(p, q):
    rng = np.random.default_rng(0)
    assert min(_event(p, q, 1e-3, rng), _labels(p, q, 1e-3, rng)) >= 0
    assert 0 <= curves.refute_curve(p, q, guarantee.gdp(1.0), rng).p_value <= 1


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (lambda rng: labels.epsilon_labels([1.0], [math.nan], 0.0, rng), "scores_q"),
        (lambda rng: curves.refute_curve([], [1.0], guarantee.gdp(1.0), rng), "scores_p"),
        (lambda rng: labels.epsilon_labels([1.0], [1.0], 1.0, rng), "delta"),
        (lambda rng: ClaimTest(claim="x", p_value=1.0, confidence=1e-17, method="m"), "confidence"),  # 1 - 1e-17 is 1
        *(
            (lambda rng, pair=pair: guarantee.from_pairs([(1.0, 0.1), pair]), "pairs")
            for pair in ((-1.0, 0.1), (math.nan, 0.1), (1.0, 1.1), (1.0, math.nan))
        ),
    ],
)
def test_what_makes_no_sense_is_refused(refused, why):
    with pytest.raises(BadInput, match=why):
        refused(np.random.default_rng(0))


def test_files_whose_members_have_the_lower_scores_get_a_hint_and_the_same_bound():
    """AUC near 0; near a half, seen by chance, there is none."""
    rng = np.random.default_rng(5)
    p, q = rng.normal(3, 1, 400), rng.normal(0, 1, 400)
    assert all(one in hints(p, q, False)[0] for one in ("AUC 0.0", "swapped")) and "twice" in hints(p, p, False)[0]
    assert hints(q, p, one_run=False) == [] == hints(rng.normal(size=400), rng.normal(size=400), one_run=False)


@pytest.mark.parametrize(
    ("hits_q", "n_q", "hits_p", "n_p", "delta", "alpha"),
    [
        (10, 50, 5, 50, 0.0, 0.5),  # below the normal approximation
        (2, 50, 0, 5000, 0.0, 0.05),  # beyond it, from zero on
        (2, 50, 0, 5000, 1e-3, 0.001),
        (49, 50, 1, 50, 0.0, 0.05),
        (500, 1000, 20, 1000, 0.01, 1e-9),
    ],
)
def test_the_bound_of_an_event_is_refuted_and_a_thousandth_more_is_not(hits_q, n_q, hits_p, n_p, delta, alpha):
    def p_value(epsilon):
        return event_p_value(hits_q, n_q, hits_p, n_p, epsilon, delta)

    found = labels.epsilon_of_event(hits_q, n_q, hits_p, n_p, delta, alpha)
    assert p_value(found) <= alpha < p_value(found + 1.1e-3) or found == 0.0 < alpha < p_value(0.0)
    assert labels.epsilon_of_event(hits_q, n_q, hits_p, n_p, delta, alpha, found + 0.01) == 0.0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("swap", [False, True])
def test_each_family_of_events_sees_what_only_it_can_see(sign, swap):
    """One in five of one side stands far out, at one end: the family of that end and side names it."""
    rng = np.random.default_rng(2)
    plain, shown = rng.normal(size=400), rng.normal(size=400) + 50 * (rng.random(400) < 0.2)
    p, q = (sign * shown, sign * plain) if swap else (sign * plain, sign * shown)
    found, seen = labels.read_event(p, q, 1e-3, rng, ALPHA)
    on_d, on_e = seen["hits"]
    assert ("scores >" in seen["event"]) is (sign > 0) and 1.5 < found < 6
    assert (on_d > 10 * on_e) if swap else (on_e > 10 * on_d)


def test_what_shows_the_bound_is_named():
    """Labels where a smooth law speaks, one event where something stands at the very end, or where there are few."""
    rng = np.random.default_rng(1)
    many = labels.epsilon_labels(rng.normal(size=900), rng.normal(2, 1, 900), 0.0, rng)
    assert many.evidence["by"] == "high scores guessed to be of D'" and many.epsilon > 2
    assert many.evidence["guesses"] > 10 * many.evidence["wrong"] > 0
    q = np.where(np.arange(3000) < 60, 50.0, rng.normal(size=3000))
    ends = labels.epsilon_labels(rng.normal(size=3000), q, 1e-3, rng)
    assert ends.evidence["by"] == "one event" and ends.epsilon > 1
    few = labels.epsilon_labels(np.arange(15.0), np.arange(15.0) + 100, 0.0, rng)
    assert few.epsilon > 0.3 and few.evidence["by"] == "one event"
    for size in (1, 2):
        none = labels.epsilon_labels(np.ones(size), np.full(size, 2.0), 0.0, rng)
        assert none.epsilon == 0.0 and none.evidence["by"] == "nothing seen"
    assert labels.epsilon_labels([1.0] * 30, [1.0] * 30, 0.0, rng).epsilon == 0.0


# -- labels revealed outwards -----------------------------------------------------------------------------------
def _sides(rng, labels, mean):
    """Scores N(0, 1) of D and N(mean, 1) of D', sorted, by fair coins."""
    of_q = rng.random(labels) < 0.5
    scores = rng.normal(mean * of_q, 1.0)
    return np.sort(scores[~of_q]), np.sort(scores[of_q])


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
            np.testing.assert_equal(asdict(again), asdict(plan))
            turned = plan_outward(replace(blocks, of_q=np.where(hidden, blocks.of_q, other)), ALPHA)
            changed += turned is None or not np.array_equal(turned.weights, plan.weights)
    assert changed or mean == 0


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
            read_outward(*sides, np.random.default_rng(0), ALPHA, WHOLE, **told)
            for told in ({}, {"signs": (1, -1)}, {"signs": (1,)}, {"signs": (-1,)})
        )
        assert default == both == max(up, down, key=lambda one: one[0]) and min(up[0], down[0]) == 0 < both[0]


# the curve, against a plain twin
PLACES = np.array([-2.0, -1.4, -1.0, -0.3, -0.295, 0.5, 1.1, 2.4])
POINT, SIZE = np.array([0, 1, 2, 2, 3, 4, 5, 6, 7]), np.array([5.0, 9.0, 20.0, 11.0, 40.0, 40.0, 30.0, 12.0, 6.0])


def dense(places, stiffness):
    """The penalty as a full matrix, from its differences; points nearer than 0.01 count as 0.01 apart."""
    gaps = np.maximum(np.diff(places), 0.01)
    slopes = np.diff(np.eye(places.size), axis=0) / gaps[:, None]
    bends = np.diff(slopes, axis=0)
    scale = 2 * stiffness / (gaps[:-1] + gaps[1:])
    return slopes.T @ (0.3 * gaps[:, None] * slopes) + bends.T @ (scale[:, None] * bends)


@pytest.mark.parametrize("hidden", [(), (0, 1), (0, 7, 8)])
def test_the_curve_is_the_most_likely_one_under_its_penalty(hidden):
    """At the largest penalised likelihood the slopes of both cancel; whatever the hidden labels are."""
    blocks = outward.Blocks(SIZE, np.round(SIZE * expit(-PLACES[POINT])), POINT, PLACES)
    known = np.ones(9, dtype=bool)
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


# -- at the edge of floats ---------------------------------------------------------------------------------------
@given(st.floats(0, 60), st.floats(1e-300, 0.999) | st.just(0.0))
@example(1e-17, 0.0)
def test_a_claimed_delta_is_neither_rounded_away_nor_up_nor_is_its_mirror_image(epsilon, delta):
    """1 - (1 - delta) e^0 would make 1e-12 smaller by 2e-5 of it, and 1e-17 nothing: a claim that nobody made."""
    for claim in (guarantee.approx_dp(epsilon, delta), guarantee.from_pairs([(epsilon, delta)])):
        assert claim.epsilons[-1] == epsilon and claim.deltas[-1] == delta
        assert (np.diff(claim.deltas) <= 4e-16).all()
        assert claim.deltas[0] == pytest.approx(delta - math.expm1(-epsilon) * (1 - delta), rel=1e-12)


def test_epsilons_beyond_what_exp_can_hold_stay_true_and_silent(recwarn):
    """(e, d)-DP with e > 700 implies (700, 1 - (1 - d) e^(700 - e))-DP; its tests neither overflow nor refute."""
    claim = guarantee.from_pairs([(800.0, 0.1), (1e308, 0.0), (701.0, 0.2)])
    assert claim.epsilons[-3:].tolist() == [700.0] * 3
    assert sorted(claim.deltas[-3:]) == pytest.approx([1 - 0.8 * math.exp(-1), 1.0, 1.0])
    p, q, rng = np.zeros(500), np.ones(500), np.random.default_rng(0)
    assert curves.refute_curve(p, q, claim, rng).p_value > 0.05
    assert fdp_p_value(claim, 50, 50, 50) > 0.05
    coins = np.arange(100) % 2
    assert one_run.one_run_curve(1.0 * coins, coins, claim, rng).p_value == 1.0
    assert not recwarn.list


# -- one run with many canaries: level where they fail together, power, ties, coins that are read -------------------
def _canaries(seed, m, mu=1.0):
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins, rng


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
    scores, coins, rng = _canaries(2, 501)
    sides, order = (np.sort(scores[~coins]), np.sort(scores[coins])), np.argsort(scores)
    for end, made in (("high end", order[-50:]), ("low end", order[:50]), ("both ends", [*order[:25], *order[-25:]])):
        guesses, right = Guessing(0.1, end, 1.0).guess(*sides, rng)
        high = scores[made] > np.median(scores)
        assert guesses == 50 and right == int((coins[made] == high).sum())


def test_curve_power():
    """Mu = 1, m = 2,000, seeds 0 to 9: 0.4 falls nearly always; the level is exact in `test_exact_levels.py`."""
    claim = guarantee.gdp(0.4)
    found = [one_run.one_run_curve(*_canaries(seed, 2000)[:2], claim, np.random.default_rng(0)) for seed in range(10)]
    assert sum(one.verdict is Verdict.VIOLATED for one in found) >= 9


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
    for bad, delta, why in (([1.0, 2.0], 0.0, "included"), ([1.0], 0.0, "included"), ([0, 1], -1e-9, "delta = -1e-09")):
        with pytest.raises(BadInput, match=why):
            one_run.epsilon_one_run([0.0, 1.0], bad, delta, rng)
    assert one_run.epsilon_one_run([3.0], [1], 0.5, rng).epsilon == 0.0
    with pytest.raises(BadInput, match=r"scores = '1 canary'.*at least two"):
        one_run.one_run_curve([3.0], [1], guarantee.gdp(1.0), rng)


@pytest.mark.parametrize(("included", "fair"), [(0, False), (130, False), (250, True), (470, False), (600, False)])
def test_coins_that_cannot_be_fair_are_refused_not_blamed_on_the_mechanism(dpassay, refused, tmp_path, included, fair):
    """Of 600 canaries; random scores, which say nothing about anything (seed 0). 250 included are still possible."""
    path, rng = tmp_path / "canaries.csv", np.random.default_rng(0)
    np.savetxt(path, np.column_stack([rng.normal(size=600), np.arange(600) < included]), delimiter=",")
    if fair:
        assert files.read_canaries(path)[1].sum() == included
    else:
        found = dpassay("scores", path, "--one-run", "--epsilon", 0.1)
        refused(found, f"second column = '{included} of 600 canaries included'", "fair coin")


def test_a_frame_of_pandas_is_read_by_the_names_of_its_columns(tmp_path, monkeypatch):
    lines = np.array([["a", 0.5, True], ["b", 1.5, "no"]], dtype=object)
    frame = SimpleNamespace(columns=["id", "Score", "member"], to_numpy=lambda: lines)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(read_parquet=lambda path: frame))
    scores, coins = files.read_canaries(tmp_path / "canaries.parquet")
    assert scores.tolist() == [0.5, 1.5] and coins.tolist() == [True, False]


@pytest.mark.some(1)
@pytest.mark.usefixtures("brief_power")
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_drawn_from_the_seed_of_the_audit_do_not_sort_themselves(dpassay, tmp_path, seed):
    """Randomised response at 0.5, canaries left out first: as drawn, its uniforms would order the ties by the coins."""
    coins = np.sort(np.random.default_rng(99).random(1000) < 0.5)
    honest = np.random.default_rng(seed).random(1000) < 1 / (1 + np.exp(-0.5))
    answers = np.where(honest, coins, ~coins).astype(float)
    assert one_run.epsilon_one_run(answers, coins, 0.0, np.random.default_rng(seed)).epsilon <= 0.5
    np.savetxt(tmp_path / "canaries.csv", np.column_stack([answers, coins]), delimiter=",")
    words = ("scores", "canaries.csv", "--one-run", "--epsilon", 1, "--seed", seed, "--json")
    assert json.loads(dpassay(*words)[1])["verdict"] == "inconclusive"
