"""What is computed in fewer calls is computed bit for bit: against NumPy, and runs against recordings."""

import numpy as np
import pytest
from tapes import Again

from dpassay.audit.lockstep.records import Streams
from dpassay.reference.arrays import mean_of, norm, row_norms
from dpassay.reference.catalogue import CASES
from dpassay.reference.equality import _MOST, once, same
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.tape import LiveTape

ROWS = ("second_order_erm/opt@repaired", "adaptive_batch/stochastic_spider:theorem-3.17-d1-T2-O2@printed")


@pytest.mark.parametrize("key", ROWS)
def test_a_recorded_tape_gives_the_same_run_again(key):
    instance = next(case for case in CASES if case.key == key).build()
    tape = LiveTape(3)
    output = instance.mechanism(instance.pair.here, tape)
    again = Again(tape.transcript, 3)
    assert same(instance.mechanism(instance.pair.here, again), output)
    queries = [[release.law.query for release in one.transcript.releases] for one in (tape, again)]
    assert same(*queries)


@pytest.mark.parametrize("seed", range(20))
def test_norms_are_those_of_numpy(seed):
    rng = np.random.default_rng(seed)
    rows = 10 ** rng.uniform(-200, 200) * rng.standard_normal((int(rng.integers(1, 30)), int(rng.integers(1, 99))))
    with np.errstate(over="ignore", under="ignore"):
        assert same(norm(rows), float(np.linalg.norm(rows.ravel())))
        assert same(row_norms(rows), np.linalg.norm(rows, axis=1))
        assert same(mean_of(rows), np.mean(rows, axis=0)) and same(mean_of(rows[0]), np.mean(rows[0], axis=0))
    whole = np.arange(6).reshape(2, 3)
    assert norm(whole) == np.linalg.norm(whole) and same(row_norms(whole), np.linalg.norm(whole, axis=1))


def test_streams_are_the_children_of_the_seed():
    children = [np.random.default_rng(child) for child in np.random.SeedSequence([4, 0, 7]).spawn(5)]
    streams = Streams([4, 0, 7])
    for number in (3, 0, 4):  # in whatever order they are first used
        assert same(streams[number].random(3), children[number].random(3))
        assert same(streams[number].random(3), children[number].random(3))  # and it goes on
    assert same(streams.inner(11, check=True).random(3), np.random.default_rng([4, 0, 7, 7, 1]).random(3))


def test_an_index_happens_where_its_probability_is_above_zero():
    law = AboveThreshold([0.0, 900.0, -5.0], 0.5, 1.0, 2.0)
    for value in (None, 0, 1, 2, 3, -1, "0"):
        assert law.happens(value) == (law.log_density(value) > -np.inf)


# What worlds of a run ask one after the other is computed once; nothing else passes from one to another.
def test_the_same_arguments_are_computed_once_and_others_anew():
    asked = []

    def doubled(array, factor):
        asked.append(factor)
        return factor * array, factor

    one = np.array([1.0, 2.0])
    first = once(doubled, one, 2.0)
    assert once(doubled, one.copy(), 2.0) is first and asked == [2.0]
    one[0] = 5.0  # the array has changed since: it is another argument
    assert once(doubled, one, 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one.reshape(2, 1), 2.0)[0].shape == (2, 1)
    assert once(doubled, one.astype(int), 2.0)[0].tolist() == [10.0, 4.0]
    assert once(doubled, one, 2)[1] == 2 and len(asked) == 5
    assert first[0].tolist() == [2.0, 4.0]


def test_what_comes_back_cannot_be_written_into():
    found = once(np.negative, np.arange(3.0))
    with pytest.raises(ValueError, match="read-only"):
        found += 1


def test_few_results_are_kept():
    asked: list[int] = []
    ask = asked.append
    for number in [*range(_MOST + 1), _MOST, 0]:
        once(ask, number)
    assert asked == [*range(_MOST + 1), 0]  # the last one is known, the first one was given up
