"""The tree of noisy sums: what a node claims, and what a restart leaves in it."""

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.blocks.tree import TreeSum, nodes
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import LiveTape


def full_batch(data, tape):
    """Three values of the whole data set: record 0 moves each by one, so it moves a node of two values by two."""
    tree = TreeSum(tape, "tree", std=1.0)
    return [tree.add(data.sum(), sensitivity=1.0) for _ in range(4)]


def one_pass(data, tape):
    tree = TreeSum(tape, "tree", std=1.0)
    sums = []
    for _ in range(4):
        batch = tape.fresh("part", len(data), 2, order="index")
        sums.append(tree.add(data[batch.indices].sum(), sensitivity=1.0, batch=batch))
    return sums


def test_the_nodes_of_a_prefix_cover_it_once_whatever_its_length_is():
    """What certificates of the trees of this package lean on (``reference/written.py``)."""
    for t in range(1, 600):
        assert [i for first, last in nodes(t) for i in range(first, last + 1)] == [*range(1, t + 1)]


PAIR = Pair(np.zeros(8), np.eye(8)[0], 0)


def test_a_node_of_full_batch_values_claims_their_sum():
    """A record moves every value of the node; a node that claimed the largest one alone would be exceeded."""
    found = lockstep(full_batch, PAIR, [0])
    assert not found.findings
    tape = LiveTape(0)
    full_batch(PAIR.here, tape)
    assert {r.label: r.sensitivity for r in tape.transcript.releases} == {
        "tree/(1,1)": 1.0,
        "tree/(1,2)": 2.0,
        "tree/(3,3)": 1.0,
        "tree/(1,4)": 4.0,
    }
    assert found.movements["tree/(1,4)"].share == pytest.approx(1.0)


def test_a_node_of_fresh_batches_claims_the_largest():
    """A record sits in one of the batches."""
    tape = LiveTape(0)
    one_pass(PAIR.here, tape)
    assert {r.sensitivity for r in tape.transcript.releases} == {1.0}
    found = lockstep(one_pass, PAIR, [0])
    assert not found.findings and found.movements["tree/(1,4)"].share == pytest.approx(1.0)


def test_without_noise_the_sums_are_exact_also_after_a_restart():
    tree = TreeSum(LiveTape(0), "tree", std=0.0)
    seen = []
    for t in range(1, 14):
        value = np.array([float(t), -1.0])
        (tree.restart if t == 6 else tree.extend)(value, sensitivity=0.0)
        seen.append(tree.noisy())
    expected = [np.sum([[k, -1.0] for k in range(1 if t < 6 else 6, t + 1)], axis=0) for t in range(1, 14)]
    np.testing.assert_allclose(seen, expected, atol=1e-12)
    assert len(tree) == 13


def test_what_nodes_leave_out_is_released_without_noise():
    tape = LiveTape(0)
    tree = TreeSum(tape, "tree", std=1.0, nodes=lambda t: [(1, 1)])
    tree.add(1.0, sensitivity=1.0)
    tree.add(5.0, sensitivity=1.0)
    assert [(r.label, r.law.std) for r in tape.transcript.releases] == [("tree/(1,1)", 1.0), ("tree/(2,2)", 0.0)]


def test_a_record_does_not_reach_another_node_by_rounding():
    """0.1 + 0.2 - 0.1 is not 0.2: a node's sum is made of its own values, and not a difference of prefixes."""
    tree = TreeSum(LiveTape(0), "tree", std=0.0, nodes=lambda t: [(k, k) for k in range(1, t + 1)])
    for value in (0.1, 0.2):
        tree.extend(value, sensitivity=1.0)
        tree.noisy()
    assert tree._released[2, 2] == 0.2
