"""A draw that NumPy itself refuses: the error belongs to the code that asked, not to who draws for all worlds."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any


class _Refused:
    """What NumPy raised in place of a draw; two are alike if type and text are."""

    def __init__(self, error: Exception):
        self.error = error

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Refused) and repr(self.error) == repr(other.error)

    __hash__ = None  # type: ignore[assignment]  # compared, never looked up


def attempted(draw: Callable[..., Any], args: Sequence[Any], more: Mapping[str, Any]) -> Any:
    """The draw, or what it raised."""
    try:
        return draw(*args, **more)
    except Exception as error:  # handed to the code that asked
        return _Refused(error)


def told(drawn: Any) -> Any:
    """The draw; raises what NumPy raised where it was refused."""
    if isinstance(drawn, _Refused):
        raise drawn.error
    return drawn
