"""What private values go through in place of NumPy's constructors and global generators, while code is certified."""

import ast
import builtins
import functools
import linecache
import math
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dpassay.audit.lockstep.source_lines import trade

from .choices import NAMES, forgotten, used_up
from .converted import converted
from .derivation import FOLLOWED, Open, here, of_a_library, refuse
from .draws import Answers, Noise, fresh_generator
from .generators import Draws, OldNames, Secret, names_of_python
from .kinds import unusual
from .outside import INSTEAD, of_kind
from .public import COUNTED, INTO, NOT_FOLLOWED, OF_SHAPES, Public, blank, held_by_the_code, is_sized, watched
from .value import Holder, Value, bare, ledger_of, parts_of, private

_CONSTRUCTORS = ("asarray", "array", "asanyarray", "asarray_chkfinite")
_FRESH = ("zeros", "ones", "empty", "full", "zeros_like", "ones_like", "empty_like", "full_like", "eye", "arange")
_LIKE: dict[Any, Callable[..., Any]] = {np.zeros_like: np.zeros, np.ones_like: np.ones, np.full_like: np.full}
_LIKE[np.empty_like] = np.zeros
_EMPTY = np.empty, np.zeros  # what is there by chance may be no number
_LEGACY = {"normal", "laplace", "standard_normal", "randn", "rand", "random_sample", "randint", "choice", "uniform"}
_LEGACY |= {"random", "geometric", "binomial", "gumbel", "exponential", "shuffle", "permutation", "multivariate_normal"}
_DISPATCHED = type(np.sum)
_OF_SEVERAL = ("stack", "concatenate", "hstack", "vstack", "dstack", "column_stack", "block", "select", "choose")


def _constructor(real: Callable[..., Any], copies: bool, plain: bool) -> Callable[..., Any]:
    def made(value: Any, *args: Any, **options: Any) -> Any:
        if type(value) in (list, tuple) and value and all(type(one) is Noise for one in value):
            value = np.stack(value)
        if isinstance(value, Noise):
            dtype = options.get("dtype", args[0] if args else None)
            if options.keys() - {"dtype", "copy"} or len(args) > 1:
                value = value.known()
            elif dtype is not None and np.dtype(dtype) != (value.dtype if isinstance(value, Answers) else float):
                value = value.astype(dtype)
            else:
                return value.copy() if copies and options.get("copy", True) else value
        own = any(not of_a_library(type(one).__module__) for one in parts_of(value))
        refuse(own, "an array is made of an object with code of its own, and catches its errors")
        value = value.held if isinstance(value, Holder) else value
        if isinstance(value, Value | Public | Noise) and not value.ndim:
            unusual()
        if isinstance(value, list | tuple) and any(isinstance(one, Value) for one in value):
            value = np.stack(value)
        if not isinstance(value, Value):
            if isinstance(value, Noise):  # of another type
                return value
            found = real(bare(value), *args, **options)
            if plain or _ours():
                return found
            if type(value) is np.ndarray and np.may_share_memory(found, value):
                return held_by_the_code(found)
            own = copies and type(found) is np.ndarray and options.get("copy", True)
            found = blank(found, ledger_of(value)) if own else watched(found, ledger_of(value))
            found.sized = is_sized(value)
            return found
        if value.listed:
            value = value.copy()
            value.listed, value.hollow = False, value.ndim > 1
        dtype = options.pop("dtype", args[0] if args else None)
        if options.keys() - {"copy"} or len(args) > 1:
            raise Open(f"np.{real.__name__} of private data is not followed with these options")
        if dtype is not None and np.dtype(dtype) != value.dtype:
            return value.astype(dtype)
        return value.copy() if copies and options.get("copy", True) else value

    return made


def _fresh(real: Callable[..., Any]) -> Callable[..., Any]:
    def made(*args: Any, **options: Any) -> Any:
        if args and private(args[0]) and real in _LIKE:
            options.setdefault("dtype", args[0].dtype)
            found = _LIKE[real](args[0].shape, *args[1:], **options)
        else:
            found = (_EMPTY[1] if real is _EMPTY[0] else real)(*args, **options)
        if isinstance(found, Value) or _ours():
            return found
        ledger = ledger_of((args, options))
        return blank(found, ledger) if isinstance(found, np.ndarray) else watched(found, ledger)

    return made


def _of_lists(real: Callable[..., Any]) -> Callable[..., Any]:
    """NumPy looks for rules at some of its arguments, and not into the lists that it makes arrays of."""

    @functools.wraps(real)
    def listed(*values: Any, **options: Any) -> Any:
        values, options = tuple(map(whole, values)), {name: whole(one) for name, one in options.items()}
        found = real(*values, **options)
        ledger = ledger_of((values, options))
        refuse(ledger is not None and real in INTO and values and not isinstance(values[0], Public), NOT_FOLLOWED)
        if ledger is None or ledger.plain or real in OF_SHAPES or ledger_of(found) is not None:
            return found
        return watched(found, ledger, sized=real in COUNTED)

    def whole(value: Any) -> Any:
        kept = type(value) in (list, tuple) and any(isinstance(one, Value | Public | Noise) for one in value)
        return watched(np.array(value), ledger_of(value), is_sized(value)) if kept else value

    return listed


class _Joined:
    """`np.c_` and `np.r_`, which make plain arrays of what they are given."""

    def __init__(self, real: Any, join: Callable[[Any], Any]):
        self._real, self._join = real, join

    def __getitem__(self, key: Any) -> Any:
        arrays = key if type(key) is tuple else (key,)
        kept = any(isinstance(one, Value | Public | Noise) for one in arrays)
        other = any(isinstance(one, slice | str) for one in arrays)
        return self._join([np.atleast_1d(one) for one in arrays]) if kept and not other else self._real[key]


def _ours() -> bool:
    """Is it no code that is certified that asks?"""
    ours = "dpassay.audit.", "dpassay.reference.laws.", "numpy."
    return str(sys._getframe(2).f_globals.get("__name__")).startswith(ours)


class _Kept(type):
    """Of the names `float` and `int` in the code: what is private or released stays what it is."""

    def __instancecheck__(cls, one: Any) -> bool:
        return of_kind(one, cls.__bases__[0])

    def __call__(cls, one: Any = 0, *rest: Any) -> Any:
        if type(one) is Noise and one.size == 1 and cls.__bases__[0] is float:
            return one.reshape(())
        if isinstance(one, Noise):
            one = one.known()
        if isinstance(one, Value | Public):
            if isinstance(one, Value) and one.entries != 1:
                raise TypeError("only arrays of one number can be a number")
            if getattr(one, "ways", 0):
                return one
            return (one.reshape(()) if one.ndim else one).astype(getattr(cls, "dtype", float))
        return cls.__bases__[0](one, *rest)


class _Float(float, metaclass=_Kept):
    dtype = np.dtype(float)


class _Int(int, metaclass=_Kept):
    dtype = np.dtype(int)


_Float.__name__, _Int.__name__ = "float", "int"


def _extreme(real: Callable[..., Any], of_arrays: Any) -> Callable[..., Any]:
    def found(*values: Any, **options: Any) -> Any:
        if len(values) == 2 and not options and any(isinstance(one, Value | Public | Noise) for one in values):
            if any(np.ndim(one) for one in values):
                raise Open("of two arrays of one number Python takes one itself; use np.maximum or np.minimum")
            return of_arrays(*(one.known() if isinstance(one, Noise) else one for one in values))
        for one in values:
            used_up(one)
        return real(*values, **options)

    return found


def _of_math(real: Any) -> Any:
    """What is private goes through NumPy, where it can be followed."""
    of_arrays = getattr(np, getattr(real, "__name__", ""), None)
    if of_arrays is None or real in (math.ceil, math.floor, math.trunc):  # these make whole numbers, which count
        return real

    @functools.wraps(real)
    def found(*values: Any) -> Any:
        same = len(values) == getattr(of_arrays, "nin", len(values))  # no base of a logarithm, which NumPy writes into
        return (of_arrays if same and any(isinstance(one, Value | Public) for one in values) else real)(*values)

    return found


_OF_MATH = {name: _of_math(one) for name, one in vars(math).items() if type(one) is type(math.sqrt)}
_BUILTIN = {"float": _Float, "int": _Int, "min": _extreme(min, np.minimum), "max": _extreme(max, np.maximum)}
INSTEAD |= {id(getattr(math, name)): one for name, one in _OF_MATH.items()}
INSTEAD |= {id(getattr(builtins, name)): one for name, one in _BUILTIN.items()}


def _names_of(run: Any) -> list[dict[str, Any]]:
    """The global names that the code sees: those of its module, and of the algorithms and problems of the reference."""
    while isinstance(run, functools.partial) or hasattr(run, "__wrapped__"):
        run = run.func if isinstance(run, functools.partial) else run.__wrapped__
    run = getattr(run, "__func__", run)
    found: dict[str, Any] | None = getattr(run, "__globals__", None)
    own = getattr(type(run).__call__, "__globals__", {}) if found is None else found
    loaded = [vars(one) for name, one in sys.modules.items() if name.startswith("dpassay.reference.")]
    return [own, *(one for one in loaded if one is not own and trade(str(one["__file__"])) in ("ours", "block"))]


@contextmanager
def kept_numbers(run: Any, convert: bool = False) -> Iterator[None]:
    """While it is open, plain numbers that the code makes of private and released ones can be followed.

    Its own functions are converted on demand: not where the ways out of its decisions are watched in its bytecode.
    """
    changed: list[tuple[dict[str, Any], dict[str, Any], list[str]]] = []
    written: list[tuple[Any, Any]] = []
    everybodys = np.random.mtrand._rand._bit_generator, random._inst
    before = [*map(_state, everybodys)]
    codes = converted(run, _names_of(run)[0]) if convert else []
    FOLLOWED.update([sys._getframe(2).f_code] if convert else [])  # whoever certifies
    own = {id(function.__globals__): function.__globals__ for function, _ in codes}
    for names in {**{id(one): one for one in _names_of(run)}, **own}.values():
        new = {name: one for name, one in (NAMES if id(names) in own else _BUILTIN).items() if name not in names}
        changed.append((names, {name: names[name] for name in new if name in names}, list(new)))
        names.update(new)
    for function, code in codes:
        written.append((function, function.__code__))
        function.__code__ = code
    try:
        yield
    finally:
        forgotten()
        FOLLOWED.clear()
        for function, code in written:
            function.__code__ = code
        for names, old, gone in changed:
            for name in gone:
                names.pop(name, None)
            names.update(old)
    drawn = convert and before != [*map(_state, everybodys)]
    refuse(drawn, "a library draws from the generator of the global names, which is not followed")


def _state(generator: Any) -> str:
    """Another one after each draw."""
    return repr(generator.getstate() if isinstance(generator, random.Random) else generator.state)


class _Seeded(np.random.Generator):
    """A generator with a fixed seed: its numbers are constants that everybody knows, and hide nothing."""

    def __init__(self, real: Any):
        super().__init__(real._bit_generator)
        self.real = real

    def __getattribute__(self, name: str) -> Any:
        found = getattr(object.__getattribute__(self, "real"), name)
        return functools.partial(_constant, found) if callable(found) and not name.startswith("_") else found


def _constant(draw: Callable[..., Any], *args: Any, **options: Any) -> Any:
    given = (*args, *options.values())
    if any(private(one) or isinstance(one, Noise) for one in given) or ledger_of(given) is not None:
        raise Open("a draw with a fixed seed from private data or released values has no rule")
    found = draw(*map(bare, args), **{name: bare(one) for name, one in options.items()})
    return blank(found, None) if isinstance(found, np.ndarray) else found


@contextmanager
def patched(draws: Draws, run: Any = None) -> Iterator[None]:
    """While it is open, arrays made of private values stay private, and the global generators draw from the ledger.

    So they do by whatever other name the code calls them.
    """
    names, kept = _names_of(run)[0], list[tuple[Any, str, Any]]()
    before = dict(INSTEAD)
    try:
        for place, name, new in _stand_ins(draws, fixes_the_seed(str(names.get("__file__") or ""))):
            if hasattr(place, name):
                old = getattr(place, name)
                kept.append((place, name, old))
                setattr(place, name, new)
                INSTEAD[id(old)] = new
        yield
    finally:
        INSTEAD.clear()
        INSTEAD.update(before)
        for place, name, old in reversed(kept):
            setattr(place, name, old)


def _stand_ins(draws: Draws, seeded: bool) -> Iterator[tuple[Any, str, Any]]:
    """Where, under which name, and what: the global draws are none where their seed is fixed."""

    def own(seed: Any = None, real: Callable[[Any], Any] = fresh_generator) -> Any:
        if isinstance(seed, np.random.Generator):
            return seed
        if seed is None or isinstance(seed, Secret):
            return draws
        if private(seed) or ledger_of(seed) is not None:
            raise Open("a generator with a seed of private data or of released values has no rule")
        draws.notes.known_noise = f"{here()}: a generator with a fixed seed: everybody can draw the same noise"
        return _Seeded(real(bare(seed)))

    class Legacy(OldNames):
        """Code asks whether something is one, and makes one."""

        def __new__(cls, seed: Any = None) -> Any:
            return own(seed, np.random.mtrand.RandomState)

    plain = draws.notes.plain
    yield from ((math, name, one) for name, one in _OF_MATH.items() if plain)  # for code that is not converted
    yield from ((np, name, _constructor(getattr(np, name), name == "array", plain)) for name in _CONSTRUCTORS)
    yield from ((np, name, _fresh(getattr(np, name))) for name in _FRESH)
    for name, one in vars(np).items() if not plain else ():
        if isinstance(one, _DISPATCHED) and one.__name__ not in _OF_SEVERAL:
            yield np, name, _of_lists(one)
    yield np.linalg, "norm", _of_lists(np.linalg.norm)
    yield np, "c_", _Joined(np.c_, np.column_stack)
    yield np, "r_", _Joined(np.r_, np.concatenate)
    yield np.random, "default_rng", own
    yield np.random, "RandomState", Legacy
    if not seeded:  # else they draw what everybody knows
        yield from ((np.random, name, getattr(draws, name)) for name in _LEGACY)
        yield from ((random, name, draw) for name, draw in names_of_python(lambda: draws).items())


@functools.cache
def fixes_the_seed(file: str) -> bool:
    """Does the module call ``np.random.seed``, or that of Python, when it is imported?"""
    try:
        body = ast.parse("".join(linecache.getlines(file))).body
    except (SyntaxError, ValueError):
        return False
    called = [one.value.func for one in body if isinstance(one, ast.Expr) and isinstance(one.value, ast.Call)]
    return any(ast.unparse(one).split(".")[-1] == "seed" for one in called)
