"""Arrays that are data plus noise not drawn yet: linear arithmetic keeps them so, any other use releases them.

The noise has no value until somebody looks; then the sum goes onto the tape with the noise scale that the arithmetic
has led to, and what comes back is the released value. From then on its noise is known: noise used twice protects once.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from .desk import Desk

LINEAR = (np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.positive, np.matmul)
COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal)
LINEAR_FUNCTIONS = (  # NumPy's functions that NumPy itself can do with elements of any kind
    *(np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.reshape, np.ravel, np.take, np.roll),
    *(np.flip, np.repeat, np.tile, np.triu, np.tril, np.diag, np.diagonal, np.trace, np.atleast_1d, np.atleast_2d),
    *(np.broadcast_to, np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.append, np.copy),
    *(np.sum, np.mean, np.cumsum, np.diff, np.dot, np.outer, np.where),
)
LINEAR_METHODS = (
    *("sum", "mean", "cumsum", "dot", "trace", "diagonal", "transpose", "swapaxes", "squeeze", "take", "repeat"),
    *("reshape", "ravel", "flatten", "copy"),
)
SHAPES = (np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like)


class Number:
    """One element: ``query + sum of coefficient * noise``, by number of the noise variable."""

    __slots__ = ("query", "terms")

    def __init__(self, query: float, terms: dict[int, float]):
        self.query, self.terms = query, terms

    def __add__(self, other: Any) -> Number:
        if not isinstance(other, Number):
            return Number(self.query + other, self.terms)
        terms = dict(self.terms)
        for variable, coefficient in other.terms.items():
            terms[variable] = terms.get(variable, 0.0) + coefficient
        return Number(self.query + other.query, terms)

    __radd__ = __add__

    def __sub__(self, other: Any) -> Number:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Number:
        return (-self).__add__(other)

    def __mul__(self, factor: float) -> Number:
        return Number(self.query * factor, {one: coefficient * factor for one, coefficient in self.terms.items()})

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Number:
        over = operator.truediv if divisor else np.divide  # NumPy's way with zero
        return Number(
            over(self.query, divisor), {one: over(coefficient, divisor) for one, coefficient in self.terms.items()}
        )

    def __neg__(self) -> Number:
        return self * -1.0

    def __pos__(self) -> Number:
        return self


class Noisy(NDArrayOperatorsMixin):
    """An array of :class:`Number`.

    Args:
        desk: keeps what is known of the noise of this run, and puts releases on the tape.
        numbers: its elements, an array of objects; plain numbers among them have no noise.
        mixed: has the noise met data (or any number) already? Noise alone is not released, it is only drawn.
        parents: the arrays that had met data before, of which it was computed.
    """

    __array_priority__ = 1000.0

    def __init__(self, desk: Desk, numbers: Any, mixed: bool, parents: tuple[Noisy, ...] = ()):
        self.desk, self.mixed, self.parents = desk, mixed, parents
        self.numbers = np.asarray(numbers, dtype=object)
        self.given: Any = None  # its value, once it was released
        self.compared = False
        if mixed and not parents:
            desk.has_met_data(self)

    shape = property(lambda self: self.numbers.shape)
    ndim = property(lambda self: self.numbers.ndim)
    size = property(lambda self: self.numbers.size)
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: self.of(self.numbers.T))

    def of(self, numbers: Any) -> Any:
        """A part of it, or its elements in another order or added up; of what was released, numbers."""
        return Noisy(self.desk, numbers, self.mixed, (self,) if self.mixed else ())

    @property
    def variables(self) -> set[int]:
        """Numbers of the noise that is in it."""
        return {one for number in self.numbers.flat if isinstance(number, Number) for one in number.terms}

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return self.of(self.numbers[index]) if self.given is None else np.asarray(self.value())[index]

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, Noisy) and value.given is None and self.given is None:
            self.numbers[index] = value.numbers[()]
            self.mixed, self.parents = self.mixed or value.mixed, (*self.parents, *value.parents)
        else:
            self.given = None if self.given is None else np.asarray(self.given)
            (self.numbers if self.given is None else self.given)[index] = looked_at(value)

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Floats stay lazy; anything else is a look at the value."""
        return self if np.dtype(dtype) == np.float64 else np.asarray(self.value()).astype(dtype)

    # -- arithmetic ---------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        inputs = tuple(looked_at(one) if _released(one) else one for one in inputs)
        lazy = [one for one in inputs if isinstance(one, Noisy)]
        found: Any = None
        if lazy and method == "reduce" and ufunc is np.add:
            found = lazy[0].of(ufunc.reduce(lazy[0].numbers, **rest))
        elif lazy and method == "__call__" and ufunc in LINEAR and not rest:
            found = self._linear(ufunc, inputs, lazy)
        elif lazy and method == "__call__" and ufunc in COMPARISONS:
            self.desk.compared(lazy)
        if found is None:
            found = getattr(ufunc, method)(*map(looked_at, inputs), **rest)
        return found if out is None else _written(out[0], found)

    def _linear(self, ufunc: Any, inputs: tuple[Any, ...], lazy: list[Noisy]) -> Noisy | None:
        """The arithmetic on elements; None where it is a look: a product of two, a number added once more."""
        mixed = any(one.mixed for one in lazy)
        parents = tuple(one for one in lazy if one.mixed)
        if len(lazy) == 2 and ufunc not in (np.add, np.subtract):
            return None
        numbers = [one.numbers if isinstance(one, Noisy) else np.asarray(one, dtype=float) for one in inputs]
        if len(inputs) == 2 and len(lazy) == 1:
            if ufunc is np.true_divide and lazy[0] is not inputs[0]:
                return None
            if ufunc in (np.add, np.subtract):
                if mixed and not (self.desk.habits.late and np.broadcast(*numbers).shape == lazy[0].shape):
                    return None
                mixed = True
        return Noisy(self.desk, ufunc(*numbers), mixed, parents)

    def __eq__(self, other: object) -> Any:
        return self.value() == other

    def __ne__(self, other: object) -> Any:
        return self.value() != other

    def __hash__(self) -> int:
        if self.ndim:
            raise TypeError("unhashable type: 'numpy.ndarray'")  # as NumPy says it
        return hash(self.value())

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        if function in SHAPES and args[0] is self:
            return function(np.empty(self.shape), *args[1:], **kwargs)
        if function in (np.argmax, np.argmin) and len(args) == 1 and not kwargs:
            return getattr(self, function.__name__)()
        parts = [one for arg in args for one in (arg if type(arg) in (list, tuple) else [arg])]
        lazy = [one for one in parts if isinstance(one, Noisy)]
        product = function in (np.dot, np.outer)
        look = (product and len(lazy) > 1) or (function is np.where and isinstance(args[0], Noisy)) or "out" in kwargs
        if function in LINEAR_FUNCTIONS and lazy and not look and all(one.given is None for one in lazy):
            beside = function is not np.where and not product and any(isinstance(one, np.ndarray) for one in parts)
            mixed = beside or all(one.mixed for one in lazy)
            found = function(*map(_elements, args), **kwargs)
            return Noisy(self.desk, found, mixed, tuple(one for one in lazy if one.mixed))
        return function(*(looked_at(one) for one in args), **{name: looked_at(one) for name, one in kwargs.items()})

    # -- looks at the value -------------------------------------------------------------------------------
    def value(self) -> Any:
        """The released value (array, or a float for a scalar)."""
        return self.desk.released(self)

    def argmax(self, axis: Any = None, **_: Any) -> Any:
        """Report noisy max: only the index is released, with its exact probability."""
        if axis not in (None, 0) or self.ndim != 1 or self.given is not None:
            return np.argmax(self.value(), axis=axis)
        return self.desk.largest(self)

    def argmin(self, axis: Any = None, **_: Any) -> Any:
        """Report noisy min."""
        return (-self).argmax(axis)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __float__(self) -> float:
        return float(self.value())

    def __int__(self) -> int:
        return int(self.value())

    def __index__(self) -> int:
        value = self.value()
        if float(value) != int(value):
            raise TypeError("a noisy number that is not whole is used as an index")
        return int(value)

    def __bool__(self) -> bool:
        return bool(self.value())

    def __round__(self, digits: int = 0) -> Any:
        return round(float(self.value()), digits)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in LINEAR_METHODS and self.given is None:
            return self._method(getattr(self.numbers, name))
        return getattr(np.asarray(self.value()), name)  # any other method of an array is a look at it

    def _method(self, method: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *given, **named: self.of(method(*map(looked_at, given), **named))


class Drawn(Noisy):
    """Fresh noise that is released when it meets data; for any other use it becomes an array of numbers first.

    Args:
        numbers: makes these numbers.
        tell: releases data plus this noise; gives what comes back.
    """

    def __init__(
        self, desk: Desk, shape: tuple[int, ...], numbers: Callable[[], Any], tell: Callable[[Any], Any]
    ) -> None:
        self.desk, self.mixed, self.parents, self.given, self.compared = desk, False, (), None, False
        self._shape, self._make, self._tell = shape, numbers, tell
        self._fresh, self._numbers = True, None

    shape = property(lambda self: self._shape)

    @property
    def numbers(self) -> Any:  # type: ignore[override]
        """Its elements."""
        if self._numbers is None:
            self._fresh, self._numbers = False, self._make()
        return self._numbers

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        if self._fresh and ufunc is np.add and method == "__call__" and not rest:
            (data,) = (one for one in inputs if one is not self)
            numbers = isinstance(data, int | float | np.ndarray) and np.asarray(data).dtype.kind in "fiu"
            if numbers and np.broadcast_shapes(np.shape(data), self.shape) == self.shape:  # a sum over nobody is 0.0
                self._fresh = False
                found = self._tell(np.broadcast_to(np.asarray(data, dtype=float), self.shape))
                return found if out is None else _written(out[0], found)
        return super().__array_ufunc__(ufunc, method, *inputs, out=out, **rest)


def looked_at(value: Any) -> Any:
    """The value of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Noisy):
        return value.value()
    if type(value) in (list, tuple):
        return type(value)(looked_at(one) for one in value)
    if type(value) is dict:
        return {key: looked_at(one) for key, one in value.items()}
    return value


def _released(value: Any) -> bool:
    return isinstance(value, Noisy) and value.given is not None


def _elements(value: Any) -> Any:
    """What is lazy as an array of its elements, also inside lists and tuples."""
    if type(value) in (list, tuple):
        return type(value)(_elements(one) for one in value)
    return value.numbers if isinstance(value, Noisy) else value


def _written(target: Any, found: Any) -> Any:
    """``target += noise``: an array of the code's own holds the released numbers from now on."""
    if not isinstance(target, Noisy):
        target[...] = looked_at(found)
    elif isinstance(found, Noisy):
        target.numbers[...] = found.numbers
        target.mixed, target.parents = found.mixed, tuple(one for one in found.parents if one is not target)
    else:
        target.given = found
    return target
