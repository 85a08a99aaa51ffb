"""MODULE:NAME where a key of the catalogue may stand: sequential, mutants, crosscheck; cases of others."""

from __future__ import annotations

import json

import pytest

MINE = """
import numpy as np
from dpassay.reference import Space

space = Space.matrix(n=(2, 4), d=(1, 2), radius=1.0)


def mean(rows, tape):
    n = len(rows)
    return tape.gaussian("mean", rows.mean(axis=0), std=8.0 / n, sensitivity=2.0 / n)


def plain(rows, rng):
    return rows.sum(axis=0) + rng.normal(scale=8.0, size=rows.shape[1])
"""


@pytest.fixture
def mine(tmp_path, monkeypatch):
    (tmp_path / "everywhere_mine.py").write_text(MINE)
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.mark.some(1)
@pytest.mark.parametrize(
    ("name", "epsilon", "code"),
    [("mean", 0.5, 1), pytest.param("plain", 0.5, 1, marks=pytest.mark.slow), ("mean", 1.0, 3)],
)
def test_sequential_bets_on_the_worst_pair(dpassay, mine, name, epsilon, code):
    words = ["sequential", "algorithm", f"everywhere_mine:{name}", "--space", "everywhere_mine:space"]
    words += ["--checkpoint", "state.json", "--limit", 100]
    assert dpassay(*words, "--epsilon", epsilon)[0] == code


def test_sequential_asks_for_the_claim(dpassay, refused, mine):
    words = ["sequential", "algorithm", "--checkpoint", "state.json"]
    refused(dpassay(*words, "everywhere_mine:mean"), "--epsilon")
    refused(dpassay(*words, "everywhere_mine:nobody", "--epsilon", 1), "name", "cannot be loaded")
    refused(dpassay(*words, "baselines/dp_sgd:digits", "--space", "everywhere_mine:space"), "space", "has its own")


@pytest.mark.more
def test_mutants_of_ones_own(dpassay, refused, mine):
    words = ["mutants", "everywhere_mine:mean", "--space", "everywhere_mine:space", "--outputs", 0, "--runs", 100]
    code, out, _ = dpassay(*words, "--only", "half", "--json")
    found = json.loads(out)
    assert code == 0 and found["summary"]["must be caught"] == 1 and not found["summary"]["missed"]
    refused(dpassay("mutants", "baselines/dp_sgd:digits", "--epsilon", 1), "--epsilon", "of your own")
