"""Scores that come file by file: one bound over many commands, sequential sessions, files that are given twice."""

import json
from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.scores import anytime_kept
from dpassay.audit.scores.anytime_kept import STEPS, EpsilonSequence
from dpassay.audit.scores.files import marks, seen_before
from dpassay.audit.sequential import session
from dpassay.reference.errors import BadInput


def _pairs(count, size=400, mu=2.0, seed=0):
    rng = np.random.default_rng(seed)
    return [(rng.normal(size=size), rng.normal(mu, 1.0, size)) for _ in range(count)]


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


# -- the bound that may be looked at after every block: it holds at all looks together, and it grows ---------------
def _grow(path, pair, delta=1e-5, confidence=0.95, seed=0):
    return anytime_kept.grow(path, [("p", pair[0]), ("q", pair[1])], delta, confidence, seed)[0]


def test_kept_between_calls_it_is_the_bound_of_one_stream_and_grows(tmp_path):
    sequence, bounds = EpsilonSequence(1e-5), []
    for k, pair in enumerate(_pairs(3)):
        found = _grow(tmp_path / "state", pair)
        same = sequence.update(*pair, np.random.default_rng([0, anytime_kept.STREAM, k]))
        assert (found.epsilon, found.runs, found.evidence) == (same.epsilon, 800 * (k + 1), {"blocks": k + 1})
        bounds.append(found.epsilon)
    assert bounds == sorted(bounds) and bounds[-1] > bounds[0] + 0.5 > 2


@pytest.mark.parametrize("confidence", [0.9, 0.95, 0.999])
def test_what_refutes_is_a_wealth_of_one_over_the_level(confidence):
    """Ville's inequality asks for 1 / (1 - confidence), for every epsilon up to the bound."""
    sequence, enough = EpsilonSequence(1e-5, confidence), -np.log(1 - confidence)
    sequence.peaks[:4] = [enough + 1e-9, enough + 1e-9, enough - 1e-9, enough + 1e-9]
    assert sequence.epsilon == STEPS[1]


def test_nothing_is_read_twice_and_options_stay(tmp_path):
    path, (first, second) = tmp_path / "state", _pairs(2)
    _grow(path, first)
    for again in (first, (first[1], second[1]), (np.sort(first[0]), second[1]), (second[0], second[0])):
        with pytest.raises(BadInput, match="read before"):
            _grow(path, again)
    for field, value in (("delta", 0.1), ("delta", 1.0), ("confidence", 0.9), ("seed", 1)):
        with pytest.raises(BadInput, match=field):
            _grow(path, second, **{field: value})
    with pytest.raises(BadInput, match="scores_p"):
        EpsilonSequence(0.0).update([], [1.0], np.random.default_rng(0))
    assert _grow(path, second).evidence["blocks"] == 2


@pytest.mark.parametrize(("field", "value"), [("peaks", ["x"]), ("log_wealths", None), ("blocks", -1), ("marks", 3)])
def test_a_damaged_state_is_refused(tmp_path, field, value):
    write_state(tmp_path / "state", anytime_kept.KIND, asdict(EpsilonSequence(1e-5)) | {field: value}, None)
    with pytest.raises(BadInput, match=field):
        _grow(tmp_path / "state", _pairs(1)[0])


@pytest.fixture
def files(tmp_path, dpassay):
    """Four pairs of files p0.csv, q0.csv, ...: N(0, 1) and N(1, 1), 1,000 scores each, where commands run."""
    for k, (p, q) in enumerate(_pairs(4, 1000, 1.0, 4)):
        np.savetxt(f"p{k}.csv", p)
        np.savetxt(f"q{k}.csv", q)
    return tmp_path


def test_the_command_grows_decides_and_says_what_it_cannot_do(files, dpassay, refused):
    state, second = ("--anytime", "state", "--delta", "1e-5"), ("scores", "p1.csv", "q1.csv")
    assert dpassay("scores", "p0.csv", "q0.csv", *state)[0] == 0
    code, out, _ = dpassay(*second, *state, "--epsilon", 0.5, "--json", "--relation", "add-remove")
    (bound,) = json.loads(out)["results"]
    assert code == 1 and bound["evidence"]["blocks"] == 2 and bound["relation"] == "add-remove"
    for words in ((*second, *state), (*second, *state, "--gdp", 1), (*second[:2], *state, "--one-run"),
                  (*second, "--relation", "both")):  # fmt: skip
        refused(dpassay(*words))
    assert json.loads(dpassay(*second, "--json")[1])["results"][0]["relation"] == "replace-one"


# -- sequential sessions ------------------------------------------------------------------------------------------
GDP = ("--gdp", 0.9)
SESSION = ("sequential", "scores")


def test_files_one_after_the_other_then_two_machines(files, dpassay):
    """Machine one gets three pairs, machine two the fourth; the checkpoint holds what the verdict shows."""
    codes = [dpassay(*SESSION, f"p{k}.csv", f"q{k}.csv", *GDP, "--checkpoint", "a.json")[0] for k in range(3)]
    kept = session.load(files / "a.json")
    assert codes[0] == 3 and codes[-1] == 1
    assert (kept.sessions, kept.runs, len(kept.marks)) == (3, 6000, 12)
    dpassay(*SESSION, "p3.csv", "q3.csv", *GDP, "--checkpoint", "b.json")
    joint = json.loads(dpassay("sequential", "combine", "a.json", "b.json", "--json")[1])["results"][0]
    assert joint["runs"] == 8000 and joint["p_value"] < 1e-3


def test_the_same_scores_are_refused_whatever_their_shape(files, dpassay, refused):
    dpassay(*SESSION, "p0.csv", "q0.csv", *GDP, "--checkpoint", "a.json")
    before = session.load(files / "a.json")
    rng, old = np.random.default_rng(0), np.loadtxt("p0.csv")
    np.save("moved.npy", rng.permutation(old))
    np.savetxt("grown.csv", np.append(old, rng.normal(size=50)))
    for first, second in (("p0.csv", "q0.csv"), ("q0.csv", "p0.csv"), ("moved.npy", "q1.csv"), ("grown.csv", "q1.csv"),
                          ("p1.csv", "q0.csv"), ("p1.csv", "p1.csv")):  # fmt: skip
        refused(dpassay(*SESSION, first, second, *GDP, "--checkpoint", "a.json"), "read before")
    assert session.load(files / "a.json") == before, "a refused file changes nothing"
    dpassay(*SESSION, "p0.csv", "q1.csv", *GDP, "--checkpoint", "b.json")
    refused(dpassay("sequential", "combine", "a.json", "b.json"), "share a file")


def test_checkpoints_are_data(files, dpassay, refused):
    """Of one audit; other wrong fields: `tests/audit/commands/test_command_line.py`."""
    dpassay(*SESSION, "p0.csv", "q0.csv", *GDP, "--checkpoint", "a.json", "--name", "my attack")
    for words, why in ((GDP, "audited"), (("--gdp", 1, "--name", "my attack"), "claim")):
        refused(dpassay(*SESSION, "p1.csv", "q1.csv", *words, "--checkpoint", "a.json"), why)
    state = read_state(files / "a.json", session.KIND)
    for number, wrong in enumerate(("x", ["x"], [1], None)):
        write_state(files / f"{number}.json", session.KIND, state | {"marks": wrong}, None)
        with pytest.raises(BadInput, match="marks"):
            session.load(files / f"{number}.json")
    write_state(files / "other.json", "something else", state, None)
    with pytest.raises(BadInput, match="no checkpoint of a sequential session"):
        session.load(files / "other.json")


def test_scores_that_cannot_be_known_again_are_said_to_be(files, dpassay):
    np.savetxt("zeros.csv", np.zeros(60))
    np.savetxt("ones.csv", np.append(np.ones(2), np.zeros(58)))
    found = dpassay(*SESSION, "zeros.csv", "ones.csv", "--epsilon", 1, "--checkpoint", "a.json")
    assert "never give twice: zeros.csv, ones.csv" in found[1]
