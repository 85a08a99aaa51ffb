import numpy as np
import pytest
from scipy.stats import binom, binomtest

from dpassay.audit.results import Verdict
from dpassay.audit.scores import found_out, one_run, one_run_claim, steinke
from dpassay.reference import guarantee
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput


def _canaries(seed, m, mu=1.0):
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins, rng


def test_p_value_against_the_paper_and_a_naive_sum():
    """Steinke, Nasr and Jagielski 2023, Appendix D prints 0.553 for 75 of 100 at epsilon = log 3."""
    assert steinke.steinke_p_value(100, 100, 75, np.log(3), 0.0) == pytest.approx(0.553, abs=1e-3)
    rate, best = np.e / (1 + np.e), 0.0
    pmf = binom.pmf(np.arange(61), 60, rate)
    for i in range(1, 51):
        best = max(best, pmf[50 - i : 50].sum() / i)
    naive = pmf[50:].sum() + best * 2 * 200 * 1e-3
    assert steinke.steinke_p_value(200, 60, 50, 1.0, 1e-3) == pytest.approx(naive, rel=1e-9)


def test_largest_refuted_epsilon_is_where_the_p_value_crosses():
    value = steinke.epsilon_steinke(1000, 100, 90, 1e-5)
    assert steinke.steinke_p_value(1000, 100, 90, value, 1e-5) == pytest.approx(0.05, abs=1e-6)
    assert steinke.epsilon_steinke(1000, 100, 52, 1e-5) == 0.0


@pytest.mark.parametrize(
    "delta", [pytest.param(0.0, marks=pytest.mark.slow), pytest.param(1e-5, marks=pytest.mark.slow), 1e-3]
)
def test_more_canaries_never_worsen_the_bound(delta):
    """Mean of 7 runs (seeds 0-6), Gaussian canaries mu = 1: rises 100, 1e3, 1e4, 1e5 and stays sound.

    At delta = 1e-3 it has arrived at 1e4: what may fail together grows with the canaries. 0.1 is noise: bounds
    from 1e4 spread by 0.16, over the root of 7 that is 0.06.
    """
    means = []
    for m in (100, 1000, 10_000, 100_000):
        found = []
        for seed in range(7):
            scores, coins, rng = _canaries(seed, m)
            found.append(one_run.epsilon_one_run(scores, coins, delta, rng).epsilon)
        means.append(np.mean(found))
    assert 0 < means[0] < means[1] < means[2] < means[3] + (0.1 if delta == 1e-3 else 0.02)
    assert delta == 0 or means[3] < gdp_epsilon(1.0, delta)


@pytest.mark.slow
@pytest.mark.parametrize("delta", [0.0, 0.002])
def test_the_level_is_kept_on_the_extremal_mechanism(delta):
    """Randomised response at epsilon 1 that shows the coin with probability delta: 5 % level, 300 runs of 300."""
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        coins = rng.random(300) < 0.5
        answer = np.where(rng.random(300) < np.e / (1 + np.e), coins, ~coins)
        shown = rng.random(300) < delta
        scores = np.where(shown, np.where(coins, 5.0, -5.0), np.where(answer, 1.0, -1.0))
        wrong += one_run.epsilon_one_run(scores, coins, delta, rng).epsilon > 1.0
    assert binomtest(wrong, 300, 0.05, alternative="greater").pvalue > 1e-3


def _failing_together(seed, count, failure, shown):
    """Randomised response at epsilon 1; with probability `failure` it shows a share of the coins."""
    rng = np.random.default_rng(seed)
    coins = rng.random(count) < 0.5
    scores = 1.0 * np.where(rng.random(count) < np.e / (1 + np.e), coins, ~coins)
    if rng.random() < failure:
        bare = rng.random(count) < shown
        scores[bare] = np.where(coins[bare], 2.0, -2.0)
    return scores, coins, rng


@pytest.mark.more
def test_the_level_is_kept_when_canaries_fail_together():
    """(1, 0.01)-DP, 70 runs of 500 canaries. Red case: runs that always fail are refuted where delta is too small."""
    wrong = 0
    for seed in range(70):
        scores, coins, rng = _failing_together(seed, 500, 0.04, 0.25)
        wrong += one_run.epsilon_one_run(scores, coins, 0.01, rng).epsilon > 1.0
    assert binomtest(wrong, 70, 0.05, alternative="greater").pvalue > 1e-3
    scores, coins, rng = _failing_together(0, 500, 1.0, 0.25)
    assert one_run.epsilon_one_run(scores, coins, 0.25, rng).epsilon <= 1.0
    assert one_run.epsilon_one_run(scores, coins, 0.001, rng).epsilon > 1.5


def test_ignoring_delta_would_break_the_level():
    """Red case: the same mechanism, delta = 0.05 shown coins, read as if delta were 0, is refuted (seed 3)."""
    rng = np.random.default_rng(3)
    coins = rng.random(2000) < 0.5
    scores = np.where(rng.random(2000) < 0.05, np.where(coins, 1.0, -1.0), 0.0)
    assert one_run.epsilon_one_run(scores, coins, 0.05, rng).epsilon == 0.0
    assert one_run.epsilon_one_run(scores, coins, 0.0, rng).epsilon > 2.0


def test_canaries_that_show_at_the_high_end_only_are_guessed_there():
    """One in ten of the included canaries stands out (seed 1): nothing is to be learned from low scores."""
    rng = np.random.default_rng(1)
    coins = rng.random(20_000) < 0.5
    scores = rng.normal(size=20_000) + 8 * (coins & (rng.random(20_000) < 0.1))
    found = one_run.epsilon_one_run(scores, coins, 1e-5, rng)
    assert found.evidence["end"] == "high end" and found.epsilon > 4
    turned = one_run.epsilon_one_run(-scores, ~coins, 1e-5, rng)
    assert turned.evidence["end"] == "low end" and turned.epsilon > 4


def test_curve_level_and_power():
    """Gaussian canaries: claim mu = 1 (true) refuted in at most 5 % (m = 300), mu = 0.4 nearly always (m = 2,000)."""
    true, small, wrong, caught = guarantee.gdp(1.0), guarantee.gdp(0.4), 0, 0
    for seed in range(60):
        scores, coins, rng = _canaries(seed, 300)
        wrong += one_run_claim.one_run_curve(scores, coins, true, rng).verdict is Verdict.VIOLATED
    for seed in range(10):
        scores, coins, rng = _canaries(seed, 2000)
        caught += one_run_claim.one_run_curve(scores, coins, small, rng).verdict is Verdict.VIOLATED
    assert wrong <= 8 and caught >= 9  # of 60 at 5 % more than 8 have chance 0.003


def test_guesses_may_be_fixed_by_the_caller():
    scores, coins, rng = _canaries(0, 1000)
    found = one_run_claim.one_run_curve(scores, coins, guarantee.gdp(0.2), rng, guesses=100)
    assert found.evidence["guesses"] == 100 and found.verdict is Verdict.VIOLATED
    with pytest.raises(BadInput, match="guesses"):
        one_run_claim.one_run_curve(scores, coins, guarantee.gdp(0.2), rng, guesses=1001)


def test_of_equal_scores_nobody_is_guessed_twice():
    """Two atoms, a guess about everybody: right guesses are those of the coins' order in ranks, one each."""
    rng = np.random.default_rng(0)
    coins = rng.random(101) < 0.5
    ranks, same = one_run.check_canaries(np.where(coins, 1.0, 0.0), coins, rng)
    assert sorted(ranks) == list(range(101)) and (same == coins).all()
    assert ranks[coins].min() > ranks[~coins].max()
    shuffled = [one_run.check_canaries(np.zeros(5), np.ones(5), np.random.default_rng(k))[0] for k in range(2)]
    assert sorted(shuffled[0]) == sorted(shuffled[1]) and (shuffled[0] != shuffled[1]).any()
    untied = rng.normal(size=50)
    assert (one_run.check_canaries(untied, coins[:50], rng)[0] == untied).all()


def test_where_one_coin_may_be_found_out_the_others_are_revealed_outwards_unless_the_pilot_shows_a_step():
    """1e5 canaries, m delta = 1 (seed 3): Gaussian ones, and one in twenty that shows its coin: a step."""
    scores, coins, rng = _canaries(3, 100_000, 0.5)
    smooth = one_run.epsilon_one_run(scores, coins, 1e-5, rng)
    assert "outwards" in smooth.method and 94_900 < smooth.evidence["used"] < 95_000
    assert 1.1 < smooth.epsilon < gdp_epsilon(0.5, 1e-5)
    shows = rng.random(100_000) < 0.05
    step = one_run.epsilon_one_run(
        np.where(shows, np.where(coins, 9.0, -9.0), rng.normal(size=100_000)), coins, 1e-5, rng
    )
    assert "fixed number" in step.method and step.epsilon > 6


@pytest.mark.parametrize(("many", "share"), [(10_000, 0.1), (80_000, 0.0625), (200_000, 0.05)])
def test_how_many_coins_a_pilot_has(monkeypatch, many, share):
    def told(values, pilot, rng):
        raise InterruptedError(pilot)

    monkeypatch.setattr(one_run, "tell", told)
    with pytest.raises(InterruptedError) as error:
        one_run.epsilon_one_run(np.arange(many), np.arange(many) % 2, 0.5, np.random.default_rng(0))
    assert error.value.args == (share,)


@pytest.mark.parametrize(("step", "coins", "guessed"), [(True, 20, True), (True, 19, False), (False, 20, False)])
def test_a_step_of_twenty_coins_of_the_pilot_is_guessed_at_once(monkeypatch, step, coins, guessed):
    """1,000 canaries have a pilot of 100."""
    guessing = one_run.Guessing(coins / 100, "high end")
    monkeypatch.setattr(one_run, "best_guessing", lambda *_: (guessing, step))
    scores, included, rng = _canaries(0, 1000)
    found = one_run.epsilon_one_run(scores, included, 1e-3, rng)
    assert found.method == (one_run.GUESSING if guessed else one_run.OUTWARDS)


@pytest.mark.parametrize(("over_level", "gain"), [(0.03, 1 / found_out.LEAST_GAIN), (0.1, 0.5), (0.3, 0.42)])
def test_what_the_outward_reading_pays_for_corrupted_coins(monkeypatch, over_level, gain):
    paid = []
    monkeypatch.setattr(one_run, "read_outward", lambda *given, **_: paid.append(given[4].gain) or (0.0, {}))
    scores, coins, rng = _canaries(0, 100)
    one_run._outwards(scores, coins, over_level * 0.05 / 100, rng, 0.05)
    assert paid == [gain]


def test_numbers_of_guesses_that_a_pilot_may_choose_share_the_level():
    """Against a claimed curve: the number that the claim suggests has half of it, every other one an equal part."""
    for share in (one_run_claim.OTHER_SHARES[2], 0.3):
        levels = one_run_claim.levels_of(share)
        assert levels[share] == 0.5 and 0.9 < sum(levels.values()) <= 1 + 1e-12
        assert set(one_run_claim.OTHER_SHARES) <= set(levels)


@pytest.mark.parametrize("count", [4, 30, 100, 605])
def test_how_many_canaries_are_guessed(monkeypatch, count):
    """3.2 of the root without a pilot, never fewer than corrupted ones; with one, a tenth of the coins is known."""
    (scores, coins, rng), shares, plain = _canaries(0, count), [], one_run.Guessing
    monkeypatch.setattr(one_run, "Guessing", lambda share: shares.append(share) or plain(share))
    found = one_run.epsilon_one_run(scores, coins, 0.01 if count < 400 else 0.5, rng)
    assert found.runs == 1 and found.relation == "add-remove"
    used = found.evidence["used"]
    if count < 400:
        share = min(1.0, max(3.2 / np.sqrt(count), 2.5 * 0.01 / 0.05))
        assert found.method == "one run, a fixed number of guesses"
        made = found.evidence["guesses"]
        assert used == count and made == 2 * (round(share * count) // 2) and shares == [pytest.approx(share)]
    else:
        assert used == count - count // 10


@pytest.mark.parametrize(("delta", "way"), [(0.0, "outwards"), (1e-4, "a fixed number"), (1e-5, "outwards")])
def test_few_canaries_are_read_outwards_while_corrupted_coins_are_cheap(delta, way):
    """500 of them that are known: at delta 1e-4 one in 20 may be shown by chance, which is half of the level."""
    rng = np.random.default_rng(1)
    coins = np.arange(500) % 2
    found = one_run.epsilon_one_run(coins + 0.3 * rng.standard_normal(500), coins, delta, rng)
    assert way in found.method and found.runs == 1 and found.epsilon > 1
    with pytest.raises(BadInput, match=r"delta = -1e-09: must lie in \[0, 1\)"):
        one_run.epsilon_one_run(coins + 0.0, coins, -1e-9, rng)


def test_reading_sees_as_much_at_the_low_end_as_at_the_high_one():
    """What was in stands out at the high end, or what was out at the low one: the same problem, turned over."""
    rng = np.random.default_rng(3)
    coins = rng.random(2000) < 0.5
    scores = rng.normal(size=2000) + 9 * (coins & (rng.random(2000) < 0.05))
    one = one_run._by_reading(scores, coins, 0.0, np.random.default_rng(0), 0.05)
    other = one_run._by_reading(-scores, ~coins, 0.0, np.random.default_rng(0), 0.05)
    assert one.epsilon == other.epsilon > 1.5 and one.confidence == 0.95
    assert one_run._by_reading(scores, coins, 0.0, rng, 0.05, one.epsilon).epsilon == 0.0
    assert one_run._by_reading(scores, coins, 0.0, rng, 0.05, one.epsilon - 0.05).epsilon == one.epsilon


def test_one_canary_says_little():
    rng = np.random.default_rng(0)
    assert one_run.epsilon_one_run([3.0], [1], 0.5, rng).epsilon == 0.0
    with pytest.raises(BadInput, match=r"scores = '1 canary'.*at least two"):
        one_run_claim.one_run_curve([3.0], [1], guarantee.gdp(1.0), rng)


def test_bad_coins():
    rng = np.random.default_rng(0)
    for bad in ([1.0, 2.0], [1.0]):
        with pytest.raises(BadInput, match="included"):
            one_run.epsilon_one_run([0.0, 1.0], bad, 0.0, rng)
    with pytest.raises(BadInput):
        steinke.steinke_p_value(10, 5, 6, 1.0, 0.0)
