"""Every part of an output, whatever holds it: one that is missed would be a release that nobody counts."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, ItemsView, Iterator, Mapping, ValuesView
from contextvars import ContextVar
from functools import partial
from inspect import isroutine
from typing import Any

ITSELF = "(itself)"  # where what holds others comes again inside itself
_OPEN: ContextVar[frozenset[int]] = ContextVar("open", default=frozenset())  # the two worlds have one each


def inside(output: Any, change: Callable[[Any], Any]) -> Any:
    """The same with every part changed, in order; what holds nothing stays as it is.

    Only parts count: an object of a class of one's own becomes a plain list, tuple or dict.
    """
    if id(output) in _OPEN.get():
        return ITSELF
    token = _OPEN.set(_OPEN.get() | {id(output)})
    try:
        return _inside(output, change)
    finally:
        _OPEN.reset(token)


def _inside(output: Any, change: Callable[[Any], Any]) -> Any:
    if isinstance(output, tuple) and hasattr(output, "_fields"):
        return type(output)(*(change(one) for one in output))
    if isinstance(output, tuple):
        return tuple(change(one) for one in output)
    if isinstance(output, list | deque | Iterator | ItemsView | ValuesView):
        return [change(one) for one in output]
    if isinstance(output, Mapping):
        return {key: change(one) for key, one in output.items()}
    if isinstance(output, type | partial) or isroutine(output):
        return output  # what such code holds is not looked at
    names = {*getattr(output, "__dict__", ()), *_slots(type(output))}
    if not names:
        return {} if hasattr(output, "__dict__") and not callable(output) else output
    return {name: change(getattr(output, name)) for name in sorted(names) if hasattr(output, name)}


def _slots(kind: type) -> Iterator[str]:
    for one in kind.__mro__:
        slots = vars(one).get("__slots__", ())
        yield from (slots,) if isinstance(slots, str) else slots
