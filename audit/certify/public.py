"""Released numbers and public draws: arrays whose decisions are noted, whatever NumPy makes of them.

An array that the code makes itself is one too, for what is released may be written into it later. A decision is taken
both ways, and an index in every way that it can go, because another way may release more. Where a number becomes one
that cannot be watched, the certificate is open.

Private data are written into such an array, too, entry by entry: ``out = np.zeros(k); out[0] = rows.sum()``. What is
written stays what it is, beside numbers that are public still. Read as a whole they are stacked.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, NoReturn

import numpy as np

from .derivation import Open, refuse
from .facts import NAMED
from .kinds import unusual
from .shapes import of_each_axis, of_table, one_at
from .value import AT, NARROW, Value, bare, is_number, ledger_of, memory_of, parts_of, private, seen_as

if TYPE_CHECKING:
    from .draws import Ledger

OF_SHAPES = {np.shape, np.ndim, np.size, np.shares_memory, np.may_share_memory}
INTO = {np.copyto, np.put, np.place, np.putmask, np.put_along_axis, np.fill_diagonal}
_SPLITS, _SORTS = {np.split, np.array_split}, {np.argsort, np.argpartition}
_WHERE, PLACES = np.where, {np.argmax, np.argmin}  # other names stand in NumPy while code is certified
COUNTED = {  # how many numbers they give is decided by numbers
    *(np.nonzero, np.flatnonzero, np.argwhere, np.unique, np.compress, np.extract, np.trim_zeros, np.bincount),
    *(np.intersect1d, np.union1d, np.setdiff1d, np.setxor1d, np.histogram, np.histogram_bin_edges),
    *(np.repeat, np.tile, np.delete, np.insert, np.resize, np.pad),
}
_SILENT = {list.__getitem__, list.__setitem__, dict.__getitem__, dict.__setitem__}
_NUMBERS = {bool, int, float, np.float64, np.int64, Value}
_MANY = 1000  # keys of a dictionary that a private number may be
NOT_FOLLOWED = "released numbers are written into an array that is not followed; make it with np.zeros"
_SHARED = "private data are written into an array of which another name holds a part; make a copy"


class Public(np.ndarray[Any, Any]):
    """A released or public random value; or, without a ledger, an array into which none was written yet.

    Args:
        kept: the ledger in which decisions are noted.
        sized: the number of its entries depends on released values.
        ways: it is a whole number below this one.
        decided: which way was taken where this truth value was asked for: the same one whenever it is asked for again.
        ordered: where it is some of different numbers in a random order: which order, their places in it, and they.
    """

    kept: Ledger | None = None
    filled: Any = None  # private data that were written into it
    ambiguous: bool = False  # a released number decides whether another name is this array
    sized: bool = False
    ways: int = 0
    decided: bool | None = None
    ordered: tuple[Order, Any, Any] | None = None

    def __array_finalize__(self, other: Any) -> None:
        self.kept, self.sized = getattr(other, "kept", None), getattr(other, "sized", False)

    @property
    def ledger(self) -> Ledger | None:
        """Its own, or that of the array whose memory it shares."""
        found: list[Ledger] = [one.kept for one in self.sharing() if one.kept is not None]
        return found[0] if found else None

    @property
    def order(self) -> tuple[Order, Any] | None:
        """The random order and the places in it, where no other numbers were written by another name."""
        if self.ordered is None or self.ordered[0].gone or not np.array_equal(self.ordered[2], bare(self)):
            return None
        return self.ordered[:2]

    def sharing(self) -> Iterator[Public]:
        """This array, and those whose memory it shares."""
        one: Any = self
        while one is not None:
            if isinstance(one, Public):
                yield one
            one = getattr(one, "base", None)

    def _kind(self) -> type:
        if self.filled or self.ndim:
            return Value if self.filled else np.ndarray
        found: type = self.dtype.type
        return found

    __class__ = seen_as(_kind)

    # -- where private data were written into it it is private, and `bare` gives what it holds
    @property
    def held(self) -> Any:
        """The private value that it is now; None of public numbers."""
        if self.filled is None and self.base is None:
            return None
        filled = [one for one in self.sharing() if one.filled is not None]
        refuse(filled and filled[0] is not self, _SHARED)
        return self.filled.value() if filled else None

    def __getattr__(self, name: str) -> Any:
        if self.filled is None or name.startswith("__"):
            raise AttributeError(name)
        return getattr(self.held, name)

    T = property(lambda self: np.transpose(self))
    real = property(lambda self: np.real(self))  # which nothing is written into
    data = property(lambda self: self.plain().data)

    def changed(self, found: Any) -> Any:
        """In place."""
        self[...] = found
        return self

    def __copy__(self, *_: Any) -> Any:
        return self.copy()

    __deepcopy__ = __copy__

    def __reduce_ex__(self, version: Any) -> Any:
        return self.plain().__reduce_ex__(version)

    def written(self, ledger: Ledger | None) -> None:
        """What is released is in it from now on, and in the array whose memory it shares."""
        owner = memory_of(self)
        refuse(ledger is not None and NAMED.get(("held", id(owner))) is owner, NOT_FOLLOWED)
        for one in self.sharing():
            one.kept = one.kept if ledger is None else ledger

    # -- NumPy --------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = (), **options: Any) -> Any:
        if any(_other(one) for one in (*inputs, *out)):
            return NotImplemented
        out = () if out and is_number(out[0]) else out
        if method == "at" and ufunc in AT and isinstance(inputs[1], tuple) and any(map(private, inputs[1])):
            return AT[ufunc](*inputs)
        ledger = ledger_of((inputs, out, options))
        if all(one.endswith("O->O") for one in ufunc.types):
            self.plain()  # a function of the code's own, which may decide
        if out and getattr(out[0], "filled", None) is not None:
            out[0][...] = getattr(ufunc, method)(*map(bare, inputs), **options)
            return out[0]
        if ledger is not None and not all(isinstance(one, Public) for one in out):
            raise Open("released numbers are written into an array that is not followed; write a = a + b")
        options |= {"out": bare(out)} if out else {}
        found = getattr(ufunc, method)(*map(bare, inputs), **{name: bare(one) for name, one in options.items()})
        for target in (*out, *(inputs[:1] if method == "at" else ())):
            if isinstance(target, Public):
                target.written(ledger)
            elif ledger is not None:
                raise Open(NOT_FOLLOWED)
        if len(out) == 1 and isinstance(out[0], Public):
            return out[0]
        return watched(found, ledger, sized=is_sized(inputs))

    def __array_function__(self, function: Any, types: Any, args: Any, options: Any) -> Any:
        """What NumPy makes of it stays public; an error that NumPy raises is not followed."""
        if any(one.__array_function__ not in _WATCHED for one in types):
            return NotImplemented
        if function in OF_SHAPES:
            return super().__array_function__(function, types, args, options)
        ledger = ledger_of((args, options))
        if ledger is not None and any(map(_calls, (*args, *options.values()))):
            raise Open(f"np.{function.__name__} gives plain numbers to a function, so its decisions cannot be followed")
        try:
            found = function(*(bare(one) for one in args), **{name: bare(one) for name, one in options.items()})
        except Exception as error:
            if ledger is None:
                raise
            raise Open(f"np.{function.__name__} fails on some released numbers: {error}") from error
        if isinstance(found, str | np.dtype):
            self.plain()  # who reads it decides
        target = options.get("out", options.get("dst"))
        target = args[0] if function in INTO and args else target
        refuse(found is None and target is None and ledger is not None, NOT_FOLLOWED)
        if isinstance(target, Public):
            target.written(ledger)
        elif target is not None and ledger is not None:
            raise Open(f"np.{function.__name__} writes released numbers into an array that is not followed")
        if function in _SPLITS and args[0].order is not None:
            return [args[0][part] for part in function(np.arange(len(args[0])), *args[1:], **options)]
        counted = function in COUNTED or (function is _WHERE and len(args) == 1)
        found = watched(found, ledger, sized=counted or is_sized(args, options))
        found = in_random_order(found) if function in _SORTS else found
        return placed(found, np.size(bare(args[0]))) if function in PLACES and args else found

    def __getitem__(self, key: Any) -> Any:
        if self.filled is not None and not private(key):
            return self.filled.get(key)
        if private(key):
            found = of_table(self.counted(), key)
            return found if self.ledger is None else found.like()  # how large released numbers are is not known
        keys = key if isinstance(key, tuple | list) else (key,)
        masked = any(one.dtype == bool and ledger_of(one) is not None for one in keys if isinstance(one, np.ndarray))
        found = watched(bare(self)[bare(key)], ledger_of((self, key)), sized=masked or is_sized(self, key))
        if self.order is not None and ledger_of(key) is None:
            in_order(found, (self.order[0], self.order[1][bare(key)]))
        return found

    def __setitem__(self, key: Any, value: Any) -> None:
        values = value if type(value) in (list, tuple) else (value,)
        if self.filled is None and self.held is None and any(map(private, values)):
            if private(key) or self.base is not None or self.ambiguous:
                raise Open("private data are written into a part of an array; write into the array itself")
            self.filled = Filled(self)
        if self.filled is not None:
            self.filled.put(key, value)
            if not private(value) and not private(now := self.filled.value()):  # it holds nothing private any more
                self.filled.lose()
                self.filled = None
                bare(self)[...] = bare(now)
        else:
            bare(self)[bare(key)] = bare(value)
        self.written(ledger_of((key, value)))

    # -- what leaves ---------------------------------------------------------------------------------------
    def __bool__(self) -> bool:
        found, ledger = bool(bare(self)), self.ledger
        if ledger is None:
            return found
        if self.decided is None or not is_number(self):
            self.decided = bool(ledger.decide(found))
        return self.decided

    def __index__(self) -> int:
        found, ledger = int(bare(self).__index__()), self.ledger
        if ledger is None or ledger.done:
            return found
        if not self.ways:
            self.plain()
        return ledger.decide(found, self.ways)

    def __int__(self) -> int:
        return self.__index__() if self.ways else int(self.plain())

    def __mul__(self, other: Any) -> Any:
        repeats = not self.ndim and type(other) in (list, tuple, str)
        return other * self.__index__() if repeats else super().__mul__(other)

    __rmul__ = __mul__

    def __contains__(self, one: Any) -> bool:
        return bool((self == one).any())

    __round__ = Value.__round__

    def __hash__(self) -> int:  # type: ignore[override]
        return hash(self.__index__() if self.ways else self.plain().item())

    def __format__(self, form: str) -> str:
        found = self.plain()
        return format(found if found.ndim else found[()], form)

    def __len__(self) -> int:
        return int(np.shape(self.counted())[0])

    def __iter__(self) -> Any:
        return (self[number] for number in range(len(self)))

    shape = property(lambda self: self.counted().shape)  # nothing is written into it
    size = property(lambda self: int(self.counted().size))
    nbytes = property(lambda self: self.counted().nbytes)

    @property
    def flat(self) -> Any:
        """The same numbers in the same memory."""
        return self.ravel() if bare(self).flags.c_contiguous else self.plain().flat

    def plain(self) -> Any:
        """Decisions on a plain number are not seen."""
        ledger = self.ledger
        if ledger is not None and not ledger.done:
            raise Open("a released or random number is made a plain number, so decisions on it cannot be followed")
        return bare(self)

    def counted(self) -> Any:
        """How many entries there are decides, and is not seen."""
        return self.plain() if self.sized else bare(self)


for _of in (float, complex, repr, str):
    setattr(Public, f"__{_of.__name__}__", lambda self, of=_of: of(self.plain()))

_WATCHED = {np.ndarray.__array_function__, Public.__array_function__}


def _calls(one: Any) -> bool:
    """Is it a function, or are there some in it?"""
    return any(map(_calls, one)) if type(one) in (list, tuple) else callable(one)


def is_sized(*given: Any) -> bool:
    """Does how many entries one of them has depend on released values?"""
    return any(one.sized for one in parts_of(given) if isinstance(one, Public))


def _other(one: Any) -> bool:
    """Has it rules of its own?"""
    rules = getattr(type(one), "__array_ufunc__", np.ndarray.__array_ufunc__)
    return rules not in (np.ndarray.__array_ufunc__, Public.__array_ufunc__) and not issubclass(type(one), np.generic)


def watched(found: Any, ledger: Ledger | None, sized: bool = False) -> Any:
    """An array in the same memory, a number as an array of one; of a tuple or list each of them."""
    if isinstance(found, Public) or found is None or private(found):
        return found
    if isinstance(found, tuple | list):
        parts = [watched(one, ledger, sized) for one in found]
        return type(found)(*parts) if hasattr(found, "_fields") else type(found)(parts)
    if ledger is None and not isinstance(found, np.ndarray):
        return found
    if not isinstance(found, bool | int | float | complex | np.generic | np.ndarray):
        return found
    made = np.ndarray.view(np.ndarray.__array__(found) if isinstance(found, np.ndarray) else _scalar(found), Public)
    made.kept, made.sized = ledger, sized and made.ndim > 0 and ledger is not None
    if not made.ndim and isinstance(found, np.ndarray) and ledger is not None:
        unusual()
    return made


def _scalar(number: Any) -> Any:
    found = np.empty((), dtype=np.result_type(number))
    found[...] = number
    found.setflags(write=False)  # it is no array, and `a += b` gives another one
    return found


def held_by_the_code(array: Any) -> Any:
    """As `watched`, of an array that the code has under names that are not followed: nothing released goes into it."""
    NAMED["held", id(memory_of(array))] = memory_of(array)
    return watched(array, None)


def placed(found: Any, ways: int) -> Any:
    """A place among so many."""
    if isinstance(found, Public) and np.ndim(bare(found)) == 0:
        found.ways = ways
    return found


class Order:
    """Of different numbers, of which nobody knows where they stand; until they are shuffled anew."""

    gone = False


def in_random_order(found: Any) -> Any:
    """Different numbers, of which nobody knows where they stand."""
    if isinstance(found, Public) and found.ndim == 1 and len(np.unique(bare(found))) == bare(found).size:
        in_order(found, (Order(), np.arange(bare(found).size)))
    return found


def in_order(found: Any, order: tuple[Order, Any]) -> None:
    """Some of such numbers; no other ones can be written in their place. Negative ones count from the other end."""
    if isinstance(found, Public) and np.all(bare(found) >= 0):
        found.ordered = (*order, bare(found).copy())
        np.ndarray.setflags(found, write=False)


def blank(array: Any, ledger: Ledger | None) -> Any:
    """An array of the code's own, which owns its memory."""
    made = np.ndarray.__new__(Public, array.shape, array.dtype)
    bare(made)[...] = bare(array)
    made.kept = ledger
    return made


def public(value: Any, ledger: Ledger) -> Any:
    """The value as one whose decisions are noted."""
    if ledger.plain:
        return value
    made = np.array(bare(value))
    if made.dtype == object:
        raise Open("a draw or a choice of objects: decisions on them are not followed; draw a place among them")
    return watched(made if made.ndim else made[()], ledger)


_MADE_PLAIN = ("tobytes", "tofile", "dump", "dumps")


def _forwarded(name: str) -> Callable[..., Any]:
    counted = getattr(np, name, None) in COUNTED

    def method(self: Public, *args: Any, **options: Any) -> Any:
        ledger = ledger_of((self, args, options))
        if name in ("item", "tolist"):
            self.counted()
            return watched(getattr(bare(self), name)(*args), None if ledger is None or ledger.done else ledger, False)
        if name in _MADE_PLAIN:
            return getattr(self.plain(), name)(*args, **options)
        if any(map(private, args)) and hasattr(np, name):
            return getattr(np, name)(self, *args, **options)
        if name in ("fill", "put", "itemset"):
            self.written(ledger)
        found = getattr(bare(self), name)(*bare(args), **{key: bare(one) for key, one in options.items()})
        sized = counted or is_sized(self, args, options)
        found = placed(watched(found, ledger, sized), bare(self).size if name in ("argmax", "argmin") else 0)
        if name == "copy" and not private(found):
            found = blank(found, ledger)
            found.sized = sized
        order = self.order if name in ("reshape", "ravel", "flatten", "copy", "astype") else None
        if order is not None and found.dtype == self.dtype:
            in_order(found, (order[0], getattr(order[1], name)(*args)))
        return found

    method.__name__, method.__doc__ = name, "As of an array."
    return method


for _name in dir(np.ndarray):
    if not _name.startswith("_") and _name not in vars(Public) and callable(getattr(np.ndarray, _name)):
        setattr(Public, _name, _forwarded(_name))


# -- what holds private data
class Filled:
    """What an array holds: one private value, or, along one axis, arrays of its own."""

    def __init__(self, array: Any):
        numbers = np.ndarray.view(array, np.ndarray)
        if numbers.dtype.kind not in "fi" or numbers.dtype.name in NARROW:
            raise Open(f"private numbers are written into an array of the type {numbers.dtype}")
        unusual(numbers.dtype)
        self._numbers, self._ledger = numbers.copy(), array.ledger
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
        self._alone(parts=False)
        axis, place, rest = self._place(key)
        if axis is None and place is not None:
            self._become(given)
        elif axis is not None and self._whole is None and axis == (self._axis if self._entries else axis):
            if not self._entries:
                along = np.moveaxis(self._numbers, axis, 0)
                self._axis, self._entries = axis, [blank(np.array(one), self._ledger) for one in along]
            self._entries[place][rest] = given
        else:
            self._become(self.value() if self._whole is not None or self._entries else self._numbers)
            if private(given) and not private(self._whole) and self._ledger is None:
                self._whole = _spliced(self._whole, key, given)
            else:
                self._whole[key] = given

    def lose(self) -> None:
        """What were its parts are parts of another array."""
        for one in self._entries:
            if isinstance(one.filled, Filled):
                one.filled.lose()
            one.filled = _Lost()

    def _alone(self, parts: bool) -> None:
        """Raises Open where another name may have what it is, or one of its parts."""
        wholes = [one for one in (self._whole, self._read[1]) if private(one)]
        refuse(any(one.memory.shared for one in wholes), _SHARED)
        for one in self._entries if parts else ():
            if isinstance(one.filled, Filled):
                one.filled._alone(parts)

    def _become(self, given: Any) -> None:
        self._alone(parts=True)
        shape = self._numbers.shape
        given = given if np.shape(given) == shape else np.broadcast_to(given, shape)
        self.lose()
        self._whole, self._entries = given.copy() if private(given) else np.array(given), []

    def _place(self, key: Any) -> tuple[Any, Any, Any]:
        """The axis and the place along it, with the rest of the key; no axis for all of it; no place for other keys."""
        keys = of_each_axis(key, self._numbers.ndim)
        if any(one is None for one in keys) or len(keys) > self._numbers.ndim:
            return None, None, ()
        for axis, one in enumerate(keys):
            if isinstance(one, slice) and one == slice(None):
                continue
            if private(one) or not isinstance(one, int | np.integer) or isinstance(one, bool):
                return None, None, ()
            place = range(self._numbers.shape[axis])[operator.index(one)]
            return axis, place, (*keys[:axis], *keys[axis + 1 :])
        return None, 0, ()


def _spliced(whole: Any, key: Any, given: Any) -> Any:
    """``whole[a:b] = given``, along one axis: what stands before, the private numbers, and what stands after."""
    keys = of_each_axis(key, whole.ndim)
    parts = [axis for axis, one in enumerate(keys) if not (isinstance(one, slice) and one == slice(None))]
    if len(parts) != 1 or not isinstance(keys[parts[0]], slice) or keys[parts[0]].step not in (None, 1):
        raise Open("private data are written into a part of an array that is no slice along one axis")
    axis = parts[0]
    start, stop, _ = keys[axis].indices(whole.shape[axis])
    before, there, after = np.split(np.asarray(whole), [start, max(start, stop)], axis=axis)
    return np.concatenate([before, np.broadcast_to(given, there.shape), after], axis=axis)


class _Lost:
    """Of an array that was a part of one that was written to as a whole."""

    def value(self, *_: Any) -> NoReturn:
        raise Open(_SHARED)

    get = put = value


# -- adding at private places: ``counts[label] += 1`` adds a vector with one entry that is not zero
AT[np.add] = lambda array, key, amount: added(array, key, amount, each=True)


def added(container: Any, key: Any, amount: Any, plus: bool = True, each: bool = False, before: Any = None) -> None:
    """``container[key] += amount``, or ``-=``; of several keys that may be equal only what `np.add.at` does."""
    add: Any = operator.add if plus else operator.sub
    keys = key if isinstance(key, tuple) else (key,)
    if not any(map(private, keys)):
        in_place = operator.iadd if plus else operator.isub
        array = isinstance(container, np.ndarray) and private(amount)
        container[key] = (add if array else in_place)(container[key] if before is None else before, amount)
        return
    if not each and any(map(np.ndim, keys)):
        raise Open("private places of which some may be equal: one of them counts; use np.add.at")
    ranges = _places_in(container, keys)
    number: Any = 0
    for one, those in zip(keys, ranges, strict=True):
        number = number * len(those) + (one.astype(int) - those[0] if private(one) else those.index(one))
    line = one_at(number, (math.prod(map(len, ranges)),))  # for each record
    if not isinstance(container, np.ndarray):
        for place, entry in zip(itertools.product(*ranges), line, strict=True):
            name = place if isinstance(key, tuple) else place[0]
            if type(container[name]) not in _NUMBERS or np.ndim(amount):
                raise Open("no numbers at private places, and other names may hold them; use one array of them all")
            container[name] = add(container[name], entry * amount)
        return
    if line.at is None:
        change = line * amount if np.ndim(amount) == 0 else line[:, None] * amount
    else:
        change = (line * (amount if np.ndim(amount) == 0 else amount[:, None])).sum(axis=0)
    change = change.reshape(container.shape) if len(keys) > 1 else change
    if change.shape != container.shape:
        raise Open("a private key decides; count in an array of as many axes as there are keys")
    container[...] = add(container, change)


def _places_in(container: Any, keys: tuple[Any, ...]) -> list[Any]:
    """What each key may be: in a dictionary every whole number that it can be, elsewhere a place along its axis."""
    kind = type(container)
    if not isinstance(container, np.ndarray) and not {kind.__getitem__, kind.__setitem__} <= _SILENT:
        raise Open("a container with code of its own is asked at a private place, and may note which")
    if isinstance(container, dict):
        known = all(one.high - one.low < _MANY for one in filter(private, keys))
        ranges = [range(int(one.low), int(one.high) + 1) if known and private(one) else [one] for one in keys]
        names = {place if len(keys) > 1 else place[0] for place in itertools.product(*ranges)} if known else {None}
        if not names <= container.keys():
            raise Open("a private key may be missing from the dictionary: make an entry for each number that it can be")
    else:
        shape = container.shape if isinstance(container, np.ndarray) else (len(container),)
        ranges = [range(size) for size in shape[: len(keys)]]
    refuse(len(ranges) != len(keys), "a private key decides; count in an array of as many axes as there are keys")
    for one, those in zip(keys, ranges, strict=True):
        whole = private(one) and one.integer and (isinstance(container, dict) or not one.truth)
        if private(one) and not (whole and one.low >= those[0] and one.high <= those[-1] and one.at in (None, -1)):
            raise Open("a private index needs whole numbers within the table: clip them first")
    return ranges
