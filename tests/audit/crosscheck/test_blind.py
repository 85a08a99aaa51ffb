"""Differences that others planted in programs of theirs: how many the diagnosis names, and which it does not."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.adapter import run_all
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.further import asked_again, further
from dpassay.audit.crosscheck.storage import load

from .blind import BLIND, FIRST_SIGHT, MISNAMED
from .fifth_blind import FIFTH, FIFTH_FIRST_SIGHT, FIFTH_MISNAMED
from .fourth_blind import FOURTH, FOURTH_FIRST_IN_SUBSTANCE, FOURTH_FIRST_SIGHT, FOURTH_MISNAMED
from .second_blind import SECOND, SECOND_FIRST_SIGHT, SECOND_MISNAMED
from .third_blind import THIRD, THIRD_FIRST_IN_SUBSTANCE, THIRD_FIRST_SIGHT, THIRD_MISNAMED

HERE = Path(__file__).parent
EARLY_MISNAMED = (*MISNAMED, *SECOND_MISNAMED, *FIFTH_MISNAMED)
LATE_MISNAMED = (*THIRD_MISNAMED, *FOURTH_MISNAMED)
PAGE = HERE.parents[2] / "docs" / "crosscheck.md"


def named_as(said, kind):
    """Is the kind what its author says; clip order and clip norm are one to them."""
    return kind in said or (said, kind) == ("clip order or norm", "clip norm")


def results(folder, algorithm, monkeypatch):
    """Every vector that is a run, with the result of the programs in a folder."""
    monkeypatch.setenv("PYTHONPATH", str(folder))
    vectors = [one for one in load(algorithm) if one["expect"] == "run"]
    return vectors, list(run_all("outsider.adapter:run", vectors))


def diagnosed(folder, one, monkeypatch):
    """The diagnosis of the first vector that the changed program fails, as `crosscheck run` asks for it."""
    shutil.copytree(HERE / "outsider", folder / "outsider")
    for file, before, after in one.edits:
        path = folder / "outsider" / file
        text = path.read_text(encoding="utf-8")
        assert text.count(before) == 1, one.name
        path.write_text(text.replace(before, after), encoding="utf-8")
    vectors, found = results(folder, one.algorithm, monkeypatch)
    assert any(result.outcome == "fail" for result in found), f"{one.name} changes nothing"
    again = partial(run_all, "outsider.adapter:run")
    first, *others = asked_again(found, {vector["id"]: vector for vector in vectors}, again)
    return diagnose(*first, others=others, again=again)


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", sorted({one.algorithm for one in BLIND}))
def test_the_programs_are_right(algorithm, monkeypatch):
    vectors, found = results(HERE, algorithm, monkeypatch)
    found += run_all("outsider.adapter:run", further(vectors))
    assert {result.outcome for result in found} <= {"pass", "unsupported"}, [str(result) for result in found]


@pytest.mark.slow
@pytest.mark.parametrize("one", (*BLIND, *SECOND, *FIFTH), ids=lambda one: one.name)
def test_a_blind_difference_is_named_or_known_not_to_be(one, tmp_path, monkeypatch):
    found = diagnosed(tmp_path, one, monkeypatch)
    assert named_as(one.kind, found.kind.value) != (one.name in EARLY_MISNAMED), str(found)


@pytest.mark.slow
@pytest.mark.parametrize("one", (*THIRD, *FOURTH), ids=lambda one: one.name)
def test_a_late_difference_is_named_or_known_not_to_be(one, tmp_path, monkeypatch):
    found = diagnosed(tmp_path, one, monkeypatch).kind.value
    assert named_as(one.kind, found) != (one.name in LATE_MISNAMED)
    assert found in one.also or one.name not in LATE_MISNAMED


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("a02 gradients clipped then subtracted", "clipped apart, then subtracted"),
        ("a17 first records for drawn ones", "the first records for `indices`"),
        ("a19 exact gradient decides", "the query in place of the released `g`"),
    ],
)
def test_what_the_first_run_misnamed_is_named_with_its_line(name, words, tmp_path, monkeypatch):
    (one,) = (one for one in BLIND if one.name == name)
    assert words in diagnosed(tmp_path, one, monkeypatch).mutant


def test_the_page_says_how_many():
    text = PAGE.read_text(encoding="utf-8")
    for name, planted, first, missed in (
        ("blind", BLIND, FIRST_SIGHT, MISNAMED),
        ("second_blind", SECOND, SECOND_FIRST_SIGHT, SECOND_MISNAMED),
        ("fifth_blind", FIFTH, FIFTH_FIRST_SIGHT, FIFTH_MISNAMED),
    ):
        assert f"(`{name}.py`) | {len(planted)} | {first} | {len(planted) - len(missed)} |" in text
    for name, planted, first, of_all, missed in (
        ("third_blind", THIRD, THIRD_FIRST_SIGHT, THIRD_FIRST_IN_SUBSTANCE, THIRD_MISNAMED),
        ("fourth_blind", FOURTH, FOURTH_FIRST_SIGHT, FOURTH_FIRST_IN_SUBSTANCE, FOURTH_MISNAMED),
    ):
        count = len(planted)
        now = f"{count - len(missed)} ({count})" if missed else f"{count}"
        assert f"(`{name}.py`) | {count} | {first} ({of_all}) | {now} |" in text
