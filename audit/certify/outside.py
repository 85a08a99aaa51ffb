"""Calls of other libraries, as converted code makes them: what they make of released numbers was released.

Compiled code reads the memory of an array, where no decision is seen, and no private number.
"""

import io
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import FunctionType, MethodType, ModuleType
from typing import Any

import numpy as np

from .derivation import Open
from .public import NOT_FOLLOWED, Public, held_by_the_code, watched
from .value import WHICH_KIND, ledger_of, private

_HARMLESS = {"builtins", "math", "itertools", "_operator", "_functools", "_collections", "_bisect", "_heapq"}
_OF_MEMORY = {memoryview, bytes, bytearray, io.BytesIO}
_FOLLOWED = np.ufunc, type(np.sum)  # which ask an array for its own rules
_OF_TYPES: tuple[Any, ...] = np.isscalar, np.iterable


def outside(function: Any) -> Any:
    """The function; if it is of another library, with an eye on what goes in and comes out."""
    if function is type:
        return _type
    elsewhere = is_elsewhere(_home(function)) and not isinstance(function, _FOLLOWED) and function not in _OF_TYPES
    return partial(_looked_after, function) if elsewhere or function in _OF_MEMORY else function


class Kind:
    """The type of a number that is followed: one of Python's, or NumPy's, and no other."""

    def __eq__(self, other: object) -> bool:
        if isinstance(other, type) and issubclass(other, int | float | complex | np.generic):
            raise Open(WHICH_KIND)
        return False

    def __getattr__(self, name: str) -> Any:
        raise Open(WHICH_KIND)

    __hash__ = __getattr__  # type: ignore[assignment]


def _type(one: Any, *rest: Any) -> Any:
    """As `type`; of an array what its stand-in says."""
    if rest:
        return type(one, *rest)
    followed = private(one) or (not isinstance(one, tuple | list | dict) and ledger_of(one) is not None)
    return Kind() if followed and not np.ndim(one) else one.__class__


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
    ledger, parts = ledger_of((of, given, options)), [*_parts(found)]
    name = getattr(function, "__name__", type(function).__name__)
    if found is None and ledger is not None and type(of) is np.ndarray:
        raise Open(NOT_FOLLOWED)
    if all(one is None or private(one) or isinstance(one, Public) for one in parts):
        return found
    if any(isinstance(one, Public) and one.held is not None for one in _parts((of, given, options))):
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


def _parts(one: Any) -> Iterator[Any]:
    if isinstance(one, tuple | list | dict):
        for part in one.values() if isinstance(one, Mapping) else one:
            yield from _parts(part)
    else:
        yield one
