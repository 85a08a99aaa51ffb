"""Bugs that were written down before the diagnosis was tried on them: how many it names, and which it does not."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from .fresh import COLUMNS, FIRST, FIRST_TRIAL, MISNAMED, SECOND, SECOND_TRIAL
from .test_foreign import named as named_of_twin
from .test_reported import named

PAGE = Path(__file__).resolve().parents[3] / "docs" / "crosscheck.md"


@pytest.mark.slow
@pytest.mark.parametrize(("algorithm", "bug", "kind"), FIRST)
def test_a_bug_of_the_first_set_is_named(algorithm, bug, kind):
    assert (named_of_twin(algorithm, bug).kind.value == kind) != (bug in MISNAMED)


@pytest.mark.slow
@pytest.mark.parametrize("one", [COLUMNS, *SECOND], ids=lambda one: one.name)
def test_a_bug_in_a_copy_is_named_or_known_not_to_be(one, tmp_path, monkeypatch):
    if one.file.endswith(".js") and shutil.which("node") is None:
        pytest.skip("needs node")
    assert (named(tmp_path / "twin", one, monkeypatch).kind.value == one.kind) != (one.name in MISNAMED)


@pytest.mark.parametrize(
    ("algorithm", "bug", "words"),
    [
        ("dro/sgda", "weighted, then clipped", "weighted before it is clipped"),
        pytest.param("minimax_sosp/dp_spider", "returns the one before", "one too small", marks=pytest.mark.more),
        ("minimax_sosp/dp_spider", "quadratic in one coordinate", "last coordinate of a term dropped"),
    ],
)
def test_a_change_that_does_the_same_is_named_with_its_line(algorithm, bug, words):
    assert words in named_of_twin(algorithm, bug).mutant


def test_the_page_says_how_many():
    text = PAGE.read_text(encoding="utf-8").replace("\n", " ")
    first = len(FIRST) + 1
    assert f"(`fresh.py`) | {first} | {FIRST_TRIAL} | {first} |" in text
    assert f"(`fresh.py`) | {len(SECOND)} | {SECOND_TRIAL} | {len(SECOND) - len(MISNAMED)} |" in text
