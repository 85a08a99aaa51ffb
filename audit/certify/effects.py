"""What code may only compute: from `watch` to `computed`, its calls are looked at, and effects end the certificate.

Writing to objects, entries and names that are not its own, draws, and what a function outside of NumPy may do with the
world are effects. So is an error in such a part: with other data there is none, and who catches it has decided.
"""

from __future__ import annotations

import dis
import gc
import sys
import sysconfig
from collections.abc import Callable
from functools import cache
from pathlib import Path
from types import CodeType, FrameType, FunctionType, ModuleType
from typing import Any

import numpy as np
import scipy

from .draws import Draws, Noise
from .public import Public
from .value import Open, Value

_WRITES = ("STORE_ATTR", "STORE_SUBSCR", "STORE_GLOBAL", "STORE_DEREF", "DELETE_", "IMPORT", "YIELD_FROM")
_IN_PLACE = {"at", "copyto", "fill", "itemset", "partition", "put", "put_along_axis", "putmask", "place", "sort"}
_IN_PLACE |= {"fill_diagonal", "resize", "setfield", "setflags", "tofile", "dump", "seed", "shuffle"}
_HARMLESS = {abs, min, max, sum, len, round, isinstance, getattr, hasattr, pow, divmod, callable}
_TRUSTED = (*(str(Path(str(one.__file__)).parent) for one in (np, scipy)), str(Path(__file__).parents[1]), "<")
_WRITING = {one.__code__ for one in (Value.changed, Public.written, Public.__setitem__, Noise._written)}
_DRAWING = {one.__code__ for one in vars(Draws).values() if isinstance(one, FunctionType)}
_watched: list[list[str]] = []  # effects, of each part of the code that may have none


def watch() -> None:
    """From here on, what the code calls may only compute. What Python calls when it tidies up is no part of it."""
    gc.disable()
    _watched.append([])
    sys.setprofile(_seen)


def computed() -> None:
    """So far. Raises Open where something else was done."""
    if len(_watched) == 1:
        sys.setprofile(None)
        gc.enable()
    found = _watched.pop()
    if found:
        why = "what depends on private data, or is done for each of a private number of records, has effects"
        raise Open(f"{why}: {found[0]}")


def ended() -> None:
    """The run is over. Raises Open where an error has ended what was watched."""
    if _watched:
        raise Open("an error is caught that some private data raise and others do not")


def forgotten() -> None:
    """Nothing is watched any more."""
    if _watched:
        sys.setprofile(None)
        gc.enable()
        _watched.clear()


def computing(made: Callable[[], Any]) -> Any:
    """What a function gives that may only compute."""
    watch()
    found = made()
    computed()
    return found


def only_computing() -> None:
    """Raises Open where something is written in one way of a decision, or for each of a private number of records."""
    if _watched:
        raise Open("what depends on private data writes to an entry")


def used_up(values: Any) -> None:
    """Raises Open where something is used up in one way of a decision."""
    if _watched and hasattr(values, "__next__"):
        raise Open("what depends on private data uses up an iterator")


def _seen(frame: FrameType, event: str, called: Any) -> None:
    code, effects = frame.f_code, _watched[-1]
    if trusted(code.co_filename):
        caller = frame.f_back
        if event == "call" and code in _DRAWING:
            effects.append(f"{code.co_name} draws")
        elif event == "call" and code in _WRITING:
            effects.append("an array is changed in place")
        elif (
            event == "call"
            and caller is not None
            and not (code.co_filename.startswith(_TRUSTED) or trusted(caller.f_code.co_filename))
        ):  # Python's own library
            effects.append(f"{code.co_name} is called")
        elif event == "call" and code.co_name == "listed" and frame.f_locals["real"].__name__ in _IN_PLACE:
            effects.append(f"{frame.f_locals['real'].__name__} writes")
    elif event == "call" and _writes(code):
        effects.append(f"{code.co_name} writes")
    elif event == "c_call" and not _harmless(called):
        effects.append(f"{getattr(called, '__name__', called)} is called")


@cache
def trusted(file: str) -> bool:
    """Rules, NumPy, SciPy and Python's own library: what the code calls of them is looked at, and not what they do."""
    return file.startswith(_TRUSTED) or (file.startswith(sysconfig.get_path("stdlib")) and "site-packages" not in file)


@cache
def _writes(code: CodeType) -> bool:
    """To an object, a global name or one of the function around it; also where no run comes by."""
    steps = list(dis.get_instructions(code))
    return any(one.opname.startswith(_WRITES) or one.argrepr in _AUGMENTED for one in steps)


_AUGMENTED = {f"{sign}=" for sign in ("+", "-", "*", "/", "//", "%", "@", "**", "&", "|", "^", "<<", ">>")}


def _harmless(called: Any) -> bool:
    of, name = getattr(called, "__self__", None), getattr(called, "__name__", "")
    if isinstance(of, ModuleType) or of is None:
        return called in _HARMLESS or getattr(called, "__module__", "") in ("math", "numpy")
    return isinstance(of, np.ndarray | np.generic | int | float | str | tuple | np.ufunc) and name not in _IN_PLACE
