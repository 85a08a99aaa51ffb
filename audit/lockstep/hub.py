"""The hub of a lockstep run: collects what the worlds ask for, compares, answers all of them with one value."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from dpassay.reference.equality import same
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.laws.law import Law, as_released, query_of
from dpassay.reference.neighbours import P, Pair, Run
from dpassay.reference.transcript import Draw

from .compare import distances_of, exceeds, in_proportion, joining, mean_density
from .hidden import Group, HiddenStates
from .outcome import WHOLE, LockstepRun, Movement
from .outputs import told
from .streams import CHECK, PUBLIC, RECORDS, VALUES, Streams
from .tilting import Logs, States, Tilts, proposal
from .worlds import Place, Records, Request, World

_INNER = ("secret", "noise")
_ANSWERED_TOGETHER = ("release", "draw", "public", "reveal", "end")
_EXACT = 1e-9  # queries that agree to this fraction of the noise are the same (one part in 1e9 of a standard deviation)


class Hub:
    """Collects what the worlds ask for, compares, answers."""

    def __init__(self, run: Run[P], pair: Pair[P], seed: Sequence[int], tilts: Tilts, tilt: int, where: list[Place]):
        self._streams = Streams(seed)
        self._tilts, self._tilt = tilts, tilt
        sides = {"D": pair.here, "D'": pair.there}
        self.worlds = [World(run, sides[place.side], place) for place in where]
        main = [world for world in self.worlds if world.place.role != "check"]
        half = len(main) // 2
        self._here, self._there = main[:half], main[half:]
        self._others = main[1:]  # all that must ask for the same as the first one
        self._check = next((world for world in self.worlds if world.place.role == "check"), None)
        self._states = HiddenStates([world.place for world in self._here])
        self._draws: list[Draw] = []
        self._target = pair.target
        self._open_with_target: dict[int, bool] = {}  # batches by index, which everybody knows: is the target in them?
        self._secrets = False  # was anything drawn that is never released?
        self._step = 0
        self._said: dict[tuple[Kind, str], bool] = {}  # findings so far: only given secrets?
        self._over = False  # the laws parted: no common value could be handed back
        self.result = LockstepRun(log_weights=np.zeros(len(tilts)))

    @cached_property
    def _records(self) -> Records:
        return Records(self._target, self._streams[RECORDS], self._streams[CHECK])

    # -- the loop -----------------------------------------------------------------------------------------
    def go(self) -> None:
        """Until the worlds end or part."""
        answers = {"release": self._release, "draw": self._draw, "reveal": self._reveal, "public": self._public_value}
        self._serve_inner()
        while self._same_call():
            call = self._here[0].ask.call
            if call == "end":
                self._end()
                return
            answers[call]()
            if self._over:
                return
            self._serve_inner()
            self._step += 1

    def _finding(self, kind: Kind, label: str, detail: object, given_secrets: bool = False) -> None:
        """Note it, in the words of ``detail``, unless it is known."""
        known = self._said.get((kind, label))
        if known is None or (known and not given_secrets):
            self._said[kind, label] = given_secrets
            merge(self.result.findings, [Finding(kind, label, self._step, str(detail), given_secrets)])

    def _same_call(self) -> bool:
        first = self._here[0].ask
        for world in self._others:
            ask = world.ask
            if ask.call == first.call and ask.label == first.label:
                continue
            kind = Kind.EARLY_END if "end" in (ask.call, first.call) else Kind.CALL
            label = first.label if first.call != "end" else ask.label
            self._finding(kind, label, f"{_name(first)} on one side, {_name(ask)} on the other")
            return False
        if self._check and (self._check.ask.call, self._check.ask.label) != (first.call, first.label):
            self._drop_check("its calls depend on which other records, or which inner randomness, were drawn")
        return True

    def _drop_check(self, reason: str) -> None:
        self.result.inexact = self.result.inexact or reason
        assert self._check is not None
        self._check.close()
        self.worlds.remove(self._check)
        self._check = None

    def _answer(self, values: Any) -> None:
        for world in self.worlds:
            world.answer(values)

    # -- calls without a mechanism ------------------------------------------------------------------------
    def _end(self) -> None:
        first = self._here[0].ask.value
        other = next((world.ask.value for world in self._others if not same(first, world.ask.value)), first)
        if other is not first:
            self._finding(Kind.OUTPUT, "output", f"{told(first, other)} although all released values agree")
        self.result.complete, self.result.output = True, first

    def _reveal(self) -> None:
        first = self._here[0].ask
        for world in self._others:
            if not same(first.value, world.ask.value):
                self._finding(Kind.REVEALED_VALUE, first.label, f"{first.value} against {world.ask.value}")
        self._answer(None)

    def _public_value(self) -> None:
        ask = self._here[0].ask
        rng = self._streams[PUBLIC]
        state = rng.bit_generator.state
        values = []
        for world in self.worlds:
            rng.bit_generator.state = state
            assert world.ask.make is not None
            values.append(world.ask.make(rng))
        if not all(same(values[0], value) for value in values):
            self._finding(Kind.PUBLIC_VALUE, ask.label, "it depends on private data")
        self._answer(values[0])

    def _serve_inner(self) -> None:
        """Inner randomness is never released, so the worlds need not ask for the same amount of it.

        Every world has a stream of its own; all but the check world's start alike.
        """
        for world in self.worlds:
            if world.ask.call in _ANSWERED_TOGETHER:
                continue
            ask = world.settled()
            while ask.call in _INNER:
                assert ask.make is not None
                self._secrets = True
                world.answer(ask.make(self._streams.inner(id(world), world is self._check)))
                ask = world.settled()

    def _draw(self) -> None:
        draws = [world.ask.draw for world in self.worlds if world is not self._check]
        first = draws[0]
        assert first is not None
        for other in draws[1:]:
            assert other is not None
            if other != first and other._replace(label=first.label) != first:
                detail = f"{first.size or first.rate} of {first.n} against {other.size or other.rate} of {other.n}"
                self._finding(Kind.BATCH_SIZE, first.label, detail)
        self._draws.append(first)
        self._secrets = self._secrets or first.hidden
        number = self._states.drawn(first)
        found = self._records.indices(first, [world.place for world in self.worlds], number)
        if not first.hidden:
            self._open_with_target[first.number] = bool(found[0][0] <= self._target <= found[0][-1])
        if self._check and first.number in self._records.check_has_target:
            self._states.check_drawn(first, self._records.check_has_target[first.number], number)
        for world, indices in zip(self.worlds, found, strict=True):
            world.answer(indices)

    # -- releases -----------------------------------------------------------------------------------------
    def _release(self) -> None:
        ask = self._here[0].ask
        assert ask.law is not None
        if not self._comparable(ask):
            return
        here, there = self._laws(self._here), self._laws(self._there)
        hidden = self._hidden(ask)
        group = self._states.group(hidden)
        if group is None:
            self.result.inexact = self.result.inexact or f"release {ask.label!r} depends on several sampled batches"
            group = self._states.full()
        if not hidden and len(here) > 1:
            group = self._undeclared(ask, here, there)
        if hidden:
            self._outside(ask, hidden, here, there)
        elif ask.draws:
            self._elsewhere(ask, here, there)
        picked, picked_there = [here[s] for s in group.worlds], [there[s] for s in group.worlds]
        self._movement(ask, picked, picked_there, distances_of(picked, picked_there))
        if self._without_noise(ask, picked, picked_there):
            self._answer(as_released(query_of(picked[-1])))
            return
        states = States(picked, picked_there, group.log_here, group.log_there, group.has_target)
        plan = proposal(states, self._tilts)
        value = plan.sample(self._streams[VALUES], self._tilt)
        self._count(group, plan.logs(value))
        if self._check:
            self._compare_check(ask, hidden, here, value)
        self._answer(value)

    def _laws(self, worlds: list[World]) -> list[Law]:
        return [law for world in worlds if (law := world.ask.law) is not None]

    def _hidden(self, ask: Request) -> tuple[int, ...]:
        """The secret draws that a release depends on."""
        return tuple(number for number in ask.draws if self._draws[number].hidden) if ask.draws else ()

    def _comparable(self, ask: Request) -> bool:
        """Compare what must be public; False (run over) where no common value could be handed back."""
        assert ask.law is not None
        for world in self._others:
            assert world.ask.law is not None
            difference = ask.law.public_difference(world.ask.law)
            if difference and not difference.comparable:
                self._finding(Kind.LAW, ask.label, str(difference))
                self._over = True
                return False
            if difference:
                self._finding(Kind.NOISE_SCALE, ask.label, difference)
            if world.ask.sensitivity != ask.sensitivity and not (difference and in_proportion(ask, world.ask)):
                claimed = (ask.sensitivity, world.ask.sensitivity)
                claims = ["none" if one is None else f"{one:.6g}" for one in claimed]
                self._finding(Kind.CLAIMED_SENSITIVITY, ask.label, " against ".join(claims))
            if world.ask.draws != ask.draws:
                self._finding(Kind.CALL, ask.label, f"batches {ask.draws} against {world.ask.draws}")
        return True

    def _undeclared(self, ask: Request, here: list[Law], there: list[Law]) -> Group:
        if all(laws[0].agrees(law) for laws in (here, there) for law in laws[1:]):
            return self._states.full()
        self._finding(Kind.UNDECLARED_BATCH, ask.label, "it is declared as a full-batch query but depends on a batch")
        if sum(draw.hidden for draw in self._draws) > 1 and self._draws[-1].kind != "fresh":
            self.result.inexact = self.result.inexact or f"release {ask.label!r} depends on an undeclared batch"
        return self._states.last or self._states.full()

    def _outside(self, ask: Request, hidden: tuple[int, ...], here: list[Law], there: list[Law]) -> None:
        """Without the target in the declared batches the target may not matter; nor, if Poisson, by more than half."""
        certain = any(self._draws[number].rate == 1 for number in hidden)
        for one, other, held in zip(here, there, self._states.holding(hidden).tolist(), strict=True):
            if not held and not certain and not one.agrees(other):
                detail = "it depends on the record even where the declared batch does not have it"
                self._finding(Kind.UNDECLARED_BATCH, ask.label, detail)
        for laws, distance in joining([self._draws[number] for number in hidden], ask.sensitivity, here, there):
            assert ask.sensitivity is not None
            movement = self.result.movements.setdefault(ask.label, Movement())
            movement.joined = max(2 * distance / ask.sensitivity if ask.sensitivity else 0.0, movement.joined)
            if exceeds(distance, ask.sensitivity / 2, *laws[:2]):
                detail = f"a new record moves the query by {distance:.6g}, claimed half of {ask.sensitivity:.6g}"
                self._finding(Kind.SENSITIVITY_EXCEEDED, ask.label, detail)

    def _elsewhere(self, ask: Request, here: Sequence[Law], there: Sequence[Law]) -> None:
        """A query on batches by index may not depend on a target that is in none of them: it is paid for elsewhere."""
        held = any(self._open_with_target.get(number, True) for number in ask.draws)
        if not held and not all(one.agrees(other) for one, other in zip(here, there, strict=True)):
            detail = "it depends on the record, which is in none of the batches that it declares"
            self._finding(Kind.UNDECLARED_BATCH, ask.label, detail)

    def _movement(self, ask: Request, here: Sequence[Law], there: Sequence[Law], distances: Sequence[float]) -> None:
        movement = self.result.movements.get(ask.label, Movement())
        for one, other, distance in zip(here, there, distances, strict=True):
            movement = movement.with_other(Movement(distance, ask.sensitivity))
            if ask.sensitivity is not None and exceeds(distance, ask.sensitivity, one, other):
                detail = f"the pair moves the query by {distance:.6g}, claimed {ask.sensitivity:.6g}"
                self._finding(Kind.SENSITIVITY_EXCEEDED, ask.label, detail)
        movement.releases += 1
        movement.whole += Movement(max(distances), ask.sensitivity).share >= WHOLE
        self.result.movements[ask.label] = movement

    def _without_noise(self, ask: Request, here: Sequence[Law], there: Sequence[Law]) -> bool:
        """Report bare values; True where only some are bare: then they have no common density."""
        bare = [law.is_bare for law in (*here, *there)]
        if True not in bare:
            return False
        if any(not np.array_equal(query_of(one), query_of(other)) for one, other in zip(here, there, strict=True)):
            # what was drawn in secret may protect a value that is released without noise
            self._finding(Kind.BARE_RELEASE, ask.label, "std = 0 and the neighbours' values differ", self._secrets)
            self.result.loss = self.result.loss if all(bare) else math.inf
        return not all(bare)

    def _count(self, group: Group, logs: Logs) -> None:
        log_here, log_there = mean_density(group.log_here, logs.here), mean_density(group.log_there, logs.there)
        self.result.loss += log_here - log_there
        self.result.log_weights += log_here - logs.proposals
        if math.isfinite(log_here) and math.isfinite(log_there):  # else the loss is infinite and no filter changes it
            self._states.update(group, logs.here - log_here, logs.there - log_there)

    def _compare_check(self, ask: Request, hidden: tuple[int, ...], here: list[Law], value: Any) -> None:
        assert self._check is not None and self._check.ask.law is not None
        law, reference = self._check.ask.law, here[self._states.check_world(hidden)]
        if law.query is not None:
            agree = law.public_difference(reference) is None and law.agrees(reference)
        else:
            agree = abs(law.log_density(value) - reference.log_density(value)) < _EXACT
        if not agree:
            self._drop_check(f"release {ask.label!r} depends on which other records (or inner randomness) were drawn")


def _name(request: Request) -> str:
    return "the end" if request.call == "end" else f"{request.call} {request.label!r}"
