"""Foreign programs of other styles, two of them in JavaScript on the live protocol, and the bugs planted in them."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.adapter import run_all
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.further import asked_again
from dpassay.audit.crosscheck.kinds import Kind
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.on_vectors import run_live

from . import eighth_blind, seventh_blind, sixth_blind

PROGRAMS = Path(__file__).parent / "newcomers"
NAMED = {"norm": "clip norm", "order": "index shift", "transpose": "index shift"}  # the authors' words, the product's
SIXTH_FIRST_SIGHT, SEVENTH_FIRST_SIGHT, EIGHTH_FIRST_SIGHT = "16", "12 (17)", "11 (12)"
UNNAMED: set[str] = set()
BESIDE = {
    "mu-one-phase-late",
    "drop-last",
}  # of the eighth set: named by the kind that its author accepts beside the first
PLANTED = (*sixth_blind.PLANTED, *seventh_blind.PLANTED, *eighth_blind.PLANTED)
PAGE = Path(__file__).parents[3] / "docs" / "crosscheck.md"


def runner(program, monkeypatch):
    """How a program is run on vectors."""
    if program.suffix == ".js":
        if shutil.which("node") is None:
            pytest.skip("node is not installed")
        return partial(run_live, f"node {program}")
    monkeypatch.setenv("PYTHONPATH", str(program.parent))
    return partial(run_all, f"{program.stem}:run")


def test_every_bug_has_one_place():
    for one in PLANTED:
        assert (PROGRAMS / one.program).read_text(encoding="utf-8").count(one.old) == 1, one.id


@pytest.mark.slow
@pytest.mark.parametrize(("program", "algorithm"), sorted({(one.program, one.algorithm) for one in PLANTED}))
def test_the_programs_are_right(program, algorithm, monkeypatch):
    vectors = list(load(algorithm))
    found = list(runner(PROGRAMS / program, monkeypatch)(vectors))
    assert len(found) == len(vectors)
    assert {result.outcome for result in found} == {"pass"}, [str(result) for result in found]


@pytest.mark.slow
@pytest.mark.parametrize("one", PLANTED, ids=lambda one: one.id)
def test_a_bug_is_named(one, tmp_path, monkeypatch):
    file = tmp_path / one.program
    text = (PROGRAMS / one.program).read_text(encoding="utf-8")
    file.write_text(text.replace(one.old, one.new), encoding="utf-8")
    run, vectors = runner(file, monkeypatch), list(load(one.algorithm))
    found = list(run(vectors))
    first, *others = asked_again(found, {vector["id"]: vector for vector in vectors}, run)
    right = {one.kind, NAMED.get(one.kind, one.kind), *(one.also if one in seventh_blind.PLANTED else ())}
    right = set(one.also) if one.id in BESIDE else right
    assert (diagnose(*first, others=others, again=run).kind.value in right) != (one.id in UNNAMED)


@pytest.mark.parametrize(
    ("file", "first", "now"),
    [
        ("sixth_blind.py", SIXTH_FIRST_SIGHT, "20"),
        ("seventh_blind.py", SEVENTH_FIRST_SIGHT, "20"),
        ("eighth_blind.py", EIGHTH_FIRST_SIGHT, "18 (20)"),
    ],
)
def test_the_page_says_how_many_are_named(file, first, now):
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"`{file}`" in line)
    assert [cell.strip() for cell in row.split("|")[2:-1]] == ["20", first, now]


def test_the_page_lists_every_kind():
    text = PAGE.read_text(encoding="utf-8")
    for kind in Kind:
        assert f"| {kind.value} | {kind.effect} |" in text or kind in (Kind.UNKNOWN, Kind.NONE)
