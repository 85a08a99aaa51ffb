"""Calls of other libraries, as converted code makes them: what they make of released numbers was released.

Compiled code reads the memory of an array, where no decision is seen, and no private number.
"""

import io
import sys
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any, NoReturn

import numpy as np

from .derivation import Open
from .facts import NAMED
from .kinds import COARSE, FLAT, WHICH_KIND
from .public import NOT_FOLLOWED, Public, held_by_the_code, watched
from .value import Holder, ledger_of, parts_of, private

_HARMLESS = {"builtins", "math", "itertools", "_operator", "_functools", "_collections", "_bisect", "_heapq"}
_OF_MEMORY = {memoryview, bytes, bytearray, io.BytesIO}
_FOLLOWED = np.ufunc, type(np.sum)  # which ask an array for its own rules


def outside(function: Any) -> Any:
    """The function; if it is of another library, with an eye on what goes in and comes out."""
    if function in (type, np.isscalar):
        return kind_of if function is type else is_scalar
    elsewhere = is_elsewhere(_home(function)) and not isinstance(function, _FOLLOWED) and function is not np.iterable
    return partial(_looked_after, function) if elsewhere or function in _OF_MEMORY else function


def _home(function: Any) -> str:
    """The module whose code runs."""
    function = function.__func__ if isinstance(function, MethodType) else function
    if isinstance(function, FunctionType):
        return str(function.__globals__.get("__name__"))
    of = getattr(function, "__self__", None)
    if of is not None and not isinstance(of, ModuleType):
        function = of if isinstance(of, type) else type(of)
    return str(getattr(function, "__module__", None) or type(function).__module__)


@cache
def is_elsewhere(module: str) -> bool:
    """Is it another library, or compiled code of Python's own that may read memory?"""
    top = module.partition(".")[0]
    file = str(getattr(sys.modules.get(top), "__file__", None))
    if top in sys.stdlib_module_names:
        return top not in _HARMLESS and not file.endswith(".py")
    return top != "dpassay" and "-packages" in file


def _looked_after(function: Callable[..., Any], *given: Any, **options: Any) -> Any:
    found, of = function(*given, **options), getattr(function, "__self__", None)
    ledger, parts = ledger_of((of, given, options)), [*parts_of(found)]
    name = getattr(function, "__name__", type(function).__name__)
    if found is None and ledger is not None and type(of) is np.ndarray:
        raise Open(NOT_FOLLOWED)
    if all(one is None or private(one) or isinstance(one, Public) for one in parts):
        return found
    if any(isinstance(one, Public) and one.held is not None for one in parts_of((of, given, options))):
        raise Open(f"{name} reads the memory of an array that holds private data")
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


def _unusual() -> bool:
    return COARSE in NAMED or FLAT in NAMED


def of_kind(one: Any, kinds: Any) -> bool:
    """As `isinstance`: numbers of NumPy's usual type are Python's as well, where they are not whole."""
    if not is_followed(one):
        return isinstance(one, kinds)
    given = {*(kinds if type(kinds) is tuple else getattr(kinds, "__args__", (kinds,)))} - _NO_NUMBERS
    whole = one.dtype.kind != "f"
    given = {kind for kind in given if not issubclass(kind, (float, np.floating) if whole else (int, np.integer))}
    if given - ({np.ndarray} if whole else {np.ndarray, float}) or (given and _unusual()):
        raise Open(WHICH_KIND)
    return float in given


class _Kind:
    """The type of a followed number: it is told what it is not."""

    def __eq__(self, other: object) -> bool:
        if other not in _NO_NUMBERS and (other is not np.ndarray or _unusual()):
            self._asked()
        return False

    def _asked(self, *_: Any) -> NoReturn:
        raise Open(WHICH_KIND)

    __hash__ = __getattr__ = __call__ = __str__ = __repr__ = __format__ = _asked


def kind_of(one: Any, *rest: Any) -> Any:
    """As `type`; of an array what its stand-in says."""
    return type(one, *rest) if rest else _Kind() if is_followed(one) else one.__class__


def same_kind(one: Any, other: Any) -> bool:
    """As `is`; `float` and `int` have other names in code that is certified."""
    types = isinstance(one, _Kind | type) and isinstance(other, _Kind | type)
    return bool(one == other) if types else one is other


def is_scalar(one: Any) -> bool:
    """As `np.isscalar`: an array without axes is none."""
    if is_followed(one) and _unusual():
        raise Open(WHICH_KIND)
    return is_followed(one) or np.isscalar(one)


def asking(real: Callable[..., Any]) -> Callable[..., Any]:
    """As `hasattr`, or `getattr` with a default: of a number it is asked for its kind."""

    def asked(one: Any, name: str, *default: Any) -> Any:
        if (is_followed(one) and (default or real is hasattr)) or (name == "dtype" and COARSE in NAMED):
            raise Open(WHICH_KIND)
        seen = one.__class__
        there = seen is type(one) or isinstance(one, Holder) or hasattr(seen, name)  # as well as here
        return real(one if there else object(), name, *default)

    return asked
