"""Other tapes: a replay hands a run on other data the recorded values; a layer lies in front of another tape."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.arrays import Indices
from dpassay.reference.laws.law import Law

from .equality import same
from .findings import Finding, Kind
from .tape import Drawn, Tape
from .transcript import Draw, Note, Release, Transcript


class ReplayDiverged(Exception):
    """The replayed run made another call than the recorded one; there is no value to hand back."""

    def __init__(self, finding: Finding):
        self.finding = finding
        super().__init__(str(finding))


class ReplayTape(Tape):
    """Hands back the values of ``recording`` while it records what this run would have had as queries.

    Differences that leave a value to hand back (a noise scale, a claimed sensitivity) are collected in ``findings``;
    another label, kind or number of calls raises :class:`ReplayDiverged`. Inner randomness is handed back label by
    label; as it is never released, a run that needs more of it than the recorded one is given more.
    """

    def __init__(self, recording: Transcript):
        super().__init__()
        self.recording = recording
        self.findings: list[Finding] = []
        self._events = [event for event in recording.events if not _is_inner(event)]
        self._inner: dict[str, list[Any]] = {}
        for event in filter(_is_inner, recording.events):
            self._inner.setdefault(event.label, []).append(event.value)  # type: ignore[union-attr]
        self._more = np.random.default_rng(0)
        self._position = 0
        self._batch = 0

    def _next(self, kind: type, label: str) -> Any:
        if self._position >= len(self._events):
            self._diverged(Kind.EARLY_END, label, "this run goes on after the recorded one ended")
        event = self._events[self._position]
        if not isinstance(event, kind) or event.label != label:
            self._diverged(Kind.CALL, label, f"the recorded run has {type(event).__name__} {event.label!r} here")
        self._position += 1
        return event

    def _diverged(self, kind: Kind, label: str, detail: str) -> None:
        finding = Finding(kind, label, self.step, detail)
        self.findings.append(finding)
        raise ReplayDiverged(finding)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        event: Release = self._next(Release, label)
        difference = event.law.public_difference(law)
        if difference and not difference.comparable:
            self._diverged(Kind.LAW, label, str(difference))
        if difference:
            self.findings.append(Finding(Kind.NOISE_SCALE, label, self.step, str(difference)))
        if event.sensitivity != sensitivity:
            detail = f"{event.sensitivity} against {sensitivity}"
            self.findings.append(Finding(Kind.CLAIMED_SENSITIVITY, label, self.step, detail))
        return event.value

    def _indices(self, draw: Draw) -> Indices:
        event: Draw = self._next(Draw, draw.label)
        if event._replace(number=draw.number) != draw:
            self._diverged(Kind.BATCH_SIZE, draw.label, f"{event.size} of {event.n} against {draw.size} of {draw.n}")
        self._batch += 1
        return self.recording.batches[self._batch - 1]

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        if kind != "public":
            known = self._inner.get(label, [])
            return known.pop(0) if known else draw(self._more)
        event: Note = self._next(Note, label)
        if event.kind != kind:
            self._diverged(Kind.CALL, label, f"the recorded run has a {event.kind} value here, this one a {kind} value")
        return event.value

    def _revealed(self, label: str, value: Any) -> None:
        event: Note = self._next(Note, label)
        if not same(event.value, value):
            detail = f"{event.value} against {value}"
            self.findings.append(Finding(Kind.REVEALED_VALUE, label, self.step, detail))

    def close(self, output: Any) -> list[Finding]:
        """Compare the ends and the outputs; return all findings."""
        if self._position < len(self._events):
            event = self._events[self._position]
            detail = f"this run ended, the recorded one goes on with {event.label!r}"
            self.findings.append(Finding(Kind.EARLY_END, event.label, self.step, detail))
        if not same(self.recording.output, output):
            self.findings.append(Finding(Kind.OUTPUT, "output", self.step, "outputs differ"))
        return self.findings


def _is_inner(event: Any) -> bool:
    return isinstance(event, Note) and event.kind in ("secret", "noise")


class Layer(Tape):
    """Lies between an algorithm and another tape, which gives the values and keeps the transcript.

    Changes nothing by itself; a sub-class overrides the calls that it changes.
    """

    def __init__(self, inner: Tape):
        super().__init__()
        self._inner, self.transcript = inner, inner.transcript

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        return self._inner._released(label, law, sensitivity, draws)

    def _indices(self, draw: Draw) -> Indices:
        return self._inner._indices(draw)

    def _value(self, kind: str, label: str, draw: Drawn) -> Any:
        return self._inner._value(kind, label, draw)

    def _revealed(self, label: str, value: Any) -> None:
        self._inner._revealed(label, value)
