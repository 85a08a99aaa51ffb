"""Arrays of the code's own into which private data are written, entry by entry.

``out = np.zeros(k); out[0] = rows.sum()``: what is written stays what it is, beside numbers that are public still. Read
as a whole they are stacked. What is added at a private place, as ``counts[label] += 1``, is a vector with one entry
that is not zero.
"""

from __future__ import annotations

import operator
from typing import Any, NoReturn

import numpy as np

from .shapes import of_table, without_ellipsis
from .value import AT, NARROW, Open, bare, private

_ALL = slice(None)
_SHARED = "private data are written into an array of which another name holds a part; make a copy"


class Filled:
    """What an array holds: one private value, or, along one axis, arrays of its own."""

    def __init__(self, array: Any, blank: Any):
        numbers = np.ndarray.view(array, np.ndarray)
        if numbers.dtype.kind not in "fi" or numbers.dtype.name in NARROW:
            raise Open(f"private numbers are written into an array of the type {numbers.dtype}")
        self._numbers, self._blank = numbers.copy(), blank
        self._whole: Any = None
        self._axis, self._entries = 0, list[Any]()
        self._read: tuple[Any, Any] = None, None
        if numbers.dtype.kind == "f":
            numbers[...] = np.nan  # so that nobody takes it for what is there

    def value(self) -> Any:
        """All of it; the same value until something else is written."""
        if self._whole is not None:
            return self._whole
        parts = [bare(one) for one in self._entries]
        now = [one.token if private(one) else one.tobytes() for one in parts]
        if now != self._read[0]:
            self._read = now, np.stack([one.copy() for one in parts], axis=self._axis)
        return self._read[1]

    def get(self, key: Any) -> Any:
        """As an array is indexed."""
        axis, place, rest = self._place(key)
        if self._entries and axis == self._axis:
            return self._entries[place][rest]
        return self.value()[key] if self._numbers.ndim else self.value().copy()

    def put(self, key: Any, given: Any) -> None:
        """As an array is assigned to."""
        given = np.stack(given) if type(given) in (list, tuple) and any(map(private, given)) else bare(given)
        if private(given) and self._numbers.dtype.kind == "i":
            given = given.astype(int)
        if any(private(one) and one.viewed for one in (self._whole, self._read[1])):
            raise Open(_SHARED)
        axis, place, rest = self._place(key)
        if axis is None and place is not None:
            self._become(given)
        elif axis is not None and self._whole is None and axis == (self._axis if self._entries else axis):
            if not self._entries:
                along = np.moveaxis(self._numbers, axis, 0)
                self._axis, self._entries = axis, [self._blank(np.array(one), None) for one in along]
            self._entries[place][rest] = given
        else:
            self._become(self.value() if self._whole is not None or self._entries else self._numbers)
            self._whole[key] = given

    def lose(self) -> None:
        """What were its parts are parts of another array."""
        for one in self._entries:
            if isinstance(one.filled, Filled):
                one.filled.lose()
            one.filled = _Lost()

    def _become(self, given: Any) -> None:
        shape = self._numbers.shape
        given = given if np.shape(given) == shape else np.broadcast_to(given, shape)
        self.lose()
        self._whole, self._entries = given.copy(), []

    def _place(self, key: Any) -> tuple[Any, Any, Any]:
        """The axis and the place along it, with the rest of the key; no axis for all of it; no place for other keys."""
        keys = key if isinstance(key, tuple) else (key,)
        if any(one is None for one in keys) or len(keys) > self._numbers.ndim + sum(one is Ellipsis for one in keys):
            return None, None, ()
        keys = without_ellipsis(keys, self._numbers.ndim)
        for axis, one in enumerate(keys):
            if isinstance(one, slice) and one == _ALL:
                continue
            if private(one) or not isinstance(one, int | np.integer) or isinstance(one, bool):
                return None, None, ()
            place = range(self._numbers.shape[axis])[operator.index(one)]
            return axis, place, (*keys[:axis], *keys[axis + 1 :])
        return None, 0, ()


class _Lost:
    """Of an array that was a part of one that was written to as a whole."""

    def value(self, *_: Any) -> NoReturn:
        raise Open(_SHARED)

    get = put = value


# -- adding at private places
AT[np.add] = lambda array, key, amount: added(array, key, amount, each=True)


def added(container: Any, key: Any, amount: Any, plus: bool = True, each: bool = False) -> None:
    """``container[key] += amount``, or ``-=``; of several keys that may be equal only what `np.add.at` does."""
    add: Any = operator.add if plus else operator.sub
    if not any(map(private, key if isinstance(key, tuple) else (key,))):
        in_place = operator.iadd if plus else operator.isub
        array = isinstance(container, np.ndarray) and private(amount)
        container[key] = (add if array else in_place)(container[key], amount)
        return
    if not isinstance(container, np.ndarray) or isinstance(key, tuple):
        raise Open("a private key decides; count in an array of one axis, by one key")
    if not each and np.ndim(key):
        raise Open("private places of which some may be equal: one of them counts; use np.add.at")
    if key.entries != 1 or key.at not in (None, -1):
        raise Open("a private index needs whole numbers within the table: clip them first")
    line = of_table(np.eye(len(container)), key)  # one at the place, and zeros; for each record, if it is one each
    line.integer = True
    if line.at is None:
        change = line * amount if np.ndim(amount) == 0 else line[:, None] * amount
    else:
        change = (line * (amount if np.ndim(amount) == 0 else amount[:, None])).sum(axis=0)
    if change.shape != container.shape:
        raise Open("a private key decides; count in an array of one axis, by one key")
    container[...] = add(container, change)
