"""What an edited expression computes where no short text says it; an error means that the edit makes no sense here."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from dpassay.reference.types import Array


class Edited:
    """Lent to the changed code as ``_edit``, a new one for every run: some edits remember what was before."""

    def __init__(self) -> None:
        self._known: dict[int, Any] = {}

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
