"""When a change of the reference is made: always, only the first time, only the last time, only for one label.

A slip need not be everywhere: another step size in the last step, clipping of the wrong thing in the differences alone.
The changed expression asks, each time that it is computed, whether it is its time.
"""

from __future__ import annotations

import ast
from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from .changes import Change
from .families import families, family
from .recording import VectorTape

NUMBERS = ("the first time", "but the first time", "the last time", "but the last time", "every other time")
OF_THE_LAST = ("the last time", "but the last time")  # for which it must be known how often there are
LABELS = 6  # of releases that are told apart


def times(vectors: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """All of them, in words, the simplest first; labels are those of the first vector."""
    yield from NUMBERS
    released = [families(event["label"] for event in one["events"] if event["event"] == "release") for one in vectors]
    labels = released[0] if released else []
    if len(labels) <= LABELS and len({label for one in released for label in one}) > 1:
        for label in labels:
            yield f"before {label}"
            yield f"after {label}"


def sometimes(source: bytes, change: Change) -> Change | None:
    """The change behind a question; None where it is no expression."""
    before, after = source[change.first : change.last].decode(), change.text
    head = "return "
    if before.startswith(head) and after.startswith(head):
        before, after = before[len(head) :], after[len(head) :]
    else:
        head = ""
    try:
        ast.parse(f"({before})", mode="eval")
        ast.parse(f"({after})", mode="eval")
    except SyntaxError:
        return None
    return replace(change, text=f"{head}(({after}) if _when() else ({before}))")


class When:
    """Asked each time that a changed expression is computed; it counts.

    Args:
        name: one of :func:`times`; empty: never.
        total: how often it will be asked, as the unchanged run does.
        uses: it is time when it was asked so often before, whatever the name.
    """

    def __init__(self, name: str, tape: VectorTape | None = None, total: int = 0, uses: Container[int] = ()):
        self._name, self._tape, self._total, self.count, self._uses = name, tape, total, 0, uses
        self._place, _, self._label = ("", "", "") if name in ("", *NUMBERS) else name.partition(" ")

    def __call__(self) -> bool:
        """Is it time?"""
        self.count += 1
        number, last = self.count - 1, self.count == self._total
        if self._place:
            return self._at_label()
        known = {
            "": number in self._uses,
            "the first time": number == 0,
            "but the first time": number > 0,
            "the last time": last,
            "but the last time": not last,
            "every other time": number % 2 == 1,
        }
        return known[self._name]

    def _at_label(self) -> bool:
        """Is the release of this label the next one, or was it the last one?"""
        if self._tape is None:
            return False
        if self._place == "before":
            return family(self._tape.following) == self._label
        released = self._tape.transcript.releases
        return bool(released) and family(released[-1].label) == self._label
