"""Power of score audits and of black boxes: what is said is what a repetition of the audit finds."""

import json

import numpy as np
import pytest

from dpassay.audit.blackbox.detect import audit_outputs
from dpassay.audit.blackbox.power import branch_power
from dpassay.audit.blackbox.table import to_tables
from dpassay.audit.claims.claimed import read_claim
from dpassay.audit.evidence.curves import refute_curve
from dpassay.audit.results import Verdict
from dpassay.audit.scores import power
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.reference import guarantee


def _refutes(claim):
    return lambda p, q, rng: refute_curve(p, q, claim, rng).verdict is Verdict.VIOLATED


@pytest.mark.parametrize(
    "claim", [guarantee.gdp(1.0), guarantee.approx_dp(1.0, 0.05), guarantee.approx_dp(1.0), guarantee.gdp(4.0)]
)
def test_the_most_revealing_pair_has_the_curve_as_its_tradeoff(claim):
    """Shares above 7 thresholds of 400,000 scores a side, within four standard errors (seed 0)."""
    size = 400_000
    p, q = power.extremal_law(claim, "x").draw(np.random.default_rng(0), size, size)
    for threshold in -np.array([0.001, 0.01, 0.05, 0.1, 0.3, 0.5, 0.9]):
        false_alarms, missed = (p >= threshold).mean(), (q < threshold).mean()
        assert missed == pytest.approx(claim.trade_off(np.array([false_alarms]))[0], abs=4 / np.sqrt(size))


def test_laplace_scores_are_its_losses_and_do_not_break_what_laplace_noise_keeps():
    """No rounding tells the sides apart: two 5 % levels, 6 samples of 1,000 a side, 4 errors have chance 0.0012."""
    p, q = power.laplace_law(2.0, "x").draw(np.random.default_rng(0), 200_000, 200_000)
    assert max(abs(p).max(), abs(q).max()) <= 2.0 + 1e-12
    assert (q > 1.999).mean() / (p > 1.999).mean() == pytest.approx(np.exp(2), rel=0.05)
    law, claim, wrong = power.laplace_law(1.0, "x"), guarantee.approx_dp(1.0), 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        p, q = law.draw(rng, 1000, 1000)
        wrong += _refutes(claim)(p, q, rng) or epsilon_labels(p, q, 0.0, rng).epsilon > 1.0
    assert wrong <= 3


def test_limits_hold_the_true_power():
    """Power of about one half (mu = 1 against 0.85, 1,000 a side): the share of 40 fresh samples is inside."""
    law, refuted = power.gaussian_law(1.0, "mu = 1"), _refutes(guarantee.gdp(0.85))
    found = power.shown_power(refuted, law, (1000, 1000), 0)
    rng = np.random.default_rng(99)
    truth = np.mean([refuted(*law.draw(rng, 1000, 1000), rng) for _ in range(40)])
    assert found.limits[0] <= truth <= found.limits[1]
    assert 0.1 < truth < 0.9 and found.whole


@pytest.mark.parametrize(
    ("options", "count", "words"),
    [
        ((None, 0.0, 1.0, None, None), 1, "2-GDP"),
        ((1.0, 0.0, None, None, None), 2, "Laplace noise that is exactly (2, 0)-DP"),
        ((1.0, 1e-5, None, None, None), 2, "Gaussian noise that is exactly (2, 1e-05)-DP"),
        ((0.0, 0.01, None, None, None), 2, "(1, 0.01)"),
        ((None, 0.0, None, "1:0.5:2", None), 1, "noise 0.5, rate 0.5, 2 steps"),
    ],
)
def test_mechanisms_twice_as_bad_break_the_claim(options, count, words):
    """Each is named; the most revealing one is refuted in both of two samples of 20,000 a side (seed 2)."""
    claim = read_claim(*options)
    laws, rng = claim.worse(), np.random.default_rng(2)
    assert len(laws) == count and words in laws[-1].statement
    refuted = _refutes(claim.guarantee)
    assert all(refuted(*laws[0].draw(rng, 20_000, 20_000), rng) for _ in range(2))


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("options", [(800.0, 0.0, None), (400.0, 1e-5, None), (None, 0.0, 60.0), (1.0, 0.999, None)])
def test_claims_of_any_size_are_tested_without_a_warning(options):
    """Epsilons whose exponential overflows, and a delta near one: nothing is refuted, nothing breaks (seed 6)."""
    claim, rng = read_claim(*options, None, None), np.random.default_rng(6)
    for law in claim.worse():
        assert not _refutes(claim.guarantee)(*law.draw(rng, 300, 300), rng)


@pytest.mark.some(1)
@pytest.mark.parametrize("grid", [None, 1.0])
def test_the_audit_refutes_what_was_planted(grid):
    """The branch named for 600 outputs a side (one run in so many shows its side) is refuted in 3 of 3 (seed 3)."""
    rng, claim = np.random.default_rng(3), guarantee.approx_dp(1.0)
    outputs = [rng.laplace(mean, 1.0, 600) for mean in (0, 1)]
    outputs = [np.round(one / grid) * grid for one in outputs] if grid else outputs
    found = branch_power(to_tables(*outputs), claim, 0.955, 0)
    assert found.runs is not None and found.at_least >= 0.8
    for _ in range(3):
        planted = [
            [{"side": name} if rng.random() < 1 / found.runs else {"sum": float(value)} for value in side]
            for name, side in zip("DE", outputs, strict=True)
        ]
        assert audit_outputs(*planted, claim, rng, 0.955).verdict is Verdict.VIOLATED


def test_power_is_shown_beside_an_inconclusive_verdict_only(dpassay, monkeypatch):
    rng = np.random.default_rng(1)
    np.savetxt("p.csv", rng.normal(size=1000))
    np.savetxt("q.csv", rng.normal(1, size=1000))
    monkeypatch.setattr(power, "REPETITIONS", 10)
    code, out, _ = dpassay("scores", "p.csv", "q.csv", "--gdp", 1, "--json")
    document = json.loads(out)
    (shown,) = document["results"][1]["evidence"]["power_if_the_attack_is_ideal"]
    assert code == 3 and document["verdict"] == "inconclusive"
    assert shown["power_limits"][0] > 0.7 and "2-GDP" in shown["against"]
    text = dpassay("scores", "p.csv", "q.csv", "--gdp", 1)[1]
    assert "Power, were the attack ideal: 0.74 to 1.00 against a 2-GDP mechanism" in text and "nobody knows" in text
    assert "Power" not in dpassay("scores", "p.csv", "q.csv", "--gdp", 0.4)[1]
    found = json.loads(dpassay("blackbox", "--outputs", "p.csv", "--outputs", "q.csv", "--gdp", 1.2, "--json")[1])
    assert found["verdict"] == "inconclusive" and found["results"][0]["evidence"]["planted_branch"]["one_run_in"]
