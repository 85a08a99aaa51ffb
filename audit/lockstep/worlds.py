"""The worlds of a lockstep run: the same algorithm on D or D', with the target record in or out of the secret batches.

Each world runs in a greenlet of its own and stops at every call on its tape; the hub (``lockstep.py``) sees what all
of them asked for, decides on one answer, and lets them go on. Written this way, an algorithm stays a plain function.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Any, Literal, NamedTuple

import numpy as np
from greenlet import greenlet

from dpassay.reference.equality import snapshot
from dpassay.reference.laws.law import Law
from dpassay.reference.records import RecordDrawer
from dpassay.reference.tape import Drawn, Tape
from dpassay.reference.transcript import Draw
from dpassay.reference.types import Indices

Side = Literal["D", "D'"]
Role = Literal["full", "out", "in", "at", "check"]
SIDES: tuple[Side, Side] = ("D", "D'")


@dataclass(frozen=True)
class Place:
    """Where the target record is in this world.

    ``full``: no secret batches. ``out`` / ``in``: never / always in the sampled batches. ``at``: in the fresh batch
    number ``k`` (``k = None``: in none). ``check``: wherever an independent draw puts it.
    """

    side: Side
    role: Role
    k: int | None = None


class Request(NamedTuple):
    """What a world asks for: a call on its tape, or its end. ``wait``: nothing yet, its program is at work."""

    call: Literal["release", "draw", "public", "secret", "noise", "reveal", "end", "wait"]
    label: str
    law: Law | None = None
    sensitivity: float | None = None
    draws: tuple[int, ...] = ()
    draw: Draw | None = None
    make: Drawn | None = None
    value: Any = None


_WAIT = Request("wait", "")


class WorldTape(Tape):
    """A tape that asks the hub for every value."""

    def __init__(self, hub: greenlet) -> None:
        super().__init__()
        self._hub = hub

    def _ask(self, request: Request) -> Any:
        return self._hub.switch(request)

    def wait(self) -> None:
        """Let the other worlds go on while a program of this one is at work."""
        self._hub.switch(_WAIT)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return self._hub.switch(Request("release", label, law, sensitivity, draws))

    def _indices(self, draw: Draw) -> Indices:
        indices: Indices = self._ask(Request("draw", draw.label, draw=draw))
        return indices

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return self._ask(Request(kind, label, make=draw))  # type: ignore[arg-type]

    def _revealed(self, label: str, value: Any) -> None:
        self._ask(Request("reveal", label, value=value))


class World:
    """One run in one place. ``answer`` lets it go on; ``ask`` is what it waits for then, once it is ``settled``."""

    def __init__(self, run: Callable[[Any, Tape], Any], problem: Any, place: Place):
        self.place = place
        self.tape = WorldTape(greenlet.getcurrent())
        self._greenlet = greenlet(lambda: Request("end", "output", value=snapshot(run(problem, self.tape))))
        self.ask: Request = self._greenlet.switch()

    def settled(self) -> Request:
        """What it asks for, once its program, if it is at work, has come to its next call."""
        while self.ask is _WAIT:
            self.ask = self._greenlet.switch()
        return self.ask

    def answer(self, value: Any) -> None:
        """Hand back a value and run to the next call, or to where a program is at work."""
        self.ask = self._greenlet.switch(value)

    @property
    def frame(self) -> FrameType | None:
        """Where the run waits; None after its end."""
        frame: FrameType | None = self._greenlet.gr_frame
        return frame

    def close(self) -> None:
        """End the run wherever it is."""
        if not self._greenlet.dead:
            self._greenlet.throw()


class Records:
    """Chooses the records of every draw for all worlds at once: coupled, but for the target.

    The other records come from one sequence that all worlds share. A world that has the target in a batch has it in
    place of one of the others (fixed size) or beside them (Poisson). The check world draws by itself, and has the
    target in every second sampled batch, however rare it is: any participation is a fair test of the mixture.
    """

    def __init__(self, target: int, rng: np.random.Generator, check_rng: np.random.Generator):
        self._target, self._rng = target, rng
        self._check, self._check_rng = RecordDrawer(check_rng), check_rng
        self._others: Indices | None = None
        self._next = 0
        self.check_has_target: dict[int, bool] = {}

    def indices(self, draw: Draw, places: list[Place], fresh_number: int) -> list[Indices]:
        """The records for each place, in order."""
        if not draw.hidden:
            order = np.arange(self._next, self._next + (draw.size or 0))
            self._next += len(order)
            return [order] * len(places)
        others = self._draw_others(draw)
        having = self._with_target(others, 0, draw)  # the others come in random order: any place is as good
        found = []
        for place in places:
            if place.role == "check":
                found.append(self.checked(draw))
            elif (place.role == "in" and draw.kind != "fresh") or (place.role == "at" and place.k == fresh_number):
                found.append(having)
            else:
                found.append(others)
        return found

    def checked(self, draw: Draw) -> Indices:
        """The records of the check world."""
        own = self._independent(draw)
        self.check_has_target[draw.number] = bool(np.any(own == self._target))
        return own

    def _independent(self, draw: Draw) -> Indices:
        own = self._check.indices(draw)
        has = bool(np.any(own == self._target))
        if draw.kind == "fresh" or draw.rate == 1 or has == (self._check_rng.random() < 0.5):
            return own
        if not has:
            return self._with_target(own, int(self._check_rng.integers(max(1, len(own)))), draw)
        if draw.kind == "poisson":
            return np.asarray(own[own != self._target])
        other = self._check_rng.choice(np.setdiff1d(np.arange(draw.n), own))
        return np.asarray(np.where(own == self._target, other, own))

    def _with_target(self, others: Indices, position: int, draw: Draw) -> Indices:
        if draw.kind == "poisson":
            at = int(np.searchsorted(others, self._target))  # they are sorted
            return np.concatenate([others[:at], [self._target], others[at:]])
        mine = others.copy()
        mine[position] = self._target
        return mine

    def _name(self, positions: Indices) -> Indices:
        """Numbers of records at these positions among the n - 1 others."""
        return positions + (positions >= self._target)

    def _draw_others(self, draw: Draw) -> Indices:
        name = self._name
        if draw.kind == "poisson":
            return name(np.flatnonzero(self._rng.random(draw.n - 1) < draw.rate))
        assert draw.size is not None
        if draw.kind == "without-replacement":
            if draw.n == 1:  # there is no other record: the world without the target has probability zero
                return np.full(draw.size, self._target)
            size = min(draw.size, draw.n - 1)
            chosen = name(self._rng.choice(draw.n - 1, size=size, replace=False))
            # a full batch always has the target: the world without it has probability zero, but must go on
            return chosen if size == draw.size else np.append(chosen, chosen[:1])
        if self._others is None:
            self._others = name(self._rng.permutation(draw.n - 1))
        left = self._others[self._next :]
        self._next += draw.size
        # with every record used up, the world that never has the target has probability zero, but must go on
        return np.resize(left if len(left) else self._others, draw.size)
