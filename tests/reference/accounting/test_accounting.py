"""Accounting: closed forms, dp-accounting, the notes' measured table, and what must not be accountable."""

from __future__ import annotations

import math

import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.dp_events import dp_event_of, rdp_epsilon
from dpassay.reference.accounting.gdp import gdp_epsilon, gdp_mu
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape

DELTA = 1e-5


def transcript(*sizes, **more):
    tape = LiveTape(0)
    for size in sizes:
        tape.gaussian("g", 0.0, std=1 / size, sensitivity=1.0, **more)
    return tape.transcript


def sampled(rate, mu, steps, poisson=False, n=1000):
    tape = LiveTape(0)
    for k in range(steps):
        batch = tape.poisson(f"b{k}", n, rate) if poisson else tape.batch(f"b{k}", n, round(rate * n))
        tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)
    return tape.transcript


def test_fixed_size_batches_cover_both_directions():
    """The envelope is above either direction alone, and composing one direction shows less."""
    found = account(sampled(0.1, 0.5, 100))
    assert found.one_direction(DELTA) < found.epsilon(DELTA)
    assert account(transcript(1.0)).one_direction(DELTA) is None


def test_add_remove_halves_the_move():
    assert account(transcript(1.0), "add-remove").epsilon(DELTA) == pytest.approx(gdp_epsilon(0.5, DELTA))


def test_rdp_is_an_upper_bound_on_the_exact_value():
    for sizes in ((0.5,), (0.3, 0.4, 1.0)):
        tape = transcript(*sizes)
        assert account(tape).epsilon(DELTA) <= rdp_epsilon(tape, DELTA) <= 1.5 * account(tape).epsilon(DELTA)
    assert "Gaussian" in str(dp_event_of(transcript(1.0)))


def test_fresh_batches_do_not_add_up_but_their_worst_counts():
    def fresh(*mus):
        tape = LiveTape(0)
        for k, mu in enumerate(mus):
            batch = tape.fresh(f"f{k}", 100, 20)
            tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)
        return account(tape.transcript).epsilon(DELTA)

    assert fresh(0.5, 0.5, 0.5) == pytest.approx(fresh(0.5))
    assert fresh(0.5, 0.9, 0.1) == pytest.approx(gdp_epsilon(0.9, DELTA))


def test_laplace_and_above_threshold_are_pure():
    tape = LiveTape(0)
    tape.laplace("l", 0.0, scale=2.0, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.5, abs=2e-3)
    tape = LiveTape(0)
    scales = {"threshold_scale": 2.0, "query_scale": 4.0}
    tape.above_threshold("s", iter([0.0]), threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(1.0, abs=2e-3)
    tape = LiveTape(0)
    tape.above_threshold("s", [0.0], threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.25, abs=2e-3), "one test is a Laplace release"


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_impossible_epsilon(epsilon):
    with pytest.raises(BadInput, match="epsilon"):
        gdp_mu(epsilon, DELTA)
