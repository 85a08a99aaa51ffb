"""`dpassay scores --anytime`: one bound over many commands, each pair of files once."""

import json
import shutil

import numpy as np
import pytest
from typer.testing import CliRunner

from dpassay.audit.cli import app
from dpassay.audit.running.store import read_state, write_state
from dpassay.audit.scores import anytime_kept
from dpassay.audit.scores.anytime_kept import EpsilonSequence
from dpassay.reference.errors import BadInput


def _pairs(count, size=400):
    rng = np.random.default_rng(0)
    return [(rng.normal(size=size), rng.normal(2.0, 1.0, size)) for _ in range(count)]


def _grow(path, pair, delta=1e-5, confidence=0.95, seed=0):
    return anytime_kept.grow(path, [("p", pair[0]), ("q", pair[1])], delta, confidence, seed)[0]


@pytest.fixture(scope="module")
def grown(tmp_path_factory):
    """A state of one pair."""
    path = tmp_path_factory.mktemp("grown") / "state"
    _grow(path, _pairs(1)[0])
    return path


def test_kept_between_calls_it_is_the_bound_of_one_stream(tmp_path):
    sequence, pairs = EpsilonSequence(1e-5), _pairs(3)
    for k, pair in enumerate(pairs):
        found = _grow(tmp_path / "state", pair)
        same = sequence.update(*pair, np.random.default_rng([0, anytime_kept.STREAM, k]))
        assert (found.epsilon, found.runs, found.evidence) == (same.epsilon, same.runs, same.evidence)
    assert found.epsilon > 1.5


def test_nothing_is_read_twice_and_options_stay(tmp_path):
    path, (first, second) = tmp_path / "state", _pairs(2)
    _grow(path, first)
    for again in (first, (first[1], second[1]), (np.sort(first[0]), second[1]), (second[0], second[0])):
        with pytest.raises(BadInput, match="read before"):
            _grow(path, again)
    for options, field in (({"delta": 0.1}, "delta"), ({"confidence": 0.9}, "confidence"), ({"seed": 1}, "seed")):
        with pytest.raises(BadInput, match=field):
            _grow(path, second, **options)
    assert _grow(path, second).evidence["blocks"] == 2


@pytest.mark.parametrize(
    ("field", "value"),
    [("peaks", [1.0]), ("peaks", ["x"]), ("log_wealths", None), ("blocks", -1), ("runs", True), ("marks", 3)],
)
def test_a_damaged_state_is_refused(tmp_path, grown, field, value):
    path, second = tmp_path / "state", _pairs(2)[1]
    shutil.copy(grown, path)
    state = read_state(path, anytime_kept.KIND)
    write_state(path, anytime_kept.KIND, {**state, field: value}, state)
    with pytest.raises(BadInput, match=field):
        _grow(path, second)


def _run(*words):
    return CliRunner().invoke(app, ["scores", *map(str, words)])


def test_the_command_grows_decides_and_says_what_it_cannot_do(tmp_path):
    files = []
    for k, pair in enumerate(_pairs(2)):
        files.append([tmp_path / f"{side}{k}.npy" for side in "pq"])
        for path, side in zip(files[-1], pair, strict=True):
            np.save(path, side)
    state = ["--anytime", tmp_path / "state", "--delta", "1e-5"]
    assert _run(*files[0], *state).exit_code == 0
    found = _run(*files[1], *state, "--epsilon", 1, "--json", "--relation", "add-remove")
    (bound,) = json.loads(found.output)["results"]
    assert found.exit_code == 1 and bound["evidence"]["blocks"] == 2 and bound["relation"] == "add-remove"
    for words in ((*files[1], *state), (*files[1], *state, "--gdp", 1), (files[1][0], *state, "--one-run")):
        assert isinstance(_run(*words).exception, BadInput)
    assert isinstance(_run(*files[0], "--relation", "both").exception, BadInput)
    assert json.loads(_run(*files[0], "--json").output)["results"][0]["relation"] == "replace-one"
