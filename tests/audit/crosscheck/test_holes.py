"""What no vector may lose: every constant matters somewhere, every line of an algorithm is run, and no record moves a
query of the vectors with constants of their own by more than it declares.
"""

from __future__ import annotations

import ast
import copy
from collections import defaultdict
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import dpassay.reference
from dpassay.audit.crosscheck.adapter import run_all
from dpassay.audit.crosscheck.diagnosis import diagnose
from dpassay.audit.crosscheck.differences import compare
from dpassay.audit.crosscheck.encode import encode
from dpassay.audit.crosscheck.further import asked_again
from dpassay.audit.crosscheck.making import run_again
from dpassay.audit.crosscheck.reached import reached
from dpassay.audit.crosscheck.recipes import anything
from dpassay.audit.crosscheck.recording import VectorTape, events_of
from dpassay.audit.crosscheck.storage import load
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import BadInput

from .sixth_blind import Planted

HOME = Path(dpassay.reference.__file__).resolve().parent
PROGRAMS = Path(__file__).parent / "newcomers"
RUN = {case.key: case for case in CASES}

# The seventh set's author replaced these three, because no vector showed them.
UNSEEN = (
    Planted(
        "scans-no-dual-scale",
        "scans.py",
        "dro/composite_sgd",
        "in_eta = s * (1.0 - density)",
        "in_eta = 1.0 - density",
        "The dual scale is forgotten in eta.",
        "factor",
    ),
    Planted(
        "scans-no-entropy-weight",
        "scans.py",
        "dro/sgda",
        'pull = problem["weight"] * np.log',
        "pull = np.log",
        "The entropy has no weight.",
        "factor",
    ),
    Planted(
        "terse-largest-eigenvalue",
        "terse.py",
        "second_order_erm/dp_tr",
        'if norm(v) <= e["gradient"] and eigh(S)[0][0] >=',
        'if norm(v) <= e["gradient"] and eigh(S)[0][-1] >=',
        "The largest eigenvalue is tested, not the smallest.",
        "decision",
    ),
)


def judged(one, folder, monkeypatch):
    """The vectors of an algorithm, and what a program with one bug does on them."""
    text = (PROGRAMS / one.program).read_text(encoding="utf-8")
    assert text.count(one.old) == 1
    (folder / one.program).write_text(text.replace(one.old, one.new), encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", str(folder))
    run = partial(run_all, f"{one.program.removesuffix('.py')}:run")
    vectors = list(load(one.algorithm))
    return vectors, list(run(vectors)), run


@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: one.id)
def test_what_no_vector_showed_is_red(one, tmp_path, monkeypatch):
    _, results, _ = judged(one, tmp_path, monkeypatch)
    red = [result for result in results if result.outcome == "fail"]
    assert red and all({"unequal-constants", "rare-branch"} & set(result.flags) for result in red)


@pytest.mark.slow
@pytest.mark.parametrize("one", UNSEEN, ids=lambda one: one.id)
def test_what_no_vector_showed_is_named(one, tmp_path, monkeypatch):
    vectors, results, run = judged(one, tmp_path, monkeypatch)
    first, *others = asked_again(results, {vector["id"]: vector for vector in vectors}, run)
    assert diagnose(*first, others=others).kind.value == one.kind


def overlaid(told, held):
    """The constants of ``held`` with the records of ``told``."""
    if isinstance(held, dict) and isinstance(told, dict):
        return {name: overlaid(told.get(name), entry) for name, entry in held.items()}
    return told if isinstance(held, list) else held


def with_another_record(vector, rng):
    """Problem and schedule of a vector, one record of which is another."""
    space = RUN[vector["case"]].space()
    rows = anything(space, vector["sizes"], np.random.default_rng(vector["seed"]))
    assert overlaid(encode(space.problem(rows, vector["sizes"])), vector["problem"]) == vector["problem"]
    place = rng.integers(len(rows))
    rows[place] = anything(space, vector["sizes"], rng, 1.0 if space.rows.bound else rng.choice([0.1, 1.0, 30.0]))[place]
    told = overlaid(encode(space.problem(rows, vector["sizes"])), vector["problem"])
    return {"problem": told, "schedule": vector["schedule"]}


def moved(vector, tries, rng):
    """How far a record moves a query, at most, in terms of the sensitivity that the vector declares."""
    run, worst = RUN[vector["case"]].build().run, 0.0
    here = [event for event in vector["events"] if event["event"] == "release" and event.get("query") is not None]
    for _ in range(tries):
        tape = VectorTape(vector["events"])
        run_again(run, with_another_record(vector, rng), tape)
        there = [event for event in events_of(tape) if event["event"] == "release" and event.get("query") is not None]
        assert [one["label"] for one in here] == [one["label"] for one in there]
        for one, other in zip(here, there, strict=True):
            gap = np.linalg.norm(np.ravel(np.subtract(one["query"], other["query"])))
            if gap:
                worst = max(worst, gap / one["sensitivity"])
    return worst


@pytest.mark.slow
def test_no_record_moves_a_query_of_the_made_up_constants_by_more_than_it_declares():
    """Not of the printed readings: some of them declare too little, which docs/results.md says of the paper."""
    rng, seen = np.random.default_rng(0), 0
    for vector in load():
        if {"unequal-constants", "rare-branch"} & set(vector["flags"]) and vector["reading"] != "printed":
            assert moved(vector, 40, rng) <= 1 + 1e-9, vector["id"]
            seen += 1
    assert seen > 30
