"""What is called in the place of what code calls: it may not find out that its data are stand-ins.

What other libraries make of released numbers was released. Compiled code reads the memory of an array, where no
decision is seen, and no private number. What a compiled function is handed to call is looked at as well.
"""

import abc
import builtins
import collections
import contextlib
import functools
import heapq
import importlib
import itertools
import operator
import random
import sys
from collections.abc import Callable
from functools import partial
from types import FrameType, FunctionType, GetSetDescriptorType, MethodType, ModuleType
from typing import Any

import numpy as np

from .derivation import FOLLOWED, IN_ITS_NAME, NO_SOURCE, Open, of_a_library, refuse, trusted
from .draws import Noise, held_by
from .facts import NAMED, reachable
from .kinds import COARSE, FLAT, LAYOUT, OF_FRAMES, WHICH_KIND
from .public import NOT_FOLLOWED, Public, held_by_the_code, watched
from .shapes import Hidden
from .value import Holder, Value, bare, ledger_of, parts_of, private

INSTEAD: dict[int, Any] = {}  # by the identity of a function
# These hold what they are handed, or call it, and tell no more of it than it tells itself.
_BUILTINS = """abs all any bool callable classmethod complex dict divmod enumerate filter float format frozenset getattr
hasattr hash int isinstance issubclass iter len list map max min next object pow print property range repr reversed
round set slice sorted staticmethod str sum super tuple type zip"""
_MODULES = "math itertools functools collections copy dataclasses bisect heapq operator logging contextlib abc enum"
_HARMLESS = {id(getattr(builtins, name)) for name in _BUILTINS.split()} | {
    id(one)
    for module in map(importlib.import_module, _MODULES.split())
    for name, one in vars(module).items()
    if name[0] != "_" and callable(one)
}
_TELLING = "is_", "is_not", "length_hint", "call", "attrgetter", "methodcaller", "itemgetter", "getitem", "setitem"
_HARMLESS -= {id(getattr(operator, name)) for name in _TELLING}
_CALLING = {id(one) for one in (map, filter, iter, sorted, min, max, collections.defaultdict)}
_CALLING |= {id(one) for module in (itertools, heapq, functools, contextlib) for one in vars(module).values()}
_CALLING.remove(id(collections.namedtuple))  # it looks at who calls it
_ASKED = np.ufunc, type(np.sum)  # which ask an array for its own rules


def outside(function: Any) -> Any:
    """What stands for the function; it with an eye on what goes in and comes out, unless it is known to be harmless."""
    if type(function) is partial:
        return partial(outside(function.func), *function.args, **function.keywords)
    if type(getattr(function, "__self__", None)) is np.ndarray:  # its methods ask no other array for its rule
        return getattr(array(function.__self__), function.__name__)
    found = INSTEAD.get(id(function), function)
    if id(function) in _CALLING or getattr(function, "__name__", "") == "sort":
        return partial(_handing, found)
    return found if found is not function or _harmless(function) else partial(_looked_after, function)


def _harmless(function: Any) -> bool:
    """Is it followed itself, or does it do nothing but hold what it is handed, or call it?"""
    if id(function) in _HARMLESS or isinstance(function, _ASKED):
        return True
    function = function.__wrapped__ if isinstance(function, functools._lru_cache_wrapper) else function
    home, code = _home(function), getattr(function, "__func__", function)
    of = getattr(function, "__objclass__", getattr(function, "__self__", None))
    kind = of if isinstance(of, type) else type(of)
    if of is not None and harmless_kind(kind):
        told = function.__name__.startswith(("__", "format"))  # a text may ask for any attribute
        return function.__name__[2:-2] in operator.__all__ or not told
    if isinstance(code, FunctionType):
        refuse(not of_a_library(home) and code.__code__ not in FOLLOWED, NO_SOURCE)
        if not of_a_library(home) or home == "logging":
            return True
        return home.startswith("dpassay.") or function is np.iterable
    if of is None or isinstance(of, ModuleType):  # a class, or an object that is called
        kind = function if isinstance(function, type) else type(function)
        return harmless_kind(kind) or plainly_made(kind) or issubclass(kind, BaseException)
    return not of_a_library(home)


def harmless_kind(kind: type) -> bool:
    """Do its methods do nothing but hold what they are handed, or is it ours?"""
    return id(kind) in _HARMLESS or kind.__module__.startswith("dpassay.")


def plainly_made(kind: type) -> bool:
    """Is it a class of the code's own, whose special methods, which Python calls by itself, are written so?"""
    for one in kind.__mro__:
        for name, method in vars(one).items() if not of_a_library(one.__module__) else ():
            called = callable(method) or (hasattr(method, "__get__") and type(method) is not GetSetDescriptorType)
            code = getattr(getattr(method, "__func__", method), "__code__", None)
            generated = code is not None and trusted(code.co_filename)  # of a named tuple
            if name[:2] == "__" and called and not generated and getattr(method, "__name__", "") != name:
                raise Open(f"{name} of {kind.__name__} is a function of another name, and is not followed")
    return not of_a_library(kind.__module__)


_OF_VALUES = "open", "bytes", "bytearray", "memoryview", "setattr", "ascii"  # all others tell of what names there are
_OF_THE_PROCESS = "gc", "inspect", "traceback"
_OF_PUBLIC_SIZE = "numpy", "scipy.linalg", "scipy.special", "scipy.stats"
_GENERATORS = np.random.Generator, np.random.RandomState, random.Random


def _home(function: Any) -> str:
    """The module whose code runs."""
    function = getattr(function, "__func__", function) if type(function) is MethodType else function
    if isinstance(function, FunctionType):
        return str(function.__globals__.get("__name__"))
    of = getattr(function, "__objclass__", getattr(function, "__self__", None))
    if of is not None and not isinstance(of, ModuleType):
        function = of if isinstance(of, type) else type(of)
    return str(getattr(function, "__module__", None) or type(function).__module__)


def _stands_for(one: Any) -> bool:
    """Is it a stand-in, or does it tell of all names there are?"""
    return issubclass(type(one), Value | Public | Noise | Hidden | Holder | FrameType)


def called(function: Callable[..., Any], given: Any, options: Any) -> Any:
    """As the code calls it."""
    return function(*given, **options)


def _handing(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """A function that calls what it is handed."""
    return called(function, [*map(_handed, given)], {name: _handed(one) for name, one in options.items()})


def _handed(one: Any) -> Any:
    return partial(_through, one) if callable(one) and type(one) is not FunctionType else one


def _through(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    return outside(function)(*given, **options)


def _looked_after(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """A function of another library, or of Python's own that is not known to be harmless."""
    of, home = getattr(function, "__self__", function), _home(function)
    name, library = getattr(function, "__name__", type(function).__name__), home.partition(".")[0]
    held = [*reachable([None if isinstance(of, ModuleType) else of, given, options], held_by)]
    inside = [*filter(_stands_for, held)]
    draws = library in ("random", "secrets", "uuid") or name == "urandom" or home.startswith("numpy.random.")
    draws = draws or any(type(one) in _GENERATORS and one is not np.random.mtrand._rand for one in held)
    refuse(draws, f"the draw {name} has no rule; draw from the generator that is handed in")
    hidden = library in _OF_THE_PROCESS or (function is vars(builtins).get(name) and name not in _OF_VALUES)
    not_told = f"what {name} tells of private or released data is not followed"
    refuse(hidden or (inside and library in {*sys.stdlib_module_names, "builtins"}), not_told)
    secret = [one for one in inside if not issubclass(type(one), Public) or one.held is not None]
    refuse(secret and library not in ("numpy", "scipy"), not_told)
    handed = any(not of_a_library(_home(one)) for one in (of, *parts_of((given, options))))
    handed = handed or any(isinstance(one, FunctionType) and one.__code__ in FOLLOWED for one in held)
    if handed and (inside or library != "scipy"):  # which keeps none
        raise Open(f"{name} is handed code, and when it calls that, and with what, is not followed")
    ledger = next(filter(None, map(ledger_of, inside)), None)
    arrays = [one for one in held if isinstance(one, np.ndarray)] if ledger is not None and not secret else []
    before = [bare(one).tobytes() for one in arrays]
    found = called(function, given, options)
    refuse([bare(one).tobytes() for one in arrays] != before, NOT_FOLLOWED)  # nothing released goes where nobody looks
    parts = [*parts_of(found)]
    if all(one is None or private(one) or isinstance(one, Public) for one in parts):
        return found
    refuse(secret or (not inside and any(map(_stands_for, reachable([found], held_by)))), not_told)
    if ledger is None:
        return found
    if not all(
        one is None or type(one) is np.ndarray or isinstance(one, np.generic | bool | int | float) for one in parts
    ):
        raise Open(f"what {name} makes of released numbers is no number, and decisions on it cannot be followed")
    sized = any(getattr(one, "sized", False) for one in inside) or not home.startswith(_OF_PUBLIC_SIZE)
    return watched(found, ledger, sized)


def array(one: Any) -> Any:
    """What is indexed; of an array of the module's own, too, Python is not to read which entry is asked for."""
    return held_by_the_code(one) if type(one) is np.ndarray else one


# -- of which kind a number is
_NO_NUMBERS = {list, tuple, dict, set, frozenset, str, bytes, type(None)}


def is_followed(one: Any) -> bool:
    """Is it a number that is private, or released, or a draw?"""
    if isinstance(one, tuple | list | dict):
        return False
    return (private(one) or ledger_of(one) is not None) and not np.ndim(one)


def _stands_in(one: Any) -> bool:
    """Is it something else than it says?"""
    return type(one) is not one.__class__


def _unusual() -> bool:
    return COARSE in NAMED or FLAT in NAMED


def of_kind(one: Any, kinds: Any) -> bool:
    """As `isinstance`: numbers of NumPy's usual type are Python's as well, where they are not whole."""
    each = [*parts_of(getattr(kinds, "__args__", kinds))]  # of `int | float`, too
    if not is_followed(one):
        own = _stands_in(one) and any(type(kind) not in (type, abc.ABCMeta) for kind in each)
        refuse(own, "a class of the code's own that decides what is one of it is asked")
        return issubclass(one.__class__, kinds) if _stands_in(one) else isinstance(one, kinds)
    given = {*each} - _NO_NUMBERS
    whole = one.dtype.kind != "f"
    given = {kind for kind in given if not issubclass(kind, (float, np.floating) if whole else (int, np.integer))}
    refuse(given - ({np.ndarray} if whole else {np.ndarray, float}) or (given and _unusual()), WHICH_KIND)
    return float in given


def _kind_of(one: Any, *rest: Any) -> Any:
    """As `type`; of an array what its stand-in says."""
    refuse(is_followed(one) and not rest, WHICH_KIND)
    return type(one, *rest) if rest else one.__class__


_OF_FUNCTIONS = "__name__", "__qualname__", "__doc__", "__module__", "__call__"


def _asking(real: Callable[..., Any]) -> Callable[..., Any]:
    """As `hasattr`, or `getattr`: with a default, a number is asked for its kind."""

    def asked(one: Any, name: str, *default: Any) -> Any:
        if name == "__class__" and real is getattr:
            return _kind_of(one)
        seen, of_number = one.__class__, (default or real is hasattr) and is_followed(one)
        special, function = name[:2] == "__", isinstance(one, FunctionType | MethodType)
        refuse(of_number or (special and _stands_in(one) and name[2:-2] not in operator.__all__), WHICH_KIND)
        refuse(name in LAYOUT and issubclass(type(one), Public), "how an array lies in memory is not told")
        refuse(name == "dtype" and (is_followed(one) or (_stands_in(one) and COARSE in NAMED)), WHICH_KIND)
        refuse(name in OF_FRAMES, "what the code itself is, is not told")
        refuse(name in ("__enter__", "__exit__"), "what `with` calls is called without it")
        refuse(special and function and name not in _OF_FUNCTIONS, f"{name} of a function is not told")
        there = seen is type(one) or isinstance(one, Holder) or hasattr(seen, name)  # as well as here
        return real(one if there else object(), name, *default)

    IN_ITS_NAME.add(asked.__code__)
    return asked


IN_ITS_NAME |= {called.__code__, _through.__code__}
named = _asking(getattr)
INSTEAD |= {id(getattr): named, id(hasattr): _asking(hasattr), id(isinstance): of_kind}
INSTEAD[id(type)] = _kind_of
