"""Slips: what they write is Python, at lines that ran; a lent change does what it says and goes away again."""

from __future__ import annotations

import ast

import numpy as np
import pytest

from dpassay.audit.mutate.lent import TooLong, lent, limited, source
from dpassay.audit.mutate.slips import slips
from dpassay.reference.blocks.clipping import clip_rows

FILE = "blocks/clipping.py"
CODE = '''
def mean(rows, clip, size):
    """Text."""
    total = rows.sum(axis=0)
    if size > 1 and clip:
        total -= clip[size - 1]
    return max(total, 2.0) / size
'''


def written(alike=lambda function, name: ()):
    """Every slip of `CODE`, as the whole text."""
    return [CODE[: one.first] + one.text + CODE[one.last :] for one in slips(CODE, lambda line: True, alike)]


@pytest.mark.parametrize(
    "part",
    ["rows.mean(axis=0)", "(size) >= (1)", "(size > 1) or (clip)", "clip[-1]", "total = clip[size - 1]",
     "min(total, 2.0)", "return (max(total, 2.0))", "clip[size - (2)]", "if True:"],
)  # fmt: skip
def test_what_people_get_wrong_is_written(part):
    assert any(part in text for text in written())


def test_every_slip_is_python_and_another_text():
    every = written(lambda function, name: ["clip"] if name == "size" else [])
    assert len(every) == len(set(every)) > 40 and CODE not in every and '"""Text."""' in every[0]
    for text in every:
        ast.parse(text)


def test_lines_that_were_not_run_are_left_alone():
    assert {one.line for one in slips(CODE, lambda line: line == 4, lambda function, name: ())} == {4}


def test_a_lent_change_is_made_and_goes_away_again():
    """Twice the bound, wherever clip_rows has one."""
    rows = np.array([[3.0, 4.0]])
    before = clip_rows(rows, 1.0)
    made = slips(source(FILE), lambda line: True, lambda function, name: ())
    results = []
    for site in made:
        try:
            with lent(FILE, site), limited(1.0), np.errstate(all="ignore"):
                results.append(clip_rows(rows, 1.0))
        except Exception:  # whatever a changed line may raise
            continue
    assert any(np.allclose(one, 2 * before) or np.allclose(one, before / 2) for one in results)
    assert np.array_equal(clip_rows(rows, 1.0), before)


def test_what_does_not_end_is_stopped():
    with pytest.raises(TooLong), limited(0.05):
        while True:
            pass
