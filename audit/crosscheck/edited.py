"""What an edited expression computes where no short text says it; an error means that the edit makes no sense here."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dpassay.reference.laws.law import query_of
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array


class _Parts(np.ndarray[Any, Any]):
    """A difference with what it was made of."""

    parts: tuple[Array, Array]


class Edited:
    """Lent to the changed code as ``_edit``, a new one for every run: some edits remember what was before."""

    def __init__(self, tape: Tape | None = None, n: int = 0) -> None:
        self._tape, self._n = tape, n
        self._known: dict[int, Any] = {}
        self._noted: list[Any] = []

    def bare(self, value: Any) -> Any:
        """The query of the release that this value is; of a symmetric matrix, its upper triangle is released."""
        if not isinstance(value, np.ndarray | float) or self._tape is None:
            raise TypeError("no released value")
        for event in reversed(self._tape.transcript.releases):
            query = getattr(event.law, "query", None)
            if query is None or event.value is None:
                continue
            if np.shape(event.value) == np.shape(value) and np.array_equal(event.value, value):
                return query_of(event.law) if isinstance(value, np.ndarray) else float(query_of(event.law))
            if (
                isinstance(value, np.ndarray)
                and value.ndim == 2
                and np.array_equal(value[np.triu_indices(len(value))], event.value)
            ):
                found = np.zeros_like(value)
                found[np.triu_indices(len(value))] = query_of(event.law)
                return found + np.triu(found, 1).T
        raise ValueError("no released value")

    def over_all(self, value: Any, rows: Any) -> Any:
        """A mean over some records, divided by the number of all."""
        if not self._n or len(rows) > self._n:
            raise ValueError("no records")
        return value * (len(rows) / self._n)

    @staticmethod
    def leading(indices: Any) -> Any:
        """As many records, from the beginning."""
        return np.arange(len(indices))

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
        left, right = value.parts
        return function(left, *rest) - function(right, *rest)

    def before(self, place: int, value: Any) -> Any:
        """What this place had the last time; the first time its own value."""
        found = self._known.get(place, value)
        self._known[place] = _kept(value)
        return found

    def first(self, place: int, value: Any) -> Any:
        """What this place had the first time."""
        return self._known.setdefault(place, _kept(value))

    @staticmethod
    def root(value: Any) -> Any:
        """The square root, of what is positive."""
        if np.min(value) <= 0:
            raise ValueError("no root")
        return np.sqrt(value)

    @staticmethod
    def rolled(value: Any, step: int) -> Array:
        """The entries of the first axis moved along; zero: backwards."""
        found = _array(value)
        return found[::-1] if step == 0 else np.roll(found, step, axis=0)

    @staticmethod
    def turned(value: Any) -> Array:
        """The transposed matrix."""
        found = _array(value)
        if found.ndim != 2 or found.shape[0] != found.shape[1]:
            raise ValueError("no square matrix")
        return found.T

    @staticmethod
    def unit(value: Any) -> Array:
        """Divided by its length."""
        found = _array(value)
        return np.asarray(found / np.linalg.norm(found))

    @staticmethod
    def same_shape(value: Any, made: Any) -> Any:
        """What a function was given in place of what it made of it."""
        if np.shape(value) != np.shape(made) or not isinstance(value, np.ndarray | float | int):
            raise ValueError("of another shape")
        return value

    @staticmethod
    def longer(values: Iterable[Any]) -> list[Any]:
        """With the last one once more."""
        found = list(values)
        return [*found, *found[-1:]]


def _kept(value: Any) -> Any:
    return value.copy() if isinstance(value, np.ndarray) else value


def _array(value: Any) -> Array:
    if not isinstance(value, np.ndarray) or value.ndim == 0 or value.dtype.kind not in "fi" or len(value) < 2:
        raise TypeError("no array")
    return value
