"""Fragment (c), adaptive_batch Algorithms 1, 3 and 4: one pass, batches as large as the last step needs, a tree."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.blocks.tree import TreeSum, nodes
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair


@dataclass(frozen=True)
class Data:
    a: np.ndarray

    def gradient(self, x, i):
        return np.mean(self.a[i]) * x


G, M, B, STD, ETA, STEPS = 1.0, 1.0, 4, 1.5, 0.5, 4


def run(problem, tape):
    n, x, x_before = len(problem.a), np.ones(1), np.zeros(1)
    tree = TreeSum(tape, "tree", std=STD)  # Algorithm 1
    for t in range(STEPS):
        if t == 0:  # O1: a fresh gradient
            size, sensitivity = B, 2 * G / B
        else:  # O2: a gradient difference, batch b_t as large as the last step was long
            moved = float(np.linalg.norm(x - x_before))
            size = int(np.clip(round(3 * moved), 1, 4))
            sensitivity = 2 * M * moved / size
        batch = tape.fresh("oracle", n, size)  # among unused functions: Algorithm 4
        i = batch.indices
        value = problem.gradient(x, i) - (problem.gradient(x_before, i) if t else 0.0)
        g = tree.add(value, sensitivity=sensitivity, batch=batch)  # nabla_t + TREE(t), line 8
        x_before, x = x, np.clip(x - ETA * g, -1.0, 1.0)
    return x


@pytest.fixture
def pair():
    a = np.full(24, -1.0)
    here = a.copy()
    here[7] = 1.0
    return Pair(Data(here), Data(a), 7)


def test_every_reading(examine, pair):
    found = examine(run, pair)
    assert found.losses.findings == []
    assert {found.transcript.participation(release) for release in found.transcript.releases} == {"at most once"}
    assert found.account.mu() is not None, "each record is in one batch: the worst batch counts, they do not add up"


def test_one_new_node_a_step_and_each_value_in_few_nodes():
    for t in range(1, 257):
        intervals = nodes(t)
        assert [i for first, last in intervals for i in range(first, last + 1)] == list(range(1, t + 1))
        assert len(intervals) == t.bit_count()
    released = {nodes(t)[-1] for t in range(1, 257)}
    assert len(released) == 256
    assert max(sum(first <= i <= last for first, last in released) for i in range(1, 257)) == 9


def test_a_batch_size_from_private_data_is_caught(pair):
    def mutant(problem, tape):
        size = 2 if problem.a.sum() > -23 else 3
        batch = tape.fresh("oracle", len(problem.a), size)
        return tape.gaussian("g", problem.gradient(1.0, batch.indices), std=1.0, sensitivity=1.0, batch=batch)

    assert Kind.BATCH_SIZE in {finding.kind for finding in lockstep(mutant, pair, [0]).findings}
