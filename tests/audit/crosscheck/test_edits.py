"""Edits of the reference: they are made where they should be, they compute what they say, and nothing of them stays."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from dpassay.audit.crosscheck.changes import Change
from dpassay.audit.crosscheck.edited import Edited
from dpassay.audit.crosscheck.edits import Scope, edits
from dpassay.audit.crosscheck.kinds import Kind
from dpassay.audit.crosscheck.pairs import pairs
from dpassay.audit.crosscheck.planting import planted_at, source
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.tape import LiveTape

SMALL = """def run(x, y, s, rows):
    for t in range(s.steps):
        moved = clip(x - y, s.clip)
        x, y = y - s.rate * moved, x
    gap = y - x
    return clip(gap, s.clip) if x[0] > 0 else rows.mean(axis=0)
"""
SCOPE = Scope({"x": (2,), "y": (2,), "moved": (2,), "t": (), "rows": (3, 2)}, {"s": {"rate": float, "clip": float}})


def made(find):
    """The changed text of every edit, all lines run."""
    found = []
    for one in find(SMALL, lambda first, last: True, lambda function: SCOPE):
        places = one if isinstance(one[0], tuple) else (one,)
        text = SMALL
        for place in sorted(places, key=lambda place: -place[3]):
            text = text[: place[3]] + place[5] + text[place[4] :]
        ast.parse(text)
        found.append((places[0][0], text))
    return found


def test_every_kind_of_edit_is_made_and_is_python():
    texts = [text for _, text in made(edits)]
    for line in (
        "moved = clip((-(x - y)), s.clip)", "moved = clip(y - y, s.clip)", "y - s.clip * moved",
        "_edit.same_shape(x - y, clip(x - y, s.clip))", "clip(s.clip, x - y)", "x[(1)]", "_edit.bare(moved)",
        "list(range(s.steps))[1:]",
         "_edit.over_all(rows.mean(axis=0), rows)", "(clip(x, s.clip) - clip(y, s.clip))", "if False else rows",
    ):  # fmt: skip
        assert any(line in text for text in texts), line


def test_two_places_that_go_together():
    found = made(pairs)
    assert any("gap = _edit.parts(y, x)" in text and "_edit.each(clip, gap, s.clip)" in text for _, text in found)
    assert any("_edit.ago(y, 2)" in text and "_edit.note(lambda: y)\n        moved" in text for _, text in found)
    assert {kind for kind, _ in found} == {Kind.CLIP_ORDER, Kind.INDEX_SHIFT}


def test_lines_that_were_not_run_are_left_alone():
    assert edits(SMALL, lambda first, last: first == 6, lambda function: SCOPE)
    assert {one[2] for one in edits(SMALL, lambda first, last: first == 6, lambda function: SCOPE)} == {6}


def test_what_an_edited_value_is():
    edit = Edited(n=10)
    assert edit.over_all(1.0, np.zeros(4)) == pytest.approx(0.4)
    assert [edit.before(0, value) for value in (1, 2, 3)] == [1, 1, 2]
    assert [edit.first(1, value) for value in (1, 2, 3)] == [1, 1, 1]
    seen = []
    for value in (1, 2, 3):
        edit.note(lambda value=value: value)
        seen.append((edit.ago(9, 1), edit.ago(9, 2)))
    assert seen == [(1, 1), (2, 1), (3, 2)]
    apart = edit.parts(np.array([[3.0, 4.0]]), np.array([[0.3, 0.4]]))
    assert np.allclose(apart, [[2.7, 3.6]])
    assert np.allclose(edit.each(clip_rows, apart, 1.0), [[0.3, 0.4]])
    assert np.allclose(edit.each(clip_rows, np.asarray(apart), 1.0), [[0.6, 0.8]])


def test_a_released_value_becomes_its_query():
    tape = LiveTape(0)
    released = tape.release("x", Gaussian(np.array([1.0, 2.0]), 3.0), sensitivity=1.0)
    matrix = tape.symmetric_gaussian("h", np.array([[1.0, 2.0], [2.0, 5.0]]), std=1.0, sensitivity=1.0)
    edit = Edited(tape)
    assert np.array_equal(edit.bare(released), [1.0, 2.0])
    assert np.array_equal(edit.bare(matrix), [[1.0, 2.0], [2.0, 5.0]])
    with pytest.raises(ValueError, match="no released value"):
        edit.bare(np.array([1.0, 2.0]))


def test_changed_code_is_lent_and_comes_back_even_after_an_error():
    file, rows = "blocks/clipping.py", np.array([[3.0, 4.0]])
    before = "def clip_rows("
    text = source(file)
    first = text.encode().index(b"return", text.encode().index(before.encode()))
    change = Change(Kind.SIGN, "raises", 0, first, first, "raise ArithmeticError; ")
    with pytest.raises(ArithmeticError), planted_at([(file, change)], {"_edit": Edited()}):
        clip_rows(rows, 1.0)
    assert np.allclose(clip_rows(rows, 1.0), [[0.6, 0.8]])


def test_other_records_than_those_drawn():
    edit, drawn = Edited(None, 6), np.array([4, 1, 5])
    assert edit.records(drawn, "the first records").tolist() == [0, 1, 2]
    assert edit.records(drawn, "the next records").tolist() == [5, 2, 0]
    assert edit.records(drawn, "half of the records").tolist() == [4]
    assert edit.records(np.array([0, 2, 3]), "the records drawn before").tolist() == [4, 1, 5]
    assert edit.records(drawn, "the other records").tolist() == [0, 2, 3]
    with pytest.raises(TypeError):
        edit.records(np.array([0.5]), "half of the records")


def test_clipped_in_another_norm():
    rows = np.array([[3.0, 4.0], [0.1, 0.2]])
    assert np.allclose(Edited.clipped(rows, 1.0, "1"), [[3 / 7, 4 / 7], [0.1, 0.2]])
    assert np.allclose(Edited.clipped(rows, 1.0, "inf"), [[0.75, 1.0], [0.1, 0.2]])
    assert np.allclose(Edited.clipped(rows, 1.0, "0"), [[1.0, 1.0], [0.1, 0.2]])


def test_momentum_remembers_what_it_gave():
    edit = Edited()
    assert [edit.decayed(7, 1.0, 0.5) for _ in range(3)] == [1.0, 1.5, 1.75]
