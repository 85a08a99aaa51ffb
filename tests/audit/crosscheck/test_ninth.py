"""The ninth blind set and those after it: bugs in programs of three folders, and bugs that no vector showed."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.adapter import run_all
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.further import asked_again
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.on_vectors import run_live

from . import (
    eleventh_blind,
    fifteenth_blind,
    fourteenth_blind,
    ninth_blind,
    seventeenth_blind,
    sixteenth_blind,
    tenth_blind,
    thirteenth_blind,
    twelfth_blind,
)

HERE = Path(__file__).parent
PAGE = HERE.parents[2] / "docs" / "crosscheck.md"
SETS = (
    *(ninth_blind, tenth_blind, eleventh_blind, twelfth_blind, thirteenth_blind, fourteenth_blind),
    *(fifteenth_blind, sixteenth_blind, seventeenth_blind),
)
UNNAMED = {"old-gradient-from-the-old-batch", "saddle-then-projected"}
# named by a kind that the author accepts beside the first
BESIDE = {
    *("iterate-before-the-chosen", "small-bits-first", "one-batch-for-both"),
    *("step-not-squared", "one-draw-for-both", "alternating-turned", "iterates-alias", "lower-triangle-by-rows"),
    *("picked-too-late", "no-last-part", "drift-in-moves"),
}
PLANTED = tuple(one for each in SETS for one in each.PLANTED)
UNSEEN = tuple(one for each in SETS if each is not tenth_blind for one in each.UNSEEN)
SEEN = {  # by vectors that were added for them
    *("energy-not-reset", "waits-one-step-more", "anchored-differences", "bound-by-the-direction"),
    *("movement-without-square", "anchored-differences-of-private-diff"),
    *("start-below-the-floor", "temperature-without-limit", "whole-curvature-in-test", "margin-not-in-the-test"),
    *("failure-not-squared", "lower-bound-forgotten", "trials-of-the-other-search", "smallest-trial"),
    *("trials-forwards", "last-trial-on-failure", "one-batch-left-is-enough", "one-batch-left"),
    *("divides-by-the-coins", "dual-scale-misplaced", "density-not-cut"),
    *("saddle-only-while-escaping", "bracket-without-the-radius", "begins-at-zero", "density-below-zero"),
}


def runner(one, folder, monkeypatch):
    """How the changed program is run on vectors; a copy of its folder is changed."""
    place, file = one.program.split("/")
    shutil.copytree(HERE / place, folder / place)
    path = folder / place / file
    text = path.read_text(encoding="utf-8")
    assert text.count(one.old) == 1
    path.write_text(text.replace(one.old, one.new), encoding="utf-8")
    if path.suffix == ".js":
        if shutil.which("node") is None:
            pytest.skip("node is not installed")
        return partial(run_live, f"node {path}")
    monkeypatch.setenv("PYTHONPATH", str(path.parent if place == "newcomers" else folder))
    return partial(run_all, f"{path.stem}:run" if place == "newcomers" else f"{place}.adapter:run")


def runs(one):
    """The programs of outsider/ refuse nothing."""
    everything = one.program.startswith("newcomers")
    return [vector for vector in load(one.algorithm) if everything or vector["expect"] == "run"]


def test_every_bug_has_one_place_and_what_is_listed_is_of_one_set():
    names = [{one.id for one in (*each.PLANTED, *getattr(each, "UNSEEN", ()))} for each in SETS]
    assert all(sum(one in each for each in names) == 1 for one in BESIDE | UNNAMED | SEEN)
    for one in (*PLANTED, *UNSEEN):
        assert (HERE / one.program).read_text(encoding="utf-8").count(one.old) == 1, one.id


@pytest.mark.slow
@pytest.mark.parametrize("one", PLANTED, ids=lambda one: f"{one.id}-{one.program}")
def test_a_bug_is_named(one, tmp_path, monkeypatch):
    run, vectors = runner(one, tmp_path, monkeypatch), runs(one)
    first, *others = asked_again(list(run(vectors)), {vector["id"]: vector for vector in vectors}, run)
    right = set(one.also) if one.id in BESIDE else {one.kind}
    assert (diagnose(*first, others=others, again=run).kind.value in right) != (one.id in UNNAMED)


@pytest.mark.slow
@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: one.id)
def test_a_bug_that_no_vector_showed_is_red_or_known_not_to_be(one, tmp_path, monkeypatch):
    outcomes = {result.outcome for result in runner(one, tmp_path, monkeypatch)(runs(one))}
    assert ("fail" in outcomes) == (one.id in SEEN)


@pytest.mark.parametrize(
    ("file", "planted", "first", "now"),
    [
        ("ninth_blind.py", ninth_blind.PLANTED, "21 (24)", "36 (38)"),
        ("tenth_blind.py", tenth_blind.PLANTED, "18 (19)", "24"),
        ("eleventh_blind.py", eleventh_blind.PLANTED, "17 (21)", "21 (23)"),
        ("twelfth_blind.py", twelfth_blind.PLANTED, "16 (18)", "24"),
        ("thirteenth_blind.py", thirteenth_blind.PLANTED, "20 (22)", "22 (24)"),
        ("fourteenth_blind.py", fourteenth_blind.PLANTED, "19", "22 (24)"),
        ("fifteenth_blind.py", fifteenth_blind.PLANTED, "19 (20)", "22 (23)"),
        ("sixteenth_blind.py", sixteenth_blind.PLANTED, "20 (21)", "23 (24)"),
        ("seventeenth_blind.py", seventeenth_blind.PLANTED, "11 (12)", "12 (13)"),
    ],
)
def test_the_page_says_how_many_are_named(file, planted, first, now):
    row = next(line for line in PAGE.read_text(encoding="utf-8").splitlines() if f"`{file}`" in line)
    assert [cell.strip() for cell in row.split("|")[2:-1]] == [str(len(planted)), first, now]
    named = [one for one in planted if one.id not in UNNAMED]
    beside = [one for one in named if one.id in BESIDE]
    assert now == f"{len(named) - len(beside)}" + (f" ({len(named)})" if beside else "")
