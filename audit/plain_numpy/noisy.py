"""Arrays that are data plus noise not drawn yet: linear arithmetic keeps them so, any other use releases them.

The noise has no value until somebody looks; then the sum goes onto the tape with the noise scale that the arithmetic
has led to, and what comes back is the released value. From then on its noise is known: noise used twice protects once.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

if TYPE_CHECKING:
    from .desk import Desk

PRODUCTS = (np.matmul, np.dot, np.outer)
LINEAR = (np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.positive, np.matmul)
COMPARISONS = (np.greater, np.greater_equal, np.less, np.less_equal)
LINEAR_FUNCTIONS = (  # NumPy's functions that NumPy itself can do with elements of any kind
    *(np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.reshape, np.ravel, np.take, np.roll),
    *(np.flip, np.repeat, np.tile, np.triu, np.tril, np.diag, np.diagonal, np.trace, np.atleast_1d, np.atleast_2d),
    *(np.broadcast_to, np.concatenate, np.stack, np.vstack, np.hstack, np.column_stack, np.append, np.copy),
    *(np.sum, np.mean, np.cumsum, np.diff, np.dot, np.outer, np.where),
)
LINEAR_METHODS = {one.__name__ for one in LINEAR_FUNCTIONS} - {"dot"} | {"flatten"}
SHAPES = (np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like)


class Number:
    """One element: ``base + sum of factor * draw`` (or sum, once it has met data), by their numbers."""

    __slots__ = ("base", "terms")

    def __init__(self, base: float, terms: dict[int, float]):
        self.base, self.terms = base, terms

    def __add__(self, other: Any) -> Number:
        if not isinstance(other, Number):
            return Number(self.base + other, self.terms)
        terms = dict(self.terms)
        for variable, factor in other.terms.items():
            terms[variable] = terms.get(variable, 0.0) + factor
        return Number(self.base + other.base, terms)

    def __sub__(self, other: Any) -> Number:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Number:
        return (-self).__add__(other)

    def __mul__(self, factor: float) -> Number:
        return Number(self.base * factor, {one: each * factor for one, each in self.terms.items()})

    def __truediv__(self, divisor: float) -> Number:
        over = operator.truediv if divisor else np.divide  # NumPy's way with zero
        return Number(over(self.base, divisor), {one: over(each, divisor) for one, each in self.terms.items()})

    def __neg__(self) -> Number:
        return self * -1.0

    def __pos__(self) -> Number:
        return self

    __radd__, __rmul__ = __add__, __mul__


class Noisy(NDArrayOperatorsMixin):
    """An array of :class:`Number`.

    Args:
        desk: keeps what is known of the noise of this run, and puts releases on the tape.
        numbers: its elements, an array of objects; plain numbers among them have no noise.
        mixed: has the noise met data (or any number) already? Noise alone is not released, it is only drawn.
    """

    __array_priority__ = 1000.0

    def __init__(self, desk: Desk, numbers: Any, mixed: bool):
        self.desk, self.mixed = desk, mixed
        self.numbers = np.asarray(numbers, dtype=object)
        self.given: Any = None  # its value, once it was released
        if mixed:
            desk.keep_open(self)

    shape = property(lambda self: self.numbers.shape)
    ndim = property(lambda self: self.numbers.ndim)
    size = property(lambda self: self.numbers.size)
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: self.transpose())

    @property
    def settled(self) -> bool:
        """Is all its noise known?"""
        return self.given is not None or self.desk.settled(self)

    def __len__(self) -> int:
        return len(self.numbers)

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self.value())[index] if self.settled else Noisy(self.desk, self.numbers[index], self.mixed)

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.mixed or self.settled:
            self.given = np.array(self.value())
            self.given[index] = looked_at(value)
        else:
            self.numbers[index] = looked_at(value)

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Floats stay lazy; anything else is a look at the value."""
        return self if np.dtype(dtype) == np.float64 else np.asarray(self.value()).astype(dtype)

    # -- arithmetic ---------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        inputs = tuple(looked_at(one) if isinstance(one, Noisy) and one.settled else one for one in inputs)
        lazy = [one for one in inputs if isinstance(one, Noisy)]
        found: Any = None
        if lazy and method == "reduce" and ufunc is np.add:
            found = Noisy(self.desk, ufunc.reduce(lazy[0].numbers, **rest), lazy[0].mixed)
        elif lazy and method == "__call__" and ufunc in LINEAR and not rest:
            found = self._linear(ufunc, inputs, lazy)
        elif lazy and method == "__call__" and ufunc in COMPARISONS:
            self.desk.compared(lazy)
        if found is None:
            found = getattr(ufunc, method)(*map(looked_at, inputs), **rest)
        return found if out is None else _written(out[0], found)

    def _linear(self, ufunc: Any, inputs: tuple[Any, ...], lazy: list[Noisy]) -> Noisy | None:
        """The arithmetic on elements.

        None where it is a look: a product of two, a quotient by one, and a sum that is added to what is larger, or that
        meets a matrix: there one noisy number would be part of several.
        """
        mixed, sum_of = any(one.mixed for one in lazy), ufunc in (np.add, np.subtract)
        if (len(lazy) == 2 and not sum_of) or (ufunc is np.true_divide and inputs[0] is not lazy[0]):
            return None
        shapes, shape = {*map(np.shape, inputs)}, lazy[0].shape
        if mixed and (ufunc is np.matmul or not (shapes <= {(), shape} or np.broadcast_shapes(*shapes) == shape)):
            return None
        if sum_of and mixed:
            inputs = tuple(self.desk.meets(one) if isinstance(one, Noisy) else one for one in inputs)
        numbers = ufunc(*(one.numbers if isinstance(one, Noisy) else np.asarray(one, float) for one in inputs))
        found = Noisy(self.desk, numbers, mixed)
        return self.desk.meets(found) if sum_of and len(lazy) < 2 and not mixed else found

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
        mixed, product = any(one.mixed for one in lazy), function in PRODUCTS
        look = (product and (mixed or len(lazy) > 1)) or (function is np.where and isinstance(args[0], Noisy))
        look = look or "out" in kwargs or any(one.settled for one in lazy)
        if function in LINEAR_FUNCTIONS and lazy and not look:
            beside = function is not np.where and not product and any(isinstance(one, np.ndarray) for one in parts)
            found = Noisy(self.desk, function(*map(_elements, args), **kwargs), mixed)
            return self.desk.meets(found) if beside and not mixed else found
        return function(*(looked_at(one) for one in args), **{name: looked_at(one) for name, one in kwargs.items()})

    # -- looks at the value -------------------------------------------------------------------------------
    def value(self) -> Any:
        """The released value (array, or a float for a scalar)."""
        return self.desk.released(self)

    def argmax(self, axis: Any = None, **_: Any) -> Any:
        """Report noisy max: only the index is released, with its exact probability."""
        if axis not in (None, 0) or self.ndim != 1 or self.settled:
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
        if name in LINEAR_METHODS and not self.settled:
            method = getattr(self.numbers, name)
            return lambda *given, **named: Noisy(self.desk, method(*map(looked_at, given), **named), self.mixed)
        return getattr(np.asarray(self.value()), name)  # any other method of an array is a look at it


def variables_of(noisy: Noisy) -> set[int]:
    """Numbers of the draws that are in it, or of the sums, once it has met data."""
    return {one for number in noisy.numbers.flat if isinstance(number, Number) for one in number.terms}


def looked_at(value: Any) -> Any:
    """The value of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Noisy):
        return value.value()
    if type(value) in (list, tuple):
        return type(value)(looked_at(one) for one in value)
    if type(value) is dict:
        return {key: looked_at(one) for key, one in value.items()}
    return value


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
        vars(target).update(vars(found))
        target.desk.keep_open(target)
    else:
        target.given = found
    return target
