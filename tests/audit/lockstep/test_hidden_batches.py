"""Batches that nobody sees: the loss is that of the mixture over them, and where it is not it says so."""

import numpy as np
import pytest

from dpassay.audit.lockstep.hidden import HiddenStates
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.worlds import Place
from dpassay.reference.errors import BadInput
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.transcript import Draw

from .test_lockstep import N, declared


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


def test_the_check_world_is_held_against_the_world_that_has_the_target_where_it_has_it():
    """In none of the fresh batches so far: the first world; in the second batch: the third world."""
    states = HiddenStates([Place("D", "at", k) for k in (None, 0, 1, 2)])
    draws = [Draw(k, "f", "fresh", 12, 4, rate) for k, rate in enumerate((1 / 3, 1 / 2, 1.0))]
    assert states.drawn(draws[0]) == 0
    states.check_drawn(draws[0], False, 0)
    assert states.check_world((0,)) == 0
    assert states.drawn(draws[1]) == 1
    states.check_drawn(draws[1], True, 1)
    assert states.check_world((0,)) == states.check_world((1,)) == 2 and states.check_world(()) == 3
    assert states.drawn(draws[2]) == 2
    states.check_drawn(draws[2], False, 2)
    assert states.check_world((2,)) == 2
    assert states.holding((1,)).tolist() == [False, False, True, False]
    assert states.holding((0, 2)).tolist() == [False, True, False, True]
    with pytest.raises(BadInput, match="fresh batches = 4: more than in the probing run"):
        states.drawn(Draw(3, "f", "fresh", 12, 4, 1.0))


def test_a_sampled_batch_has_two_states_and_no_number_among_fresh_ones():
    states = HiddenStates([Place("D", "out"), Place("D", "in")])
    draws = [Draw(k, "b", "poisson", 12, None, rate) for k, rate in enumerate((0.25, 0.5))]
    assert [states.drawn(draw) for draw in draws] == [-1, -1]
    assert states.drawn(Draw(2, "i", "fresh", 12, 4, 1 / 3, hidden=False)) == -1
    one = states.group((0,))
    assert one.worlds == [0, 1] and np.exp(one.log_here) == pytest.approx([0.75, 0.25])
    assert np.exp(one.log_there) == pytest.approx([0.75, 0.25]) and one.has_target.tolist() == [False, True]
    assert np.exp(states.group((1,)).log_here) == pytest.approx([0.5, 0.5])
    assert states.group((0, 1)) is None and states.group((7,)) is None
    full = states.group(())
    assert full.worlds == [1] and full.has_target.tolist() == [True] and full.log_here.tolist() == [0.0]
    for drawn, where in ((False, 0), (True, 1)):
        states.check_drawn(draws[0], drawn, -1)
        assert states.check_world((0,)) == where
    assert states.check_world((1,)) == 1 and states.holding((0,)).tolist() == [False, True]
    for bad, places in (("fresh", ["out", "in"]), ("poisson", ["full"])):
        with pytest.raises(BadInput, match="batch = 'b': of a kind that the probing run did not draw"):
            HiddenStates([Place("D", role) for role in places]).drawn(Draw(0, "b", bad, 12, 4, 0.5))
