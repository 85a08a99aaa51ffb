"""What an audit is at, how far it has come, and whether its time is up.

Whoever works says so here (`phase`, `step`); whoever shows it, or limits it, says `reporting`. Outside of that nothing
is shown and time is never up, so that the same seed gives the same audit.
"""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Protocol


class Shown(Protocol):
    """What shows progress."""

    def phase(self, what: str, total: int) -> None:
        """Another kind of work begins, in so many steps."""

    def __call__(self, text: str = "", steps: int = 1) -> None:
        """Steps are done, the last of them this; the text may hold foreign names."""


@dataclass(frozen=True)
class _Audience:
    shown: Shown
    end: float


_AUDIENCE: ContextVar[_Audience | None] = ContextVar("who is told of the audit", default=None)
TIME_IS_UP = "the time of --budget is up"


class TimeIsUp(Exception):
    """There is no time left for this; what was found before stands."""


@contextmanager
def reporting(shown: Shown, seconds: float | None = None) -> Iterator[None]:
    """Show the work inside, and say that its time is up after so many seconds by the clock."""
    token = _AUDIENCE.set(_Audience(shown, math.inf if seconds is None else time.monotonic() + seconds))
    try:
        yield
    finally:
        _AUDIENCE.reset(token)


def phase(what: str, total: int) -> None:
    """Another kind of work begins, in so many steps."""
    audience = _AUDIENCE.get()
    if audience is not None:
        audience.shown.phase(what, total)


def step() -> None:
    """One step of it is done."""
    audience = _AUDIENCE.get()
    if audience is not None:
        audience.shown()


def time_left() -> float:
    """Seconds until the time is up; infinite where nobody limits it."""
    audience = _AUDIENCE.get()
    return math.inf if audience is None else audience.end - time.monotonic()


def time_is_up() -> bool:
    """Is it? What is found by now is to be told."""
    return time_left() <= 0
