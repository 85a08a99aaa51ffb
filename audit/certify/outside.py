"""What is called in the place of what code calls: it may not find out that its data are stand-ins.

What other libraries make of released numbers was released. Compiled code reads the memory of an array, where no
decision is seen, and no private number. What a compiled function is handed to call is looked at as well.
"""

import functools
import io
import operator
import sys
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from .derivation import IN_ITS_NAME, Open, refuse
from .facts import NAMED
from .kinds import COARSE, FLAT, WHICH_KIND
from .public import NOT_FOLLOWED, Public, held_by_the_code, watched
from .value import Holder, ledger_of, parts_of, private

INSTEAD: dict[int, Any] = {}  # by the identity of a function
_CALLING = {id(one) for one in (map, filter, iter, sorted, min, max, functools.partial, functools.reduce)}
_HARMLESS = {"builtins", "math", "itertools", "_operator", "_functools", "_collections", "_bisect", "_heapq"}
_OF_MEMORY = {id(one) for one in (memoryview, bytes, bytearray, io.BytesIO)}
_FOLLOWED = np.ufunc, type(np.sum)  # which ask an array for its own rules


def outside(function: Any) -> Any:
    """What stands for the function; if it is of another library, it with an eye on what goes in and comes out."""
    found, home = INSTEAD.get(id(function), function), _home(function)
    if id(function) in _CALLING or home == "itertools" or getattr(function, "__name__", "") == "sort":
        return partial(_handing, found)
    elsewhere = is_elsewhere(home) and not isinstance(function, _FOLLOWED) and found is function is not np.iterable
    return partial(_looked_after, function) if elsewhere or id(function) in _OF_MEMORY else found


def _home(function: Any) -> str:
    """The module whose code runs."""
    function = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(function, FunctionType):
        return str(function.__globals__.get("__name__"))
    of = getattr(function, "__objclass__", getattr(function, "__self__", None))
    if of is not None and not isinstance(of, ModuleType):
        function = of if isinstance(of, type) else type(of)
    return str(getattr(function, "__module__", None) or type(function).__module__)


@cache
def is_elsewhere(module: str) -> bool:
    """Is it another library, or code of Python's own that may read memory, or tell what an object is?"""
    top = module.partition(".")[0]
    file = str(getattr(sys.modules.get(top), "__file__", None))
    if top in sys.stdlib_module_names:
        return (top not in _HARMLESS and not file.endswith(".py")) or top == "inspect"
    return top != "dpassay" and "-packages" in file


def called(function: Callable[..., Any], given: Any, options: Any) -> Any:
    """As the code calls it."""
    return function(*given, **options)


def _handing(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """A function that calls what it is handed."""
    return called(function, [*map(_handed, given)], {name: _handed(one) for name, one in options.items()})


def _handed(one: Any) -> Any:
    return partial(_through, one) if callable(one) else one


def _through(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    return outside(function)(*given, **options)


def _looked_after(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    """A function of another library."""
    found, of = called(function, given, options), getattr(function, "__self__", None)
    taken, parts = (of, given, options), [*parts_of(found)]
    ledger = ledger_of(taken)
    name = getattr(function, "__name__", type(function).__name__)
    refuse(found is None and ledger is not None and any(type(one) is np.ndarray for one in (of, *given)), NOT_FOLLOWED)
    if all(one is None or private(one) or isinstance(one, Public) for one in parts):
        return found
    if any(private(one) or (isinstance(one, Public) and one.held is not None) for one in parts_of(taken)):
        raise Open(f"what {name} tells of private data is not followed")
    if ledger is None:
        return found
    if not all(
        one is None or type(one) is np.ndarray or isinstance(one, np.generic | bool | int | float) for one in parts
    ):
        raise Open(f"what {name} makes of released numbers is no number, and decisions on it cannot be followed")
    return watched(found, ledger)


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
    if not is_followed(one):
        return issubclass(one.__class__, kinds) if _stands_in(one) else isinstance(one, kinds)
    given = {*(kinds if type(kinds) is tuple else getattr(kinds, "__args__", (kinds,)))} - _NO_NUMBERS
    whole = one.dtype.kind != "f"
    given = {kind for kind in given if not issubclass(kind, (float, np.floating) if whole else (int, np.integer))}
    refuse(given - ({np.ndarray} if whole else {np.ndarray, float}) or (given and _unusual()), WHICH_KIND)
    return float in given


class Kind:
    """The type of a followed number: it is told what it is not."""

    def __eq__(self, other: object) -> bool:
        if other not in _NO_NUMBERS and (other is not np.ndarray or _unusual()):
            self._asked()
        return False

    def _asked(self, *_: Any) -> NoReturn:
        raise Open(WHICH_KIND)

    __hash__ = __getattr__ = __call__ = __str__ = __repr__ = __format__ = _asked


def _kind_of(one: Any, *rest: Any) -> Any:
    """As `type`; of an array what its stand-in says."""
    return type(one, *rest) if rest else Kind() if is_followed(one) else one.__class__


def _is_scalar(one: Any) -> bool:
    """As `np.isscalar`: an array without axes is none."""
    refuse(is_followed(one) and _unusual(), WHICH_KIND)
    return is_followed(one) or np.isscalar(one)


def _asking(real: Callable[..., Any]) -> Callable[..., Any]:
    """As `hasattr`, or `getattr`: with a default, a number is asked for its kind."""

    def asked(one: Any, name: str, *default: Any) -> Any:
        if name == "__class__" and real is getattr:
            return _kind_of(one)
        seen, of_number = one.__class__, (default or real is hasattr) and is_followed(one)
        refuse(of_number or (name[:2] == "__" and _stands_in(one) and name[2:-2] not in operator.__all__), WHICH_KIND)
        there = seen is type(one) or isinstance(one, Holder) or hasattr(seen, name)  # as well as here
        return real(one if there else object(), name, *default)

    IN_ITS_NAME.add(asked.__code__)
    return asked


def of_public(real: Callable[..., Any]) -> Callable[..., Any]:
    """A function that tells one object from another, or changes one; without any it tells what names there are."""

    def asked(*given: Any) -> Any:
        if not given or any(map(_stands_in, given)) or ledger_of(given) is not None:
            raise Open(f"{real.__name__} of what is private or released, or follows it, has no rule")
        return real(*given)

    IN_ITS_NAME.add(asked.__code__)
    return asked


def _of_text(*_: Any, **__: Any) -> NoReturn:
    raise Open("code that is made of a text is not followed")


IN_ITS_NAME |= {called.__code__, _through.__code__}
named = _asking(getattr)
INSTEAD |= {id(one): of_public(one) for one in (dir, vars, globals, locals, id, setattr)}
INSTEAD |= {id(one): _of_text for one in (exec, eval, compile)}
INSTEAD |= {id(getattr): named, id(hasattr): _asking(hasattr), id(isinstance): of_kind}
INSTEAD |= {id(type): _kind_of, id(np.isscalar): _is_scalar}
