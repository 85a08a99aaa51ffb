"""Rules for indexing and for arrays in other shapes. What keeps numbers keeps bounds; a part is at most the whole."""

import math
from dataclasses import replace
from functools import partial, reduce
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from .arithmetic import add, compared, constant, edges, where
from .derivation import Open, refuse
from .facts import INF, NAMED, PRIVATE_NUMBER, PRIVATE_TURNS, SOMETHING, ZERO, Form, Norms, Origin, Records, rows_of
from .kinds import unusual
from .reductions import axes_of, left, replaced
from .table import of_value
from .value import Value, alike, bare, is_number, is_real, join, ledger_of, noted, plain, private, rule, seen_as, united


class Hidden(NDArrayOperatorsMixin):
    """What depends on which records are in a secret batch; nobody may look at it."""

    __class__ = seen_as(lambda self: np.ndarray)
    cells = ()  # it is a draw

    def _secret(self, *_: Any, **__: Any) -> Any:
        raise Open("a secret batch is used for more than choosing records; choose them: rows[batch]")

    __array__ = __bool__ = __index__ = __int__ = __float__ = __hash__ = __array_ufunc__ = __array_function__ = _secret
    __str__ = __repr__ = __format__ = __reduce_ex__ = _secret


class Batch(Hidden):
    """The places of a secret choice of records: they may index private data, and nothing else.

    Attributes:
        answers: a truth value a record, if they are coins: they may hide what there is of it, and then choose none.
        of: the records of which it is drawn, where their number is private.
    """

    answers: Any = None

    def __init__(self, number: int, count: int, total: int, poisson: bool, records: Any = None, of: Any = None):
        self.number, self.count, self.total, self.poisson, self.of = number, count, total, poisson, of
        self._records: Records = records or Records(count=None if poisson else count)

    @property
    def records(self) -> Records:
        """Those that are chosen: from now on its coins hide nothing else."""
        for coin in () if self.answers is None else self.answers.coins:
            coin.serve("records")
        return self._records

    @property
    def draws(self) -> frozenset[int]:
        """Of what is made of its records; one that is left out of the data is nothing in a batch."""
        return frozenset({self.number} if self.of else {self.number, SOMETHING})

    def __len__(self) -> int:
        of_batch = "the size of a Poisson batch is private; divide by its expected size, or cut it by np.array_split"
        refuse(self.poisson, PRIVATE_NUMBER if self.number < 0 else of_batch)
        return self.count

    size = property(lambda self: len(self))

    def __iter__(self) -> Any:
        refuse(self.poisson, PRIVATE_TURNS)
        return (Place(self, number) for number in range(len(self)))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            return self.some(range(len(self))[key])
        return Place(self, range(len(self))[key]) if isinstance(key, int | np.integer) else self._secret()

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        return _split(function, *args) if function is _CUT and not options else self._secret()

    def some(self, places: Any) -> "Batch":
        """Of a batch of public size those at these places."""
        refuse(sorted(places) != [*places], "a secret batch in another order has no rule")
        return Batch(self.number, len(places), self.total, False, records=self.records.some(places))

    def astype(self, *given: Any, **options: Any) -> Any:
        """Places stay places."""
        return self if np.dtype(*given, **options).kind == "i" else self._secret()


class Mask(Hidden):
    """Truth values that choose a Poisson batch; or numbers of its records, and zeros in place of all others.

    What is linear in them is what it makes of the records of the batch alone. Or they are coins that hide answers.
    """

    def __init__(self, batch: Batch, truth: bool = True, value: Value | None = None):
        self.batch, self.truth, self.given = batch, truth, value

    @property
    def value(self) -> Value:
        """Of the records of the batch: of each a one, if nothing else is given."""
        of, ends = self.batch, {"low": 1.0, "high": 1.0, "integer": True}
        ones: dict[str, Any] = {"move": ZERO, "draws": of.draws, "absent": "lacking", **ends}
        return Value((of.total,), -1, of.records, **ones) if self.given is None else self.given

    T = property(lambda self: Mask(self.batch, False, self.value.T))

    def __getattr__(self, name: str) -> Any:
        if name in ("sum", "dot"):
            return partial(getattr(np, name), self)
        return self._secret() if hasattr(np.ndarray, name) else object.__getattribute__(self, name)

    def __getitem__(self, key: Any) -> Any:
        return self._linear(lambda one: one[key], (self,), {})

    def astype(self, *given: Any, **options: Any) -> Any:
        """Numbers that are 0 or 1 choose no records."""
        return Mask(self.batch, np.dtype(*given, **options).kind == "b") if self.given is None else self._secret()

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "reduce" and ufunc is np.add:
            return self._linear(np.sum, inputs, {"axis": 0, **options})
        linear = ufunc in (np.multiply, np.matmul) or (ufunc is np.true_divide and not isinstance(inputs[1], Hidden))
        if linear and method == "__call__" and not options and (ufunc is np.matmul or any(map(_many, inputs))):
            return self._linear(ufunc, inputs, options)
        return self._as_answers(getattr(ufunc, method), inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in _PLACES and len(args) == 1 and self.given is None and not options:
            return self.batch if function is _PLACES[-1] else (self.batch,)
        if function is _PLACES[0] and len(args) == 3 and any(map(_many, args[:2])):
            ones = isinstance(args[0], Mask) and args[0].value.low == args[0].value.high == 1
            return args[0] * args[1] if ones and not (private(args[2]) or np.any(args[2])) else self._secret()
        return (self._linear if function in _LINEAR else self._as_answers)(function, args, options)

    def _linear(self, function: Any, args: Any, options: Any) -> Any:
        found = function(*map(self._chosen, args), **options)
        return found if found.at is None else Mask(self.batch, False, found)

    def _chosen(self, one: Any) -> Any:
        """What there is of it in the batch."""
        if isinstance(one, Mask):
            return one.value if one.batch is self.batch else self._secret()
        if private(one):
            return taken(one.T, self.batch).T if one.ndim == 2 and one.at == -1 else taken(one, self.batch)
        return one

    def _as_answers(self, function: Any, args: Any, options: Any) -> Any:
        """Coins in place of the batch."""
        masks = [one for one in args if isinstance(one, Mask)]
        if any(one.given is not None or one.batch.answers is None for one in masks):
            self._secret()
        coins = [one.batch.answers.astype(bool if one.truth else int) if isinstance(one, Mask) else one for one in args]
        return function(*coins, **options)


def _many(one: Any) -> bool:
    """Is it private, and no coin hides it?"""
    return one.given is not None if isinstance(one, Mask) else private(one) and of_value(one) is None


_PLACES = np.where, np.nonzero, np.flatnonzero  # the names stand for others while code is followed
_LINEAR = {np.sum, np.dot, np.einsum}


class Place(Batch):
    """Whatever record stands at one place of a secret batch; of a Poisson batch, at any."""

    def __init__(self, batch: Batch, number: int):
        place = Records(batch=batch.records, places=frozenset({number}))
        super().__init__(batch.number, batch.count, batch.total, batch.poisson, records=place)
        self.batch, self.place = batch, number

    __class__ = seen_as(lambda self: np.int64)
    __iter__ = __len__ = __getitem__ = astype = Batch._secret


class Parts(Hidden):
    """What a private number of records is cut into: nobody knows which one stands where; each does so once."""

    def __init__(self, each: Any, records: Records):  # a part, or what is made of it, whichever it is
        self.each, self.records = each, records

    @property
    def total(self) -> Value:
        """The sum of what is made of each part, as of all of them: where they are cut is of no account."""
        made = self.each
        sums = private(made) and made.records is self.records and made.adds and not made.holes
        refuse(not sums, "of each micro-batch a sum over its records may be added up, and nothing else")
        found: Value = made.kept(records=made.records.whole, vanishes=made.vanishes, origin=made.origin, adds=True)
        return found

    def __iter__(self) -> Any:
        raise Open(PRIVATE_TURNS)

    __class__ = seen_as(lambda self: list)


def _part_of(whole: Any, records: Records) -> Any:
    if isinstance(whole, Batch):
        return Batch(whole.number, whole.count, whole.total, True, records=records, of=whole.of)
    refuse(whole.at != -whole.ndim or whole.holes, "a part of something else than records")
    return _named(whole.kept(records=records, truth=whole.truth, vanishes=whole.vanishes), whole, records)


def taken(a: Value, batch: Batch) -> Value:
    """The records of a secret batch; which ones is accounted by its draw."""
    in_order = a.records.order is None and np.array_equal(a.records.numbers, np.arange(batch.total))
    every = a.records is batch.of if a.absent else in_order
    refuse(a.at != -a.ndim or not every or a.draws != {-1}, "a secret batch of something else than all the records")
    a.solid()
    shape = (batch.total if batch.poisson else batch.count, *a._shape[1:])
    absent = "lacking" if batch.poisson else ""
    # another record may come in its place: what is known of each record counts, not how far one of them moves
    known = {"move": Norms(), "truth": a.truth, "vanishes": a.vanishes}
    found = a.kept(shape=shape, records=batch.records, draws=batch.draws, absent=absent, **known)
    return _named(found, a, batch.records)


def _named(found: Value, of: Value, *part: Any) -> Value:
    """The same part of the same rows is the same rows, however often it is written, and so many times as they are."""
    found.token = NAMED.setdefault((of.token, *part), object())
    if of.weighted is not None:
        token, *weights = of.weighted
        found.weighted = (NAMED.setdefault((token, *part), object()), *weights)
    return found


def one_of(records: Value, place: Records) -> Value:
    """One of them, whichever it is."""
    known = {"at": None, "absent": "", "truth": records.truth, "vanishes": records.vanishes}
    found = records.kept(shape=records._shape[1:], records=place, **known)
    return _named(found, records, place.key)


def index(a: Value, key: Any) -> Value:
    """Part of an array: norms and movements of a part are at most those of the whole."""
    if ledger_of(key) is not None:
        return _by_drawn(a, key if isinstance(key, tuple) else (key,))
    key = bare(key)
    if isinstance(key, Place):
        chosen = taken(a, key.batch)
        return one_of(chosen, key.records) if key.poisson else index(chosen, key.place)
    if isinstance(key, Mask):
        if not key.truth or key.given is not None:
            raise Open("numbers that are 0 or 1 choose the first two records, and no batch; make them truth values")
        key = key.batch
    if isinstance(key, Batch):
        return taken(a, key)
    several = isinstance(key, tuple) and key and (isinstance(key[0], Hidden) or private(key[0]))
    if several and {*map(type, key[1:])} <= {int, slice}:
        chosen = index(a, key[0])
        return index(chosen, key[1:] if isinstance(key[0], Place) else (slice(None), *key[1:]))
    keys = of_each_axis(key, a.ndim)
    if any(private(one) for one in keys):
        return _masked(a, key)
    refuse(any(isinstance(one, bool | np.bool_) for one in keys), "an index by one truth value has no rule")
    if a.at is None or _is_all(keys[_position(a, keys)]):
        return _part(a, keys).view_of(a)
    found, rest = _some_records(a, keys, _position(a, keys))
    return (found if all(map(_is_all, rest)) else _part(found, rest)).view_of(a)


def of_each_axis(key: Any, ndim: int) -> tuple[Any, ...]:
    """An index in full: a key for each axis, or several, and None for each new one."""
    keys = key if isinstance(key, tuple) else (key,)
    given = [one.ndim if str(getattr(one, "dtype", "")) == "bool" else 1 for one in keys if one is not None]
    rest = (slice(None),) * (ndim - sum(given) + sum(one is Ellipsis for one in keys))
    place = next((number for number, one in enumerate(keys) if one is Ellipsis), len(keys))
    return (*keys[:place], *rest, *keys[place + 1 :])


def _is_all(one: Any) -> bool:
    return isinstance(one, slice) and one == slice(None)


def _position(a: Value, keys: tuple[Any, ...]) -> int:
    """Where in the keys the record axis is."""
    axes = [number for number, one in enumerate(keys) if one is not None]
    if a.at is None or len(axes) != a.ndim:
        raise Open("this index of records has no rule")
    return axes[a.at]


def _by_drawn(a: Value, keys: tuple[Any, ...]) -> Value:
    """By released numbers or public draws: bounds hold for all of them, and not for those of this run."""
    drawn = [place for place, one in enumerate(keys) if ledger_of(one) is not None]
    orders = [keys[place].order for place in drawn]
    apart = any(np.ndim(keys[place]) and order is None for place, order in zip(drawn, orders, strict=True))
    if apart or any(one is None or one is Ellipsis for one in keys):
        raise Open("an index by released values or public draws, which may take an entry twice, has no rule")
    numbers = tuple(one[()] if isinstance(one, np.ndarray) else one for one in bare(keys))
    if a.at is None or a.at + a.ndim not in drawn:
        found = index(a, numbers)
        named = a.token, *(id(one) if ledger_of(one) is not None else str(one) for one in keys)
        same = all(is_number(keys[place]) for place in drawn)  # for as long as the name of the number is kept
        found.origin, (found.token, _) = None, NAMED.setdefault(named, (object(), keys)) if same else (object(), keys)
        return found
    a._counted()
    refuse(a.records.numbers is None, "a part of a secret batch has no rule")
    of, places = orders[drawn.index(a.at + a.ndim)] or (object(), np.arange(1))
    of = NAMED.setdefault((of, a.records.order, a.records.numbers.tobytes()), object())
    renamed = a.copy()
    renamed.records = Records(np.arange(a._shape[a.at]))
    found = index(renamed, numbers)
    found.records, found.origin = Records(np.ravel(places), order=of), None
    named = a.token, of, np.asarray(places).tobytes()
    found.token = NAMED.setdefault(named, object()) if keys[1:] == () else object()
    return found


def _part(a: Value, keys: tuple[Any, ...]) -> Value:
    """The record axis is not touched."""
    at, arrays = a.at, [one for one in keys if np.ndim(one)]
    if at is not None:
        if arrays and (np.ndim(arrays[0]) > 1 or sum(not isinstance(one, slice) for one in keys) > 1):
            raise Open("this index of records has no rule")
        after = keys[_position(a, keys) :]
        at += sum(isinstance(one, int | np.integer) for one in after) - sum(one is None for one in after)
    shape = np.broadcast_to(np.float64(0), a._shape)[keys].shape
    refuse(arrays and _repeats(_places(a._shape)[keys]), "an index that takes an entry twice has no rule")
    same = math.prod(shape) == math.prod(a._shape)
    found = a.kept(shape=shape, at=at, forms=a.forms if same else (), holes=a.holes, truth=a.truth)
    found.sides = rows_of(a.sides) if same else None
    if a.at is None and (a.origin is None or a.origin.places.shape == a._shape):
        origin = a.origin or Origin(a, _places(a._shape))
        found.origin = origin._replace(places=origin.places[keys])
    if same and all(one is None or _is_all(one) for one in keys):
        found.token = a.token
    elif not arrays:
        _named(found, a, a._shape, str(keys))
    return found


def _repeats(places: Any) -> bool:
    return len(np.unique(places)) < np.size(places)


def _places(shape: tuple[int, ...]) -> Any:
    return np.arange(math.prod(shape)).reshape(shape)


def _some_records(a: Value, keys: tuple[Any, ...], position: int) -> tuple[Value, tuple[Any, ...]]:
    """By public numbers, slices or masks, and the keys that are left; one record is no record axis any more."""
    assert a.at is not None
    one, others = keys[position], (*keys[:position], *keys[position + 1 :])
    refuse(np.ndim(one) and any(map(np.ndim, others)), "an index of records by several arrays has no rule")
    a._counted()
    axis, count, numbers = a.at + a.ndim, a._shape[a.at], a.records.numbers
    places = np.arange(count)[one]
    refuse(np.ndim(places) > 1, "this index of records has no rule")
    refuse(_repeats(places), "a public choice that takes a record twice has no rule; choose without replacement")
    if numbers is not None:
        chosen = Records(np.atleast_1d(numbers[places]), order=a.records.order)
    else:
        in_order = a.records.count == count and np.all(np.diff(np.atleast_1d(places)) > 0)
        refuse(not in_order, "a part of a secret batch has no rule, but for places in order")
        chosen = a.records.some(places)
    at = a.at if np.ndim(places) else None
    shape = (*a._shape[:axis], *np.shape(places), *a._shape[axis + 1 :])
    found = a.kept(shape=shape, at=at, records=chosen, truth=a.truth, holes=a.holes)
    if at is None:
        return _named(found, a, a._shape, a.at, chosen.key), others
    return found, (*keys[:position], slice(None), *keys[position + 1 :])


def _masked(a: Value, mask: Any) -> Value:
    """Records that a private truth value per record chooses: how many there are is private from here on."""
    mask = mask if getattr(mask, "chooses", None) is None else mask.chooses
    if not private(mask) or not mask.truth or mask.ndim != 1 or mask.at != -1 or a.at != -a.ndim:
        raise Open("a private index has no rule; select with a truth value per record")
    if not mask.records.same(a.records) or mask.absent != a.absent or mask.holes or a.holes:
        raise Open("a private index of other records")
    absent, records = a.absent or "masked", _chosen_by(a, mask)
    cell = None if mask.cell is None else mask.cell._replace(chosen=True)
    forms = [one for one in a.forms if one.kind in ("above", "norm", "below", "squares", "positive")]
    forms = [replace(one, token=NAMED.setdefault((one.token, mask.token), object())) for one in forms]
    weighted = a.weighted and (NAMED.setdefault((a.weighted[0], mask.token), object()), *a.weighted[1:])
    (low, high), positive = (-INF, INF), False
    if mask.sides is not None and mask.sides[0] is a.token and mask._shape == a._shape:
        (low, high), positive = mask.sides[2].ends, a.token in mask.sides[2].positive
    forms += [Form("positive", None, 0, 0.0)] * (positive and a.low >= 0)
    known = {"truth": a.truth, "cell": cell, "forms": tuple(forms), "weighted": weighted}
    known |= {"low": max(a.low, low), "high": min(a.high, high), "draws": a.draws | mask.draws}
    return _named(a.kept(records=records, absent=absent, **known), a, mask.token)


def _chosen_by(a: Value, mask: Value) -> Records:
    found: Records = NAMED.setdefault((a.records, mask.token, a.absent or "masked"), Records())
    return found


@rule(np.flatnonzero)
def places_of(mask: Value) -> Value:
    """The places of the records that it chooses, which are no other ones for a neighbour."""
    mask = mask if mask.truth else compared(mask, 0.0)
    if mask.ndim != 1 or mask.at != -1 or mask.absent:
        raise Open("np.where of private data gives a private number of places")
    found = _masked(constant(np.arange(len(mask)), mask, mask._shape), mask)
    found.integer, found.chooses = True, mask
    return found


rule(np.nonzero)(lambda a: (places_of(a),))


def assign(a: Value, key: Any, given: Any) -> None:
    """``a[mask] = b``: entries of one or the other. The value itself changes."""
    if ledger_of((key, given)) is not None:
        raise Open("an assignment of released values or public draws to private data has no rule; use np.where")
    key, given = bare(key), bare(given)
    refuse(a.integer or a.truth, "an assignment to private whole numbers or truth values has no rule; make them float")
    of_each = private(key) and key.truth and key.ndim == 1 and key.at == -1 and a.at == -a.ndim
    if of_each and private(given) and given.records is _chosen_by(a, key) and given.at == a.at:
        given = given.kept(records=a.records, absent=a.absent, holes=given.holes)  # what each is, if it is chosen
    elif not (private(key) and key.truth and (of_each or key._shape == a._shape) and np.size(given) == 1):
        a.changed(_replaced_part(a, key, given))
        return
    a.changed(where(key if key._shape == a._shape else key[(slice(None), *(None,) * (a.ndim - 1))], given, a))


def _replaced_part(a: Value, key: Any, given: Any) -> Value:
    keys = key if isinstance(key, tuple) else (key,)
    if any(private(one) or isinstance(one, Hidden) for one in keys) or a.holes:
        raise Open("this assignment to private data has no rule")
    given = given.solid() if private(given) else given
    refuse(a.absent, "an assignment to records whose number is private")
    part = np.broadcast_to(np.float64(0), a._shape)[keys].shape
    if not private(given):
        low, high = float(np.min(plain(given))), float(np.max(plain(given)))
        one = a.like(size=Norms(sup=max(abs(low), abs(high))), move=ZERO, low=low, high=high, cause="")
    elif a.at is not None and given.at == a.at and given._shape == part and given.records.same(a.records):
        of_records = np.arange(a._shape[a.at]).reshape(-1, *(1,) * (-1 - a.at))
        if not np.array_equal(np.broadcast_to(of_records, a._shape)[keys], np.broadcast_to(of_records, part)):
            raise Open("an assignment of records to other ones has no rule")
        one = given
    elif a.at is None and given.at is None and given._shape == part:
        one = given
    else:
        raise Open("this assignment to private data has no rule")
    if part == a._shape and all(_is_all(one) or one is Ellipsis for one in keys):  # nothing of it is left
        return united((one,), a._shape, one.norms, one.move)
    return united((a, one), a._shape, a.norms.beside(one.norms), a.move.beside(one.move))


def _got(a: Value, key: Any) -> Value:
    a._not_hollow()
    found = index(a.now(), key)
    found.integer = a.integer
    if not found._shape and isinstance(key, tuple) and any(one is Ellipsis for one in key):
        unusual()
    if found.at is not None and found.records.same(a.records):
        found.cell = found.cell or a.cell
    noted("index", found)
    return found


@rule(np.transpose)
def transpose(a: Value, axes: Any = None) -> Value:
    """The same numbers."""
    order = tuple(range(a.ndim))[::-1] if axes is None else tuple(one % a.ndim for one in axes)
    at = None if a.at is None else order.index(a.at + a.ndim) - a.ndim
    found = replaced(a, tuple(a._shape[one] for one in order), at)
    if a.origin is not None and a.at is None:
        found.origin = a.origin._replace(places=a.origin.places.transpose(order))
    kept = [one for one in order if a._shape[one] > 1 and (a.at is None or one != a.at + a.ndim)]
    if kept != sorted(kept) and not a.symmetric:  # the numbers of a record stand in another order
        found.token, found.weighted = object(), None
    return found.view_of(a)


@rule(np.reshape)
def reshape(a: Value, shape: Any = None, order: Any = "C", newshape: Any = None) -> Value:
    """The same numbers; the record axis stays where it is the first one, and of the same length."""
    shape = newshape if shape is None else shape
    first = shape[0] if isinstance(shape, tuple | list) and shape else None
    same = isinstance(first, Value) and first.count and first.records.same(a.records)
    same = same or (type(first) is int and first == -1 and math.prod(shape[1:]) == a.entries > 0)
    if a.absent and a.at == -a.ndim and same:
        refuse(-1 in shape[1:], "where no record is drawn, reshape does not know what -1 is: name the number")
        shape = (a._shape[0], *shape[1:])
    else:
        a._counted()
    wanted = np.broadcast_to(np.float64(0), a._shape).reshape(shape).shape
    if a.at is not None and not (a.at == -a.ndim and wanted and wanted[0] == a._shape[0]):
        a = a.whole()
    refuse(order != "C", "reshape in another order has no rule")
    if not wanted:
        unusual()
    at = None if a.at is None else -len(wanted)
    found = replaced(a, wanted, at)
    if found.entries != 1:
        found.forms = ()
    return found.view_of(a)


rule(np.ravel)(lambda a, order="C": reshape(a, -1, order))


@rule(np.squeeze)
def squeezed(a: Value, axis: Any = None) -> Value:
    """The same numbers."""
    axes = tuple(k - a.ndim for k, s in enumerate(a._shape) if s == 1) if axis is None else axes_of(a, axis)
    a = a.whole() if a.at in axes else a
    return replaced(a, *left(a, axes, False)).view_of(a)


@rule(np.expand_dims)
def expanded(a: Value, axis: int) -> Value:
    """The same numbers."""
    place = axis if axis >= 0 else axis + a.ndim + 1
    return index(a, (*(slice(None),) * place, None))


rule(np.atleast_1d)(lambda a: a if a.ndim else reshape(a, (1,)))


@rule(np.take)
def take(a: Value, indices: Any, axis: Any = None) -> Value:
    """As an index; to which truth values are the places 0 and 1."""
    batch = isinstance(indices, Batch)
    if private(indices) or (not batch and np.asarray(indices).dtype.kind != "i"):
        raise Open("np.take by what is no place")
    refuse(axis not in (0, -a.ndim) and not (axis is None and a.ndim == 1), "np.take is followed along the first axis")
    return index(a, indices)


@rule(np.concatenate)
def concatenate(arrays: Any, axis: int | None = 0) -> Value:
    """Entries next to each other: 1-norms add, squares of 2-norms add, the larger sup-norm."""
    given = [one for one in arrays if private(one)]
    first = given[0]
    if axis is None:
        raise Open("np.concatenate over all axes has no rule")
    place = axis if axis < 0 else axis - first.ndim
    length = sum((one._shape if private(one) else np.shape(one))[place] for one in arrays)
    shape = tuple(length if k - first.ndim == place else s for k, s in enumerate(first._shape))
    for one in given:
        one.solid()
    if place == first.at and len(given) == len(arrays) and not any(one.absent or one.at != place for one in given):
        records = Records.in_turn([one.records for one in given])
        if len(given) == 1 or records is not None:
            return _one_after_another(given, shape, place, records or first.records)
    rows = first.at is not None and place != first.at and alike(given)
    if len(given) < len(arrays):
        first._counted()
    known = first if rows else first.whole()
    parts = [
        (one if rows else one.whole()) if private(one) else constant(plain(one), known, np.shape(one)) for one in arrays
    ]
    return _next_to_each_other(parts, shape)


def _one_after_another(given: list[Value], shape: tuple[int, ...], at: int, records: Records) -> Value:
    """Records, or blocks of them: each is as it was."""
    size, move = reduce(Norms.either, (one.norms for one in given)), reduce(Norms.either, (one.move for one in given))
    return united(given, shape, size, move, at=at, records=records, vanishes=all(one.vanishes for one in given))


def _next_to_each_other(parts: list[Value], shape: tuple[int, ...]) -> Value:
    size, moving = reduce(Norms.beside, (one.norms for one in parts)), [one for one in parts if one.move.two > 0]
    return united(parts, shape, size, _moves_together(parts), **join(*moving or parts[:1]))


def _moves_together(parts: list[Value]) -> Norms:
    """Different entries of one array move no further than it does."""
    groups: dict[int, list[Value]] = {}
    for one in parts:
        groups.setdefault(id(one if one.at is not None or one.origin is None else one.origin.whole), []).append(one)
    found = ZERO
    for group in groups.values():
        move = reduce(Norms.beside, (one.move for one in group))
        origins = [one.origin or Origin(one, _places(one._shape)) for one in group if one.at is None]
        if len(origins) > 1 and not _repeats(np.concatenate([np.ravel(one.places) for one in origins])):
            move = move.both(origins[0].whole.move.by(max(one.factor for one in origins)))
        found = found.beside(move)
    return found


@rule(np.stack)
def stack(arrays: Any, axis: int = 0) -> Value:
    """As np.concatenate along a new axis."""
    ndim = max(one.ndim if private(one) else np.ndim(one) for one in arrays)
    place = axis if axis >= 0 else axis + ndim + 1
    alone = [one for one in arrays if private(one) and one.alone and not one.holes]
    records = Records.in_turn([one.records for one in alone]) if place == 0 and len(alone) == len(arrays) else None
    if records is not None and len({one._shape for one in alone}) == 1:
        found = _one_after_another(alone, (len(alone), *alone[0]._shape), -alone[0].ndim - 1, records)
    else:
        new = [expanded(one, place) if private(one) else np.expand_dims(plain(one), place) for one in arrays]
        found = concatenate(new, axis=place)
    if place == 0:  # the numbers that they are now
        found.parts = tuple(one.astype(float) if private(one) else plain(one).copy() for one in arrays)
    return found


def of_table(table: Any, places: Value) -> Value:
    """The lines of a public table that private whole numbers name."""
    kind, table = bare(table).dtype.kind, plain(table)
    if not places.integer or places.truth or places.low < 0 or places.high > len(table) - 1 or places.holes:
        raise Open("a private index needs whole numbers within the table: clip them first")
    lines = table[int(places.low) : int(places.high) + 1].reshape(int(places.high - places.low) + 1, -1)
    k = places.entries
    size = Norms(*(float(np.linalg.norm(lines, order, axis=1).max()) for order in (1, 2, INF))).repeated(k)
    shape, at = (*places._shape, *table.shape[1:]), places.at
    at = None if at is None else at - (table.ndim - 1)
    ends = {"low": float(lines.min()), "high": float(lines.max()), "integer": kind in "bi", "truth": kind == "b"}
    return places.like(shape=shape, at=at, size=size, **ends)


def one_at(place: Value, shape: tuple[int, ...]) -> Value:
    """Of an array of zeros a one at a private place, or nowhere."""
    at, size = None if place.at is None else place.at - len(shape), Norms(1.0, 1.0, 1.0).repeated(place.entries)
    return place.like(shape=(*place._shape, *shape), at=at, size=size, low=0.0, high=1.0, integer=True)


def _in_cells(place: Value, shape: tuple[int, ...], weights: Any) -> Any:
    """A record adds one, or its weight, to one cell: another record leaves a cell and enters one."""
    place = reshape(place, (-1,))
    if place.at is None or not (weights is None or private(weights)):
        raise Open("a count of more than one number a record, or with public weights, has no rule")
    line = one_at(place, (math.prod(shape),))
    found = np.sum(line if weights is None else line * weights[:, None], axis=0).reshape(shape)
    found.integer = weights is None
    return found


@rule(np.bincount)
def counts(a: Value, weights: Any = None, minlength: int = 0) -> Any:
    """Whole numbers that are known to lie below the public length."""
    if not private(a) or a.low < 0 or a.high > minlength - 1:
        raise Open("np.bincount needs numbers within 0 .. minlength - 1: clip them first, and give minlength")
    return _in_cells(a, (int(minlength),), weights)


@rule(np.histogram)
def histogram(a: Value, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Of one number a record."""
    edges = _edges(bins, range, density)
    return _in_cells(a, (len(edges) - 1,), weights), edges


@rule(np.histogram2d)
def histogram2d(x: Any, y: Any, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """Of two."""
    of_each = bins if type(bins) in (list, tuple) else (bins, bins)
    pairs = zip(of_each, (None, None) if range is None else range, strict=True)
    edges = [_edges(*pair, density) for pair in pairs]
    return _in_cells(add(x, y), tuple(len(one) - 1 for one in edges), weights), *edges


def _edges(bins: Any, range: Any, density: Any) -> Any:
    known = not private(bins) and not isinstance(bins, str) and (np.ndim(bins) > 0 or range is not None)
    refuse(density or not known, "np.histogram needs public bins (or their number and a public range)")
    return np.histogram_bin_edges(np.zeros(0), bins, range)


_CUT = np.array_split  # another name stands there while code is certified


def _split(real: Any, a: Any, sections: Any, axis: int = 0) -> Any:
    """Parts one after another; each is as an index gives it."""
    refuse(axis != 0, "np.split is followed along the first axis")
    if a.poisson if isinstance(a, Batch) else a.absent:
        refuse(type(sections) is not int or real is not _CUT, PRIVATE_NUMBER)
        records = a.records.part(sections)
        return Parts(_part_of(a, records), records)
    parts = [slice(int(one[0]), int(one[-1]) + 1) if len(one) else slice(0, 0) for one in real(range(len(a)), sections)]
    return [a[one] if isinstance(a, Batch) else index(a, one) for one in parts]


for _real in (np.split, np.array_split):
    rule(_real)(partial(_split, _real))


def _side_by_side(axis: int, arrays: Any) -> Value:
    """Along this axis of matrices, of which a vector is a row, or a column."""
    if all(np.ndim(one) == 1 for one in arrays):
        return stack(arrays, axis)
    return concatenate([one if np.ndim(one) > 1 else one[None] if axis == 0 else one[:, None] for one in arrays], axis)


rule(np.vstack)(partial(_side_by_side, 0))
rule(np.column_stack)(partial(_side_by_side, 1))
rule(np.hstack)(lambda arrays: concatenate(arrays, 0 if np.ndim(arrays[0]) == 1 else 1))


def _finite(a: Value) -> Any:
    """Data are finite numbers (an axiom of every certificate), and so is what has no holes."""
    a.solid()
    return np.ones(a.shape, dtype=bool)


rule(np.isfinite)(_finite)
rule(np.isnan, np.isinf)(lambda a: ~_finite(a))
rule(np.shape)(lambda a: a.shape)
rule(np.ndim)(lambda a: a.ndim)
rule(np.size)(lambda a, axis=None: a.size if axis is None else a.shape[axis])
rule(np.copy)(lambda a, order="K": a.copy())
rule(np.iscomplexobj, np.iscomplex)(lambda a: False)
rule(np.isrealobj)(lambda a: True)


@rule(np.broadcast_to)
def broadcast(a: Value, shape: Any) -> Value:
    """As adding zeros of that shape."""
    return add(a, np.zeros(shape)).view_of(a)


@rule(np.diag)
def diagonal(a: Value, k: int = 0) -> Value:
    """A vector between zeros, or the part of a matrix."""
    refuse(a.at is not None or k or a.ndim not in (1, 2), "a diagonal of records has no rule")
    shape = (a._shape[0],) * 2 if a.ndim == 1 else (min(a._shape),)
    found = a.kept(shape=shape, low=min(a.low, 0.0), high=max(a.high, 0.0))
    return found.view_of(a) if a.ndim == 2 else found


def _as_type(a: Value, dtype: Any = float, *, copy: bool = True) -> Value:
    """Whole numbers are cut towards zero."""
    kind = np.dtype(dtype).kind
    if not (is_real(dtype) or np.dtype(dtype) in (bool, np.int32, np.int64)):
        raise Open(f"{np.dtype(dtype)} is too coarse, or too narrow, to be called arithmetic over the reals")
    unusual(dtype)
    refuse(not copy and np.dtype(dtype) != float, "a copy that NumPy makes of some types and not of others")
    if kind == "f":
        found, few = a.copy() if copy or a.truth or a.integer else a, of_value(a)
        found.truth, found.integer = False, False
        found.few = None if few is None else few._replace(numbers=few.numbers.astype(float))
        return found
    a.solid()
    if kind == "b":
        return compared(a, 0.0)
    if a.truth or a.integer:
        found = a.copy()
        found.truth, found.integer = False, True
        return found
    low, high = map(np.trunc, edges(a))
    sup = np.ceil(a.move.sup)  # what lies less than a whole number apart, is cut to numbers no further apart than it
    return a.like(size=a.norms, move=Norms(sup=sup), low=float(low), high=float(high), integer=True)


_METHODS: dict[str, Any] = {
    "__getitem__": _got,
    "__setitem__": assign,
    "T": property(lambda a: transpose(a.now())),
    "reshape": lambda a, *shape, order="C": reshape(a.now(), shape[0] if len(shape) == 1 else shape, order),
    "flatten": lambda a: reshape(a.now(), -1).copy(),
    "astype": _as_type,
}
for _name, _method in _METHODS.items():
    setattr(Value, _name, _method)
