"""Draws whose use decides what they are: uniform numbers that sample records, an order whose slices are batches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from .generator import TapeGenerator


class Uniforms(NDArrayOperatorsMixin):
    """One uniform number a record, not drawn yet: ``< rate`` makes it Poisson sampling, any other use draws it."""

    __array_priority__ = 1001.0

    def __init__(self, rng: TapeGenerator, size: Any):
        self._rng, self._size, self._value = rng, size, None

    def value(self) -> Any:
        """Public uniform numbers."""
        if self._value is None:
            self._value = self._rng.public("random", self._size)
        return self._value

    def _compare(self, rate: Any, below: bool, otherwise: Any) -> Any:
        if self._value is None and self._size is None:
            return self._rng.coin(rate if below else 1.0 - float(rate))
        if self._value is None and np.ndim(rate) == 0:
            rate = float(rate) if below else 1.0 - float(rate)
            if 0 < rate <= 1:
                return self._rng.taken(rate)
        return otherwise(self.value(), rate)

    def __lt__(self, rate: Any) -> Any:
        return self._compare(rate, True, np.less)

    def __le__(self, rate: Any) -> Any:
        return self._compare(rate, True, np.less_equal)

    def __gt__(self, rate: Any) -> Any:
        return self._compare(rate, False, np.greater)

    def __ge__(self, rate: Any) -> Any:
        return self._compare(rate, False, np.greater_equal)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **rest: Any) -> Any:
        values = [one.value() if isinstance(one, Uniforms) else one for one in inputs]
        return getattr(ufunc, method)(*values, **rest)

    def __float__(self) -> float:
        return float(self.value())

    def __len__(self) -> int:
        return len(self.value())

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]


class Order:
    """A secret order of the records, used slice by slice; any other use makes it a public permutation."""

    def __init__(self, rng: TapeGenerator):
        self._rng, self._next, self._value = rng, 0, None

    def value(self) -> Any:
        """The whole order, public."""
        if self._value is None:
            self._value = self._rng.public("permutation", len(self), of_records=True)
        return self._value

    def no_records(self) -> None:
        """The next piece is empty: what is released of it is called so, since it is of nobody's data."""
        self._rng.no_records()

    def __len__(self) -> int:
        return int(self._rng._desk.records or 0)

    def __getitem__(self, index: Any) -> Any:
        if self._value is None and isinstance(index, slice) and index.step in (None, 1):
            first, last, _ = index.indices(len(self))
            if first == self._next and last > first and self._rng.left() >= last - first:
                self._next = last
                return self._rng.fresh(first, last)
        return self.value()[index]

    def __iter__(self) -> Any:
        return (self[number : number + 1][0] for number in range(len(self)))

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        if function in (np.array_split, np.split) and args[0] is self and not kwargs:
            pieces = function(np.arange(len(self)), *args[1:])
            ends = np.cumsum([len(piece) for piece in pieces]).tolist()
            return [Piece(self, end - len(piece), end) for end, piece in zip(ends, pieces, strict=True)]
        return function(*(one.value() if isinstance(one, Order) else one for one in args), **kwargs)


class Piece:
    """Consecutive records of an order, drawn when somebody looks: then it is known what they are used for."""

    def __init__(self, order: Order, first: int, last: int):
        self._order, self._first, self._last = order, first, last
        self._value: Any = None

    def value(self) -> Any:
        """Their indices."""
        if self._value is None and self._first == self._last:
            self._order.no_records()
            self._value = np.array([], dtype=np.int64)
        if self._value is None:
            self._value = np.asarray(self._order[self._first : self._last])
        return self._value

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __len__(self) -> int:
        return self._last - self._first

    def __iter__(self) -> Any:
        return iter(self.value())

    def __getitem__(self, index: Any) -> Any:
        return self.value()[index]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.value(), name)
