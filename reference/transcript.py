"""What a run gave away, in order: releases, secret draws, public values, and the output.

A transcript is what the accountant reads, what a replay is compared with, and (as data) what another implementation
is fed. It records queries too, so it is as secret as the data: it never leaves the laboratory for a real data set.
"""

from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

import numpy as np

from dpassay.reference.arrays import Indices
from dpassay.reference.laws.law import Law

from .errors import require

LONGEST_LABEL = 1000  # letters: reports, vectors and witnesses hold labels, and people read them
DrawKind = Literal["without-replacement", "poisson", "fresh"]


class Draw(NamedTuple):
    """A secret choice of records.

    ``rate`` is the probability that a given record takes part (for ``fresh``: given that it was not used before).
    ``hidden`` is False when the choice is by index order, hence known to everybody.
    """

    number: int
    label: str
    kind: DrawKind
    n: int
    size: int | None
    rate: float
    hidden: bool = True


@dataclass(frozen=True, eq=False, init=False)
class Batch:
    """The records of one draw: ``indices`` (int array) and the number of the draw."""

    indices: Indices
    draw: int

    def __init__(self, indices: Indices, draw: int) -> None:
        self.__dict__.update(indices=indices, draw=draw)  # as in Release

    @property
    def size(self) -> int:
        """How many records."""
        return len(self.indices)


@dataclass(frozen=True, eq=False, init=False)
class Release:
    """One released value with the law it follows, and the sensitivity that the algorithm claims for its query.

    ``draws`` are the numbers of the draws that the query depends on; empty means the full data set.
    """

    step: int
    label: str
    law: Law
    sensitivity: float | None
    draws: tuple[int, ...]
    value: Any

    def __init__(
        self, step: int, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...], value: Any
    ) -> None:
        # frozen, and made at every release: all fields at once take a third of the time
        self.__dict__.update(step=step, label=label, law=law, sensitivity=sensitivity, draws=draws, value=value)


@dataclass(frozen=True, eq=False)
class Note:
    """A value that went through the tape without a mechanism: public, secret, raw noise, or revealed."""

    step: int
    label: str
    kind: Literal["public", "secret", "noise", "reveal"]
    value: Any


@dataclass(eq=False)
class Transcript:
    """Everything that happened on one tape, in order."""

    events: list[Release | Draw | Note] = field(default_factory=list)
    batches: list[Indices] = field(default_factory=list)
    output: Any = None
    _drawn: dict[int, Draw] = field(default_factory=dict, init=False, repr=False)
    _read: int = field(default=0, init=False, repr=False)  # events whose draws are in `_drawn`: they only ever grow

    @property
    def releases(self) -> list[Release]:
        """The releases, in order."""
        return [event for event in self.events if isinstance(event, Release)]

    @property
    def draws(self) -> list[Draw]:
        """The secret draws, in order; ``draws[k].number == k``."""
        return [event for event in self.events if isinstance(event, Draw)]

    def draw(self, number: int) -> Draw:
        """One of the draws, by its number."""
        if self._read < len(self.events):
            news = self.events[self._read :]
            self._drawn.update((event.number, event) for event in news if isinstance(event, Draw))
            self._read = len(self.events)
        return self._drawn[number]

    def participation(self, release: Release) -> str:
        """How a record takes part in a release, in words: ``full batch``, ``sampled at rate q``, ``at most once``."""
        draws = [self.draw(number) for number in release.draws]
        kinds = {draw.kind for draw in draws}
        if not kinds:
            return "full batch"
        if kinds == {"fresh"}:
            return "at most once"
        rates = {f"{draw.rate:.4g}" for draw in draws}
        return f"sampled at rate {', '.join(sorted(rates))}" if "fresh" not in kinds else "mixed"


class RecordDrawer:
    """Chooses records for draws; remembers the order in which fresh batches use the data up."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self._order: Indices | None = None
        self._next = 0

    def indices(self, draw: Draw) -> Indices:
        """The records of one draw."""
        if draw.kind == "without-replacement":
            return self._rng.choice(draw.n, size=draw.size, replace=False)
        if draw.kind == "poisson":
            return np.flatnonzero(self._rng.random(draw.n) < draw.rate)
        assert draw.size is not None
        if self._order is None:
            self._order = self._rng.permutation(draw.n) if draw.hidden else np.arange(draw.n)
        chosen = self._order[self._next : self._next + draw.size]
        self._next += draw.size
        return chosen


def require_label(label: str) -> None:
    """Refuse a label that no report can hold; most are short and ASCII, and cost next to nothing here."""
    if isinstance(label, str) and len(label) <= LONGEST_LABEL and label.isascii():
        return
    require(isinstance(label, str), "label", label, "must be a text")
    require(len(label) <= LONGEST_LABEL, "label", label, f"has {len(label)} letters, more than {LONGEST_LABEL}")
    halves = any("\ud800" <= letter <= "\udfff" for letter in label)
    require(not halves, "label", label, "holds half of a letter (a lone surrogate)")
