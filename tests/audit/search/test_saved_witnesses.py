"""Witnesses that the search found in printed readings: each, replayed from its file, still shows what it showed."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

from dpassay.audit.search.witness import read_witness
from dpassay.audit.subjects.replay import replay
from dpassay.reference.catalogue import find
from dpassay.reference.findings import Kind

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


def test_what_the_files_span():
    """Five papers, each of the four properties, data of a space and given pairs."""
    witnesses = [read_witness(path) for path in FILES]
    papers = Counter(str(one.about["algorithm"]).partition("/")[0] for one in witnesses)
    assert len(papers) == 5
    kinds = {one.finding.kind for one in witnesses}
    assert kinds == {Kind.NOISE_SCALE, Kind.SENSITIVITY_EXCEEDED, Kind.BARE_RELEASE, Kind.OVER_BUDGET}
    assert {one.data.rows is None for one in witnesses} == {True, False}
