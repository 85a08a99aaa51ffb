"""A function of released values, computed once where several worlds of a lockstep run ask for it one after the other.

All worlds get the same released values, so what each makes of them is the same. The arguments themselves are compared,
so nothing that a function did not get can pass from one run to another.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np

R = TypeVar("R")
_MOST = 8  # results: the worlds of one step, for the few functions that it calls
_known: dict[Hashable, Any] = {}


def once(function: Callable[..., R], *arguments: Any) -> R:
    """``function(*arguments)`` of arrays and numbers; the arrays that come back cannot be written into.

    Example:
        >>> import numpy as np
        >>> once(np.linalg.eigvalsh, np.diag([3.0, 1.0])) is once(np.linalg.eigvalsh, np.diag([3.0, 1.0]))
        True
    """
    key = (function, *map(_as_key, arguments))
    if key not in _known:
        found = function(*arguments)
        for part in found if isinstance(found, tuple) else (found,):
            if isinstance(part, np.ndarray):
                part.setflags(write=False)
        while len(_known) >= _MOST:
            del _known[next(iter(_known))]
        _known[key] = found
    known: R = _known[key]
    return known


def forget() -> None:
    """As if nothing had been asked: for whoever changes a function."""
    _known.clear()


def _as_key(argument: Any) -> Hashable:
    if isinstance(argument, np.ndarray):
        return argument.dtype.str, argument.shape, argument.tobytes()
    return type(argument), argument
