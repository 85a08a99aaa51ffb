"""Fragment (a), minimax_sosp Algorithm 3: K sampled difference queries for two sequences on top of a refresh.

The queries clip the MEAN, as printed, so their sensitivity is 2 C (one record may turn the whole mean), not 2 C / S2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.blocks.clipping import clip
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair


@dataclass(frozen=True)
class Saddle:
    """F(x, y; a) = a x y - y^2 / 2, one number a a record."""

    a: np.ndarray

    def dx(self, x, y, i):
        return np.mean(self.a[i]) * y

    def dy(self, x, y, i):
        return np.mean(self.a[i]) * x - y


S2, K, PERIOD, STEPS, C_V, C_U, STD = 2, 2, 2, 4, 1.0, 0.5, 4.0


def run(problem, tape):
    n, x, y = len(problem.a), np.array([1.0]), np.array([1.0])
    v = u = np.zeros(1)
    everyone, x_before = np.arange(n), x
    for t in range(STEPS):
        if t % PERIOD == 0:  # lines 4-8
            v = tape.gaussian("refresh/v", clip(problem.dx(x, y, everyone), C_V), std=STD, sensitivity=2 * C_V)
            u = tape.gaussian("refresh/u", clip(problem.dy(x, y, everyone), C_V), std=STD, sensitivity=2 * C_V)
        y_before = y
        for k in range(K):  # lines 12-17
            batch = tape.batch("inner", n, S2)  # line 13
            i, anchor = batch.indices, x_before if k == 0 else x
            dv = clip(problem.dx(x, y, i) - problem.dx(anchor, y_before, i), C_U)
            du = clip(problem.dy(x, y, i) - problem.dy(anchor, y_before, i), C_U)
            v = v + tape.gaussian("inner/v", dv, std=STD, sensitivity=2 * C_U, batch=batch)  # line 14
            u = u + tape.gaussian("inner/u", du, std=STD, sensitivity=2 * C_U, batch=batch)  # line 15
            y_before, y = y, np.clip(y + 0.1 * u, -2, 2)  # line 16
        x_before, x = x, x - 0.1 * v / max(1.0, float(np.linalg.norm(v)))
    return x, y


@pytest.fixture
def pair():
    a = np.full(8, -1.0)
    here = a.copy()
    here[3] = 1.0
    return Pair(Saddle(here), Saddle(a), 3, "all others pull the other way")


@pytest.mark.more
def test_every_reading(examine, pair):
    found = examine(run, pair)
    assert found.losses.findings == []
    kinds = [found.transcript.participation(release) for release in found.transcript.releases]
    assert kinds.count("full batch") == 2 * STEPS // PERIOD
    assert kinds.count("sampled at rate 0.25") == 2 * K * STEPS, "K differences a step, for each of two sequences"
    sampled = [(part, count) for part, count in found.account.common if part.kind == "sampled"]
    assert [count for _, count in sampled] == [K * STEPS], "v and u share a batch: one mechanism with both"
    assert sampled[0][0].size == pytest.approx(np.sqrt(2) * 2 * C_U / STD)


def test_mean_of_clipped_is_not_clip_of_mean():
    """Mutant: a clipped mean that claims 2 C / n. One record turns a balanced mean, and it is caught."""

    def mutant(problem, tape):
        query = clip(10 * problem.dx(1.0, np.ones(1), np.arange(len(problem.a))), C_V)
        return tape.gaussian("refresh/v", query, std=1.0, sensitivity=2 * C_V / 8)

    here = np.array([1.0, -1.0] * 4)
    there = here.copy()
    there[3] = 1.0
    findings = lockstep(mutant, Pair(Saddle(here), Saddle(there), 3), [0]).findings
    assert [finding.kind for finding in findings] == [Kind.SENSITIVITY_EXCEEDED]
