"""Differences planted by rule and by hand: they are made, their kinds are known, and the diagnosis names them."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from .drawn import COUNT, MISNAMED, NAMED, SEED, named_rightly, trial
from .operators import PROGRAMS, planted
from .slipped import slipped

PAGE = Path(__file__).resolve().parents[3] / "docs" / "crosscheck.md"


def test_every_program_has_its_share_and_every_text_is_python():
    slips = slipped()
    assert {one.algorithm for one in slips} == set(PROGRAMS)
    for one in slips:
        for _, text in one.edits:
            ast.parse(text)
    assert len({(one.algorithm, one.name) for one in slips}) == len(slips)


@pytest.mark.slow
def test_rules_reach_every_program():
    rules = planted()
    assert {one.algorithm for one in rules} == set(PROGRAMS) and len(rules) > 1000


@pytest.mark.slow  # a minute
def test_what_the_page_counts_is_named_or_known_not_to_be():
    missed = {one.name: str(found) for one, found, _ in trial(SEED, COUNT) if not named_rightly(one, found)}
    assert set(missed) == set(MISNAMED), missed
    assert COUNT - len(MISNAMED) == NAMED


def test_the_page_says_how_many():
    text = PAGE.read_text(encoding="utf-8").replace("\n", " ")
    assert f"names {NAMED} of {COUNT}" in text and f"drawn {SEED} {COUNT}" in text
