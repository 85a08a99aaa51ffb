"""What the last five blind sets say of the diagnosis at first sight, kind by kind: the page follows from it."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from . import fifteenth_blind, fourteenth_blind, seventeenth_blind, sixteenth_blind, thirteenth_blind

PAGE = Path(__file__).parents[3] / "docs" / "crosscheck.md"
MISSED = {
    thirteenth_blind: {"y-unclipped", "start-left-out"},
    fourteenth_blind: {"weight-grows-linearly", "average-out", "energy-kept", "drift-in-moves", "cache-by-first"},
    fifteenth_blind: {"diagonal-twice", "plain-sum-of-leaves", "mean-of-the-iterates", "saddle-then-projected"},
    sixteenth_blind: {"sum-of-moves", "margin-forgotten", "part-batch-dropped"},
    seventeenth_blind: {"squared-drift"},
}
BESIDE = {  # named by a kind that the author accepts beside the first
    thirteenth_blind: {"one-batch-for-both", "step-not-squared"},
    fourteenth_blind: set(),
    fifteenth_blind: {"iterates-alias"},
    sixteenth_blind: {"lower-triangle-by-rows"},
    seventeenth_blind: {"picked-too-late"},
}
OF_QUERIES = (
    *("sign", "factor", "index shift", "clip order", "clip norm", "clip bound", "clipping is missing", "noise scale"),
    *("missing term", "wrong batch", "un-noised"),
)
OF_PLACES = ("calls", "decision", "output", "shape")


def counts():
    """Bugs of each kind, and those that were named exactly."""
    every, named = Counter(), Counter()
    for each, missed in MISSED.items():
        every.update(one.kind for one in each.PLANTED)
        named.update(one.kind for one in each.PLANTED if one.id not in missed | BESIDE[each])
    return every, named


@pytest.mark.parametrize("each", MISSED, ids=lambda each: each.__name__.rpartition(".")[2])
def test_the_page_has_the_first_sight_of_each_set(each):
    names = {one.id for one in each.PLANTED}
    assert MISSED[each] | BESIDE[each] <= names and not MISSED[each] & BESIDE[each]
    accepted = len(names) - len(MISSED[each])
    exact = accepted - len(BESIDE[each])
    words = f"{exact}" + (f" ({accepted})" if accepted > exact else "")
    file = f"`{each.__name__.rpartition('.')[2]}.py`"
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if file in line)
    assert [cell.strip() for cell in row.split("|")[2:4]] == [str(len(each.PLANTED)), words]


def test_the_page_says_how_many_of_each_kind():
    every, named = counts()
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    for kind in every:
        assert f"{kind} {named[kind]} of {every[kind]}" in text, kind
    for kinds in (OF_QUERIES, OF_PLACES):
        total, right = sum(every[kind] for kind in kinds), sum(named[kind] for kind in kinds)
        assert f"**{right} of {total}**" in text, (right, total)
    assert f"the {sum(every.values())} bugs of the last five sets" in text
