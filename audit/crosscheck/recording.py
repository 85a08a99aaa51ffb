"""One run of the reference as a list of events: what was asked of the tape, and what the tape answered.

A recorded run draws from one seed and rounds what it draws to a few digits, so that the values are short, and handed
back exactly. A replayed run is handed values, and its own queries are written down.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Indices
from dpassay.reference.errors import printable
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.law import Law
from dpassay.reference.tape import Drawn, LiveTape, Tape
from dpassay.reference.transcript import Draw, Release

from .encoding import decode, encode

DIGITS = 6  # of a drawn number; more would only make the files longer
Run = Callable[[Any, Any, Tape], Any]
DRAWS = {"without-replacement": "size", "fresh": "size", "poisson": "rate"}


class Diverged(Exception):
    """The run asked for something that the recorded one did not: there is no value to hand back."""


class RecordingTape(LiveTape):
    """A live tape that rounds what it draws, and keeps the scale of raw noise."""

    def __init__(self, seed: int):
        super().__init__(seed)
        self.raw: dict[int, float] = {}

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return rounded(super()._released(label, law, sensitivity, draws))

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return rounded(super()._value(kind, label, draw))

    def noise(self, label: str, std: float, shape: int | tuple[int, ...] = ()) -> Any:
        """Raw noise; its scale belongs to the event."""
        self.raw[self.step] = float(std)
        return super().noise(label, std, shape)


class VectorTape(Tape):
    """The tape that another implementation is given: hands back the values of a vector, in the vector's order.

    It has the methods of :class:`~dpassay.reference.tape.Tape`; ``public``, ``secret`` and ``noise`` need no way to
    draw, because the values are known. Inner randomness (``secret``) is handed back label by label.

    Args:
        refusing: nothing may be released, but records are handed out.

    Raises:
        Diverged: another call than the vector's next one. ``diverged`` then says what was asked, and what is expected.
    """

    def __init__(self, events: Sequence[dict[str, Any]], *, refusing: bool = False):
        super().__init__()
        self._refusing = refusing  # nothing may be released: records are handed out, so that a late refusal is one too
        self.raw: dict[int, float] = {}
        self.diverged: dict[str, Any] | None = None
        self._events = [event for event in events if event["event"] != "secret"]
        self._inner = [event for event in events if event["event"] == "secret"]
        self.position = 0  # how many of its events have been used up

    def public(self, label: str, draw: Drawn | None = None) -> Any:
        """A public value of the vector."""
        return self._noted("public", label, draw or _nothing)

    def secret(self, label: str, draw: Drawn | None = None) -> Any:
        """A secret value of the vector."""
        return self._noted("secret", label, draw or _nothing)

    def noise(self, label: str, std: float, shape: int | tuple[int, ...] = ()) -> Any:
        """Raw noise of the vector, whose scale is compared."""
        self.raw[self.step] = float(std)
        return self._noted("noise", label, _nothing)

    def _next(self, kind: str, label: str) -> dict[str, Any]:
        event = self._events[self.position] if self.position < len(self._events) else None
        if event is None or (event["event"], event["label"]) != (kind, label):
            if self.diverged is None:
                self.diverged = {"event": kind, "label": label}
            wanted = "the end" if event is None else f"{event['event']} {event['label']!r}"
            raise Diverged(printable(f"asked for {kind} {label!r}, the vector has {wanted} here"))
        self.position += 1
        return event

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        value = self._next("release", label)["value"]
        if isinstance(law, AboveThreshold):
            law.first(None if value is None else value + 1)  # those that the run has needed
        return np.asarray(value, dtype=float) if isinstance(value, list) else value

    def _indices(self, draw: Draw) -> Indices:
        if self._refusing and self.position == len(self._events):
            first = self._used - (draw.size or 0) if draw.kind == "fresh" else 0
            return np.arange(first, first + (draw.n if draw.size is None else draw.size), dtype=np.int64)
        return np.asarray(self._next("draw", draw.label)["indices"], dtype=np.int64)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        if kind == "secret":
            found = next((event for event in self._inner if event["label"] == label), None)
            if found is None:
                raise Diverged(printable(f"asked for secret {label!r}, which the vector does not have"))
            self._inner.remove(found)
            return found["value"]
        value = self._next(kind, label)["value"]
        return np.asarray(value, dtype=float) if isinstance(value, list) else value

    def _revealed(self, label: str, value: Any) -> None:
        self._next("reveal", label)


def rounded(value: Any) -> Any:
    """Numbers to a few significant digits; whole numbers and words as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind == "f":
        return np.reshape([rounded(float(one)) for one in value.ravel()], value.shape)
    return float(f"{value:.{DIGITS}g}") if isinstance(value, float) else value


def run_again(run: Run, vector: Mapping[str, Any], tape: Tape, changed: Callable[[Any], Any] = lambda one: one) -> Any:
    """The reference on the data of a vector; ``changed`` is what is done to its problem."""
    problem, schedule = read(vector)
    return run(changed(problem), schedule, tape)


def read(vector: Mapping[str, Any]) -> tuple[Any, Any]:
    """Problem and schedule of a vector."""
    schedule = vector["schedule"]
    return decode(vector["problem"], "problem"), None if schedule is None else decode(schedule, "schedule")


def events_of(tape: RecordingTape | VectorTape) -> list[dict[str, Any]]:
    """Everything that a run asked of its tape, in order, as data; a call that its vector does not have is the last."""
    last = [tape.diverged] if isinstance(tape, VectorTape) and tape.diverged else []
    return [_event_of(tape, step) for step in range(len(tape.transcript.events))] + last


def _event_of(tape: RecordingTape | VectorTape, step: int) -> dict[str, Any]:
    event, transcript, raw = tape.transcript.events[step], tape.transcript, tape.raw
    if isinstance(event, Release):
        return _release(event)
    if isinstance(event, Draw):
        how = {"kind": event.kind, "n": event.n, DRAWS[event.kind]: getattr(event, DRAWS[event.kind])}
        order = {"order": "random" if event.hidden else "index"} if event.kind == "fresh" else {}
        indices = transcript.batches[event.number].tolist()
        return {"event": "draw", "label": event.label, **how, **order, "indices": indices}
    scale = {"std": raw[step]} if step in raw else {}
    return {"event": event.kind, "label": event.label, **scale, "value": encode(event.value)}


def _release(event: Release) -> dict[str, Any]:
    law = event.law
    names = [one.name for one in fields(law)] if is_dataclass(law) else list(vars(law))
    parts = {name: encode(getattr(law, name)) for name in names if name[0] != "_" and name != "queries"}
    if isinstance(law, AboveThreshold):
        parts["queries"] = encode(law.evaluated)  # no more than that must be computed
    stated = {"sensitivity": encode(event.sensitivity), "batches": list(event.draws), "value": encode(event.value)}
    return {"event": "release", "label": event.label, "law": type(law).__name__, **parts, **stated}


def _nothing(rng: np.random.Generator) -> Any:
    return None
