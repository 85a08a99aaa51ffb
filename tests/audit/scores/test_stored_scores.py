"""Sequential audits of stored scores: level, power, and files that are given twice."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.results import Verdict
from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.scores.files import marks, seen_before
from dpassay.audit.sequential import session
from dpassay.reference import guarantee
from dpassay.reference.errors import BadInput


def _fed(claim, mu, files, size, seed, stop=True):
    """A session that is fed `files` pairs of files of N(0, 1) against N(mu, 1), stopping when refuted if it may."""
    rng, state = np.random.default_rng(seed), session.Session("scores", claim.name, seed)
    for _ in range(files):
        result = session.stored_scores(state, rng.normal(size=size), rng.normal(mu, size=size), claim, 0.95)
        state = state.continued(result)
        if stop and session.verdict([state]).verdict is Verdict.VIOLATED:
            break
    return state


def test_power_grows_file_by_file():
    """mu = 1 against the claim 0.9, files of 2,000 a side: 8 of 10 seeds by the 6th file, not half by the first."""
    states = [_fed(guarantee.gdp(0.9), 1.0, 6, 2000, seed) for seed in range(10)]
    found = [state.sessions for state in states if session.verdict([state]).verdict is Verdict.VIOLATED]
    assert len(found) >= 8 and sum(count == 1 for count in found) <= 5


def test_marks_know_a_file_again_and_nothing_else():
    rng = np.random.default_rng(0)
    scores = rng.normal(size=100)
    kept = marks(scores)
    assert len(kept) == 2
    assert seen_before(scores, kept) and seen_before(rng.permutation(scores), kept)
    assert seen_before(np.append(scores, rng.normal(size=5)), kept), "a longer file that begins with it"
    assert not seen_before(scores + 1e-9, kept) and not seen_before(scores[:99], kept)
    coins = rng.integers(0, 2, 100).astype(float)
    assert [mark.split(":")[0] for mark in marks(coins)] == ["100 in order"]
    assert not seen_before(rng.permutation(coins), marks(coins)), "as many ones: may well be chance"


@settings(max_examples=30)
@given(st.integers(2, 40), st.integers(1, 60), st.integers(0, 2**20))
def test_honest_files_are_not_refused(kinds, size, seed):
    """Two independent files with few different scores, however short, are not taken for one another."""
    rng = np.random.default_rng(seed)
    first, second = (rng.integers(0, kinds, size).astype(float) for _ in range(2))
    assert not seen_before(second, marks(first))


def _run(*words):
    result = CliRunner().invoke(app, ["sequential", *map(str, words)])
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


@pytest.fixture
def files(tmp_path, monkeypatch):
    """Four pairs of files p0.csv, q0.csv, ...: N(0, 1) and N(1, 1), 1,000 scores each."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(4)
    for k in range(4):
        np.savetxt(f"p{k}.csv", rng.normal(size=1000))
        np.savetxt(f"q{k}.csv", rng.normal(1, size=1000))
    return tmp_path


GDP = ("--gdp", 0.9)


def test_files_one_after_the_other_then_two_machines(files):
    """Machine one gets three pairs, machine two the fourth; the checkpoint holds what the verdict shows."""
    codes = [_run("scores", f"p{k}.csv", f"q{k}.csv", *GDP, "--checkpoint", "a.json").exit_code for k in range(3)]
    kept = session.load(files / "a.json")
    assert codes[0] == 3 and codes[-1] == 1
    assert (kept.sessions, kept.runs, len(kept.marks)) == (3, 6000, 12)
    _run("scores", "p3.csv", "q3.csv", *GDP, "--checkpoint", "b.json")
    joint = json.loads(_run("combine", "a.json", "b.json", "--json").output)["results"][0]
    assert joint["runs"] == 8000 and joint["p_value"] < 1e-3


def test_the_same_scores_are_refused_whatever_their_shape(files):
    _run("scores", "p0.csv", "q0.csv", *GDP, "--checkpoint", "a.json")
    before = session.load(files / "a.json")
    rng, old = np.random.default_rng(0), np.loadtxt("p0.csv")
    np.save("moved.npy", rng.permutation(old))
    np.savetxt("grown.csv", np.append(old, rng.normal(size=50)))
    for first, second in (("p0.csv", "q0.csv"), ("q0.csv", "p0.csv"), ("moved.npy", "q1.csv"), ("grown.csv", "q1.csv"),
                          ("p1.csv", "q0.csv"), ("p1.csv", "p1.csv")):  # fmt: skip
        with pytest.raises(BadInput, match="read before") as found:
            _run("scores", first, second, *GDP, "--checkpoint", "a.json")
        assert "\n" not in str(found.value)
    assert session.load(files / "a.json") == before, "a refused file changes nothing"
    _run("scores", "p0.csv", "q1.csv", *GDP, "--checkpoint", "b.json")
    with pytest.raises(BadInput, match="share a file"):
        _run("combine", "a.json", "b.json")


def test_checkpoints_are_data(files):
    _run("scores", "p0.csv", "q0.csv", *GDP, "--checkpoint", "a.json", "--name", "my attack")
    with pytest.raises(BadInput, match="audited"):
        _run("scores", "p1.csv", "q1.csv", *GDP, "--checkpoint", "a.json")
    with pytest.raises(BadInput, match="claim"):
        _run("scores", "p1.csv", "q1.csv", "--gdp", 1, "--checkpoint", "a.json", "--name", "my attack")
    state = read_state(files / "a.json", session.KIND)
    for wrong in ("x", ["x"], [1], None):
        (files / "bad.json").unlink(missing_ok=True)
        write_state(files / "bad.json", session.KIND, state | {"marks": wrong}, None)
        with pytest.raises(BadInput, match="marks"):
            session.load(files / "bad.json")
    write_state(files / "other.json", "something else", state, None)
    with pytest.raises(BadInput, match="no checkpoint of a sequential session"):
        session.load(files / "other.json")


def test_scores_that_cannot_be_known_again_are_said_to_be(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.savetxt("zeros.csv", np.zeros(60))
    np.savetxt("ones.csv", np.append(np.ones(2), np.zeros(58)))
    words = ("scores", "zeros.csv", "ones.csv", "--epsilon", 1, "--checkpoint", "a.json")
    assert "never give twice: zeros.csv, ones.csv" in _run(*words).output
