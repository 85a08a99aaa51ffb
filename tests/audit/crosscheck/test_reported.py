"""Bugs from public issue trackers that the diagnosis was not made with: how many it names, and which it does not."""

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

from .reported import FIRST_TRIAL, MISNAMED, REPORTED

ROOT = Path(__file__).resolve().parents[3]


def changed(folder, one):
    """A copy of the program or of the twins with the bug in it."""
    source = ROOT / "examples" / "live-js" if one.file.endswith(".js") else Path(__file__).parent / "foreign"
    shutil.copytree(source, folder)
    path = folder / one.file
    text = path.read_text(encoding="utf-8")
    assert text.count(one.before) == 1, one.name
    path.write_text(text.replace(one.before, one.after), encoding="utf-8")


def named(folder, one, monkeypatch):
    """The diagnosis of the first failing vector, as ``crosscheck run`` and ``live`` ask for it."""
    changed(folder, one)
    monkeypatch.setenv("PYTHONPATH", str(folder.parent))
    live = one.file.endswith(".js")
    run = partial(run_live, f"node {folder / 'main.js'}") if live else partial(run_all, f"{folder.name}.adapter:run")
    vectors = {vector["id"]: vector for vector in load(one.algorithm) if vector["expect"] == "run"}
    results = list(run(list(vectors.values())))
    assert any(result.outcome == "fail" for result in results), f"{one.name} changes nothing"
    first, *others = asked_again(results, vectors, run)
    return diagnose(*first, others=others, again=run)


@pytest.mark.slow
@pytest.mark.parametrize("one", REPORTED, ids=lambda one: one.name)
def test_a_reported_bug_is_named_or_known_not_to_be(one, tmp_path, monkeypatch):
    if one.file.endswith(".js") and shutil.which("node") is None:
        pytest.skip("needs node")
    assert (named(tmp_path / "twin", one, monkeypatch).kind.value == one.kind) != (one.name in MISNAMED)


@pytest.mark.slow  # every edit is tried: seconds
@pytest.mark.parametrize("name", ["the plain mean is added to the noisy one", "two records are averaged, then clipped"])
def test_what_the_first_trial_missed_is_named_with_what_shows_it(name, tmp_path, monkeypatch):
    (one,) = (one for one in REPORTED if one.name == name)
    if one.file.endswith(".js") and shutil.which("node") is None:
        pytest.skip("needs node")
    found = named(tmp_path / "twin", one, monkeypatch)
    assert found.kind.value == one.kind
    assert "added to the released value" in found.detail or "pairs of records averaged" in found.mutant


def test_the_page_says_how_many():
    text = (ROOT / "docs" / "crosscheck.md").read_text(encoding="utf-8").replace("\n", " ")
    count = len(REPORTED)
    assert f"(`reported.py`) | {count} | {FIRST_TRIAL} | {count - len(MISNAMED)} |" in text
    assert all("#" in one.thread for one in REPORTED)
