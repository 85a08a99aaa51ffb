"""Vectors of one's own code: exported, compared, replayed and run; what has changed since is seen."""

import json
import sys

import pytest

from dpassay.audit.subjects.own_vectors import vector_of_own
from dpassay.audit.subjects.subject import subjects

MINE = """
from dataclasses import dataclass
import numpy as np
from dpassay.reference.laws.number import Geometric
from dpassay.reference.laws.selection import exponential
from dpassay.reference.space import Rows, Space

def train(rows, tape):
    n, d = rows.shape
    w = np.zeros(d)
    for _ in range(3):
        gradients = rows - w
        clipped = gradients / np.maximum(1, np.linalg.norm(gradients, axis=1, keepdims=True))
        w = w + 0.5 * tape.gaussian("gradient", clipped.mean(axis=0), std=6.0 / n, sensitivity=2.0 / n)
    return w

UNIT = Space.matrix()

def plain(rows, rng):
    return np.clip(rows, -1, 1).sum() + rng.laplace(scale=4.0)

@dataclass(frozen=True)
class Data:
    rows: np.ndarray
    weights: dict

@dataclass(frozen=True)
class Plan:
    std: float

def planned(data, plan, tape):
    return tape.gaussian("sum", data.weights["all"] * data.rows.sum(axis=0), std=plan.std, sensitivity=2.0)

SPACE = Space(Rows(2, 1.0), {"n": (2, 3)}, lambda rows, sizes: Data(rows, {"all": 1.0}), lambda sizes: Plan(3.0))

def picks(rows, tape):
    best = tape.release("best", exponential([(rows > 0).sum(), (rows < 0).sum()], 0.25), sensitivity=1.0)
    return best, tape.release("count", Geometric((rows > 0).sum(), 2.0), sensitivity=1.0)

PICKS = Space(Rows(1, 1.0), {"n": (2, 3)}, lambda rows, sizes: rows)

class Opaque:
    pass

def hidden(data, tape):
    return tape.gaussian("sum", 0.0, std=3.0, sensitivity=2.0)

HIDDEN = Space(Rows(2, 1.0), {"n": (2, 3)}, lambda rows, sizes: Opaque())

def undeclared(rows, tape):
    return tape.gaussian("sum", rows.sum(axis=0), std=3.0, sensitivity=None)

def right(case, tape):
    return train(np.array(case["problem"]), tape)

def wrong(case, tape):
    return train(-np.array(case["problem"]), tape)
"""


def vector_of(tmp_path_factory, name, space=""):
    """A vector of one function of `MINE`, as text."""
    folder = tmp_path_factory.mktemp("own")
    (folder / "vectors_mine.py").write_text(MINE)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        vector = vector_of_own(subjects(f"vectors_mine:{name}", space=space or None)[0], space, 0)
    sys.modules.pop("vectors_mine")
    return json.dumps(vector)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    """A vector of `train` on rows of at most length 1, so that its queries follow its iterate; searched once."""
    return vector_of(tmp_path_factory, "train", "vectors_mine:UNIT")


@pytest.fixture(scope="module")
def picked(tmp_path_factory):
    """A vector of `picks`, searched once."""
    return vector_of(tmp_path_factory, "picks", "vectors_mine:PICKS")


@pytest.fixture
def mine(exported, tmp_path, monkeypatch):
    """Writes the module, or another one in its place, and the vector of `train`; returns that, and the writer."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def write(code):
        sys.modules.pop("vectors_mine", None)
        (tmp_path / "vectors_mine.py").write_text(code)

    write(MINE)
    (tmp_path / "v.json").write_text(exported)
    yield json.loads(exported), write
    sys.modules.pop("vectors_mine", None)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("train",), marks=pytest.mark.slow),
        pytest.param(("plain",), marks=pytest.mark.slow),
        ("planned", "--space", "vectors_mine:SPACE"),
    ],
)
def test_what_is_exported_is_replayed(dpassay, mine, tmp_path, words):
    name, *more = words
    assert dpassay("crosscheck", "export", f"vectors_mine:{name}", "own.json", *more)[0] == 0
    vector = json.loads((tmp_path / "own.json").read_text())
    assert vector["reading"] == "own" and vector["noise"]["rule"] == "own" and vector["own"]["rows"]
    assert dpassay("crosscheck", "replay", "own.json", "--module", "vectors_mine")[0] == 0


def test_a_file_does_not_choose_what_is_run(dpassay, refused, mine):
    refused(dpassay("crosscheck", "replay", "v.json"), "v.json: module", "if you trust it: --module vectors_mine")
    refused(dpassay("crosscheck", "replay", "v.json", "--module", "os"), "--module vectors_mine")


@pytest.mark.parametrize(
    ("before", "after", "code", "said"),
    [
        ("w + 0.5", "w - 0.5", 1, "step 1, gradient, query"),
        ("range(3)", "range(2)", 1, "number of events"),
        ("rows - w", "rows.no", 2, "raised AttributeError"),
        ("def train", "def gone", 2, "cannot be loaded"),
    ],
)
def test_what_has_changed_since_is_seen(dpassay, mine, before, after, code, said):
    _, write = mine
    write(MINE.replace(before, after, 1))
    found = dpassay("crosscheck", "replay", "v.json", "--module", "vectors_mine")
    assert found[0] == code and said in "".join(found[1:])


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"own": {"rows": "long"}}, ("v.json: rows", "longer than 1")),
        ({"own": {"rows": [[0.0], [0.0, 1.0]]}}, ("v.json: rows", "of one length")),
        ({"own": {"rows": []}}, ("v.json: rows", "shape")),
        ({"own": {"algorithm": 3}}, ("own.algorithm",)),
        ({"own": {"algorithm": "no code"}}, ("own", "MODULE:NAME")),
        ({"sizes": {"n": "two"}}, ("v.json: sizes", "whole numbers")),
        ({"sizes": {"n": 2}}, ("v.json: sizes", "must be n, d")),
        ({"own": None}, ("v.json: case", "not in the catalogue")),
    ],
)
def test_files_that_are_wrong(dpassay, refused, mine, tmp_path, changes, words):
    vector, _ = mine
    if changes.get("own") == {"rows": "long"}:
        changes = {"own": {"rows": [[3.0] * vector["sizes"]["d"]] * vector["sizes"]["n"]}}
    for name, change in changes.items():
        vector[name] = {**vector[name], **change} if name == "own" and change else change
    (tmp_path / "v.json").write_text(json.dumps(vector))
    refused(dpassay("crosscheck", "replay", "v.json", "--module", "vectors_mine"), *words)


@pytest.mark.more
def test_what_cannot_be_exported(dpassay, refused, mine):
    words = ["crosscheck", "export"]
    refused(dpassay(*words, "vectors_mine:undeclared", "v.json"), "must declare sensitivities")
    refused(dpassay(*words, "vectors_mine:hidden", "v.json", "--space", "vectors_mine:HIDDEN"), "problem", "FORMULAS")
    live = ["crosscheck", "live", "vectors_mine:train", "--program", "true", "--seeds", 0]
    refused(dpassay(*live), "--seeds", "nothing to run")


def test_answers_of_a_port(dpassay, mine, tmp_path):
    vector, _ = mine
    answers = {"events": vector["events"], "output": vector["output"]}
    (tmp_path / "good.json").write_text(json.dumps(answers))
    assert dpassay("crosscheck", "compare", "v.json", "good.json")[0] == 0
    (tmp_path / "bad.json").write_text(json.dumps({**answers, "events": [*vector["events"][:2]]}))
    code, out, _ = dpassay("crosscheck", "compare", "v.json", "bad.json")
    assert code == 1 and "numbers: yours makes 2 calls, the reference 3" in out and "one-line" not in out


@pytest.mark.more
@pytest.mark.parametrize(
    ("step", "changes", "said"),
    [
        (0, {"rate": 0.5}, ("best, rate: expected 0.25, got 0.5", "1 for the reference", "1.5 for yours")),
        (
            1,
            {"scale": 1.0},
            ("count, scale: expected 2.0, got 1.0", "0.5 times", "1 for the reference, 1.5 for yours"),
        ),
        (1, {"query": 9}, ("count, query", "1 for both")),
        (1, {"law": "Laplace"}, ('law: expected "Geometric"', "epsilon: 1 for both")),
    ],
)
def test_answers_by_other_laws(dpassay, mine, picked, tmp_path, step, changes, said):
    (tmp_path / "w.json").write_text(picked)
    vector = json.loads(picked)
    vector["events"][step] |= changes
    (tmp_path / "a.json").write_text(json.dumps({"events": vector["events"], "output": vector["output"]}))
    code, out, _ = dpassay("crosscheck", "compare", "w.json", "a.json")
    assert code == 1 and [words for words in said if words not in out] == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "code"), [("right", 0), ("wrong", 1)])
def test_a_port_in_python(dpassay, mine, name, code):
    assert dpassay("crosscheck", "run", f"vectors_mine:{name}", "--vectors", "v.json")[0] == code


SPEAKER = """
import json, math, sys
FACTOR = {factor}
def say(line): print(json.dumps(line), flush=True)
for text in sys.stdin:
    line = json.loads(text)
    if line["do"] == "hello":
        say({{"dpassay": 1}})
    if line["do"] == "case":
        rows = line["problem"]
        n, d = len(rows), len(rows[0])
        w = [0.0] * d
        for _ in range(3):
            mean = [0.0] * d
            for row in rows:
                g = [a - b for a, b in zip(row, w)]
                k = max(1.0, math.sqrt(sum(x * x for x in g)))
                mean = [a + b / k / n for a, b in zip(mean, g)]
            say({{"ask": "gaussian", "label": "gradient", "query": mean, "std": FACTOR / n, "sensitivity": 2 / n}})
            w = [a + 0.5 * b for a, b in zip(w, json.loads(sys.stdin.readline())["value"])]
        say({{"output": w}})
"""


@pytest.mark.parametrize(("factor", "code"), [pytest.param(6.0, 0, marks=pytest.mark.slow), (3.0, 1)])
def test_a_port_on_the_live_protocol(dpassay, mine, tmp_path, factor, code):
    (tmp_path / "port.py").write_text(SPEAKER.format(factor=factor))
    words = ["crosscheck", "live", "vectors_mine:train", "--program", f"{sys.executable} port.py", "--seeds", 1]
    found = dpassay(*words)
    assert found[0] == code and ("yours is 0.5 times" in found[1]) is bool(code)
