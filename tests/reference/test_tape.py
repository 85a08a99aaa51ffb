"""The tape on single runs: recording, and a dictated run bit for bit."""

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from dpassay.audit.mutate.planted import MutantTape, Mutation
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.tape import LiveTape, ScriptedTape, record

DATA = np.linspace(-1.0, 1.0, 12)
QUERY = {"sensitivity": 1.0}
TEST = {"threshold": 0.1, "threshold_scale": 1.0, "query_scale": 2.0, **QUERY}
CALLS = {  # tape, label, data, the state so far -> what is added to it
    "gaussian": lambda t, label, data, state: t.gaussian(label, np.full(3, data.mean() + state), std=1.0, **QUERY)[1],
    "laplace": lambda t, label, data, state: t.laplace(label, data.mean(), scale=2.0, **QUERY),
    "above": lambda t, label, data, state: t.above_threshold(label, data[:2], **TEST) or -1.0,
    "batch": lambda t, label, data, state: data[t.batch(label, 12, 3).indices].sum(),
    "poisson": lambda t, label, data, state: data[t.poisson(label, 12, 0.3).indices].sum(),
    "fresh": lambda t, label, data, state: data[t.fresh(label, 12, 2).indices].sum() if t.unused(12) >= 2 else 0.0,
    "public": lambda t, label, data, state: t.public(label, lambda rng: rng.random()),
    "secret": lambda t, label, data, state: t.secret(label, lambda rng: rng.random()),
    "noise": lambda t, label, data, state: t.noise(label, 1.0),
    "reveal": lambda t, label, data, state: t.reveal(label, len(label)),
}


def program(calls):
    """An algorithm made of any sequence of calls; what it returns depends on every value it got."""

    def run(data, tape):
        state = 0.0
        for position, call in enumerate(calls):
            state += CALLS[call](tape, f"{call} {position}", data, state)
        return state

    return run


@given(st.lists(st.sampled_from([call for call in CALLS if call != "noise"]), max_size=12), st.integers(0, 2**31))
@settings(max_examples=60)
def test_values_dictated_again_are_the_same_run(calls, seed):
    run = program(calls)
    transcript = record(lambda tape: run(DATA, tape), seed)
    assume(all(release.value is not None for release in transcript.releases))  # None stands for what is drawn
    tape = ScriptedTape(lambda label, law, step: transcript.events[step].value, seed)
    assert run(DATA, tape) == transcript.output, "bit for bit"
    layered = record(lambda tape: run(DATA, MutantTape(tape, Mutation())), seed)  # what changes nothing is not seen
    assert layered.output == transcript.output
    same, other = (program(CALLS)(DATA, LiveTape(one)) for one in (seed, seed + 1))
    assert run(DATA, LiveTape(seed)) == transcript.output and same != other


def test_streams_are_apart():
    """One more draw of records leaves the noise as it was: runs with another batch size can be compared."""

    def noise_after(draws):
        tape = LiveTape(5)
        for k in range(draws):
            tape.batch(f"b{k}", 12, 4)
        return tape.gaussian("g", 0.0, std=1.0, sensitivity=1.0)

    assert noise_after(0) == noise_after(3)


def test_fresh_batches_are_disjoint_and_exhaust_the_data():
    tape = LiveTape(3)
    batches = [tape.fresh(f"f{k}", 12, 4).indices for k in range(3)]
    assert sorted(np.concatenate(batches)) == list(range(12))
    assert [draw.rate for draw in tape.transcript.draws] == pytest.approx([1 / 3, 1 / 2, 1.0])  # of what is left
    with pytest.raises(BadInput, match="records unused"):
        tape.fresh("one more", 12, 1)


def test_raw_noise_is_its_std_times_a_normal_draw():
    half, three = (LiveTape(5).noise("z", std, (200,)) for std in (0.5, 3.0))
    assert three == pytest.approx(6 * half) and half.min() < -0.5 < 0.5 < half.max()
    assert LiveTape(5).noise("z", 0.0) == 0.0


def test_index_order_is_not_secret():
    tape = LiveTape(3)
    assert list(tape.fresh("f", 12, 4, order="index").indices) == [0, 1, 2, 3]
    assert not tape.transcript.draws[0].hidden
    with pytest.raises(BadInput, match="a run makes one pass"):
        tape.fresh("g", 12, 4)
    by_chance = LiveTape(3)
    by_chance.fresh("f", 12, 4)
    assert by_chance.transcript.draws[0].hidden


def test_noise_and_sensitivity_are_told_by_name_alone():
    """Which of two numbers is the noise cannot be mistaken, on any tape."""
    tape, square = LiveTape(0), np.zeros((2, 2))
    for call in (
        lambda: tape.gaussian("a", 0.0, 1.0, 1.0),
        lambda: tape.symmetric_gaussian("a", square, 1.0, 1.0),
        lambda: tape.laplace("a", 0.0, 1.0, 1.0),
        lambda: tape.above_threshold("a", [0.0], 0.0, 1.0, 1.0, 1.0),
        lambda: tape.release("a", Gaussian(0.0, 1.0), 1.0),
        lambda: tape.fresh("a", 4, 2, "index"),
    ):
        with pytest.raises(TypeError, match="positional"):
            call()
    assert not tape.transcript.events


def test_symmetric_noise_is_symmetric_with_the_stated_std():
    """Entries on and above the diagonal have the std, within four standard errors (seed 0, 4,000 matrices)."""
    tape = LiveTape(0)
    found = [tape.symmetric_gaussian("H", np.zeros((3, 3)), std=2.0, sensitivity=1.0) for _ in range(4000)]
    assert all(np.array_equal(matrix, matrix.T) for matrix in found)
    assert np.std(found, axis=0) == pytest.approx(np.full((3, 3), 2.0), rel=4 / np.sqrt(2 * 4000))


@pytest.mark.parametrize(
    ("call", "field"),
    [
        (lambda t: t.gaussian("a", np.nan, std=1.0, sensitivity=1.0), "query"),
        (lambda t: t.gaussian("a", 0.0, std=-1.0, sensitivity=1.0), "std"),
        (lambda t: t.gaussian("a", 0.0, std=1.0, sensitivity=-1.0), "sensitivity"),
        (lambda t: t.laplace("a", 0.0, scale=0.0, sensitivity=1.0), "scale"),
        (lambda t: t.batch("a", 4, 5), "batch size"),
        (lambda t: t.poisson("a", 4, 1.5), "sampling rate"),
        (lambda t: t.poisson("a", 4, 0.0), "sampling rate"),
        (lambda t: t.noise("a", -1.0), "std"),
    ],
)
def test_bad_calls_name_the_field(call, field):
    with pytest.raises(BadInput, match=field):
        call(LiveTape(0))
