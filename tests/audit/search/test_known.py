"""Witnesses of earlier searches are tried before anything else, and kept by the command for later audits."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from dpassay.audit.search.engine import search
from dpassay.audit.search.witness import read_witness
from dpassay.audit.subjects.replay import replay
from dpassay.audit.terminal.finish import remember, remembered
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

CLAIM = SimpleNamespace(epsilon=3.0, delta=1e-5)
ABOUT = {"algorithm": "test/one@repaired", "space": "", "epsilon": 3.0, "delta": 1e-5, "relation": "replace-one"}


SEEDS = (1, *range(20))  # the first of them finds it


def rare(rows, tape):
    """Shows something for one data set in very many only."""
    value = tape.gaussian("mean", rows.mean(axis=0), std=12.0 / len(rows), sensitivity=2 / len(rows))
    return (value, rows[0, 0]) if len(rows) == 8 and rows[3, 0] == 1.0 and rows[4, 0] == -1.0 else value


def test_a_known_witness_comes_first():
    few = [search(rare, Space.matrix(), CLAIM, examples=2, seed=seed) for seed in range(3)]
    assert [one.findings for one in few] == [[]] * 3
    found = next(one for seed in SEEDS if (one := search(rare, Space.matrix(), CLAIM, seed=seed)).findings)
    again = search(rare, Space.matrix(), CLAIM, examples=2, known=found.witnesses)
    assert [one.kind for one in again.findings] == [one.kind for one in found.findings]


def test_a_witness_of_another_space_is_left_out():
    def total(rows, tape):
        return tape.gaussian("sum", rows.sum(axis=0), std=12.0, sensitivity=1.0)

    known = search(total, Space.matrix(n=(3,), d=(2,)), CLAIM, examples=30).witnesses
    found = search(total, Space.matrix(n=(1,), d=(1,)), CLAIM, examples=30, known=known)
    assert [one.kind for one in found.findings] == [Kind.SENSITIVITY_EXCEEDED]
    assert found.witnesses[0].data.sizes == {"n": 1, "d": 1}


def test_what_nobody_declared_is_kept_for_later_audits(tmp_path, capsys):
    def total(rows, tape):
        return tape.gaussian("sum", rows.sum(axis=0), std=12.0, sensitivity=1.0)

    report = tmp_path / "audit.json"
    report.write_text("{}")
    (witness,) = search(total, Space.matrix(n=(2,), d=(1,)), CLAIM, examples=30).witnesses
    witness = replace(witness, about=ABOUT)
    row = SimpleNamespace(key="test/one@repaired", witnesses=[witness.as_dict()], undeclared=[])
    cases = [SimpleNamespace(key="test/one@repaired"), SimpleNamespace(key="test/two@repaired")]
    remember(report, row)
    assert remembered(report, cases) == {}
    row.undeclared = ["sensitivity exceeded (sum)"]
    remember(report, row)
    ((key, (kept,)),) = remembered(report, cases).items()
    assert key == "test/one@repaired" and np.array_equal(kept.data.rows, witness.data.rows)
    (path,) = (tmp_path / "witnesses").iterdir()
    path.write_text("{}")
    assert remembered(report, cases) == {} and "left out" in capsys.readouterr().err


# Witnesses that the search found in printed readings: each, replayed from its file, still shows what it showed.
FILES = sorted((Path(__file__).parent / "witnesses").glob("*.json"))
MENDED = ("second_order_erm/opt", "dro/recursive_spider")  # their repaired readings are searched on the same space


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_saved_witness_still_shows_its_finding(path):
    witness = read_witness(path)
    found = replay(witness, (), path.name)
    assert found.again, [str(one) for one in found.findings]
    (case,) = find(str(witness.about["algorithm"]))
    assert (case.reading, case.claim.epsilon) == ("printed", witness.about["epsilon"])
    declared = {(one.kind, one.label) for one in case.declared}
    kind = witness.finding.kind
    assert (kind, witness.finding.label) in declared or (kind, "") in declared


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_what_is_replayed_is_the_example_and_not_its_label(path):
    """The same example does not show a finding of another name."""
    witness = read_witness(path)
    other = replace(witness, finding=replace(witness.finding, label="no such release"))
    assert not replay(other, (), path.name).again


@pytest.mark.parametrize("path", [path for path in FILES if read_witness(path).data.rows is not None])
def test_the_repaired_reading_does_not_show_it(path):
    witness = read_witness(path)
    algorithm = str(witness.about["algorithm"]).replace("@printed", "@repaired")
    assert algorithm.removesuffix("@repaired") in MENDED
    found = replay(replace(witness, about={**witness.about, "algorithm": algorithm}), (), path.name)
    assert not found.again and not found.raised
