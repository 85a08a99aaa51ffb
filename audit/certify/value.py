"""Values that know how far they can move between any two neighbours, and nothing else about the data.

A `Value` with a record axis has one entry per record; neighbours differ in one of them. Without a record axis every
entry may differ. What cannot be followed raises `Open`: it ends a certificate, and it is no accusation.
"""

from __future__ import annotations

import inspect
import linecache
import math
import sys
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import cache, reduce
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.lockstep.source_lines import file_name
from dpassay.audit.phases import TIME_IS_UP, time_is_up

from .derivation import Decides, Line, Open, axioms, line_of_user, refuse, trace
from .facts import INF, PRIVATE_NUMBER, PRIVATE_TURNS, UNKNOWN, Cell, Form, Norms, Origin, Records, Sides
from .kinds import unusual
from .table import by_entry, tabled

Shape = tuple[int, ...]
RULES: dict[Any, Callable[..., Any]] = {}


_Rule = TypeVar("_Rule", bound=Callable[..., Any])


def rule(*functions: Any) -> Callable[[_Rule], _Rule]:
    """Registers a transfer rule for NumPy functions."""

    def add(transfer: _Rule) -> _Rule:
        RULES.update(dict.fromkeys(functions, transfer))
        return transfer

    return add


class Memory:
    """Where the numbers of an array stand; `shared`: another name may have them, or some of them, too."""

    shared = False


def seen_as(kind: Callable[[Any], type]) -> Any:
    """What code sees that asks a stand-in for its ``__class__``, as `isinstance` does: what the real one would be."""
    return property(kind)


class Value(NDArrayOperatorsMixin):
    """Private data, or what was computed from it.

    Args:
        shape: of the array.
        at: position of the record axis, counted from the right (negative); None: every entry may differ.
        records: which records it depends on, for a record axis in its order.
        size: bounds on the norms, of one record's entry or of the whole array.
        move: bounds on the norms of the difference between neighbours, likewise.
        low, high: of every number in it.
        draws: numbers of the secret batches it depends on; -1 stands for the whole data.
        absent: ``""``, or why the number of records along the axis is private: ``masked`` (private numbers choose
            them), ``lacking`` (of two neighbours one lacks the record: data under add-remove, Poisson batches).
        cause: where nothing bounds it any more.
        vanishes: one of two neighbours lacks the record, and its entry there is zero.
        more: what else is known of it, of the names below.
    """

    forms: tuple[Form, ...] = ()  # relations to the norms of rows
    holes: frozenset[object] = frozenset()  # tokens of the rows that, where they are zero, make a division by zero
    weighted: tuple[object, float, float] | None = None  # token, lowest, highest weight: other rows times a weight
    truth: bool = False  # its entries are True and False
    integer: bool = False
    symmetric: bool = False  # a matrix that equals its transpose
    origin: Origin | None = None
    count: int = 0  # it is how many records there are: at most so many
    listed: bool = False  # it is a Python list, of nobody knows how many
    hollow: bool = False  # made of such a list: where that is empty, its shape is another one
    sides: Sides | None = None
    parts: tuple[Any, ...] = ()  # what was stacked along the first axis
    cell: Cell | None = None  # outside of which its entries are zero
    few: Any = None  # a table of how it is made of private numbers of few values
    chooses: Any = None  # a truth value a record: its entries are the places of those that it chooses
    adds: bool = False  # of a part of some records it is a sum of what is made of each of them
    token: object
    _now: Value | None = None

    __array_priority__ = 1000.0

    def __init__(
        self,
        shape: Shape,
        at: int | None,
        records: Records,
        size: Norms = UNKNOWN,
        move: Norms = UNKNOWN,
        low: float = -INF,
        high: float = INF,
        draws: frozenset[int] = frozenset({-1}),
        absent: str = "",
        cause: str = "",
        vanishes: bool = False,
        **more: Any,
    ):
        entries = math.prod(shape) // (shape[at] if at is not None and shape[at] else 1)
        if at is not None and shape[at] == 0:
            entries = math.prod(s for i, s in enumerate(shape) if i != at + len(shape))
        sup = max(abs(low), abs(high))
        size = Norms(size.one, size.two, min(size.sup, sup)).closed(entries)
        low, high = max(low, -size.sup), min(high, size.sup)
        apart = size.by(1.0 if vanishes else 2.0)
        if low >= 0 or high <= 0:  # of one sign: |a - b|_2^2 <= |a|_2^2 + |b|_2^2
            apart = Norms(apart.one, math.sqrt(2) * size.two, size.sup)
        span = high - low if high > low else 0.0
        self.move = move.both(apart).both(Norms(sup=span)).closed(entries)
        self._shape, self.at, self.records, self.norms = shape, at, records, size
        self.low, self.high, self.draws, self.absent = low, max(low, high), draws, absent
        self.cause = cause if math.isinf(self.move.two) else ""
        self.token, self.memory, self.vanishes = object(), Memory(), vanishes
        assert more.keys() <= Value.__annotations__.keys(), more
        self.__dict__.update(more)

    if TYPE_CHECKING:  # in `shapes.py`
        T: Any
        astype: Any
        reshape: Any
        flatten: Any

        def __getitem__(self, key: Any) -> Any: ...
        def __setitem__(self, key: Any, value: Any) -> None: ...

    # -- what the code may ask ----------------------------------------------------------------------------
    @property
    def shape(self) -> tuple[Any, ...]:
        """As of an array; the number of records is private where a secret decides about it."""
        self._not_hollow()
        if not self.absent:
            return self._shape
        assert self.at is not None
        found: list[Any] = list(self._shape)
        one = Norms(1.0, 1.0, 1.0)
        count: dict[str, Any] = {"low": 0.0, "move": one, "draws": self.draws, "count": self._shape[self.at]}
        found[self.at] = Value((), None, self.records, integer=True, adds=True, **count)
        return tuple(found)

    @property
    def dtype(self) -> Any:
        """Of its numbers."""
        return np.dtype(bool if self.truth else int if self.integer else float)

    ndim = property(lambda self: len(self._shape))

    @property
    def size(self) -> Any:
        """Number of entries."""
        self._not_hollow()
        self._counted()
        return math.prod(self._shape)

    def __len__(self) -> int:
        self._not_hollow()
        if not self._shape:
            raise TypeError("len() of unsized object")
        if self.at == -len(self._shape):
            self._counted()
        return self._shape[0]

    def solid(self) -> Value:
        """Raises Open where it may be no number."""
        refuse(self.holes, "a division by what may be zero; add a floor, as np.maximum(norm, 1e-12) does")
        return self

    def _not_hollow(self) -> None:
        if self.hollow:
            raise Open("where no record is left, this is a number and no array; add it to zeros of its shape first")

    def _counted(self) -> None:
        refuse(self.absent, PRIVATE_NUMBER)

    def __iter__(self) -> Iterator[Any]:
        refuse(self.absent and self.at == -len(self._shape), PRIVATE_TURNS)
        return (self[number] for number in range(len(self)))

    def __bool__(self) -> bool:
        raise Decides()

    def settled(self) -> bool:
        """The truth, where the ranges decide it whatever the data are."""
        if self.low != self.high or self.holes or self.absent:
            raise Decides("private data decides, in a check that their domain does not settle")
        return bool(self.low)

    def assumed(self, axiom: str, low: float = -INF, high: float = INF, moves: float = INF, norm: float = INF) -> Value:
        """Bounds that are taken for granted: the certificate names them."""
        taken = axioms.get()
        if taken is not None:
            taken[axiom] = None
        kept = ("holes", "forms", "truth", "weighted", "vanishes")
        return self.like(
            size=self.norms.both(Norms(two=norm)),
            move=self.move.both(Norms(two=moves)),
            low=max(self.low, low),
            high=min(self.high, high),
            **{name: getattr(self, name) for name in kept},
        )

    def _leaves(self, *_: Any, **__: Any) -> NoReturn:
        refuse(self.count, PRIVATE_NUMBER)
        raise Open("private data leaves as a plain number; add noise to it first", leaves=True)

    def _as_text(self, *_: Any) -> NoReturn:
        raise Decides("private data becomes a text, and who reads it knows them")

    __float__ = __int__ = __index__ = __complex__ = __array__ = item = tolist = tobytes = _leaves
    __hash__ = __reduce_ex__ = _leaves  # as a key it would find other numbers
    __str__ = __repr__ = __format__ = _as_text

    __class__ = seen_as(lambda self: np.ndarray if self._shape else self.dtype.type)

    def __getattr__(self, name: str) -> Any:
        if (hasattr(np.ndarray, name) or hasattr(np.float64, name)) and not name.startswith("__"):
            raise Open(f"{name} of private data has no rule")
        raise AttributeError(name)

    # -- bounds -------------------------------------------------------------------------------------------
    @property
    def entries(self) -> int:
        """Numbers of one record, or of the whole."""
        return math.prod(s for i, s in enumerate(self._shape) if self.at is None or i != self.at + len(self._shape))

    @property
    def shape_of_one(self) -> Shape:
        """As if there were one record."""
        return tuple(1 if k - len(self._shape) == self.at else s for k, s in enumerate(self._shape))

    @property
    def alone(self) -> bool:
        """Does it depend on one record and no other one?"""
        return self.at is None and self.records.single

    def like(self, **changes: Any) -> Value:
        """The same records and draws with other bounds; forms are dropped unless given."""
        kept = ("at", "records", "draws", "absent", "cause")
        return Value(**{"shape": self._shape, **{name: getattr(self, name) for name in kept}, **changes})

    def kept(self, **changes: Any) -> Value:
        """Likewise, with its own bounds."""
        return self.like(**{"size": self.norms, "move": self.move, "low": self.low, "high": self.high, **changes})

    def whole(self) -> Value:
        """Without a record axis: one entry along it moves."""
        if self.at is None:
            return self
        self._counted()
        known = {"holes": self.holes, "integer": self.integer, "truth": self.truth}
        return self.kept(at=None, size=self.norms.repeated(self._shape[self.at]), **known)

    def said(self) -> str:
        """What is known of it, for the derivation."""
        what = "an array" if self._shape else "a number"
        what = what if self.at is None else f"a record of norm at most {self.norms.two:.4g}"
        move = f"moves by {self.move.one:.4g}, {self.move.two:.4g}, {self.move.sup:.4g} (1-, 2-, sup-norm)"
        return f"{what} in [{self.low:.4g}, {self.high:.4g}], {move}"

    # -- NumPy --------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **options: Any) -> Any:
        if any(hasattr(one, "cells") for one in inputs):  # noise: its own rules come first
            return NotImplemented
        if any(isinstance(one, Value) and one.listed for one in inputs):
            raise Open("a list of private numbers is used as an array; make one of it")
        if method == "reduce" and ufunc in REDUCED:
            return followed(REDUCED[ufunc], inputs, {"axis": 0, **options})  # NumPy's default differs
        if method == "at" and ufunc in AT:
            return AT[ufunc](*inputs)
        out = options.pop("out", None)
        if method != "__call__" or options.keys() - {"dtype"} or not is_real(options.get("dtype")):
            raise Open(f"np.{ufunc.__name__}.{method} is not followed on private data with these options")
        found = followed(ufunc, inputs, {})
        return found if out is None else _written(out[0], found)

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        if function in _OF_DRAWS and any(hasattr(one, "cells") for one in args):
            return NotImplemented
        out = options.pop("out", None)
        found = followed(function, args, options)
        return found if out is None else _written(out, found)

    def __round__(self, digits: int | None = None) -> Any:
        found = np.round(self, digits or 0)
        return found.astype(int) if digits is None else found

    def copy(self, *_: Any) -> Value:
        """A value of its own."""
        _readable(self)
        found = object.__new__(type(self))
        found.__dict__.update(self.__dict__, memory=Memory(), _now=None)
        return found

    def now(self) -> Value:
        """What it is now, whatever is written into it later: rules see this and may remember it."""
        _readable(self)
        if self._now is None:
            self._now = self.copy()
            self._now.__dict__.update(memory=self.memory, _now=self._now)
        return self._now

    __copy__ = __deepcopy__ = copy

    def changed(self, found: Value) -> Value:
        """In place: it is now what was found."""
        assert self._now is not self, "what a rule has seen is changed"
        refuse(self.memory.shared, "private data is changed in place where another name shares its memory; make a copy")
        self.__dict__ = {**found.__dict__, "memory": self.memory, "_now": None}
        return self

    def or_else(self, other: Value) -> Value:
        """One of the two: which one, does not depend on the data."""
        size, move = self.norms.either(other.norms), self.move.either(other.move)
        return united((self, other), self._shape, size, move, holes=self.holes | other.holes)

    def view_of(self, other: Value) -> Value:
        """Shares memory with another one: neither may be written to from now on."""
        self.memory = other.memory
        self.memory.shared = True
        self.vanishes = other.vanishes and (self.at is not None or self.alone)
        return self


def _forward(name: str) -> Any:
    def method(self: Value, *args: Any, **options: Any) -> Any:
        return getattr(np, name)(self, *args, **options)

    method.__name__, method.__doc__ = name, "As of an array."
    return method


_METHODS = "clip dot min max cumsum ravel squeeze take round transpose std var sum mean any all"
for _name in f"{_METHODS} argmax argmin".split():
    setattr(Value, _name, _forward(_name))

AT: dict[Any, Callable[..., None]] = {}  # what `np.add.at` does
REDUCED = {np.add: np.sum, np.maximum: np.max, np.minimum: np.min, np.logical_and: np.all, np.logical_or: np.any}


def followed(function: Any, args: Any, options: Any) -> Any:
    """The rule of a function, applied and noted. Who watches what the code calls need not watch rules."""
    watching = sys.getprofile()
    if watching is None:
        return _followed(function, args, options)
    sys.setprofile(None)
    try:
        return _followed(function, args, options)
    finally:
        sys.setprofile(watching)


def _followed(function: Any, args: Any, options: Any) -> Any:
    transfer = RULES.get(function)
    name = getattr(function, "__name__", str(function))
    if transfer is None:
        raise Open(f"np.{name} of private data has no rule")
    if time_is_up():  # also in a loop that never releases anything
        raise Open(TIME_IS_UP)
    parts = [*parts_of((args, options))]
    for one in filter(private, parts if function not in HOLES_ALLOWED else ()):
        one.solid()
    sized = any(getattr(one, "sized", False) for one in parts if issubclass(type(one), np.ndarray))
    refuse(sized, "how many numbers private ones meet follows released values; choose by np.where")
    unknown = getattr(ledger_of((args, options)), "unknown", False)
    if unknown and function in _BY_PLACES:
        raise Open(f"np.{name} of what was released or drawn is not followed; choose by an index")
    try:
        given, named = _options(function, transfer, args, options)
        found = transfer(*bare(given), **{name: bare(one) for name, one in named.items()})
    except TypeError as error:  # an option that the rule does not know
        if error.__traceback__ is not None and error.__traceback__.tb_next is None:
            raise Open(f"np.{name} is not followed with these options") from None
        raise
    if isinstance(found, Value) and found._now is found:  # what was given to it, or a part of that
        found = found.copy().view_of(found)
    if isinstance(found, Value) and _vanishes(function, args, options, found):
        found.move, found.vanishes = found.move.both(found.norms), True
    if isinstance(found, Value) and found.at is not None:  # other records are not there, or stay zeros in a product
        zero = function is np.multiply or (function is _WHERE and type(args[-1]) in (int, float) and args[-1] == 0)
        for one in args if found.cell is None else ():
            if private(one) and one.cell and (zero or one.cell.chosen) and one.records.same(found.records):
                found.cell = one.cell
    if isinstance(found, Value) and unknown:
        found = _whatever_was_released(function, found)
    if isinstance(found, Value):
        _typed(found, function, args, options)
        same = all(one._shape == found._shape for one in args if isinstance(one, Value))
        found.few = tabled(function, args) if same and by_entry(function) and not options else None
    if any(map(_may_be_empty, parts)):
        _hollowed(function, args, options, found)
    noted(name, found)
    return found


_TYPES: dict[Any, Any] = {}  # what functions make of which types


def _type_of(one: Any) -> Any:
    array = issubclass(type(one), Value | np.ndarray)  # and no secret batch, which says that it is one
    return (one.dtype, one.ndim) if array else one if isinstance(one, type | str) else type(one)


def _typed(found: Value, function: Any, args: Any, options: Any) -> None:
    """As NumPy makes it of numbers of these types; what it does not make of one record is of no usual type."""
    if function in _FLAT and not found._shape:
        unusual()
    parts = [*parts_of((args, options))]
    key = function, *map(_type_of, parts)
    try:
        made = _TYPES.get(key) or _of_absent(function, args, options).dtype
    except Exception:  # a public array has an entry for each record
        types = [one.dtype for one in parts if issubclass(type(one), Value | np.ndarray)]
        made = np.result_type(*types) if function in {*_MULTILINEAR, *_JOINS} else np.dtype("f4")
    _TYPES[key] = made
    unusual(made)
    found.integer, found.truth = made.kind in "bi", made.kind == "b"
    found.high = min(found.high, 1.0) if found.truth else found.high


_FLAT = {np.where, np.squeeze, np.broadcast_to, np.copy, np.transpose}  # gives no number, but arrays
_JOINS = np.concatenate, np.stack, np.hstack, np.vstack, np.column_stack


def _whatever_was_released(function: Any, found: Value) -> Value:
    """How large a released number is bounds nothing; a sum with one moves as it did."""
    sums = function in (np.add, np.subtract)
    zero = found.vanishes and function in _MULTILINEAR
    ends = {"low": 0.0, "high": 1.0, "truth": True} if found.truth else {}
    kept = found.like(move=found.move if sums else Norms(), holes=found.holes, vanishes=zero, **ends)
    kept.origin = found.origin if sums and not found.alone else None  # of one record sizes count
    return kept


_BY_PLACES = np.take, np.split, np.array_split
_WHERE, _CLIP, *_OF_DRAWS = np.where, np.clip, np.where, np.dot, np.einsum  # names of others, while code is followed


def _may_be_empty(one: Any) -> bool:
    return isinstance(one, Value) and (one.hollow or (one.listed and one.ndim > 1))


def _hollowed(function: Any, args: Any, options: Any, found: Any) -> None:
    """Of a list that may be empty: NumPy makes a vector without entries of that, and its sum is a number."""
    elementwise = function is _CLIP or (isinstance(function, np.ufunc) and function.signature is None)
    empty = [one for one in args if _may_be_empty(one)]
    axis = options.get("axis", args[1] if len(args) > 1 else None)
    if elementwise:
        solid = (one for one in args if not _may_be_empty(one))
        shape = np.broadcast_shapes(*(one._shape if isinstance(one, Value) else np.shape(bare(one)) for one in solid))
        found.hollow = found._shape != shape
        fits = not shape or not any(one.absent for one in empty)
    else:
        fits = function is REDUCED[np.add] and bool(empty) and (axis in (0, None) or not empty[0].absent)
        found.hollow = isinstance(found, Value) and found.ndim > 0
    refuse(not fits, "a list that may be empty is used for more than its sum")


def _options(function: Any, transfer: Any, args: Any, options: Any) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """What is given, by the names that NumPy has for it: the rule knows an option, or it stands at its default."""
    ours, theirs = _parameters(transfer), _parameters(function)
    if not theirs or any(one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD) for one in (*theirs, *ours)):
        return tuple(args), options
    given = dict(zip((one.name for one in theirs), args, strict=False)) | options
    known, names = {one.name for one in ours}, {one.name for one in theirs}
    named = {}
    for place, one in enumerate(theirs):
        if one.name not in given:
            continue
        value = given.pop(one.name)
        if one.name in known:
            named[one.name] = value
        elif place < len(ours) and ours[place].name not in names:  # the same under another name
            named[ours[place].name] = value
        elif not (is_real(value) if one.name == "dtype" else _is_default(value, one.default)):
            raise Open(f"np.{function.__name__} is not followed with {one.name}=")
    return (), named | given


@cache
def _parameters(function: Any) -> tuple[inspect.Parameter, ...]:
    """None where they are not known."""
    try:
        return () if isinstance(function, np.ufunc) else tuple(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return ()


def _is_default(value: Any, default: Any) -> bool:
    return value is None or value is default or (type(value) in (bool, int, str) and bool(value == default))


def is_real(dtype: Any) -> bool:
    """Is it a type in which arithmetic is called arithmetic over the reals?"""
    return dtype is None or (np.dtype(dtype).kind == "f" and np.dtype(dtype).itemsize >= 4)


def ledger_of(one: Any) -> Any:
    """Where what is in it was released, or drawn."""
    if not issubclass(type(one), tuple | list | dict):
        return None if issubclass(type(one), Holder) else getattr(one, "ledger", None)
    return next((found for part in parts_of(one) if (found := ledger_of(part)) is not None), None)


def parts_of(one: Any) -> Iterator[Any]:
    """What is in tuples, lists and dictionaries, and in what is in these."""
    if issubclass(type(one), tuple | list | dict):
        for part in one.values() if isinstance(one, dict) else one:
            yield from parts_of(part)
    else:
        yield one


HOLES_ALLOWED: set[Any] = set()
_MULTILINEAR = {np.multiply, np.true_divide, np.matmul, np.dot, np.einsum}


def _vanishes(function: Any, args: Any, options: Any, found: Value) -> bool:
    """Is the entry of a record that is not there zero? Of entries that are zero NumPy itself makes what it is."""
    given = [one for one in parts_of((args, options)) if isinstance(one, Value)]
    zero = [one for one in given if one.vanishes]
    of_one = found.alone if found.at is None else all(one.at is not None for one in given)
    solid = zero and of_one and not found.holes and not any(one.holes for one in given)
    if not solid or not all(one.records.same(found.records) for one in given):
        return False
    if function in _MULTILINEAR and (function is not np.true_divide or args[0] is zero[0]):
        return True
    if len(zero) < len(given):
        return False
    try:
        made = _of_absent(function, args, options)
    except Exception:  # a public array with an entry for each record
        return False
    return not np.any(made)


def _of_absent(function: Any, args: Any, options: Any) -> Any:
    """What NumPy makes of a record that is not there, without a word of what is odd about one alone."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return function(*map(_absent, args), **_absent(options))


def _absent(one: Any) -> Any:
    """The numbers of a record that is not there."""
    if isinstance(one, Value):
        return np.zeros(one.shape_of_one, one.dtype)
    if hasattr(one, "cells"):  # secret places, or one of them
        return np.zeros(1 if isinstance(one, np.ndarray) else (), int)
    if type(one) in (tuple, list):
        return type(one)(map(_absent, one))
    return {name: _absent(part) for name, part in one.items()} if type(one) is dict else bare(one)


def noted(name: str, found: Any) -> None:
    """Keeps a line of the derivation."""
    lines, (file, number) = trace.get(), line_of_user()
    if lines is not None and isinstance(found, Value) and file:
        place = f"{file_name(file)}:{number}"
        lines[place, name] = Line(place, name, found.said(), linecache.getline(file, number).strip())


def _written(target: Any, found: Any) -> Any:
    """``a += b``: what it is changes, for all of its names."""
    if len({one._shape if isinstance(one, Value) else np.shape(one) for one in (target, found)}) > 1:
        raise Open("private data are written into an array of another shape by out=")
    if is_number(target):
        return found
    if not isinstance(target, Value):
        if getattr(target, "filled", target) is not None or target.base is not None:
            raise Open("an array that has another name is changed in place by private data; write a = a + b")
        target[...] = found
    elif target._shape:
        target.changed(found)
    else:  # a number is another one then, and an array of none the same: what other names hold is one of the two
        target.changed(target.or_else(found))
        return found
    return target


def join(*values: Value) -> dict[str, Any]:
    """Records and draws of what several values give: without a record axis, or with the same records along it."""
    first = values[0]
    return {
        "at": first.at,
        "records": first.records if first.at is not None else reduce(Records.union, [one.records for one in values]),
        "draws": frozenset[int]().union(*(one.draws for one in values)),
        "absent": max(one.absent for one in values),
        "cause": next((one.cause for one in values if one.cause), ""),
    }


def alike(values: Sequence[Value]) -> bool:
    """Have all the same records, along the same axis?"""
    first = values[0]
    return all(
        one.at == first.at and one.absent == first.absent and one.records.same(first.records) for one in values[1:]
    )


def united(parts: Sequence[Value], shape: Shape, size: Norms, move: Norms, **changes: Any) -> Value:
    """Made of the numbers of several."""
    low, high = min(one.low for one in parts), max(one.high for one in parts)
    return Value(shape, size=size, move=move, **{**join(*parts), "low": low, "high": high, **changes})


class Holder:
    """What stands for another library's object around private numbers, which it holds."""

    held: Any


def is_number(one: Any) -> bool:
    """Does it stand for a number, which nothing is written into?"""
    return isinstance(one, np.ndarray) and one.ndim == 0 and not one.flags.writeable


def private(one: Any) -> bool:
    """Is it private?"""
    return isinstance(one, Value)


#: where stand the numbers of arrays to which something is added that is not there yet: nobody may read them
SEALED: list[Any] = []


def memory_of(one: Any) -> Any:
    """Where its numbers stand."""
    if private(one):
        return one.memory
    while isinstance(one.base, np.ndarray):
        one = one.base
    return one


def _readable(one: Any) -> None:
    if SEALED and any(memory_of(one) is memory for memory in SEALED):
        raise Open("an array is read to which something is added for each record, or in one way of a decision")


def bare(one: Any) -> Any:
    """The numbers of an array in the same memory, plain, or what is private in it now; of a list each of them."""
    if issubclass(type(one), np.ndarray):
        _readable(one)
        held = getattr(one, "held", None)
        return np.ndarray.view(one, np.ndarray) if held is None else held.now()
    if type(one) in (tuple, list):
        return type(one)(map(bare, one))
    return bare(one.held) if issubclass(type(one), Holder) else one.now() if issubclass(type(one), Value) else one


NARROW = {"int8", "int16", "uint8", "uint16", "uint32", "uint64", "float16"}  # numbers wrap around, or are coarse


def plain(array: Any) -> Any:
    """A public array of finite numbers."""
    given = bare(array)
    refuse(private(given), "private data stand where a public array is needed")
    given = np.asarray(given)
    if given.dtype.kind == "c" or given.dtype.name in NARROW:
        raise Open(f"public numbers of the type {given.dtype} beside private ones have no rule")
    found = bare(np.asarray(given, dtype=float))
    refuse(not np.isfinite(found).all(), "a public array holds infinities or NaN")
    return found


def rows(n: int, d: int | None, two: float = INF, low: float = -INF, high: float = INF, **more: Any) -> Value:
    """The data: n records of d numbers (None: a number each), bounded as said."""
    shape = (n,) if d is None else (n, d)
    records = Records(everyone=True) if more.get("absent") else Records(np.arange(n))
    return Value(shape, -len(shape), records, Norms(two=two), low=low, high=high, **more)
