"""Bugs in another language that the diagnosis was not made with: how many it names, and which it does not."""

from __future__ import annotations

import shutil
from functools import partial
from pathlib import Path

import pytest

from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.further import asked_again
from dpassay.audit.crosscheck.storage import load
from dpassay.audit.live.on_vectors import run_live

from .held_out import FIRST_TRIAL, HELD_OUT, MISNAMED

ROOT = Path(__file__).resolve().parents[3]
EXAMPLE = ROOT / "examples" / "live-js"


def diagnosed(folder, one):
    """The kind of the first failing vector of the changed example, and whether there is one."""
    shutil.copytree(EXAMPLE, folder)
    path = folder / one.file
    text = path.read_text(encoding="utf-8")
    assert text.count(one.before) == 1
    path.write_text(text.replace(one.before, one.after), encoding="utf-8")
    vectors = {vector["id"]: vector for vector in load(one.algorithm)}
    run = partial(run_live, f"node {folder / 'main.js'}")
    results = [result for result in run(list(vectors.values())) if vectors[result.id]["expect"] == "run"]
    assert any(result.outcome == "fail" for result in results), f"{one.name} changes nothing"
    first, *others = asked_again(results, vectors, run)
    return diagnose(*first, others=others, again=run).kind.value


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("node") is None, reason="needs node")
@pytest.mark.parametrize("one", HELD_OUT, ids=lambda one: one.name)
def test_a_held_out_bug_is_named_or_known_not_to_be(one, tmp_path):
    assert (diagnosed(tmp_path / "js", one) == one.kind) != (one.name in MISNAMED)


def test_the_page_says_how_many():
    text = (ROOT / "docs" / "crosscheck.md").read_text(encoding="utf-8")
    named = len(HELD_OUT) - len(MISNAMED)
    assert f"(`held_out.py`) | {len(HELD_OUT)} | {FIRST_TRIAL} | {named} |" in text
