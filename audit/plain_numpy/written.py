"""Arrays that plain code makes to write into: noise that is written into one, entry by entry, is followed as it is
where it stands alone.

NumPy would ask the noise for its number. An array of this class keeps the noise itself, from the first entry on; until
then it is an array like any other. What is computed from it is no such array any more.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from typing import Any

import numpy as np

from dpassay.reference.types import Array

from .noisy import Noisy, join
from .places import WAY_OUT, not_understood, of_the_code
from .randomness import CURRENT, names_of, replaced

_OWN = ("followed", "plain", "fill")  # methods that are not those of what it holds
_WRITING = (np.put, np.place, np.copyto, np.putmask, np.put_along_axis)  # functions that write into their argument
_WRITERS = ("put", "sort", "partition", "resize", "setfield", "byteswap")  # methods that do


class Blank(np.ndarray[Any, Any]):
    """An array of floats; ``followed`` is what is in it as soon as noise is."""

    _held: Noisy | None = None
    _part: tuple[Blank, Any] | None = None  # of which array, and which part: what is written here is written there

    @property
    def followed(self) -> Noisy | None:
        """Its entries with their noise; None while there is none."""
        if self._part is None:
            return self._held
        whole, index = self._part
        return None if whole.followed is None else whole.followed[index]

    @property
    def plain(self) -> Any:
        """What stands for it in NumPy: its noise, or itself as an array like any other."""
        followed = self.followed
        return _memory(self) if followed is None else followed

    def __getattribute__(self, name: str) -> Any:
        if name[0] != "_" and name not in _OWN and object.__getattribute__(self, "followed") is not None:
            if name in _WRITERS:
                raise not_understood(f"an array that noise was written into is changed by {name}", WAY_OUT)
            return getattr(self.followed, name)
        return super().__getattribute__(name)

    def __getitem__(self, index: Any) -> Any:
        index = unwritten(index)
        if _is_view(index):
            found = super().__getitem__(index)
            if not isinstance(found, Blank):
                return found if self.followed is None else self.followed[index]
            found._part = (self, index)
            return found
        return self.plain[index]

    def __iter__(self) -> Iterator[Any]:
        return (self[number] for number in range(len(self)))

    def __setitem__(self, index: Any, value: Any) -> None:
        index, value = unwritten(index), unwritten(value)
        noise = isinstance(value, Noisy) and value.given is None and not value.desk.habits.eager
        if self.followed is not None or (noise and not value.mixed):
            self._write(index, value)
        else:
            super().__setitem__(index, value)

    def fill(self, value: Any) -> None:
        """Every entry becomes this number."""
        self[...] = value

    def _write(self, index: Any, value: Any) -> None:
        followed = self.followed
        if followed is None:
            followed = _without_noise(value.desk, np.array(_memory(self)))
        elif self._part is None:
            followed = followed.copy()  # whoever has taken it keeps what it had
        followed[index] = value if isinstance(value, Noisy) else np.asarray(value, dtype=float)
        followed.mixed = followed.mixed or (not isinstance(value, Noisy) and bool(np.any(value)))
        if self._part is not None:
            whole, part = self._part
            whole._write(part, followed)
        else:
            self._held = followed
            _memory(self)[...] = np.nan  # so that a look at it elsewhere does not go unseen

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        inputs = tuple(map(unwritten, inputs))
        if out is None:
            return getattr(ufunc, method)(*inputs, **rest)
        (target,) = out if len(out) == 1 else (None,)
        if isinstance(target, Blank) and target.followed is not None:
            target._write(..., getattr(ufunc, method)(*inputs, **rest))
            return target
        found = getattr(ufunc, method)(*inputs, out=tuple(map(unwritten, out)), **rest)
        same = isinstance(target, Blank) and type(found) is np.ndarray  # else it is noise, and a new thing
        return target if same else found

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        first = args[0] if args else None
        if function is np.fill_diagonal and isinstance(first, Blank) and not kwargs and first.ndim == 2:
            first[np.diag_indices(min(first.shape))] = args[1]
            return None
        if function in _WRITING and isinstance(first, Blank) and first.followed is not None:
            raise not_understood(f"an array that noise was written into is changed by {function.__name__}", WAY_OUT)
        return function(*map(unwritten, args), **{name: unwritten(one) for name, one in kwargs.items()})

    def __float__(self) -> float:
        return float(self.plain)

    def __int__(self) -> int:
        return int(self.plain)

    def __bool__(self) -> bool:
        return bool(self.plain)


def blank(array: Array) -> Array:
    """The same array, to be written into; one of other numbers than floats stays as it is."""
    return array.view(Blank) if type(array) is np.ndarray and array.dtype == np.float64 else array


def unwritten(value: Any) -> Any:
    """Arrays to be written into as what stands for them, also inside lists and tuples; anything else as it is."""
    if isinstance(value, Blank):
        return value.plain
    if type(value) in (list, tuple) and any(isinstance(one, Blank | list | tuple) for one in value):
        return type(value)(unwritten(one) for one in value)
    return value


def _memory(array: Blank) -> Array:
    """Its numbers, whatever it holds beside them."""
    return np.ndarray.view(array, np.ndarray)


def _is_view(index: Any) -> bool:
    """Does an index choose a part that shares its memory?"""
    parts = index if isinstance(index, tuple) else (index,)
    return all(one is None or one is ... or isinstance(one, int | slice | np.integer) for one in parts)


def _without_noise(desk: Any, array: Array) -> Noisy:
    """Numbers as what noise can be written into; what is not zero may be data."""
    ids, coefficients = np.full((1, *array.shape), -1), np.zeros((1, *array.shape))
    found = Noisy(desk, array, ids, coefficients, False)
    found.mixed = bool(np.any(array))
    return found


_MAKERS = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like")
_EMPTY = {"empty": "zeros", "empty_like": "zeros_like"}  # nobody may rely on what is in it
_READERS = ("array", "asarray")
_DEEPEST = 3  # lists in lists
_lock = threading.Lock()
_running = [0]  # runs that are on their way, in both worlds
_changed: list[tuple[dict[str, Any], str, Any]] = []  # where a name was, and what it stood for


@contextmanager
def followed(code: Callable[..., Any], rng: Any) -> Iterator[Any]:
    """For the time of a run of this code, its arrays and its generators are ours; runs may overlap.

    Args:
        code: names that its file has from NumPy stand for the same functions.
        rng: what it draws from, whatever generator it asks for.
    """
    token = CURRENT.set(rng)
    with _lock:
        _running[0] += 1
        if _running[0] == 1:
            for name, made in _functions().items():
                _put(vars(np), name, made)
        for names in names_of(code):
            for name in [name for name, one in names.items() if id(one) in _names()]:
                _put(names, name, _functions()[_names()[id(names[name])]])
        for names, name, new in list(replaced(code)):
            _put(names, name, new)
    try:
        yield rng
    finally:
        CURRENT.reset(token)
        with _lock:
            _running[0] -= 1
            while _changed and not _running[0]:
                names, name, known = _changed.pop()
                names[name] = known


def _put(names: dict[str, Any], name: str, made: Any) -> None:
    _changed.append((names, name, names[name]))
    names[name] = made


@cache
def _names() -> dict[int, str]:
    return {id(known): name for name, known in _known().items()}


@cache
def _known() -> dict[str, Any]:
    return {name: getattr(np, name) for name in (*_MAKERS, *_READERS)}


@cache
def _functions() -> dict[str, Any]:
    known = _known()
    makers = {name: _making(known[_EMPTY.get(name, name)]) for name in _MAKERS}
    return {**makers, **{name: _reading(known[name]) for name in _READERS}}


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def made(*given: Any, **named: Any) -> Any:
        found = function(*given, **named)
        return blank(found) if of_the_code(sys._getframe(1).f_code.co_filename) else found

    return made


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def read(*given: Any, **named: Any) -> Any:
        if given and of_the_code(sys._getframe(1).f_code.co_filename):
            first = unwritten(given[0])
            if isinstance(first, Noisy) and first is not given[0]:
                return first.copy() if function is _known()["array"] else first
            noise = None if len(given) > 1 or named.get("dtype") not in (None, float) else _of_noise(first, _DEEPEST)
            return function(first, *given[1:], **named) if noise is None else noise
        return function(*given, **named)

    return read


def _of_noise(values: Any, deepest: int) -> Noisy | None:
    """A list of noise that has met no data yet, as an array; None where it is none, or where numbers are between."""
    if type(values) not in (list, tuple) or not values or not deepest:
        return None
    parts = [one if isinstance(one, Noisy) else _of_noise(one, deepest - 1) for one in values]
    alone = [one for one in parts if one is not None and not one.mixed and one.given is None]
    if len(alone) < len(parts) or len({one.shape for one in alone}) > 1 or alone[0].desk.habits.eager:
        return None
    found: Noisy = join(alone[0].desk, np.stack, alone)
    return found
