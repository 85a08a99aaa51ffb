"""Exact equality of outputs, copies that keep their value, and functions of equal arguments that are computed once."""

from collections.abc import Callable, Hashable
from copy import copy
from dataclasses import fields, is_dataclass
from typing import Any, TypeVar

import numpy as np

from .arrays import Array

R = TypeVar("R")
_MOST = 8  # results of `once`: the worlds of one step, for the few functions that it calls
_known: dict[Hashable, Any] = {}


def same(one: Any, other: Any) -> bool:
    """Bit for bit equal: numbers and arrays (NaN equals NaN), and dicts, sequences and dataclasses of them."""
    if one is other:
        return True
    if type(one) is type(other) is np.ndarray and _same_bits(one, other):
        return True
    if isinstance(one, np.ndarray | np.generic) or isinstance(other, np.ndarray | np.generic):
        if isinstance(one, list | tuple | dict) or isinstance(other, list | tuple | dict):  # may have no shape
            return False
        a, b = np.asarray(one), np.asarray(other)
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=a.dtype.kind == "f" and b.dtype.kind == "f"))
    if type(one) is not type(other):
        return isinstance(one, int | float) and isinstance(other, int | float) and one == other
    if is_dataclass(one) and not isinstance(one, type):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(a, b) for a, b in zip(one, other, strict=True))
    if isinstance(one, float):
        return one == other or (one != one and other != other)
    return bool(one == other)


def _same_bits(one: Array, other: Array) -> bool:
    """Numbers with the same bits are equal; others may be (0 and -0, 1 and 1.0)."""
    alike = one.dtype == other.dtype and one.shape == other.shape and one.dtype.kind in "fiub"
    return alike and one.tobytes() == other.tobytes()


def snapshot(value: Any) -> Any:
    """The value as it is now: arrays are copied, in dicts, sequences and dataclasses as well; the rest is shared."""
    if isinstance(value, np.ndarray):
        return value.copy()
    if value is None or type(value) in (float, int, str, bool):
        return value
    if type(value) is dict:
        return {key: snapshot(one) for key, one in value.items()}
    if type(value) in (list, tuple):
        return type(value)(snapshot(one) for one in value)
    if is_dataclass(value) and not isinstance(value, type):
        found = copy(value)
        for field in fields(value):
            object.__setattr__(found, field.name, snapshot(getattr(value, field.name)))
        return found
    return value


def once(function: Callable[..., R], *arguments: Any) -> R:
    """``function(*arguments)`` of arrays and numbers; the arrays that come back cannot be written into.

    For the worlds of a lockstep run, which ask the same of the same released values, one after the other. The
    arguments themselves are compared, so nothing that a function did not get can pass from one run to another.

    Example:
        >>> import numpy as np
        >>> once(np.linalg.eigvalsh, np.diag([3.0, 1.0])) is once(np.linalg.eigvalsh, np.diag([3.0, 1.0]))
        True
    """
    key = (function, *map(_as_key, arguments))
    if key not in _known:
        found = function(*arguments)
        for part in found if isinstance(found, tuple) else (found,):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)
        while len(_known) >= _MOST:
            del _known[next(iter(_known))]
        _known[key] = found
    known: R = _known[key]
    return known


def forget() -> None:
    """As if nothing had been asked: for whoever changes a function."""
    _known.clear()


def _as_key(argument: Any) -> Hashable:
    if isinstance(argument, np.ndarray):
        return argument.dtype.str, argument.shape, argument.tobytes()
    return type(argument), argument
