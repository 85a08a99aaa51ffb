"""While plain code runs, arrays that it makes to write into follow the noise that is written into them, and lists of
noise become arrays of noise.

Only what the code itself calls by ``np.`` is another function; what libraries call is not.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache, wraps
from pathlib import Path
from typing import Any

import numpy as np

from .functions import join
from .noisy import Noisy
from .written import blank, unwritten

_MAKERS = ("zeros", "empty", "ones", "full", "zeros_like", "empty_like", "ones_like", "full_like")
_EMPTY = {"empty": "zeros", "empty_like": "zeros_like"}  # nobody may rely on what is in it
_READERS = ("array", "asarray")
_AUDIT = Path(__file__).resolve().parents[1]
_OWN = (str(_AUDIT), str(_AUDIT.parent / "reference"))
_LIBRARIES = ("site-packages", "dist-packages", "lib/python")
_DEEPEST = 3  # lists in lists
_lock = threading.Lock()
_running = [0]  # runs that are on their way, in both worlds
_changed: list[tuple[dict[str, Any], str, Any]] = []  # where a name was, and what it stood for


@contextmanager
def arrays_followed(code: Callable[..., Any]) -> Iterator[None]:
    """For the time of a run of this code; runs may overlap.

    Args:
        code: names that its file has from NumPy stand for the same functions.
    """
    with _lock:
        _running[0] += 1
        if _running[0] == 1:
            for name, made in _functions().items():
                _put(vars(np), name, made)
        names = getattr(code, "__globals__", {})
        for name in [name for name, one in names.items() if id(one) in _names()]:
            _put(names, name, _functions()[_names()[id(names[name])]])
    try:
        yield
    finally:
        with _lock:
            _running[0] -= 1
            while _changed and not _running[0]:
                names, name, known = _changed.pop()
                names[name] = known


def _put(names: dict[str, Any], name: str, made: Any) -> None:
    _changed.append((names, name, names[name]))
    names[name] = made


@cache
def _names() -> dict[int, str]:
    return {id(known): name for name, known in _known().items()}


@cache
def _known() -> dict[str, Any]:
    return {name: getattr(np, name) for name in (*_MAKERS, *_READERS)}


@cache
def _functions() -> dict[str, Any]:
    known = _known()
    makers = {name: _making(known[_EMPTY.get(name, name)]) for name in _MAKERS}
    return {**makers, **{name: _reading(known[name]) for name in _READERS}}


def _making(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def made(*given: Any, **named: Any) -> Any:
        found = function(*given, **named)
        return blank(found) if _of_the_code(sys._getframe(1).f_code.co_filename) else found

    return made


def _reading(function: Callable[..., Any]) -> Callable[..., Any]:
    @wraps(function)
    def read(*given: Any, **named: Any) -> Any:
        if given and _of_the_code(sys._getframe(1).f_code.co_filename):
            first = unwritten(given[0])
            if isinstance(first, Noisy) and first is not given[0]:
                return first.copy() if function is _known()["array"] else first
            noise = None if len(given) > 1 or named.get("dtype") not in (None, float) else _of_noise(first, _DEEPEST)
            return function(first, *given[1:], **named) if noise is None else noise
        return function(*given, **named)

    return read


def _of_noise(values: Any, deepest: int) -> Noisy | None:
    """A list of noise that has met no data yet, as an array; None where it is none, or where numbers are between."""
    if type(values) not in (list, tuple) or not values or not deepest:
        return None
    parts = [one if isinstance(one, Noisy) else _of_noise(one, deepest - 1) for one in values]
    alone = [one for one in parts if one is not None and not one.mixed and one.given is None]
    if len(alone) < len(parts) or len({one.shape for one in alone}) > 1 or alone[0].desk.habits.eager:
        return None
    found: Noisy = join(alone[0].desk, np.stack, alone)
    return found


@cache
def _of_the_code(file: str) -> bool:
    """Is it called by the code that is audited, and not by a library or by ourselves?"""
    return not file.startswith(_OWN) and not any(one in file for one in _LIBRARIES)
