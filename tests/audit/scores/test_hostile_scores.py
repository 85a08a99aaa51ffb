"""Claims, scores and coins at the edge of what floats can hold, or that nobody should have handed in."""

import json
import math
import sys
import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.evidence import curves as curve_test
from dpassay.audit.evidence import fdp
from dpassay.audit.results import ClaimTest, Verdict
from dpassay.audit.scores import files, one_run, power
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput


@given(st.floats(0, 60), st.floats(1e-300, 0.999) | st.just(0.0))
def test_a_claimed_delta_is_neither_rounded_away_nor_up(epsilon, delta):
    """1 - (1 - delta) e^0 would make 1e-12 smaller by 2e-5 of it, and 1e-17 nothing: a claim that nobody made."""
    claim = guarantee.approx_dp(epsilon, delta)
    assert claim.epsilons[-1] == epsilon and claim.deltas[-1] == delta
    assert (np.diff(claim.deltas) <= 4e-16).all()


def test_a_tiny_epsilon_keeps_its_mirror_image():
    """(1e-17, 0)-DP: Q - e^-1e-17 P may be 1e-17, not 0."""
    assert guarantee.approx_dp(1e-17, 0.0).deltas[0] == pytest.approx(1e-17, rel=1e-12)
    assert guarantee.from_pairs([(1e-17, 0.0)]).deltas[0] == pytest.approx(1e-17, rel=1e-12)


def test_epsilons_beyond_what_exp_can_hold_stay_true_and_silent(recwarn):
    """(e, d)-DP with e > 700 implies (700, 1 - (1 - d) e^(700 - e))-DP; its tests neither overflow nor refute."""
    claim = guarantee.from_pairs([(800.0, 0.1), (1e308, 0.0), (701.0, 0.2)])
    assert claim.epsilons[-3:].tolist() == [700.0] * 3
    assert sorted(claim.deltas[-3:]) == pytest.approx([1 - 0.8 * math.exp(-1), 1.0, 1.0])
    p, q, rng = np.zeros(500), np.ones(500), np.random.default_rng(0)
    assert curve_test.refute_curve(p, q, claim, rng).p_value > 0.05
    assert fdp.fdp_p_value(claim, 50, 50, 50) > 0.05
    coins = np.arange(100) % 2
    assert one_run.one_run_curve(1.0 * coins, coins, claim, rng).p_value == 1.0
    assert not recwarn.list


@pytest.mark.parametrize("pair", [(-1.0, 0.1), (math.nan, 0.1), (1.0, 1.1), (1.0, math.nan)])
def test_pairs_that_make_no_sense(pair):
    with pytest.raises(BadInput, match="pairs"):
        guarantee.from_pairs([(1.0, 0.1), pair])


def test_between_and_beyond_the_pairs_nothing_is_claimed():
    """Neither convex nor monotone: each pair counts alone, in any order."""
    claim = guarantee.from_pairs([(2.0, 0.2), (1.0, 0.01), (0.5, 0.3), (1.0, 0.005)])
    wanted = {0.001: None, 0.005: 1.0, 0.0099: 1.0, 0.25: 1.0, 0.3: 0.5, 0.9: 0.5}
    assert {delta: claim.epsilon(delta) for delta in wanted} == wanted
    assert claim.epsilon(math.nextafter(0.005, 0)) is None, "a smaller delta is more than was claimed"
    alpha = np.linspace(0.001, 0.999, 50)
    lines = [np.maximum(1 - d - np.exp(e) * alpha, np.exp(-e) * (1 - d - alpha)) for e, d in ((1.0, 0.005), (0.5, 0.3))]
    assert (claim.trade_off(alpha) <= np.maximum(np.max(lines, axis=0), 0) + 1e-12).all()


def test_a_claim_of_thousands_of_pairs_needs_no_gigabyte():
    pairs = [(float(e), float(np.exp(-e))) for e in np.linspace(0, 10, 3000)]
    tracemalloc.start()
    law = power.extremal_law(guarantee.from_pairs(pairs), "x")
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 20e6
    assert law.draw(np.random.default_rng(0), 5, 5)[1].shape == (5,)


def test_a_p_value_of_one_refutes_nothing():
    """1 - 1e-17 is 1 in floats."""
    with pytest.raises(BadInput, match="confidence"):
        ClaimTest(claim="x", p_value=1.0, confidence=1e-17, method="m")
    assert ClaimTest(claim="x", p_value=1.0, confidence=1e-15, method="m").verdict is Verdict.INCONCLUSIVE


def _run(*words):
    result = CliRunner().invoke(app, ["scores", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.mark.parametrize("included", [0, 130, 470, 600])
def test_coins_that_cannot_be_fair_are_refused_not_blamed_on_the_mechanism(tmp_path, included):
    """Of 600 canaries; random scores, which say nothing about anything (seed 0). 250 included are still possible."""
    path, rng = tmp_path / "canaries.csv", np.random.default_rng(0)
    for count, fair in ((included, False), (250, True)):
        np.savetxt(path, np.column_stack([rng.normal(size=600), np.arange(600) < count]), delimiter=",")
        if fair:
            assert files.read_canaries(path)[1].sum() == 250
        else:
            with pytest.raises(BadInput, match=f"second column = '{included} of 600 canaries included'.*fair coin"):
                _run(path, "--one-run", "--epsilon", 0.1)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("id,score,member\n", "header, and no line"),
        ("id,value,member\n1,2,0\n2,3,1\n", "one named score and one member"),
        ("score,score,member\n1,2,0\n2,3,1\n", "one named score and one member"),
    ],
)
def test_columns_without_their_names_are_asked_for(tmp_path, text, why):
    (tmp_path / "canaries.csv").write_text(text)
    with pytest.raises(BadInput, match=why):
        files.read_canaries(tmp_path / "canaries.csv")


def test_a_frame_of_pandas_is_read_by_the_names_of_its_columns(tmp_path, monkeypatch):
    lines = np.array([["a", 0.5, True], ["b", 1.5, False]], dtype=object)
    frame = SimpleNamespace(columns=["id", "Score", "member"], to_numpy=lambda: lines)
    monkeypatch.setitem(sys.modules, "pandas", SimpleNamespace(read_parquet=lambda path: frame))
    scores, coins = files.read_canaries(tmp_path / "canaries.parquet")
    assert scores.tolist() == [0.5, 1.5] and coins.tolist() == [True, False]


@pytest.mark.parametrize("confidence", [0.0, 1.0, 0.9999999999999999, "nan"])
def test_confidence_that_leaves_no_level(tmp_path, confidence):
    np.savetxt(tmp_path / "p.csv", [0.0, 1.0])
    with pytest.raises(BadInput, match="--confidence"):
        _run(tmp_path / "p.csv", tmp_path / "p.csv", "--epsilon", 1, "--confidence", confidence)


@pytest.mark.some(1)
@pytest.mark.usefixtures("brief_power")
@pytest.mark.parametrize("seed", [0, 1])
def test_scores_drawn_from_the_seed_of_the_audit_do_not_sort_themselves(tmp_path, seed):
    """Randomised response at 0.5, canaries left out first: as drawn, its uniforms would order the ties by the coins."""
    coins = np.sort(np.random.default_rng(99).random(1000) < 0.5)
    honest = np.random.default_rng(seed).random(1000) < 1 / (1 + np.exp(-0.5))
    answers = np.where(honest, coins, ~coins).astype(float)
    assert one_run.epsilon_one_run(answers, coins, 0.0, np.random.default_rng(seed)).epsilon <= 0.5
    np.savetxt(tmp_path / "canaries.csv", np.column_stack([answers, coins]), delimiter=",")
    found = json.loads(_run(tmp_path / "canaries.csv", "--one-run", "--epsilon", 1, "--seed", seed, "--json").output)
    assert found["verdict"] == "inconclusive"


def test_one_run_takes_high_scores_for_included_and_says_so():
    """Losses, which are low for those who were in, show nothing until they are negated (seed 1)."""
    rng = np.random.default_rng(1)
    coins = rng.random(1000) < 0.5
    losses = rng.normal(size=1000) - 2 * coins
    assert one_run.epsilon_one_run(-losses, coins, 0.0, rng).epsilon > 2
    assert one_run.epsilon_one_run(losses, coins, 0.0, rng).epsilon == 0
    assert "negate losses" in " ".join(_run("--help").output.split())
