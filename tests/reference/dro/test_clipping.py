"""Records are clipped in the 2-norm: clipping coordinates by themselves is caught on rows with several large ones."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.dro import double_spider, recursive_spider
from dpassay.reference.dro.constants import Constants
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.dro.plan import Plan
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair

PLAN = Plan(n=6, steps=4, phase=2, batch=6)


@dataclass(frozen=True)
class Linear:
    """Losses <row, x>: the gradients are the rows."""

    rows: np.ndarray

    @property
    def n(self):
        return len(self.rows)

    @property
    def d(self):
        return self.rows.shape[1]

    def losses(self, parameters, indices=None):
        return (self.rows if indices is None else self.rows[indices]) @ parameters

    def loss_gradients(self, parameters, indices=None):
        return self.rows if indices is None else self.rows[indices]


def pair(module):
    sides = []
    for sign in (1.0, -1.0):
        rows = np.zeros((PLAN.n, 4))
        rows[0] = 50.0 * sign
        double = module is double_spider
        sides.append(DualObjective(Linear(rows), chi_square(), 2.0) if double else CompositionalObjective(Linear(rows)))
    return Pair(sides[0], sides[1], 0)


def by_coordinates(rows, threshold, mode):
    """The bug: each coordinate is clipped by itself, so the 2-norm grows by sqrt(d)."""
    return np.clip(rows, -threshold, threshold).mean(axis=0)


def kinds(module):
    both = pair(module)
    inputs = (both.here, PLAN, Constants(), 1.0, 1e-5) if module is double_spider else (both.here, PLAN, 1.0, 1e-5)
    schedule = module.repaired(*inputs)
    return {finding.kind for finding in lockstep(lambda p, t: module.run(p, schedule, t), both, (1,)).findings}


@pytest.mark.parametrize("module", [double_spider, recursive_spider], ids=["double", "recursive"])
def test_clipping_by_coordinates_is_caught(module, monkeypatch):
    assert kinds(module) == set()
    monkeypatch.setattr(module, "clipped_mean", by_coordinates)
    assert kinds(module) == {Kind.SENSITIVITY_EXCEEDED}
