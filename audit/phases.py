"""What an audit is at, how far it has come, and whether its time is up.

Whoever works says so here (`phase`, `step`); whoever shows it, or limits it, says `watched`. Outside of that nothing is
shown and time is never up, so that the same seed gives the same audit.
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
        """Steps are done."""


@dataclass(frozen=True)
class _Watch:
    shown: Shown
    end: float


_WATCH: ContextVar[_Watch | None] = ContextVar("who watches the audit", default=None)
TIME_IS_UP = "the time of --budget is up"


class TimeIsUp(Exception):
    """There is no time left for this; what was found before stands."""


@contextmanager
def watched(shown: Shown, seconds: float | None = None) -> Iterator[None]:
    """Show the work inside, and say that its time is up after so many seconds by the clock."""
    token = _WATCH.set(_Watch(shown, math.inf if seconds is None else time.monotonic() + seconds))
    try:
        yield
    finally:
        _WATCH.reset(token)


def phase(what: str, total: int) -> None:
    """Another kind of work begins, in so many steps."""
    watch = _WATCH.get()
    if watch is not None:
        watch.shown.phase(what, total)


def step() -> None:
    """One step of it is done."""
    watch = _WATCH.get()
    if watch is not None:
        watch.shown()


def time_left() -> float:
    """Seconds until the time is up; infinite where nobody limits it."""
    watch = _WATCH.get()
    return math.inf if watch is None else watch.end - time.monotonic()


def time_is_up() -> bool:
    """Is it? What is found by now is to be told."""
    return time_left() <= 0
