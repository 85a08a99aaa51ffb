"""One run with many canaries: level where they fail together, power, ties, coins that are read, what is refused."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.results import Verdict
from dpassay.audit.scores import files, one_run
from dpassay.audit.scores.one_run import Guessing, plans
from dpassay.reference import guarantee
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput


def _canaries(seed, m, mu=1.0):
    rng = np.random.default_rng(seed)
    coins = rng.random(m) < 0.5
    return rng.normal(size=m) + mu * coins, coins, rng


def test_more_canaries_never_worsen_the_bound():
    """Mean of 4 runs (seeds 0-3), Gaussian canaries mu = 1: rises 100, 1e3, 1e4, 1e5 and stays sound."""
    means = []
    for m in (100, 1000, 10_000, 100_000):
        found = [one_run.epsilon_one_run(*_canaries(seed, m)[:2], 1e-5, np.random.default_rng(0)) for seed in range(4)]
        means.append(np.mean([one.epsilon for one in found]))
    assert 0 < means[0] < means[1] < means[2] < means[3] < gdp_epsilon(1.0, 1e-5)


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


def test_curve_level_and_power():
    """Gaussian canaries mu = 1, seeds 0 to 9: the claim 0.4 falls nearly always (m = 2,000), the claim 1 hardly ever.

    The level is exact: `tests/audit/evidence/test_exact_levels.py`.
    """
    for mu, m, least, most in ((1.0, 300, 0, 2), (0.4, 2000, 9, 10)):
        claim = guarantee.gdp(mu)
        found = [one_run.one_run_curve(*_canaries(seed, m)[:2], claim, np.random.default_rng(0)) for seed in range(10)]
        assert least <= sum(one.verdict is Verdict.VIOLATED for one in found) <= most


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


def test_one_run_takes_high_scores_for_included_and_says_so(dpassay):
    """Losses, which are low for those who were in, show nothing until they are negated (seed 1)."""
    rng = np.random.default_rng(1)
    coins = rng.random(1000) < 0.5
    losses = rng.normal(size=1000) - 2 * coins
    assert one_run.epsilon_one_run(-losses, coins, 0.0, rng).epsilon > 2
    assert one_run.epsilon_one_run(losses, coins, 0.0, rng).epsilon == 0
    assert "negate losses" in " ".join(dpassay("scores", "--help")[1].split())
