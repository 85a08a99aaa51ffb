"""What converted code calls: one of two values, and whatever record it is for a private number of records.

All records are alike, so what is computed of one of them is known of all; how many there are is private. What is
computed for both ways of a private decision, or for each of such records, may do nothing else.
"""

import contextlib
import dis
import gc
import io
import logging
import math
import statistics
import sys
import threading
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NoReturn

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

from dpassay.audit.inputs.foreign import silent

from .arithmetic import compared
from .derivation import FOLLOWED, IN_ITS_NAME, TRUSTED, Decides, Open, of_a_library, refuse, trusted
from .draws import Noise
from .facts import NAMED, ZERO, Norms, Origin, Records
from .generators import Draws, StandIn
from .outside import INSTEAD, array, harmless_kind, named, outside, plainly_made
from .public import NOT_FOLLOWED, Public, added
from .shapes import Batch, Parts, Place, one_of
from .value import SEALED, Holder, Value, is_number, ledger_of, memory_of, private


def _private(truth: Any) -> bool:
    """Is it, or released? Then both ways are computed, and nothing else may be done."""
    if not private(truth) and not _undecided(truth):
        return False
    watch()
    return True


def _undecided(truth: Any) -> bool:
    """Was it released, and may its decision be a choice?"""
    ledger = getattr(truth, "ledger", None)
    if ledger is None or not ledger.choosing or np.ndim(truth):
        return False
    ledger.chose = True
    return True


class _Missing(NDArrayOperatorsMixin):
    """What a name has that no way of a decision gave a value yet."""

    __slots__ = ()

    def _asked(self, *_: Any, **__: Any) -> NoReturn:
        raise Open("a name has a value in one way of a private decision alone")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        self._asked()

    __bool__ = __len__ = __iter__ = __hash__ = __call__ = __getitem__ = __array_ufunc__ = __array_function__ = _asked


_MISSING = _Missing()


def _either(truth: Value, one: Any, other: Any) -> Any:
    """One of two values: of numbers, or the same thing. A name that one way alone has may not be asked for."""
    if one is other:
        return one
    if not private(truth):
        if any(_of_numbers(value) is None for value in (one, other)) or _of_numbers(one) != _of_numbers(other):
            raise Open("a released number decides between what are no numbers of one shape")
        for value in (one, other):
            for shared in value.sharing() if isinstance(value, Public) else ():
                shared.ambiguous = True
        found = np.where(truth, one, other)
        if isinstance(found, Public):  # what is written into it, is written into one of them
            np.ndarray.setflags(found, write=False)
        return found
    if one is _MISSING or other is _MISSING:
        return _MISSING
    if not all(private(value) or isinstance(value, np.generic | int | float) for value in (one, other)):
        raise Decides()
    found = np.where(truth if truth.truth else compared(truth, 0.0), one, other)
    for value in (one, other):
        if private(value):
            found.view_of(value)  # it is one of them
    return found


def _of_numbers(one: Any) -> Any:
    """The shape of public numbers; None of anything else."""
    return None if private(one) or not isinstance(one, int | float | np.generic | np.ndarray) else np.shape(one)


def _caught(*_: Any) -> NoReturn:
    raise Open("an error is caught here, and whether there is one may follow private data or released values")


_MANAGERS = np.errstate, warnings.catch_warnings, contextlib.nullcontext, io.IOBase, type(threading.Lock())


def _entered(manager: Any) -> Any:
    """What `with` begins, which catches no error, and keeps no warning and no text."""
    kind: Any = type(manager)
    of = next((one for one in kind.__mro__ if "__exit__" in vars(one)), object)
    code = getattr(getattr(manager, "gen", None), "gi_code", None)  # of a function that yields
    own = code in FOLLOWED or (plainly_made(kind) and not of_a_library(of.__module__))
    if not (own or issubclass(kind, _MANAGERS)) or getattr(manager, "_record", False):
        _caught()
    return manager


def _into(value: Any, container: Any) -> Any:
    """The value, if what it is written into is followed; of a container None nothing is known."""
    kind = type(container)
    names = isinstance(container, ModuleType | type)
    refuse(names and of_a_library(getattr(container, "__module__", container.__name__)), "a library's name is changed")
    own = harmless_kind(kind) or not of_a_library(kind.__module__)
    refuse((container is None or not own) and (ledger_of(value) is not None or private(value)), NOT_FOLLOWED)
    return value


def _same(one: Any, other: Any) -> bool:
    """As `is`: which object a private number is, may depend on what it is."""
    if any(private(value) or isinstance(value, Noise) or ledger_of(value) is not None for value in (one, other)):
        raise Open("whether two private or released numbers are one object decides")
    return one is other


def _added(container: Any, key: Any, amount: Callable[[], Any], plus: bool) -> None:
    """To what stands there before the amount is computed; of a private place it is not known which one."""
    only_computing()
    keys = key if isinstance(key, tuple) else (key,)
    before = None if any(map(private, keys)) else container[key]
    added(container, key, _into(amount(), container), plus, before=before)


def _one_of(truth: Any, one: Callable[[], Any], other: Callable[[], Any]) -> Any:
    """A conditional expression."""
    if not private(truth) and not _undecided(truth):
        return one() if truth else other()
    return _either(truth, *computing(lambda: (one(), other())))


class _Zipped:
    """As `zip`; it knows its arrays."""

    def __init__(self, arrays: Any, options: Any):
        self.arrays, self._options = arrays, options
        self._pairs: Iterator[Any] | None = None

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        if self._pairs is None:
            self._pairs = zip(*self.arrays, **self._options)  # noqa: B905
        return next(self._pairs)


def _zip(*arrays: Any, **options: Any) -> Any:
    known = any(private(one) or type(one) is Parts for one in arrays)
    return _Zipped(arrays, options) if known else zip(*arrays, **options)  # noqa: B905


def _len(values: Any) -> Any:
    """As `len`; the number of records may be private."""
    values = values.held if isinstance(values, Holder) else values
    return values.shape[0] if private(values) and values.absent and values.at == -values.ndim else len(values)


def _range(*ends: Any) -> Any:
    """As `range`; the places of a private number of records are those of a batch with all of them."""
    number = ends[-1]
    if not private(number) or not number.count or not number.records.everyone or ends[:-1] not in ((), (0,)):
        return range(*ends)
    return Batch(-1, number.count, number.count, True, records=number.records, of=number.records)


def _sum(values: Any, /, start: Any = 0) -> Any:
    """As `sum`; of records along the first axis."""
    if type(values) is Parts:
        return start + values.total
    if not private(values):
        used_up(values)
        return sum(values, start)
    found = np.sum(values, axis=0)
    found.hollow = bool(found.ndim and values.absent and found.at is None)  # of no record it is the number 0
    return found if type(start) is int and start == 0 else found + start


def _mean(values: Any) -> Any:
    return _sum(values) / _len(values)


def _list(records: Any, make: Callable[..., Any], kept: Any, several: bool) -> Any:
    """A list, or its values as an array of a private number of records."""
    found = _once(records, make, kept)
    if found is None:
        turns = (tuple(one) if several else (one,) for one in records)
        return [make(*one) for one in turns if kept is None or kept(*one)]
    found.listed = True
    return found


def _whichever(records: Any, chosen: bool = False) -> tuple[Any, Any]:
    """All of a private number of records, and one that stands for each of them; None where it is public how many."""
    if type(records) is Batch and records.poisson:
        return Value((records.total,), -1, records.records, draws=records.draws, absent="lacking"), (Place(records, 0),)
    arrays = records.arrays if type(records) is _Zipped else (records,)
    first = arrays[0]
    if type(first) is Parts and all(type(one) is Parts and one.records is first.records for one in arrays):
        return first, tuple(one.each for one in arrays)
    if not all(private(one) and one.at == -one.ndim and not one.holes for one in arrays):
        return None, ()
    alike = all(one.records.same(first.records) and one.absent == first.absent for one in arrays)
    if not alike or not (first.absent or chosen):
        return None, ()
    place = Records(batch=first.records if first.absent else Records(), places=frozenset({0}))
    return first, tuple(one_of(one, place) for one in arrays)


def _secret(records: Any) -> bool:
    """Is it a private number of records? What is computed of one is computed of all, and nothing else may be done."""
    found = _whichever(records)[0] is not None
    if found:
        watch()
    return found


def _record(records: Any) -> Any:
    """Whichever record it is."""
    _, given = _whichever(records)
    return given if type(records) is _Zipped else given[0]


def _all(records: Any, made: Any) -> Any:
    """The sum of what is made of each record."""
    first, given = _whichever(records)
    place = given[0].records
    found = Parts(made, place).total if place.whole else np.sum(_of_all(made, first, place, False), axis=0)
    found.hollow = found.ndim > 0
    return found


def _once(records: Any, make: Callable[..., Any], kept: Any) -> Any:
    """The values that are made of each record, where how many there are is private; else None."""
    first, given = _whichever(records, kept is not None)
    if first is None:
        return None
    chosen: Any = None if kept is None else computing(lambda: kept(*given))
    if kept is not None and not (private(chosen) and chosen.truth):
        if not first.absent:
            return None
        raise Open("the number of these records is private; a public choice among them has no rule")
    place = given[0].records
    if place.whole is not None:
        return Parts(computing(lambda: make(*given)), place)
    _only_of(chosen, first, place)
    return _of_all(computing(lambda: make(*given)), first, place, kept is not None)


def _only_of(found: Any, first: Value, place: Records) -> None:
    """Raises Open where it depends on more than one record."""
    if private(found) and (not found.records.same(place) or found.draws != first.draws or found.holes):
        raise Open("what is made of each of a private number of records depends on more than that record")


def _of_all(made: Any, first: Any, place: Records, some: bool) -> Value:
    """The same for each record; of which a private condition leaves some."""
    _only_of(made, first, place)
    if private(made):
        size, move, low, high = made.norms, made.move, made.low, made.high
    elif type(made) in (int, float, bool, np.ndarray) or isinstance(made, np.generic):
        low, high = float(np.min(made)), float(np.max(made))
        size, move = Norms(sup=max(abs(low), abs(high))), ZERO
    else:
        raise Open("what is made of each of a private number of records is no number")
    shape = made._shape if private(made) else np.shape(made)
    records = first.records if first.absent and not some else Records()
    ends = {"low": low, "high": high, "draws": first.draws, "absent": first.absent or "masked"}
    kind = (made if private(made) else np.asarray(made)).dtype.kind
    ends["integer"], ends["truth"] = kind in "bi", kind == "b"
    if private(made) and made.origin is not None:
        whole, places, factor = made.origin
        of_one = whole.like(size=whole.norms, vanishes=whole.vanishes) if some else whole  # each part of other records
        of_each = NAMED.setdefault((whole.token, some), _of_all(of_one, first, place, some))
        ends["origin"] = Origin(of_each, places[None], factor)
    return Value((first._shape[0], *shape), -len(shape) - 1, records, size, move, **ends)


# -- effects: from `watch` to `computed`, what code calls is looked at
# Writing to objects, entries and names that are not its own, draws, and what a function outside of NumPy may do with
# the world are effects. So is an error in such a part: with other data there is none, and who catches it has decided.
_WRITES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_", "IMPORT", "YIELD_FROM")
_IN_PLACE = {"at", "copyto", "fill", "itemset", "partition", "put", "put_along_axis", "putmask", "place", "sort"}
_IN_PLACE |= {"fill_diagonal", "resize", "setfield", "setflags", "tofile", "dump", "seed", "shuffle"}
_HARMLESS = {abs, min, max, sum, len, round, isinstance, getattr, hasattr, pow, divmod, callable}
_WRITING = {one.__code__ for one in (Value.changed, Public.written, Public.__setitem__, Noise._written)}
_DRAWING = {one.__code__ for kind in (StandIn, Draws) for one in vars(kind).values() if isinstance(one, FunctionType)}
_watched: list[tuple[list[str], int]] = []  # of each part of the code that may have none: effects; what was sealed


def watch() -> None:
    """From here on, what the code calls may only compute. What Python calls when it tidies up is no part of it."""
    gc.disable()
    _watched.append(([], len(SEALED)))
    sys.setprofile(_seen)


def sealed(*added: Any) -> None:
    """To these something is added when the part is over: till then it reads them by no other name. Anew: to none."""
    _, before = _watched[-1]
    if not added:
        del SEALED[before:]
    for one in added:
        if private(one) or (issubclass(type(one), np.ndarray) and not is_number(one)):
            memory = memory_of(one)
            refuse(any(memory is other for other in SEALED), "something is added to one array by two names")
            SEALED.append(memory)


def computed() -> None:
    """So far. Raises Open where something else was done."""
    if len(_watched) == 1:
        sys.setprofile(None)
        gc.enable()
    sealed()
    found, _ = _watched.pop()
    if found:
        why = "what depends on private data, or is done for each of a private number of records, has effects"
        drawn = next((one for one in found if one.endswith(" draws")), "")  # more noise for some data than for others
        raise (Decides if drawn else Open)(f"{why}: {drawn or found[0]}")


def ended() -> None:
    """The run is over. Raises Open where an error has ended what was watched."""
    refuse(_watched, "an error is caught that some private data raise and others do not")


def forgotten() -> None:
    """Nothing is watched any more."""
    if _watched:
        sys.setprofile(None)
        gc.enable()
        _watched.clear()
        SEALED.clear()


def computing(made: Callable[[], Any]) -> Any:
    """What a function gives that may only compute."""
    watch()
    found = made()
    computed()
    return found


def only_computing() -> None:
    """Raises Open where something is written in one way of a decision, or for each of a private number of records."""
    refuse(_watched, "what depends on private data writes to an entry")


def used_up(values: Any) -> None:
    """Raises Open where something is used up in one way of a decision."""
    refuse(_watched and hasattr(values, "__next__"), "what depends on private data uses up an iterator")


def _seen(frame: FrameType, event: str, function: Any) -> None:
    code, (effects, _) = frame.f_code, _watched[-1]
    if trusted(code.co_filename) and code not in IN_ITS_NAME:
        caller = frame.f_back
        if event == "call" and code in _DRAWING:
            effects.append(f"{code.co_name} draws")
        elif event == "call" and code in _WRITING:
            effects.append("an array is changed in place")
        elif (
            event == "call"
            and caller is not None
            and not code.co_filename.startswith(TRUSTED)
            and (caller.f_code in IN_ITS_NAME or not trusted(caller.f_code.co_filename))
        ):  # Python's own library
            effects.append(f"{code.co_name} is called")
        elif event == "call" and code.co_name == "listed" and frame.f_locals["real"].__name__ in _IN_PLACE:
            effects.append(f"{frame.f_locals['real'].__name__} writes")
    elif event == "call" and _writes(code):
        effects.append(f"{code.co_name} writes")
    elif event == "c_call" and not _harmless(function):
        effects.append(f"{getattr(function, '__name__', function)} is called")


@cache
def _writes(code: CodeType) -> bool:
    """To an object, a global name or one of the function around it; also where no run comes by."""
    steps = list(dis.get_instructions(code))
    return any(one.opname.startswith(_WRITES) or one.argrepr in _AUGMENTED for one in steps)


_AUGMENTED = {f"{sign}=" for sign in ("+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>")}


def _harmless(function: Any) -> bool:
    of, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(of, ModuleType) or of is None:
        return function in _HARMLESS or getattr(function, "__module__", "") in ("math", "numpy")
    return isinstance(of, np.ndarray | np.generic | int | float | str | tuple | np.ufunc) and name not in _IN_PLACE


_LOGS = logging.debug, logging.info, logging.warning, logging.error


def _printed(function: Any, shown: Callable[[], tuple[Any, ...]], plainly: Callable[[], Any]) -> None:
    """Anybody may read a released number; of all else the text is made, as the code does."""
    logs = function in _LOGS or isinstance(getattr(function, "__self__", None), logging.Logger)
    if function not in (print, silent) and not logs:
        plainly()
        return
    for one in shown():
        refuse(not of_a_library(type(one).__module__), "an object of the code's own is printed")
        if not isinstance(one, Public):
            str(one)


_CALLED = (_private, _either, _one_of, _secret, _record, _all, _list, _caught, _entered, _added, _into, _same)
NAMES: dict[str, Any] = {
    **{f"_dpassay{one.__name__}": one for one in (*_CALLED, _printed)},
    **{"_dpassay_missing": _MISSING, "_dpassay_computed": computed, "_dpassay_outside": outside},
    **{"_dpassay_array": array, "_dpassay_named": named, "_dpassay_sealed": sealed},
}
INSTEAD |= {id(zip): _zip, id(sum): _sum, id(len): _len, id(range): _range, id(math.fsum): _sum}
INSTEAD |= {id(one): _mean for one in (statistics.mean, statistics.fmean)}
