"""What is computed in fewer calls is computed bit for bit: shortcuts against the plain way, runs against recordings."""

import numpy as np
import pytest
from tapes import Again

from dpassay.audit.lockstep import hub
from dpassay.audit.lockstep.records import Streams
from dpassay.audit.lockstep.run import lockstep
from dpassay.audit.lockstep.tilting import ManyGaussians, OneGaussian, States, Tilt, Tilts, proposal
from dpassay.reference.arrays import mean_of, norm, row_norms
from dpassay.reference.catalogue import CASES
from dpassay.reference.equality import _MOST, once, same
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.tape import LiveTape

TILTS = Tilts([Tilt(), Tilt(1.0, 2.0), Tilt(-0.3)])
ROWS = ("second_order_erm/opt@repaired", "adaptive_batch/stochastic_spider:theorem-3.17-d1-T2-O2@printed")


def one_state(seed: int) -> States:
    rng = np.random.default_rng(seed)
    size = int(rng.integers(1, 200))
    shape = () if size == 1 else (size,)
    here, there = (Gaussian(10 ** rng.uniform(-6, 6) * rng.standard_normal(shape), 0.5 + seed % 2) for _ in range(2))
    return States([here], [there], np.zeros(1), np.zeros(1), np.array([True]))


@pytest.mark.parametrize("seed", range(40))
def test_one_state_has_the_numbers_of_many(seed):
    states = one_state(seed)
    one, many = OneGaussian(states, TILTS), ManyGaussians(states, TILTS)
    assert type(proposal(states, TILTS)) is OneGaussian
    for tilt in range(len(TILTS)):
        values = [plan.sample(np.random.default_rng(seed), tilt) for plan in (one, many)]
        assert same(*values)
        assert all(same(*pair) for pair in zip(one.logs(values[0]), many.logs(values[0]), strict=True))


@pytest.mark.parametrize("key", ROWS)
def test_a_run_with_the_shortcut_is_the_run_without(key, monkeypatch):
    """Recorded under the plain proposals, and again under those that are used: the same losses, weights and outputs."""
    instance = next(case for case in CASES if case.key == key).build()

    def recorded() -> list[object]:
        runs = [lockstep(instance.mechanism, instance.pair, [5, k], tilts=TILTS, tilt=k) for k in range(3)]
        return [[run.loss, run.log_weights, run.output] for run in runs]

    quick, used = recorded(), []

    def plain(states: States, tilts: Tilts) -> object:
        gaussian = all(law.is_normal for law in (*states.here, *states.there))
        used.append(gaussian)
        return ManyGaussians(states, Tilts.of(tilts)) if gaussian else proposal(states, tilts)

    monkeypatch.setattr(hub, "proposal", plain)
    assert same(quick, recorded()) and any(used)


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


def two_states(seed: int) -> States:
    rng = np.random.default_rng(seed)
    size, stds = int(rng.integers(1, 60)), 0.5 + rng.integers(0, 2, size=4)
    here, there = ([Gaussian(rng.standard_normal(size), float(std)) for std in pair] for pair in (stds[:2], stds[2:]))
    logs = [np.log(p) for p in ([0.9, 0.1], [0.7, 0.3])]
    return States(here, there, logs[0], logs[1], np.array([False, True]))


@pytest.mark.parametrize("seed", range(20))
def test_two_states_have_the_numbers_of_the_plain_sums(seed):
    """Sums, densities and weights in the order of their definition, without anything kept from an earlier draw."""
    states, tilts = two_states(seed), Tilts(TILTS)
    raised = states.log_here + tilts.odds * states.has_target
    weights = raised - np.logaddexp.reduce(raised, axis=1, keepdims=True)
    here, there = (np.array([law.query for law in laws]) for laws in (states.here, states.there))
    away = here - np.exp(states.log_there) @ there
    value = np.random.default_rng(seed).standard_normal(here.shape[1])
    gaps = np.array([value - here, value - here, away, value - there])
    squares, cross, length, squares_there = np.einsum("ksp,ksp->ks", gaps, gaps[[0, 2, 2, 3]])
    scales = [np.array([law.scale for law in laws]) for laws in (states.here, states.there)]
    logs = [
        -value.size * (np.log(one) + 0.5 * np.log(2 * np.pi)) - sums / (2 * (one * one))
        for one, sums in zip(scales, (squares, squares_there), strict=True)
    ]
    moved = logs[0] + (tilts.twice * cross - tilts.squares * length) / (2 * (scales[0] * scales[0]))
    for _ in range(2):  # the second time with kept weights
        found = ManyGaussians(states, tilts).logs(value)
        expected = (*logs, np.logaddexp.reduce(weights + moved, axis=1))
        assert all(same(*pair) for pair in zip(found, expected, strict=True))


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
