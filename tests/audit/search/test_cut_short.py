"""A search that runs out of time keeps what it found, and says so; it is not a defect of the algorithm."""

from __future__ import annotations

import pytest

from dpassay.audit.search import engine
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.findings import Kind
from dpassay.reference.papers import Cite
from dpassay.reference.space import Space

CLAIM = PrivacyClaim(1.0, 1e-5, Cite("mine", "Theorem 1"))


def leaky(rows, tape):
    return tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0), float(rows[0, 0])


@pytest.mark.parametrize("examples", [10, 20, 40])
def test_time_that_runs_out_in_the_middle(monkeypatch, examples):
    clock = iter(range(10_000))
    monkeypatch.setattr(engine, "SECONDS", examples)
    monkeypatch.setattr(engine, "perf_counter", lambda: next(clock))  # a second for each look at it
    found = engine.search(leaky, Space.matrix(n=(1, 2), d=(1, 2)), CLAIM, examples=100, seed=0)
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert found.note == f"stopped after {examples} s and {found.examples} examples" and found.examples < 100


def test_a_run_that_is_no_function_is_said_to_be_none():
    """It shows something once, and not again: no defect is shrunk, and the note says why."""
    counted = iter(range(10_000))

    def at_first(rows, tape):
        number = next(counted)
        value = tape.gaussian("sum", rows.sum(axis=0), std=9.0, sensitivity=2.0)
        return value, number if number < 20 else 0

    found = engine.search(at_first, Space.matrix(n=(1, 2), d=(1, 2)), CLAIM, examples=20, seed=0)
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
    assert "no function of data and tape" in found.note
