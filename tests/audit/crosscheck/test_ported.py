"""What the first run over the bugs of ports left unnamed, and what is said of it now."""

from __future__ import annotations

import pytest

from .drawn import diagnosed
from .operators import OUTSIDER, Planted
from .ported import MENDED, PORTED, PORTED_FIRST_SIGHT, PORTED_MISNAMED
from .test_blind import PAGE, named_as


@pytest.mark.slow
@pytest.mark.parametrize("one", [one for one in PORTED if one.name in MENDED], ids=lambda one: one.name)
def test_what_was_not_named_at_first_is_named(one):
    texts = {}
    for file, before, after in one.edits:
        text = texts.get(file) or (OUTSIDER / file).read_text(encoding="utf-8")
        assert text.count(before) == 1, one.name
        texts[file] = text.replace(before, after)
    found = diagnosed(Planted(one.name, one.algorithm, one.kind, tuple(texts.items())))
    assert found is not None
    said = found.kind.value
    assert named_as(one.kind, said) or said in one.also or (said.startswith("clip") and one.kind.startswith("clip"))


def test_the_page_says_how_many():
    assert len(MENDED) + len(PORTED_MISNAMED) + PORTED_FIRST_SIGHT == len(PORTED)
    now = len(PORTED) - len(PORTED_MISNAMED)
    line = f"(`ported.py`) | {len(PORTED)} | {PORTED_FIRST_SIGHT} | {now} |"
    assert line in PAGE.read_text(encoding="utf-8")
