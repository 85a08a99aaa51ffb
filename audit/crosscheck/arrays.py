"""Other arrays made of one, where no short text makes them; an error means that the edit makes no sense here."""

from __future__ import annotations

import builtins
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from dpassay.reference.types import Array


class Arrays:
    """What needs no memory."""

    @staticmethod
    def empty(value: Any, *arguments: Any) -> Any:
        """A sum of nothing has the shape of what was to be added."""
        shapes = [np.shape(one) for one in arguments if isinstance(one, np.ndarray)]
        return np.full(shapes[0], value) if shapes and np.ndim(value) == 0 else value

    @staticmethod
    def clipped(rows: Array, bound: float, order: str) -> Array:
        """Each record clipped in another norm; order 0: each coordinate by itself."""
        if order == "0":
            return np.clip(rows, -bound, bound)
        flat = np.abs(rows).reshape(len(rows), -1)
        lengths = flat.sum(axis=1) if order == "1" else flat.max(axis=1, initial=0.0)
        shape = (len(rows), *(1,) * (rows.ndim - 1))
        return np.asarray(rows * (bound / np.maximum(lengths, max(bound, 1e-300))).reshape(shape))

    @staticmethod
    def shares(value: Any) -> Array:
        """Divided by its sum."""
        found = as_array(value)
        if found.ndim != 1 or found.sum() <= 0:
            raise TypeError("no vector")
        return np.asarray(found / found.sum())

    @staticmethod
    def alike(values: Any) -> list[Any]:
        """As often the last one: one array that is changed in place."""
        found = list(values)
        return found[-1:] * len(found)

    @staticmethod
    def squared(vector: Array, order: str) -> float:
        """The squared length of a vector in another norm."""
        return float(np.linalg.norm(vector, float(order)) ** 2)

    @staticmethod
    def averaged(rows: Any) -> Array:
        """The mean of the records in place of each."""
        found = as_array(rows)
        return np.broadcast_to(found.mean(axis=0), found.shape).copy()

    @staticmethod
    def even(value: Any) -> Array:
        """The mean of the entries in place of each."""
        found = as_array(value)
        if found.ndim != 1:
            raise TypeError("no vector")
        return np.full(found.shape, found.mean())

    @staticmethod
    def maths(name: str) -> Any:
        """A function by its name, where the file does not import it."""
        return getattr(math, name, None) or getattr(np, name, None) or getattr(builtins, name)

    @staticmethod
    def numpy(name: str) -> Any:
        """A function of arrays."""
        return getattr(np, name)

    @staticmethod
    def root(value: Any) -> Any:
        """The square root, of what is positive."""
        if np.min(value) <= 0:
            raise ValueError("no root")
        return np.sqrt(value)

    @staticmethod
    def rolled(value: Any, step: int) -> Array:
        """The entries of the first axis moved along; zero: backwards."""
        found = as_array(np.asarray(value) if isinstance(value, list) else value)
        return found[::-1] if step == 0 else np.roll(found, step, axis=0)

    @staticmethod
    def turned(value: Any) -> Array:
        """The transposed matrix."""
        found = as_array(value)
        if found.ndim != 2 or found.shape[0] != found.shape[1]:
            raise ValueError("no square matrix")
        return found.T

    @staticmethod
    def unit(value: Any) -> Array:
        """Divided by its length."""
        return np.asarray(as_array(value) / np.linalg.norm(value))

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


def as_array(value: Any) -> Array:
    """An array of more than one number, or an error."""
    if not isinstance(value, np.ndarray) or value.ndim == 0 or value.dtype.kind not in "fi" or len(value) < 2:
        raise TypeError("no array")
    return value
