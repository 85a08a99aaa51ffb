"""A tape in front of another tape: how a bug is planted into an algorithm that does not know of it."""

from __future__ import annotations

from typing import Any

from dpassay.reference.laws.law import Law
from dpassay.reference.types import Indices

from .tape import Drawn, Tape
from .transcript import Draw


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
