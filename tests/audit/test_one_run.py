import numpy as np
import pytest
from scipy.stats import binomtest, norm

from dpassay.audit.results import Verdict
from dpassay.audit.scores import curve, one_run
from dpassay.reference.errors import BadInput


def _canaries(seed, m, mu=1.0):
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins, rng


def test_p_value_against_the_paper_and_a_naive_sum():
    """Steinke, Nasr and Jagielski 2023, Appendix D prints 0.553 for 75 of 100 at epsilon = log 3."""
    assert one_run.steinke_p_value(100, 100, 75, np.log(3), 0.0) == pytest.approx(0.553, abs=1e-3)
    rate, best = np.e / (1 + np.e), 0.0
    pmf = [float(one_run.binom.pmf(k, 60, rate)) for k in range(61)]
    for i in range(1, 51):
        best = max(best, sum(pmf[50 - i : 50]) / i)
    naive = sum(pmf[50:]) + best * 2 * 200 * 1e-3
    assert one_run.steinke_p_value(200, 60, 50, 1.0, 1e-3) == pytest.approx(naive, rel=1e-9)


def test_more_canaries_never_worsen_the_bound():
    """Mean over 5 runs (seeds 0-4), Gaussian canaries mu = 1, delta = 1e-5: rises 1e3, 1e4, 1e5 and stays
    sound.
    """
    means = []
    for m in (1000, 10_000, 100_000):
        found = []
        for seed in range(5):
            scores, coins, rng = _canaries(seed, m)
            found.append(one_run.epsilon_one_run(scores, coins, 1e-5, rng).epsilon)
        means.append(np.mean(found))
    assert 1.2 < means[0] < means[1] < means[2] < 4.38


@pytest.mark.parametrize("delta", [0.0, 0.002])
def test_the_level_is_kept_on_the_extremal_mechanism(delta):
    """Randomised response at epsilon 1 that shows the coin with probability delta: 5 % level, 300 runs of
    300.
    """
    wrong = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        coins = rng.random(300) < 0.5
        answer = np.where(rng.random(300) < np.e / (1 + np.e), coins, ~coins)
        shown = rng.random(300) < delta
        scores = np.where(shown, np.where(coins, 5.0, -5.0), np.where(answer, 1.0, -1.0))
        wrong += one_run.epsilon_one_run(scores, coins, delta, rng).epsilon > 1.0
    assert binomtest(wrong, 300, 0.05, alternative="greater").pvalue > 1e-3


def test_ignoring_delta_would_break_the_level():
    """Red case: the same mechanism, delta = 0.05 shown coins, read as if delta were 0, is refuted (seed
    3).
    """
    rng = np.random.default_rng(3)
    coins = rng.random(2000) < 0.5
    scores = np.where(rng.random(2000) < 0.05, np.where(coins, 1.0, -1.0), 0.0)
    assert one_run.epsilon_one_run(scores, coins, 0.05, rng).epsilon == 0.0
    assert one_run.epsilon_one_run(scores, coins, 0.0, rng).epsilon > 2.0


def test_fdp_recursion_level_and_power():
    """Gaussian canaries, m = 2,000: claim mu = 1 (true) refuted in at most 5 %, claim mu = 0.4 nearly
    always.
    """
    true, small, wrong, caught = curve.gdp(1.0), curve.gdp(0.4), 0, 0
    for seed in range(200):
        scores, coins, rng = _canaries(seed, 2000)
        wrong += one_run.one_run_curve(scores, coins, true, rng).verdict is Verdict.VIOLATED
        caught += one_run.one_run_curve(scores, coins, small, rng).verdict is Verdict.VIOLATED
    assert wrong <= 10 and caught >= 180


def test_fdp_recursion_on_one_canary_is_exact():
    """One canary, one guess: right with probability at most 1 - f-balanced, so 0.69 > 0.05 is never
    refuted.
    """
    assert not one_run.fdp_refuted(curve.gdp(1.0), 1, 1, 1)
    assert one_run.fdp_refuted(curve.gdp(1.0), 1, 1, 1, alpha=0.75)  # Phi(1/2) = 0.691 < 0.75
    assert not one_run.fdp_refuted(curve.gdp(1.0), 1, 1, 1, alpha=float(norm.cdf(0.5)) - 0.01)


def test_the_envelope_is_the_curve():
    claim = curve.gdp(1.3)
    starts, heights, slopes = one_run._lower_envelope(claim)
    points = np.linspace(0.001, 0.999, 200)
    lines = np.searchsorted(starts, points, side="right") - 1
    values = np.array(heights)[lines] + np.array(slopes)[lines] * points
    assert np.allclose(np.maximum(values, 0), claim.tradeoff(points), atol=1e-12)


def test_bad_coins():
    rng = np.random.default_rng(0)
    for bad in ([1.0, 2.0], [1.0]):
        with pytest.raises(BadInput, match="included"):
            one_run.epsilon_one_run([0.0, 1.0], bad, 0.0, rng)
    with pytest.raises(BadInput):
        one_run.steinke_p_value(10, 5, 6, 1.0, 0.0)
