"""What an edited expression computes where no short text says it; an error means that the edit makes no sense here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from itertools import pairwise
from types import FrameType
from typing import Any

import numpy as np

from dpassay.reference.laws.law import query_of
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .arrays import Arrays, as_array
from .eigen import eigen
from .exact import exact
from .otherwise_clipped import AGAIN, as_one, but_for, by_blocks, clipped_before, mean_first, running, turned_block
from .records import OTHER_RECORDS
from .shadow import Shadowed, ShadowedNumber


def inside_a_problem() -> bool:
    """Is it called by a function of a problem that ``jitter.py`` moves, which happens when it returns?"""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None:
        if frame.f_code.co_name == "off" and frame.f_code.co_filename.endswith("jitter.py"):
            return True
        frame = frame.f_back
    return False


class NotReleased(ValueError):
    """A value is none that was released; it may be computed from some."""


class _Parts(np.ndarray[Any, Any]):
    """A difference with what it was made of."""

    parts: tuple[Array, Array]


class Edited(Arrays):
    """Lent to the changed code as ``_edit``, a new one for every run: some edits remember what was before."""

    def __init__(self, tape: Tape | None = None, n: int = 0) -> None:
        self._tape, self.n = tape, n
        self._known: dict[int, Any] = {}
        self._drawn: list[Any] = []
        self.values: list[Any] = []  # of watched expressions
        self.inside = False  # a function of a problem computes them, or something is released meanwhile
        self._noted: list[Any] = []

    def _released(self) -> list[tuple[Any, Any]]:
        """Queries and values, the latest first."""
        found = () if self._tape is None else reversed(self._tape.transcript.releases)
        return [(query_of(one.law), one.value) for one in found if getattr(one.law, "query", None) is not None]

    def bare(self, value: Any) -> Any:
        """The query of the release that this value is; of a symmetric matrix, its upper triangle is released."""
        array = isinstance(value, np.ndarray)
        for query, released in self._released() if array or isinstance(value, float) else ():
            if np.shape(released) == np.shape(value) and np.array_equal(released, value):
                return query if array else float(query)
            if array and value.ndim == 2 and np.array_equal(value[np.triu_indices(len(value))], released):
                found = np.zeros_like(value)
                found[np.triu_indices(len(value))] = query
                return found + np.triu(found, 1).T
        if isinstance(value, Shadowed | ShadowedNumber) and value.exact is not None:
            return value.exact
        raise NotReleased("no released value")

    def unreleased(self, value: Any, in_its_place: Any) -> Any:
        """The query of an earlier release, in place of what was released, or that drawn in to a ball."""
        for query, released in self._released():
            same = np.ndim(query) == 1 and np.array_equal(query, value)
            length, other = np.linalg.norm(released), np.linalg.norm(in_its_place)
            if same and np.allclose(other * released, length * in_its_place, atol=0.0):
                return value
        raise ValueError("no query of a release")

    def over_all(self, value: Any, rows: Any) -> Any:
        """A mean over some records, divided by the number of all."""
        if not self.n or len(rows) > self.n:
            raise ValueError("no records")
        return value * (len(rows) / self.n)

    def records(self, indices: Any, how: str) -> Any:
        """Other records than these."""
        numbers = np.asarray(indices)
        if numbers.ndim != 1 or numbers.dtype.kind != "i" or not self.n:
            raise TypeError("no numbers of records")
        if not self._drawn or self._drawn[-1] is not indices:
            self._drawn.append(indices)
        return np.asarray(OTHER_RECORDS[how]([np.asarray(one).tolist() for one in self._drawn], self.n), dtype=int)

    def drawn_last(self, numbers: Any) -> Any:
        """The records of the draw before theirs, whatever it was for."""
        drawn = [] if self._tape is None else self._tape.transcript.batches
        for before, now in reversed(list(pairwise(drawn))):
            if np.array_equal(now, numbers):
                return before
        raise ValueError("not drawn, or the first")

    def exact(self, problem: Any, released: Any, points: Any, records: Any) -> Any:
        """What a problem computes, in place of what was released."""
        self.bare(released)  # an error where it was not released
        return exact(problem, released, points, records)

    def clipped_again(self, value: Any, bound: float, how: str) -> Any:
        """A released value, no longer than the bound."""
        self.bare(value)  # an error where it was not released
        return AGAIN[how](value, bound)

    def note(self, value: Callable[[], Any]) -> None:
        """A step begins."""
        try:
            self._noted.append(_kept(value()))
        except NameError:  # it has no value yet
            self._noted.append(None)

    def ago(self, value: Any, steps: int) -> Any:
        """What was noted so many beginnings ago; what was there first where there were not so many."""
        found = self._noted[max(0, len(self._noted) - steps)]
        return value if found is None else found

    def on_average(self, value: Any, first: int) -> Any:
        """The mean of what was noted, from the number ``first`` on, and of the value."""
        return np.mean([*self._noted[first:], as_array(value)], axis=0)

    @staticmethod
    def parts(left: Any, right: Any) -> Any:
        """A difference that knows its parts."""
        found = np.subtract(left, right).view(_Parts)
        found.parts = (np.asarray(left), np.asarray(right))
        return found

    @staticmethod
    def each(function: Callable[..., Any], value: Any, *rest: Any) -> Any:
        """A function of both parts, subtracted."""
        if not isinstance(value, _Parts):
            return function(value, *rest)
        return function(value.parts[0], *rest) - function(value.parts[1], *rest)

    def before(self, place: int, value: Any) -> Any:
        """What this place had the last time; the first time its own value."""
        found = self._known.get(place, value)
        self._known[place] = _kept(value)
        return found

    def decayed(self, place: int, value: Any, share: float) -> Any:
        """A share of what this place gave the last time is added, as momentum is."""
        found = value + share * self._known[place] if place in self._known else value
        self._known[place] = _kept(found)
        return found

    def watched(self, value: Callable[[], Any]) -> Any:
        """A value, noted and handed on."""
        before = 0 if self._tape is None else len(self._tape.transcript.events)
        found = value()
        asked = self._tape is not None and len(self._tape.transcript.events) > before
        self.inside = self.inside or asked or inside_a_problem()
        self.values.append(_kept(found))
        return found

    def fewer(self, place: int, value: Any, power: float) -> Any:
        """Divided by a power of how often this place was computed, as rates that decay are."""
        self._known[place] = self._known.get(place, 0) + 1
        return value / self._known[place] ** power

    def shrunk(self, place: int, value: Any, share: float) -> Any:
        """Times a share for each time that this place was computed before."""
        found = value * share ** self._known.get(place, 0)
        self._known[place] = self._known.get(place, 0) + 1
        return found

    def first(self, place: int, value: Any) -> Any:
        """What this place had the first time."""
        return self._known.setdefault(place, _kept(value))

    def once(self, place: int, value: Callable[[], Any]) -> Any:
        """It is computed, or asked for, the first time alone."""
        if place not in self._known:
            self._known[place] = value()
        return self._known[place]

    def in_turn(self, place: int, value: Callable[[], Any]) -> Any:
        """It is computed, or asked for, every other time; in between it is what it was."""
        if place in self._known:
            return self._known.pop(place)
        self._known[place] = value()
        return self._known[place]

    eigen = staticmethod(eigen)
    turned_block, by_blocks = staticmethod(turned_block), staticmethod(by_blocks)
    mean_first, clipped_before = staticmethod(mean_first), staticmethod(clipped_before)
    running, as_one, but_for = staticmethod(running), staticmethod(as_one), staticmethod(but_for)


def _kept(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value
