"""Two samples of scores: the bounds reach what they promise, keep their level, take any scores, and say what shows."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binomtest

from dpassay.audit.claims.scores import hints
from dpassay.audit.evidence import curves
from dpassay.audit.evidence.events import event_p_value
from dpassay.audit.results import SoundBound, Verdict
from dpassay.audit.scores import labels, thresholds
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput

TRUE_EPSILON = 4.3766  # of N(1, 1) against N(0, 1) at delta = 1e-5
BOUNDS = [thresholds.epsilon_split, labels.epsilon_labels]


def _gauss(seed, n, mu=1.0):
    rng = np.random.default_rng(seed)
    return rng.normal(size=n), rng.normal(mu, size=n), rng


def test_curve_test_refutes_a_claim_ten_percent_too_small():
    """mu = 1 against the claim mu = 0.9, 1e4 scores a side: power at least 0.9 (98 of 100 measured; seed 1)."""
    claim, found = guarantee.gdp(0.9), 0
    for seed in range(40):
        p, q, rng = _gauss(seed, 10_000)
        found += curves.refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED
    assert found >= 36


@pytest.mark.parametrize("flip", [False, True])
def test_curve_test_sees_both_directions_and_either_sign(flip):
    """Randomised response at epsilon 1.5 against a claim of 1 with ties everywhere, asymmetric event (seed 3)."""
    rng = np.random.default_rng(3)
    p, q = (rng.random(5000) < 0.02).astype(float), (rng.random(5000) < 0.09).astype(float)
    if flip:
        p, q = -q, -p
    claim = guarantee.approx_dp(1.0, 0.0)
    assert curves.refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED
    assert curves.refute_curve(q, p, claim, rng).verdict is Verdict.VIOLATED
    assert curves.refute_curve(p, q, guarantee.approx_dp(1.6, 0.0), rng).verdict is not Verdict.VIOLATED


@pytest.mark.parametrize("bound", BOUNDS)
def test_sound_bounds_reach_beyond_the_measured_peers(bound):
    """Peers on N(1,1) v N(0,1) at delta 1e-5: 1.12 at 1e3 and 2.01 at 1e4 scores a side (seed 4)."""
    for n, floor in ((1000, 1.0), (10_000, 1.8)):
        p, q, rng = _gauss(4, n)
        for sides in ((p, q), (-q, -p)):
            result = bound(*sides, 1e-5, rng)
            assert isinstance(result, SoundBound) and floor < result.epsilon < TRUE_EPSILON


@pytest.mark.parametrize(  # the second uses both
    ("bound", "size"), [pytest.param(BOUNDS[0], 1500, marks=pytest.mark.more), (BOUNDS[1], 400)]
)
def test_bounds_keep_their_level_on_randomised_response(bound, size):
    """Extremal (1, 0.05)-DP pair with ties, 5 % level, 40 runs; red: read at delta = 0 more of 20 are wrong."""
    eps, delta = 1.0, 0.05
    rate, wrong, red = (1 - delta) / (1 + np.exp(eps)), 0, 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        p = rng.choice([-2.0, -1.0, 1.0], p=[delta, 1 - delta - rate, rate], size=size)
        q = -rng.choice([-2.0, -1.0, 1.0], p=[delta, 1 - delta - rate, rate], size=size)
        wrong += bound(p, q, delta, rng).epsilon > eps + 1e-9
        red += bound(p, q, 0.0, rng).epsilon > eps + 1e-9 if seed < 20 else 0
    assert binomtest(wrong, 40, 0.05, alternative="greater").pvalue > 1e-3
    assert binomtest(red, 20, 0.05, alternative="greater").pvalue < 0.01


@settings(max_examples=12)
@given(
    st.lists(st.floats(allow_nan=False), min_size=4, max_size=30),
    st.lists(st.floats(allow_nan=False), min_size=4, max_size=30),
)
def test_any_scores_are_accepted(p, q):
    rng = np.random.default_rng(0)
    for bound in BOUNDS:
        assert bound(p, q, 1e-3, rng).epsilon >= 0
    assert 0 <= curves.refute_curve(p, q, guarantee.gdp(1.0), rng).p_value <= 1


def test_bad_scores():
    rng = np.random.default_rng(0)
    with pytest.raises(BadInput, match="scores_q"):
        labels.epsilon_labels([1.0], [float("nan")], 0.0, rng)
    with pytest.raises(BadInput, match="scores_p"):
        curves.refute_curve([], [1.0], guarantee.gdp(1.0), rng)
    with pytest.raises(BadInput, match="delta"):
        labels.epsilon_labels([1.0], [1.0], 1.0, rng)
    with pytest.raises(BadInput, match=r"scores = \(3, 9\): a split needs at least 4 a side"):
        thresholds.epsilon_split(np.arange(3.0), np.arange(9.0), 0.0, rng)


def test_files_whose_members_have_the_lower_scores_get_a_hint_and_the_same_bound():
    """AUC near 0; near a half, seen by chance, there is none."""
    rng = np.random.default_rng(5)
    p, q = rng.normal(3, 1, 400), rng.normal(0, 1, 400)
    assert "AUC 0.0" in hints(p, q, one_run=False)[0] and "swapped" in hints(p, q, one_run=False)[0]
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

    found = thresholds.epsilon_of_event(hits_q, n_q, hits_p, n_p, delta, alpha)
    assert p_value(found) <= alpha < p_value(found + 1.1e-3) or found == 0.0 < alpha < p_value(0.0)
    assert thresholds.epsilon_of_event(hits_q, n_q, hits_p, n_p, delta, alpha, found + 0.01) == 0.0


@pytest.mark.parametrize("sign", [1, -1])
@pytest.mark.parametrize("swap", [False, True])
def test_each_family_of_events_sees_what_only_it_can_see(sign, swap):
    """One in five of one side stands far out, at one end: the family of that end and side names it."""
    rng = np.random.default_rng(2)
    plain, shown = rng.normal(size=400), rng.normal(size=400) + 50 * (rng.random(400) < 0.2)
    p, q = (sign * shown, sign * plain) if swap else (sign * plain, sign * shown)
    found = thresholds.epsilon_split(p, q, 1e-3, rng)
    on_d, on_e = found.evidence["hits"]
    assert ("scores >" in found.evidence["event"]) is (sign > 0) and 1.5 < found.epsilon < 6
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
