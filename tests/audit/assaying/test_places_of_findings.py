"""A finding names its place: outputs that differ the return and the part."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpassay.audit.assaying.places import places_of
from dpassay.audit.lockstep.source_lines import parting
from dpassay.audit.search.engine import search
from dpassay.audit.search.placing import bare_lines
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.space import Space
from dpassay.reference.tape import LiveTape

CLAIM = PrivacyClaim(1.0, 1e-5)
LINE = Space.matrix(n=(1, 2), d=(1,))


def raw_beside_it(rows, tape):
    noisy = tape.gaussian("mean", rows.mean(axis=0), std=9.0, sensitivity=2.0)
    return {"noisy": noisy, "sums": (1.0, rows.sum(axis=0))}  # the second number is nobody's


def by_sides(rows, tape):
    tape.gaussian("mean", rows.mean(axis=0), std=9.0, sensitivity=2.0)
    if rows[0, 0] > 0.5:
        return "large"
    return "small"


def line_of(text):
    lines = Path(__file__).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if line.strip().startswith(text))


def test_outputs_that_differ_name_the_return_the_part_and_both_values():
    (witness,) = search(raw_beside_it, LINE, CLAIM, examples=12).witnesses
    place = line_of('return {"noisy"')
    assert witness.finding.kind is Kind.OUTPUT and "differ at ['sums'][1]" in witness.finding.detail
    assert witness.line.startswith(f"test_places_of_findings.py:{place} in raw_beside_it: return {{")
    assert sorted([witness.here.tolist(), witness.there.tolist()]) == [[0.0], [1.0]]
    assert any(line.startswith("  outputs [") for line in witness.lines())
    (first, *_) = places_of(raw_beside_it, [witness.finding], [witness])
    assert first["line"] == place


def test_sides_that_return_elsewhere_name_both_lines():
    (witness,) = search(by_sides, LINE, CLAIM, examples=12).witnesses
    assert all(f":{line_of(f'return {text}')} in by_sides" in witness.line for text in ('"large"', '"small"'))
    assert witness.here is None  # words are no numbers


def test_on_one_pair_it_is_the_same():
    (witness,) = search(raw_beside_it, Pair(np.zeros((1, 1)), np.ones((1, 1)), 0), CLAIM, examples=3).witnesses
    assert f":{line_of('return {')} in raw_beside_it" in witness.line


def batch_by_the_batch(rows, tape):
    batch = tape.batch("first", len(rows), 1)
    largest = np.abs(rows[batch.indices]).max()
    tape.gaussian("mean", np.clip(rows, -1, 1)[batch.indices].sum(axis=0), std=9.0, sensitivity=2.0, batch=batch)
    return tape.gaussian("large" if largest > 0.5 else "small", np.zeros(1), std=9.0, sensitivity=2.0)


def test_where_taking_part_decides_the_line_is_named():
    found = search(batch_by_the_batch, Space.matrix(n=(2,), d=(1,), radius=1.0), CLAIM, examples=40).witnesses
    witness = next(one for one in found if one.finding.kind is Kind.CALL)
    assert witness.made[0].line in (line_of("largest ="), line_of('return tape.gaussian("large"'))


def drawn_for_another_reason(rows, tape):
    reason = "large" if rows[0, 0] > 0.5 else "small"
    records, batch = draw_records(tape, reason, len(rows), 1)
    return tape.gaussian("sum", np.clip(rows, -1, 1)[records].sum(axis=0), std=9.0, sensitivity=2.0, batch=batch)


def test_records_that_are_drawn_under_another_label_name_the_line_of_the_label():
    found = search(drawn_for_another_reason, Space.matrix(n=(2,), d=(1,), radius=1.0), CLAIM, examples=20).witnesses
    assert {one.line for witness in found for one in witness.made} >= {line_of("reason =")}


def test_the_line_of_the_certificate_comes_first_where_the_search_does_not_see_what_gets_out():
    (witness,) = search(raw_beside_it, LINE, CLAIM, examples=12).witnesses
    seed = "test_places_of_findings.py:7: a generator with a fixed seed: everybody can draw it: `rng = ...`"
    bare = replace(witness, made=tuple(one for one in witness.made if one.role == "returns it"))
    for lost in (seed, seed.replace("a generator with a fixed seed", "np.ptp has no rule")):
        lines = [one["line"] for one in places_of(raw_beside_it, [bare.finding], [bare], lost=lost)]
        assert (lines[0] == 7) == (lost == seed) and 7 in lines


def test_noise_that_no_calibration_covers_is_found_in_a_run_alone():
    def bare():
        scale = 0.0 * len("abc")
        LiveTape(0).gaussian("bare", np.zeros(1), std=scale, sensitivity=1.0)

    assert bare_lines("bare", bare)[0].line == line_of("scale = 0.0") and not bare_lines("other", bare)


@dataclass
class Told:
    name: str
    values: Any


@pytest.mark.parametrize(
    ("one", "other", "path", "there"),
    [
        (1.0, 2.0, "", 2.0),
        ([1, (2, 3)], [1, (2, 4)], "[1][1]", 4),
        ({"a": 1, "b": Told("x", [0])}, {"a": 1, "b": Told("x", [1])}, "['b'].values[0]", 1),
        ([1, 2], [1], "", [1]),  # of other lengths: the whole
        ({"a": 1}, {"b": 1}, "", {"b": 1}),
    ],
)
def test_the_first_part_that_differs(one, other, path, there):
    assert parting(one, other) == (path, one if not path else parting(one, other)[1], there)
