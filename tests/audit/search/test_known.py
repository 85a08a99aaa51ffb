"""Witnesses of earlier searches are tried before anything else, and kept by the command for later audits."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import broken
import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.audit.search.ground import Data
from dpassay.audit.search.witness import read_witness
from dpassay.audit.subjects.replay import replay
from dpassay.audit.terminal.finish import remember, remembered
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

CLAIM = SimpleNamespace(epsilon=3.0, delta=1e-5)
ABOUT = {"algorithm": "test/one@repaired", "space": "", "epsilon": 3.0, "delta": 1e-5, "relation": "replace-one"}


def total(rows, tape):
    return tape.gaussian("sum", rows.sum(axis=0), std=12.0, sensitivity=1.0)


@pytest.fixture(scope="module")
def known():
    """The witness of a sum that moves by more than it declares, on two records."""
    (witness,) = search(total, Space.matrix(n=(2,), d=(2,)), CLAIM, examples=30).witnesses
    return replace(witness, about=ABOUT)


def test_a_known_witness_comes_first(known):
    """Shows something for one data set in very many only."""

    def rare(rows, tape):
        value = broken.mean(rows, tape)
        return (value, rows[0, 0]) if len(rows) == 8 and rows[3, 0] == 1.0 and rows[4, 0] == -1.0 else value

    rows = np.eye(8, 1, -3) - np.eye(8, 1, -4)
    witness = replace(known, data=Data({"n": 8, "d": 1}, rows, np.ones(1), 0))
    found = [search(rare, Space.matrix(), CLAIM, examples=2, known=known) for known in ((), (witness,))]
    assert [[finding.kind for finding in one.findings] for one in found] == [[], [Kind.OUTPUT]]


def test_a_witness_of_another_space_is_left_out(known):
    found = search(total, Space.matrix(n=(1,), d=(1,)), CLAIM, examples=30, known=[known])
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]
    assert found.witnesses[0].data.sizes == {"n": 1, "d": 1}


def test_what_nobody_declared_is_kept_for_later_audits(known, tmp_path, capsys):
    report = tmp_path / "audit.json"
    report.write_text("{}")
    row = SimpleNamespace(key="test/one@repaired", witnesses=[known.as_dict()], undeclared=[])
    cases = [SimpleNamespace(key="test/one@repaired"), SimpleNamespace(key="test/two@repaired")]
    remember(report, row)
    assert remembered(report, cases) == {}
    row.undeclared = ["sensitivity exceeded (sum)"]
    remember(report, row)
    ((key, (kept,)),) = remembered(report, cases).items()
    assert key == "test/one@repaired" and np.array_equal(kept.data.rows, known.data.rows)
    (path,) = (tmp_path / "witnesses").iterdir()
    path.write_text("{}")
    assert remembered(report, cases) == {} and "left out" in capsys.readouterr().err


# Witnesses that the search found in printed readings: each, replayed from its file, still shows what it showed.
FILES = sorted((Path(__file__).parent / "witnesses").glob("*.json"))
MENDED = ("second_order_erm/opt", "dro/recursive_spider")  # their repaired readings are searched on the same space


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_witness_still_shows_its_finding_and_no_other(path):
    witness = read_witness(path)
    found = replay(witness, (), path.name)
    assert found.again, [str(one) for one in found.findings]
    (case,) = find(str(witness.about["algorithm"]))
    assert (case.reading, case.claim.epsilon) == ("printed", witness.about["epsilon"])
    kind, label = witness.finding.kind, witness.finding.label
    assert {(kind, label), (kind, "")} & {(one.kind, one.label) for one in case.declared}
    other = replace(witness, finding=replace(witness.finding, label="no such release"))
    assert not replay(other, (), path.name).again


@pytest.mark.parametrize("path", [path for path in FILES if read_witness(path).data.rows is not None])
def test_the_repaired_reading_does_not_show_it(path):
    witness = read_witness(path)
    algorithm = str(witness.about["algorithm"]).replace("@printed", "@repaired")
    assert algorithm.removesuffix("@repaired") in MENDED
    found = replay(replace(witness, about={**witness.about, "algorithm": algorithm}), (), path.name)
    assert not found.again and not found.raised
