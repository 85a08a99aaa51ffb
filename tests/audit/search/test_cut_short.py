"""A search that runs out of time while it shrinks keeps what it found; it is not a defect of the algorithm."""

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


@pytest.mark.parametrize("calls", [3, 10, 40])
def test_time_that_runs_out_in_the_middle(monkeypatch, calls):
    late = [False] * calls + [True] * 10_000
    name = next(name for name, one in vars(engine).items() if isinstance(one, type) and hasattr(one, "_late"))
    monkeypatch.setattr(getattr(engine, name), "_late", lambda self: late.pop(0))
    found = engine.search(leaky, Space.matrix(n=(1, 2), d=(1, 2)), CLAIM, examples=100, seed=0)
    assert Kind.OUTPUT in {finding.kind for finding in found.findings}
