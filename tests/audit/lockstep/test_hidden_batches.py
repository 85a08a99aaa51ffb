"""Batches that nobody sees: the loss is that of the mixture over them, and where it is not it says so."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.findings import Kind
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses

from .test_lockstep import PAIR, N, declared, gradient


def test_sampled_loss_equals_the_mixture_by_hand():
    """The loss of one sampled release is the log ratio of two-component mixtures, at every value."""

    def run(problem, tape):
        batch = tape.batch("b", N, 2)
        rows = problem.rows[batch.indices, 0]
        return tape.gaussian("g", rows.mean(), std=0.5, sensitivity=1.0, batch=batch)

    alike = LinearLosses(np.tile([-1.0, 0.0], (N, 1)))
    pair = Pair(alike.replace(3, np.array([1.0, 0.0])), alike, 3)
    for seed in range(50):
        found = lockstep(run, pair, [seed])
        x, q = found.output, 2 / N
        density = lambda mean, x=x: np.exp(-((x - mean) ** 2) / (2 * 0.25))  # noqa: E731
        by_hand = np.log((1 - q) * density(-1.0) + q * density(0.0)) - np.log(density(-1.0))
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-12)
        assert not found.inexact


def test_other_records_that_differ_make_the_mixture_inexact():
    """The condition of the mixture is checked: with unequal other records the loss is labelled."""
    rows = np.random.default_rng(0).normal(size=(N, 2))
    here = LinearLosses(rows)
    found = [lockstep(declared, Pair(here.replace(0, np.ones(2)), here, 0), [seed]).inexact for seed in range(20)]
    assert any("which other records" in why for why in found)


def test_at_most_once_is_a_mixture_over_the_batch_it_meets():
    """Two fresh halves: the loss is log of the mean of the two positions' likelihoods."""

    def run(problem, tape):
        values = []
        for k in range(2):
            batch = tape.fresh(f"f{k}", N, N // 2)
            values.append(
                tape.gaussian("g", problem.rows[batch.indices, 0].sum(), std=1.0, sensitivity=2.0, batch=batch)
            )
        return tuple(values)

    alike = LinearLosses(np.tile([-1.0, 0.0], (N, 1)))
    pair = Pair(alike.replace(3, np.array([1.0, 0.0])), alike, 3)
    for seed in range(50):
        found = lockstep(run, pair, [seed])
        x = np.array(found.output)
        base, up = -0.5 * (x + 4) ** 2, -0.5 * (x + 2) ** 2
        by_hand = np.logaddexp(up[0] + base[1], base[0] + up[1]) - np.log(2) - base.sum()
        assert found.loss == pytest.approx(by_hand, rel=1e-9, abs=1e-9)


def test_a_query_on_a_batch_by_index_that_was_drawn_before_the_target_is_told_apart():
    """What depends on the record although its batch does not hold it is paid for elsewhere, if at all."""

    def leaks(problem, tape):
        batches = [tape.fresh("b", N, 4, order="index") for _ in range(2)]
        return tape.gaussian("g", gradient(problem, np.zeros(2)), std=1.0, sensitivity=1.0, batch=batches[1])

    def twin_of_it(problem, tape):
        batches = [tape.fresh("b", N, 4, order="index") for _ in range(2)]
        rows = problem.rows[batches[0].indices]
        return tape.gaussian("g", rows.mean(axis=0), std=1.0, sensitivity=1.0, batch=batches[0])

    assert {one.kind for one in lockstep(leaks, PAIR, [0]).findings} == {Kind.UNDECLARED_BATCH}
    assert not lockstep(twin_of_it, PAIR, [0]).findings
