"""Audits of other people's mechanisms and scores from the command line: verdicts, exit codes, one-line errors."""

import json
import re
from dataclasses import replace

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.claims import scores as judged_scores
from dpassay.audit.cli import app
from dpassay.audit.results import SoundBound, Verdict
from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.sequential import session
from dpassay.reference.errors import BadInput

MECHANISMS = """
def quiet(data, rng):
    return sum(data) + rng.laplace(0, 0.4)

def number(data, rng):
    return sum(data) + rng.laplace(0, 1.0)
"""


@pytest.fixture
def place(tmp_path, monkeypatch):
    """A directory with a mechanism and a pair of datasets."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "mechanisms_of_a_test.py").write_text(MECHANISMS)
    (tmp_path / "d.json").write_text("[1, 0, 1]")
    (tmp_path / "e.json").write_text("[1, 0, 0]")
    return tmp_path


def _run(*words):
    result = CliRunner().invoke(app, [str(word) for word in words])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


PAIR = ("--dataset", "d.json", "--neighbour", "e.json")


def test_floating_point_has_a_verdict_of_its_own(place):
    """The naive Laplace sampler is fine in real numbers and leaks in floats (3,000 runs a side, seed 0)."""
    words = ("blackbox", "mechanisms_of_a_test:number", *PAIR, "--epsilon", 1, "--samples", 3000)
    floats = _run(*words, "--floats")
    assert floats.exit_code == 1 and "In real numbers: inconclusive. In floating point: violated." in floats.output


def test_stored_outputs_and_bounds_without_a_claim(place):
    rng = np.random.default_rng(0)
    np.save("p.npy", rng.normal(0, 0.5, (2000, 2)))
    np.save("q.npy", rng.normal(1, 0.5, (2000, 2)))
    refuted = _run("blackbox", "--outputs", "p.npy", "--outputs", "q.npy", "--gdp", 1)
    bound = _run("blackbox", "--outputs", "p.npy", "--outputs", "q.npy", "--delta", 1e-5, "--json")
    assert (refuted.exit_code, bound.exit_code) == (1, 0)
    document = json.loads(bound.output)
    assert document["verdict"] is None and document["results"][0]["epsilon"] > 2


@pytest.mark.usefixtures("brief_power")
def test_stored_scores(place):
    """N(1,1) against N(0,1), 5,000 a side: the claim mu = 0.8 falls, mu = 1 stays (seed 1)."""
    rng = np.random.default_rng(1)
    np.savetxt("p.csv", rng.normal(0, 1, 5000))
    np.savetxt("q.csv", rng.normal(1, 1, 5000))
    (place / "curve.json").write_text("[[0.1, 0.2], [1, 0.001]]")
    files = ("scores", "p.csv", "q.csv")
    for claim, code in (("--gdp 0.8", 1), ("--gdp 1", 3), ("--curve curve.json", 1), ("--sampled-gaussian 0.9:1:1", 3)):
        assert _run(*files, *claim.split(), "--delta", 1e-5).exit_code == code, claim
    shown = _run(*files, "--delta", 1e-5).output
    assert re.search(r"Shown by: [\d,]+ of the scores, high scores guessed to be of D'; \d+ guesses are wrong\.", shown)


@pytest.mark.parametrize(
    ("evidence", "said"),
    [
        ({"event": "scores < 1.5", "hits": (2, 30)}, "scores < 1.5, 2 on D and 30 on D' of those that judged."),
        ({"by": "low scores guessed to be of D"}, "the most extreme scores, low scores guessed to be of D."),
        ({"guesses": 1200, "correct": 1180, "end": "high end"}, "1,200 of the scores, guessed at the high end; 20 "
         "guesses are wrong."),
    ],
)
def test_which_scores_show_a_bound(evidence, said):
    """Sides are those of the user's files: an event more frequent on D is not said to be of D'; 0 says nothing."""
    bound = SoundBound(epsilon=1.0, delta=0.0, confidence=0.95, method="x", runs=1, evidence=evidence)
    assert judged_scores.shown_by(bound) == [f"Shown by: {said}"]
    assert judged_scores.shown_by(replace(bound, epsilon=0.0)) == []


@pytest.mark.usefixtures("brief_power")
def test_scores_in_a_table_with_names(place):
    """Columns id, score, member in any order; ids may be words; without names score and member."""
    rng = np.random.default_rng(2)
    coins = rng.integers(0, 2, 3000)
    np.savetxt("canaries.csv", np.column_stack([rng.normal(coins), coins]), delimiter=",")
    assert _run("scores", "canaries.csv", "--one-run", "--epsilon", 5, "--delta", 1e-5).exit_code == 3
    lines = [f"{bool(coin)},r{number},{rng.normal(coin)}" for number, coin in enumerate(coins)]
    (place / "t.csv").write_text("\n".join(["Member,id,score", *lines]))
    assert _run("scores", "t.csv", "--one-run", "--epsilon", 0.5, "--delta", 1e-5).exit_code == 1
    (place / "s.csv").write_text("\n".join(["id,score", *(line.partition(",")[2] for line in lines)]))
    assert _run("scores", "s.csv", "s.csv", "--epsilon", 1, "--delta", 1e-5).exit_code == 3


def test_a_black_box_session_is_kept(place):
    words = ("sequential", "blackbox", "mechanisms_of_a_test:quiet", *PAIR, "--epsilon", 1, "--checkpoint", "c.json")
    assert _run(*words, "--limit", 3000).exit_code == 1
    kept = session.load(place / "c.json")
    assert session.verdict([kept]).verdict is Verdict.VIOLATED and kept.runs < 6000
    for field, value in (("seed", "x"), ("log_wealth", None), ("best", "1e9"), ("more", 1)):
        state = read_state(place / "c.json", session.KIND) | {field: value}
        (place / "d2.json").unlink(missing_ok=True)
        write_state(place / "d2.json", session.KIND, state, None)
        with pytest.raises(BadInput, match=field):
            session.load(place / "d2.json")
