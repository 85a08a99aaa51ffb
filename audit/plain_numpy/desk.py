"""Arrays that are data plus noise not drawn yet, and the desk that keeps what one run knows of its noise.

Linear arithmetic keeps such an array as it is; the noise has no value until somebody looks. Then the sum goes onto the
tape with the noise scale that the arithmetic has led to, and what comes back is the released value. From then on its
noise is known: noise used twice protects once.
"""

from __future__ import annotations

import math
import weakref
from collections import deque
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence, ValuesView
from contextvars import ContextVar
from functools import partial
from inspect import isroutine
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.inputs.foreign import ENDLESS
from dpassay.reference import BadInput, Tape
from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.laws.law import as_released
from dpassay.reference.transcript import Batch

from .noise_laws import counted, largest, law_of_noise, square_root, standard
from .places import WAY_OUT, NotUnderstood, here, not_understood
from .terms import Table, Terms, collected, joined, ranges

if TYPE_CHECKING:
    from .mechanism import PlainMechanism

ITSELF = "(itself)"  # where what holds others comes again inside itself
_OPEN: ContextVar[frozenset[int]] = ContextVar("open", default=frozenset())  # the two worlds have one each
_ROUNDING = 1e-12  # of a number and its noise
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
ADDING_METHODS = ("sum", "mean", "cumsum", "trace")
ADDING_UP = {np.sum, np.add.reduce, np.mean, np.cumsum, np.diff, np.trace, np.dot, np.outer, np.matmul}
SHAPES = (np.shape, np.ndim, np.size, np.zeros_like, np.ones_like, np.empty_like, np.full_like)


class Lazy(NDArrayOperatorsMixin):
    """An array that is drawn where the code looks at it: whatever it is asked for, `value` answers."""

    __array_priority__ = 1001.0
    __pandas_priority__ = 5000  # pandas leaves what is added to it to NumPy
    value: Any

    def __getitem__(self, index: Any) -> Any:
        return np.asarray(self.value())[index]

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        return np.asarray(self.value(), dtype=dtype)

    def __round__(self, digits: int = 0) -> Any:
        return round(float(self.value()), digits)

    def __format__(self, form: str) -> str:
        return format(self.value(), form)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(np.asarray(self.value()), name)


for _of in (len, float, int, bool, repr, str):
    setattr(Lazy, f"__{_of.__name__}__", lambda self, of=_of: of(self.value()))


class Noisy(Lazy):
    """An array of numbers, ``base`` and draws of noise in some shares; or sums, once it has met data.

    Args:
        desk: keeps what is known of the noise of this run, and puts releases on the tape.
        base: an array.
        terms: by row of the flat array; numbers without any have no noise.
        mixed: has the noise met data (or any number) already? Noise alone is not released, it is only drawn.

    Attributes:
        also: draws that a look at noise alone tells as well: which of them are in it may follow the data.
    """

    also: frozenset[int] = frozenset()

    def __init__(self, desk: Desk, base: Any, terms: Terms, mixed: bool):
        self.desk, self.base, self.terms, self.mixed = desk, np.asarray(base, dtype=float), terms, mixed
        self.given: Any = None  # its value, once it was released
        self._asked_at, self._settled = -1, False  # how much was known when it was asked whether all of it is
        self._in_parts = False  # does another array show numbers of it, or it those of another?
        if mixed:
            desk.keep_open(self)

    shape = property(lambda self: self.base.shape)
    ndim = property(lambda self: self.base.ndim)
    size = property(lambda self: self.base.size)
    dtype = property(lambda self: np.dtype(float))
    T = property(lambda self: self.transpose())

    @property
    def settled(self) -> bool:
        """Is all its noise known? Where there is none, as in a triangle without entries, it stays part of the noise."""
        if self.given is not None:
            return True
        if self._asked_at != self.desk.learnt:
            self._asked_at = self.desk.learnt
            known = self.desk.known(self)
            self._settled = len(known) > 0 and np.count_nonzero(known) == len(known)
        return self._settled

    def __len__(self) -> int:
        return len(self.base)

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))

    def __getitem__(self, index: Any) -> Any:
        """An index by an array looks at what has met data: its places may follow the data."""
        looked = self.settled or (self.mixed and any(map(np.ndim, index if isinstance(index, tuple) else (index,))))
        return super().__getitem__(index) if looked else self._moved(lambda array: array[index])

    def of_all(self, lazy: Sequence[Noisy]) -> Noisy:
        """A product of these, with factors that may follow the data: none where a batch has no record."""
        self.also = self.also.union(*(one.terms.ones.tolist() for one in lazy if not self.mixed))
        return self

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.mixed and not self.settled and np.all(np.asarray(looked_at(value)) == -np.inf):
            raise not_understood("of noisy numbers some are out of the running", f"draw the others alone, or {WAY_OUT}")
        if self.mixed or self.settled:
            self.given = np.array(self.value())
            self.given[index] = looked_at(value)
        elif self._in_parts:
            raise not_understood("noise is changed in place, and its parts have other names", f"copy it, or {WAY_OUT}")
        else:
            self.base = self.base.copy()
            self.base[index] = looked_at(value)
            changed = np.arange(self.size).reshape(self.shape)[index]
            self.terms = self.terms.where(~np.isin(self.terms.rows, changed))

    def astype(self, dtype: Any, copy: bool = True, **_: Any) -> Any:
        """Floats stay lazy; anything else is a look at the value."""
        if np.dtype(dtype) != np.float64:
            return np.asarray(self.value()).astype(dtype)
        return self.copy() if copy else self

    # -- arithmetic ---------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **rest: Any) -> Any:
        inputs = tuple([one.value() if isinstance(one, Noisy) and one.settled else one for one in inputs])
        lazy = [one for one in inputs if isinstance(one, Noisy)]
        found: Any = None
        if lazy and method == "reduce" and ufunc is np.add:
            found = self._mapped(lambda of: ufunc.reduce(of(lazy[0]), **rest), lazy, adding_up=True)
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
        if ufunc is np.matmul:
            whole = partial(looked_at, inputs)
            return None if mixed else self._mapped(lambda of: ufunc(*whole(of)), lazy, adding_up=True).of_all(lazy)
        bases = [one.base if isinstance(one, Noisy) else np.asarray(one, float) for one in inputs]
        base = ufunc(*bases)
        if mixed and any(one.shape != base.shape for one in lazy):
            return None
        if sum_of and len(lazy) == 2 and mixed:
            summands = _on_bare_numbers(lazy[0], lazy[1], -1 if ufunc is np.subtract else 1)
            inputs = tuple([self.desk.meets(one) for one in summands])
            base = ufunc(*[one.base for one in inputs])
        parts = []
        for place, one in enumerate(inputs):
            if isinstance(one, Noisy):
                terms = one.spread(base.shape).terms
                others = bases[:place] + bases[place + 1 :]
                beside = [0.0 if sum_of else _at(other, base.shape, terms.rows) for other in others]
                parts.append(terms.times(ufunc(*beside[:place], terms.factors, *beside[place:])))
        found = Noisy(self.desk, base, joined(parts), mixed)
        found.also = frozenset[int]().union(*(one.also for one in lazy))
        if not sum_of:
            return found.of_all(lazy)
        return self.desk.meets(found) if len(lazy) < 2 and not mixed else found

    def _mapped(self, function: Callable[..., Any], lazy: Sequence[Noisy], adding_up: bool = False) -> Noisy:
        """A linear function of lazy arrays: ``function(of)``, where ``of`` gives the numbers of each.

        Args:
            adding_up: else each number of the result is one of theirs, or none.
        """
        mixed = any(one.mixed for one in lazy)
        lazy = list({id(one): one for one in lazy}.values())
        met = [self.desk.meets(one) for one in lazy] if mixed else lazy
        ends = np.cumsum([0, *(one.size for one in lazy)])
        total, starts = int(ends[-1]), ends.tolist()

        def made(numbers: Array) -> Array:
            parts = {id(one): numbers[start : start + one.size] for one, start in zip(lazy, starts, strict=False)}
            return np.asarray(function(lambda one: parts[id(one)].reshape(one.shape)), dtype=float)

        base, bare = made(np.concatenate([one.base.ravel() for one in met])), made(np.zeros(total)).ravel()
        numbers, gains = np.arange(1.0, total + 1), np.ones(1)
        with np.errstate(invalid="ignore"):  # where infinite numbers stand beside
            if adding_up:
                each = np.array([made(one).ravel() - bare for one in np.eye(total)]).reshape(total, base.size)
                rows, places = np.nonzero(each.T)
                gains, in_parts = each[places, rows], False
            else:
                placed = made(numbers)
                which = np.nan_to_num(placed.ravel() - bare).astype(np.int64)
                rows, in_parts = np.flatnonzero(which), np.may_share_memory(placed, numbers)
                places = which[rows] - 1
        terms = [one.terms._replace(rows=one.terms.rows + start) for one, start in zip(met, starts, strict=False)]
        found = Noisy(self.desk, base, joined(terms).added_to(rows, places, gains), mixed)
        found.also = frozenset[int]().union(*(one.also for one in lazy))
        for one in (*lazy, found) if in_parts else ():
            one._in_parts = True
        return found

    def _moved(self, function: Callable[[Any], Any]) -> Noisy:
        """What a function of one array makes of it that moves its numbers, repeats them or leaves some out."""
        _, ones, factors, single = self.terms
        if not single or len(ones) < self.size:
            return self._mapped(lambda of: function(of(self)), [self])
        base, places, factors = [function(each.reshape(self.shape)) for each in (self.base, ones, factors)]
        flat = factors.ravel()
        terms = Terms(np.arange(flat.size), places.ravel(), flat, single=True)
        found = Noisy(self.desk, base, terms, self.mixed)
        found.also = self.also
        if not self.mixed and np.may_share_memory(places, ones):
            self._in_parts = found._in_parts = True
        return found

    def spread(self, shape: tuple[int, ...]) -> Noisy:
        """As an array of this shape."""
        return self if self.shape == shape else self._moved(lambda array: np.broadcast_to(array, shape))

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
            found = self._mapped(lambda of: function(*looked_at(args, of), **kwargs), lazy, function in ADDING_UP)
            found = found.of_all(lazy) if product else found
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

    def __index__(self) -> int:
        value = self.value()
        if float(value) != int(value):
            raise TypeError("a noisy number that is not whole is used as an index")
        return int(value)

    def __getattr__(self, name: str) -> Any:
        if name in LINEAR_METHODS and hasattr(self.base, name) and not self.settled:
            if name in ADDING_METHODS:
                return lambda *given, **named: getattr(np, name)(self, *given, **named)
            return lambda *given, **named: self._moved(lambda array: getattr(array, name)(*looked_at(given), **named))
        return super().__getattr__(name)  # any other method of an array is a look at it


def looked_at(value: Any, part: Callable[[Noisy], Any] = Noisy.value) -> Any:
    """The value, or another part, of what is lazy, also inside lists, tuples and dicts; anything else as it is."""
    if isinstance(value, Noisy):
        return part(value)
    if type(value) in (list, tuple):
        return type(value)([looked_at(one, part) for one in value])
    if type(value) is dict:
        return {key: looked_at(one, part) for key, one in value.items()}
    return value


def _on_bare_numbers(one: Noisy, other: Noisy, sign: int) -> tuple[Noisy, Noisy]:
    """For ``one + sign * other``: numbers that had no noise before, beside those that had, meet the other's noise."""
    if not one.mixed:
        return _on_bare_numbers(other, one, sign)[::-1]
    if other.mixed:
        return one, other
    bare = one.base.copy()
    bare.ravel()[one.terms.rows] = 0.0
    left = Noisy(one.desk, one.base - bare, one.terms, True)
    return left, Noisy(other.desk, other.base + sign * bare, other.terms, False)


def _at(array: Array, shape: tuple[int, ...], rows: Indices) -> Any:
    """Its numbers in these rows of what it is spread to."""
    return array if not array.ndim else np.broadcast_to(array, shape).ravel()[rows]


def _written(target: Any, found: Any) -> Any:
    """``target += noise``: an array of the code's own holds the released numbers from now on."""
    if not isinstance(target, Noisy):
        target[...] = looked_at(found)
    elif not target.ndim:
        return found  # a number stays what it is, and its other names with it
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
        self.batches: list[Batch] = []
        self._open: list[weakref.ref[Noisy]] = []  # what has met data, and may not be released yet
        self.asked: dict[str, set[int]] = {}  # by line: how many numbers, or of how many one, were drawn there
        self.kinds: list[str] = []  # of each draw
        self.lines: list[str] = []
        self._batches: list[Batch | None] = []  # the batch that was the last one when the noise was drawn
        self._draws = Table(value=float, known=bool, spent=bool, met=bool, again=bool, several=bool)
        self._sums = Table(base=float, value=float, known=bool, start=int, count=int)  # data that met noise
        self._parts = Table(draw=int, factor=float)  # of the sums, a range for each
        self._sums_with: dict[frozenset[tuple[int, float]], dict[float, int]] = {}  # by their noise and their query
        self._with_noise = 0  # how many sums are in there
        self.learnt = 0  # how often anything was made known
        self.seeds: dict[int, str] = {}  # wide whole numbers that were drawn, with their lines
        self._sown: dict[int, str] = {}  # those of them of which a generator was made

    # -- drawing ------------------------------------------------------------------------------------------
    def draw(self, kind: str, shape: tuple[int, ...], scale: Any, offset: Any) -> Any:
        """``offset + scale * noise`` with fresh noise variables; plain numbers where the line's noise is known."""
        scale = np.asarray(scale, dtype=float)
        shape = np.broadcast_shapes(shape, scale.shape, np.shape(offset))
        line = here()
        count, first = math.prod(shape), self._draws.count
        if line in self.code.known:
            numbers = self.public(line, lambda rng: np.asarray([standard(kind, rng) for _ in range(count)]))
            return as_released(np.asarray(numbers).reshape(shape) * scale + offset)
        self.kinds += [kind] * count
        self.lines += [line] * count
        self._batches += [self.batches[-1] if self.batches else None] * count
        self._draws.more(count)
        self.noticed.drawn = len(self.kinds)
        rows, factors = np.arange(count), np.broadcast_to(scale, shape).ravel()
        terms = Terms(rows, first + rows, factors, single=True).times(factors)
        noise = Noisy(self, np.zeros(shape), terms, False)
        return noise if type(offset) in (int, float) and offset == 0 else noise + offset

    def meets(self, noise: Noisy) -> Noisy:
        """Noise that meets data: the sums, each of them one for all that is computed from it."""
        if noise.mixed:
            return noise
        terms, base = noise.terms, noise.base.flatten()
        rows = new = terms.rows if terms.single else np.unique(terms.rows)
        sums = self._sums.count + np.arange(len(rows))
        again = terms.ones[self._draws["met"][terms.ones]].tolist()
        if again or len(set(terms.ones.tolist())) < len(terms.ones):
            self._draws["again"][terms.ones] = True
            self.noticed.again |= {self.lines[one] for one in again}
            sums, new = self._sums_of(terms, base)
            terms = terms.added_to(np.arange(len(new)), new)
        self._draws["met"][noise.terms.ones] = True
        counts = np.bincount(terms.rows)[terms.rows if terms.single else np.unique(terms.rows)]
        start = self._parts.more(len(terms.ones), draw=terms.ones, factor=terms.factors) + counts.cumsum() - counts
        self._sums.more(len(new), base=base[new], start=start, count=counts)
        base[rows] = 0.0
        if self._draws["known"][noise.terms.ones].any():
            self._find_known()
        return Noisy(self, base.reshape(noise.shape), Terms(rows, sums, np.ones(len(rows)), single=True), True)

    def _sums_of(self, terms: Terms, base: Array) -> tuple[Indices, Indices]:
        """Numbers of sums of noise that they may share with others, and the rows whose sum is new.

        The same data with the same noise are the same sum, as in a symmetric matrix.
        """
        later = np.arange(self._with_noise, self._sums.count)
        for number, noise in self._draws_in(later, later, np.ones(len(later))).of_rows().items():
            self._sums_with.setdefault(frozenset(noise.items()), {})[float(self._sums["base"][number])] = number
        found, new = [], list[int]()
        numbers: dict[frozenset[tuple[int, float]], set[int]] = {}
        for row, noise in terms.of_rows().items():
            key, query = frozenset(noise.items()), float(base[row])
            sums = self._sums_with.setdefault(key, {})
            before = next(iter(sums), query)
            if abs(before - query) <= _ROUNDING * (abs(before) + max(map(abs, noise.values()))):
                query = before
            if query not in sums:
                sums[query] = self._sums.count + len(new)
                new.append(row)
            found.append(sums[query])
            numbers.setdefault(key, set()).add(sums[query])
        self._with_noise = self._sums.count + len(new)
        self._draws["several"][[draw for key, sums in numbers.items() if len(sums) > 1 for draw, _ in key]] = True
        return np.array(found, dtype=np.int64), np.array(new, dtype=np.int64)

    def drawn_batch(self, draw: Callable[[], Batch]) -> Indices:
        """Draw a secret batch. What is open is released before: when it is must not depend on the batch."""
        pending, self._open = [one for ref in self._open if (one := ref()) is not None], []
        for noisy in pending:
            self.released(noisy)
        self.batches.append(draw())
        return self.batches[-1].indices

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
        if noisy.also and not noisy.mixed:
            also = np.array(sorted(noisy.also))
            _, hidden = self._expanded(Terms(0 * also, also, np.ones(len(also)), single=False), 1, False)
            if len(hidden.ones):
                self._make_public(hidden.ones.tolist())
        flat, terms = self._resolved(noisy)
        if not len(terms.rows):
            return flat
        part = flat if handed_out or self.code.whole_numbers else np.zeros(len(flat))
        rows, firsts, which = _merged(part, terms)
        asked, count = terms, len(firsts)
        if count < len(flat):
            asked = terms.added_to(np.arange(count), firsts)
        query, noise = self._expanded(asked, count, noisy.mixed)
        if (len(noise.rows) if noise.single else len(set(noise.rows.tolist()))) < count:  # its noise is off again
            bare = np.isin(which, noise.rows, invert=True)
            rest, left = flat.copy(), np.isin(terms.rows, rows[bare], invert=True)
            rest[rows[bare]] += query[which[bare]]
            return self._told(Noisy(self, rest, terms.where(left), noisy.mixed), handed_out)
        if noisy.mixed and not np.count_nonzero(self._draws["several"][noise.ones]):
            own = asked if asked.single else asked.where(np.bincount(asked.rows)[asked.rows] == 1)
            values = self._drawn_onto(query + part[firsts], noise, len(own.rows) == len(asked.rows))
            if values is not None:
                self._sums["value"][own.ones] = (values - part[firsts])[own.rows] / own.factors
                self._sums["known"][own.ones] = True
                self.learnt += 1
                found = part.copy()
                found[rows] = values[which]
                return flat - part + found
            sums = np.array(list(dict.fromkeys(asked.ones.tolist())))
            if len(sums) < len(asked.ones):
                each = Terms(np.arange(len(sums)), sums, np.ones(len(sums)), single=True)
                self.released(Noisy(self, np.zeros(len(sums)), each, True))
                return self._told(noisy, handed_out)
        self.noticed.shared_out |= noisy.mixed and handed_out
        self._make_public(sorted(set(noise.ones.tolist())))
        return self._resolved(noisy)[0]

    def known(self, noisy: Noisy) -> Bools:
        """Which of its terms are known."""
        found: Bools = (self._sums if noisy.mixed else self._draws)["known"][noisy.terms.ones]
        return found

    def _find_known(self) -> None:
        """A sum all of whose draws are known is known."""
        left = np.flatnonzero(~self._sums["known"][: self._sums.count])
        rows, draws, factors, _ = self._draws_in(np.arange(len(left)), left, np.ones(len(left)))
        told = np.bincount(rows, ~self._draws["known"][draws], len(left)) == 0
        values = self._sums["base"][left] + np.bincount(rows, factors * self._draws["value"][draws], len(left))
        self._sums["value"][left[told]], self._sums["known"][left[told]] = values[told], True

    def _resolved(self, noisy: Noisy) -> tuple[Array, Terms]:
        """The numbers with what is known put in, and their unknown terms."""
        terms, flat, known = noisy.terms, noisy.base.ravel(), self.known(noisy)
        if not np.count_nonzero(known):
            return flat, terms
        values = (self._sums if noisy.mixed else self._draws)["value"][terms.ones]
        if not noisy.mixed:
            met = self._draws["met"][terms.ones] & known
            self.noticed.again |= {self.lines[one] for one in terms.ones[met].tolist()}
        if terms.single and np.count_nonzero(known) == len(flat):  # all of it
            return flat + terms.factors * values, terms.where(~known)
        return flat + np.bincount(terms.rows[known], (terms.factors * values)[known], noisy.size), terms.where(~known)

    def _draws_in(self, rows: Indices, sums: Indices, factors: Array) -> Terms:
        """Terms in sums as terms in draws."""
        if self._parts.count == self._sums.count and len(set(rows.tolist())) == len(rows):  # each is of one draw
            return Terms(rows, self._parts["draw"][sums], factors * self._parts["factor"][sums], single=True)
        which, at = ranges(self._sums["start"][sums], self._sums["count"][sums])
        return collected(rows[which], self._parts["draw"][at], factors[which] * self._parts["factor"][at])

    def _expanded(self, terms: Terms, count: int, of_sums: bool) -> tuple[Array, Terms]:
        """So many sums as their queries, and the unknown draws that protect them."""
        queries: Any = np.zeros(count)
        if of_sums:
            queries = np.bincount(terms.rows, terms.factors * self._sums["base"][terms.ones], count)
            terms = self._draws_in(*terms[:3])
        spent = self._draws["spent"][terms.ones]
        if spent.any():
            why = "is used again after a released value or a comparison told a part of it; draw it anew,"
            raise NotUnderstood("noise", self.lines[terms.ones[spent][0]], f"{why} {WAY_OUT}")
        known = self._draws["known"][terms.ones]
        if known.any():
            values = (terms.factors * self._draws["value"][terms.ones])[known]
            queries, terms = queries + np.bincount(terms.rows[known], values, count), terms.where(~known)
        return queries, terms

    def _drawn_onto(self, query: Array, noise: Terms, single: bool) -> Array | None:
        """The numbers released with this noise, of single sums or not; None where some of it determines the rest."""
        draws = list(dict.fromkeys(noise.ones.tolist()))
        single = single and len(draws) == len(query)
        if len(draws) == len(noise.ones):  # none is shared
            kind, scales = law_of_noise(self.kinds, noise, len(query))
            values = np.ravel(self._tell(kind, query, scales, draws))
            solved: Any = (values - query) / noise.factors if single else None
        else:
            factors = np.zeros((len(query), len(draws)))
            factors[noise.rows, [draws.index(one) for one in noise.ones.tolist()]] = noise.factors
            kinds = {self.kinds[one] for one in draws}
            root = square_root(factors, kinds)
            if root is None:
                return None
            white = np.asarray(np.linalg.solve(root, query), dtype=np.float64)
            values = root @ np.ravel(self._tell(kinds.pop(), white, np.ones(len(query)), draws))
            solved = np.linalg.solve(factors, values - query) if single else None
        self._learnt(draws, solved)
        return values

    def _learnt(self, draws: list[int], values: Any, in_sums: bool = False) -> None:
        """What draws are, or, with None, that something was told of them; other sums may have them, too."""
        if values is None:
            self._draws["spent"][draws] = True
        else:
            self._draws["value"][draws], self._draws["known"][draws] = values, True
            self.learnt += 1
            if in_sums or np.count_nonzero(self._draws["again"][draws]):
                self._find_known()

    def _tell(self, kind: str, query: Array, scales: Array, draws: list[int]) -> Any:
        """What comes back for these numbers; those with different noise are released in units of their noise."""
        label = self._label(draws)
        numbers = np.concatenate([query, scales])
        if np.count_nonzero(np.isfinite(numbers)) < len(numbers):
            endless = numbers[~np.isfinite(numbers)][0]
            raise BadInput("release", label, f"would be {endless}, on data that the claim covers: {ENDLESS}")
        alike = np.count_nonzero(scales == scales[0]) == len(scales)
        scale, size = (float(scales[0]), 1.0) if alike else (1.0, scales)
        known: dict[str, Any] = {"sensitivity": self.code.sensitivity(label, scale), "batch": self._declared(draws)}
        if kind == "normal":
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
        flat, terms = self._resolved(noisy)
        if not noisy.mixed or not 0 < len(set(terms.rows.tolist())) == noisy.size:
            return int(np.argmax(self.released(noisy)))
        query, noise = self._expanded(terms, noisy.size, True)
        kind, scales = law_of_noise(self.kinds, noise, noisy.size, one_each=True)
        draws = noise.ones.tolist()
        law, label = largest(kind, query + flat, scales), self._label(draws)
        self._learnt(draws, None)
        sensitivity = self.code.sensitivity(label, law.scale_of_noise)
        return int(self.tape.release(label, law, sensitivity=sensitivity, batch=self._declared(draws)))

    def _make_public(self, draws: list[int]) -> None:
        label = self._label(draws)
        self.noticed.alone.add(label)

        def make(rng: np.random.Generator) -> Array:
            return np.asarray([standard(self.kinds[one], rng) for one in draws])

        self._learnt(draws, self.public(label, make), in_sums=True)

    def public(self, label: str, make: Callable[[np.random.Generator], Any], of_records: bool = False) -> Any:
        """A draw that counts as known to the adversary; each world has its own where it is tried what depends on it."""
        self.noticed.public[label] = self.noticed.public.get(label, False) or of_records
        return self.tape.public(label, make) if self.shaken is None else make(self.shaken)

    def _declared(self, draws: list[int]) -> tuple[Batch, ...] | None:
        """The secret batches that the query may depend on: the last ones when its noise was drawn, or all."""
        if self._label(draws) not in self.code.sampled:
            return None
        if self._label(draws) in self.code.several:
            return tuple(self.batches)
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
        terms = self._draws_in(*noisy.terms[:3]) if noisy.mixed else noisy.terms
        found: list[int] = terms.ones.tolist()
        return found


def _merged(part: Array, terms: Terms) -> tuple[Indices, Indices, Indices]:
    """Numbers with the same query and the same noise are one: those with noise, which stand for all, which for each."""
    if len(set(terms.ones.tolist())) == len(terms.ones):  # no two have the same noise
        rows = terms.rows if terms.single else np.unique(terms.rows)
        return rows, rows, np.arange(len(rows))
    places: dict[tuple[float, frozenset[tuple[int, float]]], int] = {}
    numbers = terms.of_rows()
    firsts, which = list[int](), []
    for row, noise in numbers.items():
        which.append(places.setdefault((float(part[row]), frozenset(noise.items())), len(firsts)))
        firsts += [row] if which[-1] == len(firsts) else []
    return np.array(list(numbers)), np.array(firsts), np.array(which)


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
    if isinstance(output, np.ndarray) and output.dtype == object:
        return change(output.tolist())
    if hasattr(output, "to_numpy") and hasattr(output, "axes"):  # a frame or a series of pandas
        return [change(output.to_numpy()), *map(list, output.axes)]
    slots = [vars(one).get("__slots__", ()) for one in type(output).__mro__]
    names = {
        *getattr(output, "__dict__", ()),
        *(name for one in slots for name in ((one,) if isinstance(one, str) else one)),
    }
    if not names:
        return {} if hasattr(output, "__dict__") and not callable(output) else output
    return {name: change(getattr(output, name)) for name in sorted(names) if hasattr(output, name)}
