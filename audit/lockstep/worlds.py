"""The worlds of a lockstep run: the same algorithm on D or D', with the target record in or out of the secret batches.

Each world runs in a greenlet of its own and stops at every call on its tape; the hub (``hub.py``) sees what all of them
asked for, decides on one answer, and lets them go on. Written this way, an algorithm stays a plain function.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from greenlet import greenlet

from dpassay.reference.arrays import Indices
from dpassay.reference.equality import snapshot
from dpassay.reference.laws.law import Law
from dpassay.reference.tape import Drawn, Tape
from dpassay.reference.transcript import Draw

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

    def wait(self) -> None:
        """Let the other worlds go on while a program of this one is at work."""
        self._hub.switch(_WAIT)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return self._hub.switch(Request("release", label, law, sensitivity, draws))

    def _indices(self, draw: Draw) -> Indices:
        indices: Indices = self._hub.switch(Request("draw", draw.label, draw=draw))
        return indices

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return self._hub.switch(Request(kind, label, make=draw))  # type: ignore[arg-type]

    def _revealed(self, label: str, value: Any) -> None:
        self._hub.switch(Request("reveal", label, value=value))


WorldTape.__name__ = WorldTape.__qualname__ = "Tape"  # what Python's own messages call it
WorldTape.__module__ = Tape.__module__


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

    def close(self) -> None:
        """End the run wherever it is."""
        if not self._greenlet.dead:
            self._greenlet.throw()
