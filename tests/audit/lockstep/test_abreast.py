"""Runs that are made at once are the runs made one by one, bit for bit; what cannot be is made one by one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.likelihood import samplers
from dpassay.audit.likelihood.samplers import LockstepSampler, Losses
from dpassay.audit.lockstep.abreast import RunsAbreast, abreast
from dpassay.audit.lockstep.run import needs
from dpassay.audit.lockstep.tilting import Tilt, Tilts
from dpassay.reference.abreast import Abreast, NotAbreast, Taken
from dpassay.reference.case import Instance
from dpassay.reference.catalogue import CASES
from dpassay.reference.equality import same
from dpassay.reference.minimax_sosp import cases, dp_rgda_abreast
from dpassay.reference.minimax_sosp.worst_case import steep
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.transcript import Draw, Note
from dpassay.reference.types import Array

TILTS = Tilts([Tilt(), Tilt(1.0, 2.0), Tilt(-0.3)])
SHARES = np.array([0.2, 0.5, 0.3])
ROW = "minimax_sosp/dp_rgda:"
TOGETHER = (  # full batches and sampled ones; d = 1, 2, 5, 10, 20; with a repeated and with a restarted recursion
    "rowclip-n9-d1-T8-K5-q4-b9@printed",
    "sampled, d = 1",
    "n9-d2-T4-K1-q2-b3@repaired",
    "n25-d5-T12-K3-q4-b25@repaired",
    "rowclip-n9-d1-T9-K2-q3-b3@printed",  # refreshes on all records between sampled steps
    "mean-clip-n9-d2-T3-K2-q3-b9@printed",  # its queries move by more than they declare
    "algorithm3-n9-d1-T8-K1-q4-b9@printed",
    "dro/double_spider:cressie_read(3)@printed",  # clips means, overshoots
    "dro/double_spider:sampled differences@repaired",  # noise that follows the move, of each run its own
    "dro/recursive_spider:sigma_2 of Theorem 8@printed",
    "dro/recursive_spider:one record@repaired",
)
PARTED = (  # neighbours part in noise and length, single runs leave; with inner randomness, and without
    "second_order_erm/two_opt_b@printed",
    "second_order_erm/opt_b@printed",
    "second_order_erm/two_opt_b@repaired",
)
ALONE = ("appendixB2-n9-d2-T3-K2-q3-b9@printed",)  # noise that follows the move
LARGE = (
    "n36-d10-T24-K1-q6-b6@repaired",
    "n101-d20-T20-K2-q5-b101@repaired",
    "experiment-n400-d1-T400-K5-q10-b50@printed",
    "experiment-n400-d1-T400-K5-q10-b50@repaired",
)


def built(name: str) -> Instance:
    if name == "sampled, d = 1":
        return cases.instance(lambda: cases.mended(cases.Sizes(9, 3, 2, 2, 6, 3)), steep())
    return next(case for case in CASES if case.key == (name if "/" in name else ROW + name)).build()


def sampled(instance: Instance, twin: object, runs: int, checks: int) -> list[Losses]:
    """In both directions."""
    one = LockstepSampler(instance.mechanism, instance.pair, checks=checks, twin=twin)  # type: ignore[arg-type]
    return [sampler.sample(TILTS, SHARES, runs, (4, 2)) for sampler in (one, one.swapped())]


def the_same(instance: Instance, twin: object, runs: int = 16, checks: int = 8) -> bool:
    together, alone = sampled(instance, twin, runs, checks), sampled(instance, None, runs, checks)
    return same([vars(one) for one in together], [vars(one) for one in alone])


AGAIN = {"n25-d5-T12-K3-q4-b25@repaired", "dro/recursive_spider:one record@repaired"}  # slow, and much as those beside


@pytest.mark.some(4)
@pytest.mark.parametrize(
    "name", [pytest.param(one, marks=pytest.mark.slow) if one in AGAIN else one for one in TOGETHER]
)
def test_losses_weights_and_movements_are_those_of_single_runs(name, monkeypatch):
    instance, made = built(name), []
    monkeypatch.setattr(samplers, "abreast", lambda *a, **k: made.append(k["check"]) or abreast(*a, **k))
    assert the_same(instance, instance.twin)
    assert made == [True, False, True, False]  # with check world and without, both ways: none was made one by one


@pytest.mark.slow
@pytest.mark.parametrize("name", LARGE)
def test_so_are_those_of_larger_sizes_up_to_the_experiment(name):
    instance = built(name)
    assert the_same(instance, instance.twin, runs=8)


@pytest.mark.parametrize("name", [pytest.param(PARTED[0], marks=pytest.mark.slow), *PARTED[1:]])
def test_so_are_those_of_runs_whose_neighbours_part_and_their_findings(name):
    instance = built(name)
    used = LockstepSampler(instance.mechanism, instance.pair, checks=4, twin=instance.twin)
    alone = LockstepSampler(instance.mechanism, instance.pair, checks=4)
    runs = {PARTED[0]: 14, PARTED[1]: 60}.get(name, 16)
    assert same(*(vars(one.sample(TILTS, SHARES, runs, (4, 2))) for one in (used, alone)))
    assert used._twin is not None


@pytest.mark.parametrize("what", ["end", "_show"])
def test_a_twin_whose_runs_part_otherwise_is_not_used(what, monkeypatch):
    """Planted: no run ends early; no finding is due."""
    instance, end = built(PARTED[1]), RunsAbreast.end
    planted = {
        "end": lambda tape, which, label, early: end(tape, which, label, early & False),
        "_show": lambda *arguments: None,
    }
    monkeypatch.setattr(RunsAbreast, what, planted[what])
    used = LockstepSampler(instance.mechanism, instance.pair, checks=0, twin=instance.twin)
    alone = LockstepSampler(instance.mechanism, instance.pair, checks=0)
    assert same(*(vars(one.sample(TILTS, SHARES, 20, (4, 2))) for one in (used, alone)))
    assert used._twin is None


class Recorded:
    """Hands back what single runs released, and holds each query against theirs."""

    def __init__(self, tapes: list[LiveTape]):
        self.runs, self._tapes, self.compared = len(tapes), tapes, 0
        events = [tape.transcript.events for tape in tapes]
        self._events = [iter([event for event in each if not isinstance(event, Note)]) for each in events]

    def records(self, label: str, n: int, size: int, other: int | None = None) -> Taken:
        if size == n:
            everything = np.arange(n).reshape(1, 1, n)
            return Taken(everything, everything, None)
        draws = [next(events) for events in self._events]
        assert all(isinstance(draw, Draw) and (draw.label, draw.n, draw.size) == (label, n, size) for draw in draws)
        number = draws[0].number
        found = np.array([tape.transcript.batches[number] for tape in self._tapes])[:, None, :]
        return Taken(found, found, number)

    def gaussian(
        self, label: str, query: Array, *, std: float | Array, sensitivity: float | Array, taken: Taken
    ) -> Array:
        query = np.broadcast_to(query, (self.runs, *query.shape[1:]))
        releases = [next(events) for events in self._events]
        stds, claims = (np.broadcast_to(numbers, self.runs).tolist() for numbers in (std, sensitivity))
        for release, mine, *numbers in zip(releases, query[:, 0], stds, claims, strict=True):  # the first world of D
            assert [release.label, release.law.scale, release.sensitivity] == [label, *numbers]
            assert same(release.law.query.ravel(), mine)
            self.compared += 1
        return np.array([np.ravel(release.value) for release in releases])


@pytest.mark.some(5)
@pytest.mark.parametrize("name", (*TOGETHER, *LARGE[:2]))
def test_on_recorded_tapes_the_twin_asks_what_the_reference_asked(name):
    instance = built(name)
    tapes = [LiveTape(seed) for seed in range(5)]
    for tape in tapes:
        instance.mechanism(instance.pair.here, tape)
    recorded = Recorded(tapes)
    assert instance.twin is not None
    instance.twin(instance.pair, tape=recorded)
    assert recorded.compared == sum(len(tape.transcript.releases) for tape in tapes)


@pytest.mark.parametrize("name", ALONE)
def test_what_cannot_go_abreast_is_made_one_by_one_with_its_findings(name):
    instance = built(name)
    with pytest.raises(NotAbreast):
        attempt(instance)
    assert the_same(instance, instance.twin, runs=8, checks=8)


def attempt(instance: Instance, tilts: Tilts = TILTS) -> None:
    what, chosen = needs(instance.mechanism, instance.pair.here), np.zeros(3, dtype=np.int64)
    assert instance.twin is not None
    abreast(instance.twin, instance.pair, [[1, k] for k in range(3)], tilts, chosen, check=False, what=what)


def test_an_escape_phase_sends_the_runs_back():
    instance = built(TOGETHER[2])
    eager = replace(instance, schedule=replace(instance.schedule, tolerance=1e6))
    with pytest.raises(NotAbreast, match="escape"):
        attempt(eager)
    assert the_same(eager, eager.twin)


def test_noise_that_follows_the_move_is_not_made_abreast():
    instance = built(TOGETHER[2])
    with pytest.raises(NotAbreast, match="follows the move"):
        attempt(replace(instance, schedule=replace(instance.schedule, smoothness=1.0)))


@pytest.mark.parametrize("factor", [1 - 1e-12, 0.5])
def test_a_twin_that_is_off_is_not_used(factor, monkeypatch):
    """Planted: the twin clips a little lower than the reference."""
    instance, clipped = built(TOGETHER[2]), dp_rgda_abreast.clipped
    monkeypatch.setattr(dp_rgda_abreast, "clipped", lambda rows, bound: clipped(rows, factor * bound))
    used = LockstepSampler(instance.mechanism, instance.pair, checks=0, twin=instance.twin)
    used.sample(TILTS, SHARES, 20, (4, 2))
    assert used._twin is None
    assert the_same(instance, instance.twin)


def test_a_query_that_overshoots_is_found_as_by_single_runs(monkeypatch):
    """Planted in both: the declared sensitivity is half of what the pair moves."""
    instance = built(TOGETHER[1])
    monkeypatch.setattr(
        type(instance.schedule), "refresh_sensitivity", property(lambda s: s.clip_refresh / s.refresh_batch)
    )
    together, alone = sampled(instance, instance.twin, 16, 8), sampled(instance, None, 16, 8)
    assert [one.findings for one in together] == [one.findings for one in alone]
    assert {one.label for one in together[0].findings} == {"refresh/v", "refresh/u"}


def test_what_the_first_run_does_not_overshoot_is_left_to_single_runs(monkeypatch):
    """Planted in the reference: the first run hides that it overshoots."""
    instance = built("mean-clip-n9-d2-T3-K2-q3-b9@printed")
    used = LockstepSampler(instance.mechanism, instance.pair, checks=0, twin=instance.twin)
    alone, first = LockstepSampler._alone, []

    def hiding(self, *arguments):
        found = alone(self, *arguments)
        if not first:
            first.append(found)
            found.findings.clear()
        return found

    monkeypatch.setattr(LockstepSampler, "_alone", hiding)
    found = used.sample(TILTS, SHARES, 20, (4, 2))
    assert used._twin is None
    assert found.findings


def test_a_twin_stands_for_its_own_function_only():
    instance = built(TOGETHER[2])

    def other(problem: object, schedule: object, tape: Tape) -> None:
        instance.run(problem, schedule, tape)

    assert instance.twin is not None
    assert replace(instance, run=other).twin is None
    assert instance.with_mechanism(instance.mechanism).twin is None
    assert Abreast(other, dp_rgda_abreast.run).of_schedule(other, None) is not None
