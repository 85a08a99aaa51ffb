"""Arrays that are data plus noise not drawn yet: linear arithmetic keeps them so, any other use releases them.

An element is ``query + sum_j coefficient_j * noise_j`` with independent ``noise_j`` of standard scale. The noise has no
value until somebody looks; then the query goes onto the tape with the noise scale that the arithmetic has led to, and
what comes back is the released value. From then on ``noise_j`` is known: noise used twice protects once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.reference.types import Array, Indices

LINEAR = (np.add, np.subtract, np.multiply, np.true_divide, np.negative, np.positive)
REARRANGED = (  # what rearranges numbers, or puts zeros: done to query, noise and coefficients alike
    *(np.transpose, np.swapaxes, np.moveaxis, np.squeeze, np.expand_dims, np.take, np.roll, np.flip, np.repeat),
    *(np.tile, np.triu, np.tril, np.diag, np.diagonal, np.atleast_1d, np.atleast_2d, np.broadcast_to),
)
COMPARISONS = {np.greater: 1, np.greater_equal: 1, np.less: -1, np.less_equal: -1}


class Noisy(NDArrayOperatorsMixin):
    """``query + sum_j coefficients[j] * noise[ids[j]]``, element by element.

    Args:
        desk: keeps what is known of the noise of this run, and puts releases on the tape.
        query: the part without noise, shape ``shape``.
        ids: numbers of the noise variables, shape ``(terms, *shape)``.
        coefficients: their factors, the same shape.
        mixed: has it met data (or any number) already? Noise alone is not released, it is only drawn.
        parents: the lazy arrays that it was computed from.
        met_again: was a number added to what had met data before?
        again: makes the value out of those of the parents, as the arithmetic did.
    """

    __array_priority__ = 1000.0

    def __init__(
        self,
        desk: Any,
        query: Array,
        ids: Indices,
        coefficients: Array,
        mixed: bool,
        parents: tuple[Noisy, ...] = (),
        met_again: bool = False,
        again: Callable[..., Any] | None = None,
    ):
        self.desk, self.mixed, self.parents, self.met_again, self.again = desk, mixed, parents, met_again, again
        self.query, self.ids, self.coefficients = query, ids, coefficients
        self.of_two = False  # the sum of two that had met data each
        self.given: Any = None  # its value, once it was released
        if mixed and not any(parent.mixed for parent in parents):
            desk.has_met_data(self)

    # -- shape --------------------------------------------------------------------------------------------
    shape = property(lambda self: self.query.shape)
    ndim = property(lambda self: self.query.ndim)
    size = property(lambda self: self.query.size)
    dtype = property(lambda self: self.query.dtype)

    @property
    def variables(self) -> set[int]:
        """Numbers of the noise that is in it."""
        return set(self.ids[self.coefficients != 0].tolist())

    @property
    def T(self) -> Noisy:  # noqa: N802 - NumPy's name
        """Transposed."""
        return self.each(lambda part: part.T if part.ndim < 2 else np.swapaxes(part, -1, -2))

    def __len__(self) -> int:
        return len(self.query)

    def each(self, change: Callable[[Any], Any]) -> Noisy:
        """The same selection or reshaping of query, ids and coefficients."""
        ids = np.stack([np.asarray(change(one)) for one in self.ids])
        coefficients = np.stack([np.asarray(change(one)) for one in self.coefficients])
        return Noisy(self.desk, np.asarray(change(self.query)), ids, coefficients, self.mixed, (self,), again=change)

    def __getitem__(self, index: Any) -> Noisy:
        return self.each(lambda part: part[index])

    def reshape(self, *shape: Any) -> Noisy:
        """Another shape."""
        return self.each(lambda part: part.reshape(*shape))

    def ravel(self) -> Noisy:
        """One axis."""
        return self.each(np.ravel)

    flatten = ravel

    def copy(self) -> Noisy:
        """The same expression."""
        return self.each(np.array)

    def __setitem__(self, index: Any, value: Any) -> None:
        terms = max(len(self.ids), len(value.ids) if isinstance(value, Noisy) else 0)
        missing = [(0, terms - len(self.ids))] + [(0, 0)] * self.ndim
        self.given = self.again = None
        self.query = np.array(self.query, dtype=float)  # whoever shares memory with it keeps what it had
        self.ids, self.coefficients = np.pad(self.ids, missing), np.pad(self.coefficients, missing)
        self.query[index] = value.query if isinstance(value, Noisy) else value
        for number in range(terms):
            known = isinstance(value, Noisy) and number < len(value.ids)
            self.ids[number][index] = value.ids[number] if known else 0
            self.coefficients[number][index] = value.coefficients[number] if known else 0.0
        if isinstance(value, Noisy):
            self.parents, self.mixed = (*self.parents, value), self.mixed or value.mixed

    def astype(self, dtype: Any, **_: Any) -> Any:
        """Floats stay lazy; anything else is a look at the value."""
        return self if np.dtype(dtype) == np.float64 else self.value().astype(dtype)

    # -- linear arithmetic --------------------------------------------------------------------------------
    def scaled(self, factor: Any) -> Noisy:
        """Every element times a number, or an array of numbers."""
        factor = np.asarray(factor, dtype=float)
        ids, coefficients = self._spread(factor.shape)
        query, coefficients = np.asarray(self.query * factor), coefficients * factor
        return Noisy(self.desk, query, ids, coefficients, self.mixed, (self,), again=lambda value: value * factor)

    def _spread(self, other: tuple[int, ...]) -> tuple[Indices, Array]:
        """Ids and coefficients of what this becomes beside an array of another shape."""
        shape = self.shape if other in ((), self.shape) else np.broadcast_shapes(self.shape, other)
        if shape == self.shape:
            return self.ids, self.coefficients
        ids, coefficients = ([np.broadcast_to(one, shape) for one in part] for part in (self.ids, self.coefficients))
        return np.stack(ids), np.stack(coefficients)

    def plus(self, other: Any, sign: float = 1.0) -> Noisy:
        """``self + sign * other`` for numbers or another lazy array."""
        if isinstance(other, Noisy):
            shape = np.broadcast_shapes(self.shape, other.shape)
            merged: dict[bytes, tuple[Indices, Array]] = {}  # the same noise in both is one term
            for part, factor in ((self, 1.0), (other, sign)):
                for one, weight in zip(part.ids, part.coefficients, strict=True):
                    spread, weight = np.broadcast_to(one, shape), np.broadcast_to(factor * weight, shape)
                    before = merged.get(spread.tobytes())
                    merged[spread.tobytes()] = (spread, weight if before is None else before[1] + weight)
            ids, coefficients = (np.stack(parts) for parts in zip(*merged.values(), strict=True))
            query = self.query + sign * other.query
            either, both = self.mixed or other.mixed, (self, other)
            found = Noisy(self.desk, query, ids, coefficients, either, both, again=lambda a, b: a + sign * b)
            found.of_two = self.mixed and other.mixed
            return found
        other = np.asarray(other, dtype=float)
        ids, coefficients = self._spread(other.shape)
        query = np.asarray(self.query + sign * other)
        return Noisy(
            self.desk, query, ids, coefficients, True, (self,), self.mixed, again=lambda value: value + sign * other
        )

    def times(self, matrix: Any, left: bool = False) -> Noisy:
        """``self @ matrix``, or ``matrix @ self``; the noises add up with the factors."""
        matrix = np.asarray(matrix, dtype=float)
        parts = self if left else self.T if self.ndim > 1 else self
        factors = matrix if left else matrix.T
        query = factors @ parts.query
        ids, coefficients = [], []
        for one, weight in zip(parts.ids, parts.coefficients, strict=True):
            for inner in range(factors.shape[-1]):
                column = factors[..., inner]
                column = column.reshape(column.shape + (1,) * (one.ndim - 1))
                coefficients.append(column * weight[inner])
                ids.append(np.broadcast_to(one[inner], np.shape(coefficients[-1])))
        found = Noisy(self.desk, np.asarray(query), np.stack(ids), np.stack(coefficients), self.mixed, (self,))
        return found if left or self.ndim < 2 else found.T

    def cumsum(self, axis: Any = None, **_: Any) -> Any:
        """Prefix sums, of one axis."""
        if self.ndim != 1:
            return np.cumsum(self.value(), axis=axis)
        return self.times(np.tril(np.ones((len(self), len(self)))), left=True)

    def sum(self, axis: Any = None, **_: Any) -> Noisy:
        """Sum over one axis or all of them; the noises of the elements add up."""
        if axis is None:
            return self.ravel().sum(axis=0)
        axis = axis % self.ndim

        def spread(parts: Any) -> Any:
            moved = np.moveaxis(parts, axis + 1, 1)
            return moved.reshape(-1, *moved.shape[2:])

        query = np.asarray(self.query.sum(axis=axis))
        return Noisy(self.desk, query, spread(self.ids), spread(self.coefficients), self.mixed, (self,))

    def mean(self, axis: Any = None, **_: Any) -> Noisy:
        """Mean over one axis or all of them."""
        count = self.size if axis is None else self.shape[axis]
        return self.sum(axis).scaled(1.0 / count)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        if any(isinstance(one, Noisy) and one.given is not None for one in inputs):  # what was released is a number
            inputs = tuple(one.value() if isinstance(one, Noisy) and one.given is not None else one for one in inputs)
            if out is not None and not isinstance(out[0], Noisy):
                rest["out"] = out
            return getattr(ufunc, method)(*inputs, **rest)
        if method == "reduce" and ufunc is np.add and out is None:
            return self.sum(rest.get("axis", 0))
        if method == "__call__" and ufunc in COMPARISONS and len(inputs) == 2:
            return self._compare(ufunc, *inputs)
        if method == "__call__" and ufunc is np.matmul and out is None:
            first, second = inputs
            if not (isinstance(first, Noisy) and isinstance(second, Noisy)) and np.ndim(first) < 3 > np.ndim(second):
                return first.times(second) if isinstance(first, Noisy) else second.times(first, left=True)
        if method == "__call__" and ufunc in LINEAR and not rest:
            found = self._linear(ufunc, *inputs)
            if found is not None:
                return found if out is None else self.desk.in_place(out[0], found)
        values = [one.value() if isinstance(one, Noisy) else one for one in inputs]
        if out is not None:
            rest["out"] = tuple(one.value() if isinstance(one, Noisy) else one for one in out)
        return getattr(ufunc, method)(*values, **rest)

    def _linear(self, ufunc: Any, *inputs: Any) -> Noisy | None:
        first, second = inputs[0], inputs[-1]
        if ufunc is np.negative:
            return self.scaled(-1.0)
        if ufunc is np.positive:
            return self
        if ufunc in (np.add, np.subtract):
            sign = 1.0 if ufunc is np.add else -1.0
            return first.plus(second, sign) if isinstance(first, Noisy) else second.scaled(sign).plus(first)
        if isinstance(first, Noisy) and not isinstance(second, Noisy):
            return first.scaled(second if ufunc is np.multiply else 1.0 / np.asarray(second, dtype=float))
        if ufunc is np.multiply and not isinstance(first, Noisy):
            return second.scaled(first) if isinstance(second, Noisy) else None
        return None

    def _compare(self, ufunc: Any, first: Any, second: Any) -> Any:
        """``a > b``: only the answer is released, with its exact probability."""
        alone = [one for one in (first, second) if isinstance(one, Noisy) and not one.mixed]
        if alone and alone[0].size > 1:  # noise that has met no data: a mask, say
            return ufunc(looked_at(first), looked_at(second))
        difference = first.plus(second, -1.0) if isinstance(first, Noisy) else second.scaled(-1.0).plus(first)
        if difference.size != 1 or self.desk.is_seen(difference):
            return ufunc(looked_at(first), looked_at(second))
        return self.desk.above(difference.scaled(float(COMPARISONS[ufunc])))

    def __eq__(self, other: object) -> Any:
        return self.value() == other

    def __ne__(self, other: object) -> Any:
        return self.value() != other

    def __hash__(self) -> int:
        if self.ndim:
            raise TypeError("unhashable type: 'numpy.ndarray'")  # as NumPy says it
        return hash(self.value())

    def __array_function__(self, function: Any, types: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        own: dict[Any, Callable[..., Any]] = {np.sum: self.sum, np.mean: self.mean, np.argmax: self.argmax}
        own |= {np.argmin: self.argmin, np.ravel: self.ravel, np.cumsum: self.cumsum, np.copy: self.copy}
        if function in own and args[0] is self and not (set(kwargs) - {"axis"}):
            return own[function](*args[1:], **kwargs)
        return _call(self, function, args, kwargs)

    # -- looks at the value -------------------------------------------------------------------------------
    def value(self) -> Any:
        """The released value (array, or a float for a scalar)."""
        return self.desk.released(self)

    def argmax(self, axis: Any = None, **_: Any) -> Any:
        """Report noisy max: only the index is released, with its exact probability."""
        if axis not in (None, 0) or self.ndim != 1:
            return np.argmax(self.value(), axis=axis)
        return self.desk.largest(self)

    def argmin(self, axis: Any = None, **_: Any) -> Any:
        """Report noisy min."""
        return self.scaled(-1.0).argmax(axis)

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

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self.value()), name)  # any other method of an array is a look at it


def _call(of: Noisy, function: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """NumPy's function of a lazy array: a linear one keeps it so, any other looks at the value."""
    simple = args[0] is of and not (set(kwargs) - {"axis"})
    if function is np.dot and len(args) == 2 and max(np.ndim(one) for one in args) < 3:
        return args[0] @ args[1]
    if function in (np.zeros_like, np.ones_like, np.empty_like) and simple:
        return function(of.query)
    if function in REARRANGED and args[0] is of and not any(isinstance(one, Noisy) for one in args[1:]):
        return of.each(lambda part: function(part, *args[1:], **kwargs))
    if function is np.where and len(args) == 3 and not isinstance(args[0], Noisy):
        mask = np.asarray(args[0], dtype=bool)
        return _where(mask, args[1]) + _where(~mask, args[2])
    if function in (np.concatenate, np.stack, np.vstack, np.hstack):
        return join(of.desk, function, args[0], **kwargs)
    if function is np.reshape and simple:
        return of.reshape(*args[1:])
    if function in (np.shape, np.ndim, np.size) and len(args) == 1:
        return function(of.query)
    return function(*(looked_at(one) for one in args), **{name: looked_at(one) for name, one in kwargs.items()})


def _where(mask: Any, part: Any) -> Any:
    """The part where the mask says so, else 0."""
    part = looked_at(part) if isinstance(part, Noisy) and part.given is not None else part
    return part.scaled(mask) if isinstance(part, Noisy) else np.where(mask, part, 0.0)


def looked_at(value: Any) -> Any:
    """The value of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Noisy):
        return value.value()
    if type(value) in (list, tuple):
        return type(value)(looked_at(one) for one in value)
    if type(value) is dict:
        return {key: looked_at(one) for key, one in value.items()}
    return value


def join(desk: Any, function: Any, parts: Sequence[Any], **how: Any) -> Any:
    """``np.concatenate`` and its like, of lazy and plain arrays."""
    axis = how.pop("axis", 0)
    lazy: list[Any] = [one for one in parts if isinstance(one, Noisy)]
    terms = max(len(one.ids) for one in lazy)

    def padded(part: Any, name: str, fill: float) -> list[Any]:
        if not isinstance(part, Noisy):
            return [np.full(np.shape(part), fill)] * terms
        own = list(getattr(part, name))
        return own + [np.full_like(own[0], fill)] * (terms - len(own))

    def together(rows: list[Any]) -> Any:
        return function(rows, axis=axis, **how) if function in (np.concatenate, np.stack) else function(rows)

    query = together([one.query if isinstance(one, Noisy) else np.asarray(one, float) for one in parts])
    ids = [padded(one, "ids", -1) for one in parts]
    coefficients = [padded(one, "coefficients", 0.0) for one in parts]
    return Noisy(
        desk,
        query,
        np.stack([together([one[k] for one in ids]) for k in range(terms)]).astype(np.int64),
        np.stack([together([one[k] for one in coefficients]) for k in range(terms)]).astype(float),
        all(one.mixed for one in lazy) or len(lazy) < len(parts),
        tuple(lazy),
    )
