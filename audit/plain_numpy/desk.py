"""Arrays that are data plus noise not drawn yet, and the desk that keeps what one run knows of its noise.

Linear arithmetic keeps such an array as it is; the noise has no value until somebody looks. Then the sum goes onto the
tape with the noise scale that the arithmetic has led to, and what comes back is the released value. From then on its
noise is known: noise used twice protects once.
"""

from __future__ import annotations

import math
import operator
import weakref
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextvars import ContextVar
from functools import partial
from inspect import isroutine
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.inputs.foreign import ENDLESS
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.law import as_released
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from .noise_laws import Terms, counted, largest, law_of_noise, merged, shared, square_root, standard
from .places import WAY_OUT, NotUnderstood, here, not_understood

if TYPE_CHECKING:
    from .mechanism import PlainMechanism

ITSELF = "(itself)"  # where what holds others comes again inside itself
_OPEN: ContextVar[frozenset[int]] = ContextVar("open", default=frozenset())  # the two worlds have one each
_ROUNDING = 1e-12  # of a number and its noise
PRODUCTS = (np.matmul, np.dot, np.outer)
WHOLE: dict[Any, Any] = {  # element by element
    **{np.add: operator.add, np.subtract: operator.sub, np.multiply: operator.mul, np.true_divide: operator.truediv},
    **{np.negative: operator.neg, np.positive: operator.pos},
}
LINEAR = (*WHOLE, np.matmul)
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
    """One element: ``base + sum of factor * draw`` (or sum, once it has met data), by their numbers.

    Or a whole array: base and factors are arrays of its shape, and element k has draw k from that number on.
    """

    __slots__ = ("base", "terms")
    __array_ufunc__ = None  # an array leaves the arithmetic with a whole one to it

    def __init__(self, base: Any, terms: dict[int, Any]):
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
        over = operator.truediv if isinstance(divisor, int | float) and divisor else np.divide  # NumPy's way with zero
        return Number(over(self.base, divisor), {one: over(each, divisor) for one, each in self.terms.items()})

    def __neg__(self) -> Number:
        return self * -1.0

    def __pos__(self) -> Number:
        return self

    __radd__, __rmul__ = __add__, __mul__


class Noisy(NDArrayOperatorsMixin):
    """An array of :class:`Number`, held as a whole until somebody asks for its elements.

    Args:
        desk: keeps what is known of the noise of this run, and puts releases on the tape.
        numbers: one for all of it, or its elements, an array of objects; plain numbers among them have no noise.
        mixed: has the noise met data (or any number) already? Noise alone is not released, it is only drawn.
    """

    __array_priority__ = 1000.0

    def __init__(self, desk: Desk, numbers: Any, mixed: bool):
        self.desk, self.mixed = desk, mixed
        whole = isinstance(numbers, Number) and isinstance(numbers.base, np.ndarray | np.generic)
        self.whole: Number | None = numbers if whole else None
        self._elements = numbers.base if whole else np.asarray(numbers, dtype=object)
        self.given: Any = None  # its value, once it was released
        if mixed:
            desk.keep_open(self)

    shape = property(lambda self: self._elements.shape)
    ndim = property(lambda self: self._elements.ndim)
    size = property(lambda self: self._elements.size)
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: self.transpose())

    @property
    def numbers(self) -> Any:
        """Its elements, which may be changed."""
        if self.whole is not None:
            terms = {first: each.ravel().tolist() for first, each in self.whole.terms.items()}
            elements = [
                Number(base, {first + place: each[place] for first, each in terms.items()})
                for place, base in enumerate(self.whole.base.ravel().tolist())
            ]
            self._elements, self.whole = np.array(elements, dtype=object).reshape(self.shape), None
        return self._elements

    @property
    def settled(self) -> bool:
        """Is all its noise known? Where there is none, as in a triangle without entries, it stays part of the noise."""
        if self.given is not None:
            return True
        if self.whole is not None and self.mixed:
            known = (self.desk.values_of(first, self.size) is not None for first in self.whole.terms)
            return self.size > 0 and all(known)
        parts = variables_of(self)
        return bool(parts) and all(self.desk.value_of(one, self.mixed) is not None for one in parts)

    def __len__(self) -> int:
        return len(self._elements)

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
            others = [one for one in inputs if not isinstance(one, Noisy)]
            if others and np.isinf(others[0]).all():  # whatever the number is
                found = ufunc(*(np.zeros(one.shape) if isinstance(one, Noisy) else one for one in inputs))
            else:
                self.desk.compared(lazy)
        if found is None:
            found = getattr(ufunc, method)(*map(looked_at, inputs), **rest)
        return found if out is None else _written(out[0], found)

    def _linear(self, ufunc: Any, inputs: tuple[Any, ...], lazy: list[Noisy]) -> Noisy | None:
        """The arithmetic on elements.

        None where it is a look: a product of two, a quotient by one, and a sum that is added to what is larger, or that
        meets a matrix: there one noisy number would be part of several.
        """
        mixed, sum_of = lazy[0].mixed or lazy[-1].mixed, ufunc in (np.add, np.subtract)
        if (len(lazy) == 2 and not sum_of) or (ufunc is np.true_divide and inputs[0] is not lazy[0]):
            return None
        inputs = tuple(one if isinstance(one, Noisy) else np.asarray(one, float) for one in inputs)
        shapes, shape = {one.shape for one in inputs}, lazy[0].shape
        alike = shapes <= {(), shape} and lazy[-1].shape == shape and ufunc is not np.matmul
        if mixed and not alike and (ufunc is np.matmul or np.broadcast_shapes(*shapes) != shape):
            return None
        if sum_of and len(lazy) == 2 and mixed:
            inputs = tuple(map(self.desk.meets, inputs))
        if alike and all(isinstance(one, np.ndarray) or one.whole is not None for one in inputs):
            numbers = WHOLE[ufunc](*(one.whole if isinstance(one, Noisy) else one for one in inputs))
        else:
            numbers = ufunc(*(one.numbers if isinstance(one, Noisy) else one for one in inputs))
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
            elements = [looked_at(one, operator.attrgetter("numbers")) for one in args]
            found = Noisy(self.desk, function(*elements, **kwargs), mixed)
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
    if noisy.whole is not None:
        return {one for first in noisy.whole.terms for one in range(first, first + noisy.size)}
    return {one for number in noisy.numbers.flat if isinstance(number, Number) for one in number.terms}


def looked_at(value: Any, part: Callable[[Noisy], Any] = Noisy.value) -> Any:
    """The value, or another part, of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Noisy):
        return part(value)
    if type(value) in (list, tuple):
        return type(value)(looked_at(one, part) for one in value)
    if type(value) is dict:
        return {key: looked_at(one, part) for key, one in value.items()}
    return value


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


class Desk:
    """The noise draws of one run, which kind, drawn at which line, known by now or not; and the sums they are in.

    Args:
        tape: of the run.
        records: how many there are; None where the data has no length.
        code: what trial runs have shown of the code; each run adds to what it noticed.
        world: with one, what counts as public is drawn anew, to see what depends on it.
    """

    def __init__(self, tape: Tape, records: int | None, code: PlainMechanism, world: int | None = None):
        self.tape, self.records, self.code, self.noticed = tape, records, code, code.noticed
        self.shaken = None if world is None else np.random.default_rng([world, 47])
        self.batch: Batch | None = None
        self._open: list[weakref.ref[Noisy]] = []  # what has met data, and may not be released yet
        self.kinds: list[str] = []  # of each draw
        self.lines: list[str] = []
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._known: dict[int, float] = {}
        self._spent: set[int] = set()  # in a released number with others
        self._met: set[int] = set()  # in a sum
        self._for_several: set[int] = set()  # added as one draw to several numbers of an array
        self._sums: list[Number] = []  # data that noise was added to
        self._sums_with: dict[frozenset[tuple[int, float]], dict[float, int]] = {}  # by their noise and their query
        self._values: dict[int, float] = {}
        self._values_of: dict[int, Array] = {}
        self.seeds: dict[int, str] = {}  # wide whole numbers that were drawn, with their lines
        self._sown: dict[int, str] = {}  # those of them of which a generator was made

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any) -> Any:
        """``offset + scale * noise`` with fresh noise variables; plain numbers where the line's noise is known."""
        scale = np.asarray(scale, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, np.shape(offset))
        line = here()
        count, first = math.prod(shape), len(self.kinds)
        if line in self.code.known:
            numbers = self.public(line, lambda rng: np.asarray([standard(kind, rng) for _ in range(count)]))
            return as_released(np.asarray(numbers).reshape(shape) * scale + offset)
        self.kinds += [kind] * count
        self.lines += [line] * count
        self._batches += [self.batch] * count
        self.noticed.drawn = len(self.kinds)
        noise = Noisy(self, Number(np.zeros(shape), {first: np.zeros(shape) + scale}), False)
        return noise if type(offset) in (int, float) and offset == 0 else noise + offset

    def meets(self, noise: Noisy) -> Noisy:
        """Noise that meets data: the sums, each of them one for all that is computed from it."""
        if noise.mixed:
            return noise
        self.noticed.again |= {self.lines[one] for one in variables_of(noise) & self._met}
        whole, first = noise.whole is not None, len(self._sums)
        found, numbers = np.empty(noise.size, dtype=object), dict[frozenset[tuple[int, float]], set[int]]()
        for place, number in enumerate(noise.numbers.flat):
            found[place] = number
            if isinstance(number, Number):
                key = frozenset((one, factor) for one, factor in number.terms.items() if factor)
                one = self._sum_of(key, number.base)
                found[place] = Number(0.0, {one: 1.0})
                numbers.setdefault(key, set()).add(one)
        self._met.update(*(dict(key) for key in numbers))
        self._for_several.update(*(dict(key) for key, sums in numbers.items() if len(sums) > 1))
        if whole and len(self._sums) == first + noise.size:  # each is a sum of its own
            return Noisy(self, Number(np.zeros(noise.shape), {first: np.ones(noise.shape)}), True)
        return Noisy(self, found.reshape(noise.shape), True)

    def _sum_of(self, key: frozenset[tuple[int, float]], base: float) -> int:
        """Its number; the same data with the same noise are the same sum, as in a symmetric matrix."""
        noise = dict(key)
        sums = self._sums_with.setdefault(key, {})
        first = next(iter(sums), base)
        if abs(first - base) <= _ROUNDING * (abs(first) + max(map(abs, noise.values()), default=0.0)):
            base = first
        if base not in sums:
            sums[base] = len(self._sums)
            self._sums.append(Number(base, noise))
        return sums[base]

    def drawn_batch(self, draw: Callable[[], Batch]) -> Indices:
        """Draw a secret batch. What is open is released before: when it is must not depend on the batch."""
        pending, self._open = [one for ref in self._open if (one := ref()) is not None], []
        for noisy in pending:
            self.released(noisy)
        self.batch = draw()
        return self.batch.indices

    def keep_open(self, noisy: Noisy) -> None:
        """It has met data."""
        self._open.append(weakref.ref(noisy))

    # -- releasing ----------------------------------------------------------------------------------------
    def released(self, noisy: Noisy, handed_out: bool = False) -> Any:
        """The value: what was released before, else from the tape.

        Args:
            handed_out: all of the number is released. Else the code looks at it, and what it has added to a noisy sum
                stays data: only the sum as it met the noise is released.
        """
        if noisy.given is None:
            noisy.given = as_released(self._told(noisy, handed_out).reshape(noisy.shape))
        return noisy.given

    def _told(self, noisy: Noisy, handed_out: bool) -> Array:
        """Numbers with noise of their own are one release, and so are those that share it, where they have a law.

        Else the sums are released that they are made of. Where one draw is for several numbers, or is looked at before
        it meets data (a random start, say), it is a public draw.
        """
        flat, rows = self._resolved(noisy)
        if not any(rows):
            return flat
        part = flat if handed_out or self.code.whole_numbers else np.zeros(len(flat))
        firsts, source = merged(part, rows)
        active = [place for place in firsts if rows[place]]
        query, noise = self._expanded([rows[place] for place in active], noisy.mixed)
        draws = {one for row in noise for one in row}
        if noisy.mixed and not draws & self._for_several:
            single = all(len(rows[place]) == 1 for place in active)
            values = self._drawn_onto(query + part[active], noise, single)
            if values is not None:
                for place, value in zip(active, values.tolist(), strict=True):
                    if len(rows[place]) == 1:
                        ((one, factor),) = rows[place].items()
                        self._values[one] = (value - float(part[place])) / factor
                found = part.copy()
                found[active] = values
                return flat - part + found[source]
            sums = list(dict.fromkeys(one for place in active for one in rows[place]))
            if len(sums) < sum(len(rows[place]) for place in active):
                self.released(Noisy(self, [Number(0.0, {one: 1.0}) for one in sums], True))
                return self._told(noisy, handed_out)
        self.noticed.shared_out |= noisy.mixed and handed_out
        self._make_public(sorted(draws))
        return self._resolved(noisy)[0]

    def values_of(self, first: int, size: int) -> Array | None:
        """Of so many sums that met data together, where all are known."""
        if first not in self._values_of:
            found = list(takewhile(lambda one: one is not None, map(self.value_of, range(first, first + size))))
            if len(found) < size:
                return None
            self._values_of[first] = np.array(found)
        return self._values_of[first]

    def value_of(self, one: int, of_a_sum: bool = True) -> float | None:
        """Of a sum, or of a draw, where it is known."""
        if not of_a_sum or one in self._values:
            return (self._values if of_a_sum else self._known).get(one)
        found = self._sums[one]
        if found.terms.keys() <= self._known.keys():
            return float(found.base + sum(factor * self._known[draw] for draw, factor in found.terms.items()))
        return None

    def _resolved(self, noisy: Noisy) -> tuple[Array, list[Terms]]:
        """The numbers with what is known put in, and for each its unknown terms."""
        if noisy.whole is not None and noisy.mixed and noisy.settled:
            parts = [each.ravel() * self.values_of(first, noisy.size) for first, each in noisy.whole.terms.items()]
            return sum(parts, start=noisy.whole.base.ravel()), []
        flat, rows = np.empty(noisy.size), []
        for place, number in enumerate(noisy.numbers.flat):
            base, terms = (number.base, number.terms) if isinstance(number, Number) else (float(number), {})
            row: Terms = {}
            for one, factor in terms.items():
                value = self.value_of(one, noisy.mixed)
                if value is not None:
                    base += factor * value
                elif factor:
                    row[one] = float(factor)
            flat[place] = base
            rows.append(row)
        if not noisy.mixed:
            self.noticed.again |= {self.lines[one] for one in variables_of(noisy) & self._met & self._known.keys()}
        return flat, rows

    def _expanded(self, rows: list[Terms], of_sums: bool) -> tuple[Array, list[Terms]]:
        """Sums as their queries, and the unknown draws that protect them."""
        queries, found = np.zeros(len(rows)), []
        for place, row in enumerate(rows):
            noise: Terms = {}
            for one, factor in row.items():
                number = self._sums[one] if of_sums else Number(0.0, {one: 1.0})
                queries[place] += factor * number.base
                for draw, each in number.terms.items():
                    if draw in self._spent:
                        why = "is used again after a released value or a comparison told a part of it; draw it anew,"
                        raise NotUnderstood("noise", self.lines[draw], f"{why} {WAY_OUT}")
                    if draw in self._known:
                        queries[place] += factor * each * self._known[draw]
                    else:
                        noise[draw] = noise.get(draw, 0.0) + factor * each
            found.append({draw: each for draw, each in noise.items() if each})
        return queries, found

    def _drawn_onto(self, query: Array, noise: list[Terms], single: bool) -> Array | None:
        """The numbers released with this noise, of single sums or not; None where some of it determines the rest."""
        draws = list(dict.fromkeys(one for row in noise for one in row))
        single = single and len(draws) == len(noise)
        if not shared(noise):
            kind, scales = law_of_noise(self.kinds, noise)
            values = np.ravel(self._tell(kind, query, scales, draws))
            solved = ((values - query) / [next(iter(row.values())) for row in noise]).tolist() if single else ()
        else:
            factors = np.array([[row.get(one, 0.0) for one in draws] for row in noise])
            kinds = {self.kinds[one] for one in draws}
            root = square_root(factors, kinds)
            if root is None:
                return None
            white = np.asarray(np.linalg.solve(root, query), dtype=np.float64)
            values = root @ np.ravel(self._tell(kinds.pop(), white, np.ones(len(noise)), draws))
            solved = np.linalg.solve(factors, values - query).tolist() if single else ()
        self._known.update(zip(draws, solved, strict=False))
        self._spent.update(() if single else draws)
        return values

    def _tell(self, kind: str, query: Array, scales: Array, draws: list[int]) -> Any:
        """What comes back for these numbers; those with different noise are released in units of their noise."""
        label = self._label(draws)
        sizes = scales.tolist()
        endless = next((one for one in (*query.tolist(), *sizes) if not math.isfinite(one)), None)
        if endless is not None:
            raise BadInput("release", label, f"would be {endless}, on data that the claim covers: {ENDLESS}")
        scale, size = (sizes[0], 1.0) if len(set(sizes)) == 1 else (1.0, scales)
        known: dict[str, Any] = {"sensitivity": self.code.sensitivity(label, scale), "batch": self._declared(draws)}
        if kind == "gaussian":
            return np.asarray(self.tape.gaussian(label, query / size, std=scale, **known)) * size
        if kind == "laplace":
            return np.asarray(self.tape.laplace(label, query / size, scale=scale, **known)) * size
        return np.array([self.tape.release(label, counted(one, scale), **known) for one in query.tolist()], float)

    def compared(self, lazy: list[Noisy]) -> None:
        """Noisy numbers are about to be compared: their values are released."""
        numbers = [one for one in lazy if one.mixed and one.size == 1]
        if len(numbers) == len(lazy) > 1:
            why = "two noisy numbers are compared, and neither is released (sparse vector): `tape.above_threshold`"
            raise not_understood(why, f"release one of them before, or {WAY_OUT}")
        self.noticed.compared |= {self.lines[draw] for one in numbers for draw in self._draws_of(one)}

    def largest(self, noisy: Noisy) -> int:
        """The index of the largest noisy number; only the index is released."""
        flat, rows = self._resolved(noisy)
        if not noisy.mixed or not rows or not all(rows):
            return int(np.argmax(self.released(noisy)))
        query, noise = self._expanded(rows, True)
        kind, scales = law_of_noise(self.kinds, noise, one_each=True)
        draws = [one for row in noise for one in row]
        law, label = largest(kind, query + flat, scales), self._label(draws)
        self._spent.update(draws)
        sensitivity = self.code.sensitivity(label, law.scale_of_noise)
        return int(self.tape.release(label, law, sensitivity=sensitivity, batch=self._declared(draws)))

    def _make_public(self, draws: list[int]) -> None:
        label = self._label(draws)
        self.noticed.alone.add(label)

        def make(rng: np.random.Generator) -> Array:
            return np.asarray([standard(self.kinds[one], rng) for one in draws])

        self._known.update(zip(draws, self.public(label, make).tolist(), strict=True))

    def public(self, label: str, make: Callable[[np.random.Generator], Any], of_records: bool = False) -> Any:
        """A draw that counts as known to the adversary; each world has its own where it is tried what depends on it."""
        self.noticed.public[label] = self.noticed.public.get(label, False) or of_records
        return self.tape.public(label, make) if self.shaken is None else make(self.shaken)

    def _declared(self, draws: list[int]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn."""
        if self._label(draws) not in self.code.sampled:
            return None
        drawn = dict.fromkeys(map(self._batches.__getitem__, draws))
        return tuple({batch.draw: batch for batch in drawn if batch is not None}.values()) or None

    def _label(self, draws: list[int]) -> str:
        return " + ".join(dict.fromkeys(map(self.lines.__getitem__, draws)))

    # -- the end ------------------------------------------------------------------------------------------
    def sown(self, seed: Any) -> bool:
        """Was the seed drawn from the generator of the run? Then its noise is as secret as that, till it is told."""
        if not isinstance(seed, int | np.integer) or int(seed) not in self.seeds:
            return False
        if int(seed) in self._sown:
            raise NotUnderstood("seed", here(), "makes the same noise a second time: draw another seed")
        self._sown[int(seed)] = self.seeds[int(seed)]
        return True

    def finish(self, output: Any) -> Any:
        """The output with every lazy array released, in order; also inside lists, tuples, dicts and objects."""
        if isinstance(output, int | np.integer) and int(output) in self._sown:
            why = "hands out a seed, and who has it can draw the noise"
            raise NotUnderstood("output", self._sown[int(output)], why)
        if not isinstance(output, Noisy):
            return inside(output, self.finish)
        try:
            return self.released(output, handed_out=True)
        except NotUnderstood as error:  # no line of the code runs any more
            raise NotUnderstood(error.field, self._label(self._draws_of(output)), error.why) from None

    def _draws_of(self, noisy: Noisy) -> list[int]:
        found = variables_of(noisy)
        return [draw for number in found for draw in self._sums[number].terms] if noisy.mixed else list(found)


def inside(output: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every part changed, in order: one that is missed would be a release that nobody counts.

    Only parts count: an object of a class of one's own becomes a plain list, tuple or dict; what holds nothing stays.
    """
    if id(output) in _OPEN.get():
        return ITSELF
    token = _OPEN.set(_OPEN.get() | {id(output)})
    try:
        return _inside(output, change)
    finally:
        _OPEN.reset(token)


def _inside(output: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(change(one) for one in output))
    if isinstance(output, tuple):
        return tuple(change(one) for one in output)
    if isinstance(output, list | deque | Iterator | ItemsView | ValuesView):
        return [change(one) for one in output]
    if isinstance(output, Mapping):
        return {key: change(one) for key, one in output.items()}
    if isinstance(output, type | partial) or isroutine(output):
        return output  # what such code holds is not looked at
    slots = [vars(one).get("__slots__", ()) for one in type(output).__mro__]
    names = {
        *getattr(output, "__dict__", ()),
        *(name for one in slots for name in ((one,) if isinstance(one, str) else one)),
    }
    if not names:
        return {} if hasattr(output, "__dict__") and not callable(output) else output
    return {name: change(getattr(output, name)) for name in sorted(names) if hasattr(output, name)}
