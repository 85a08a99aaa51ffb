"""Witnesses of earlier searches are tried before anything else, and kept by the command for later audits."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np

from dpassay.audit.search.engine import search
from dpassay.audit.terminal.finish import remember, remembered
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
