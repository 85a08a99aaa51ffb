"""What an audit is at, how far it has come, and whether its time is up.

Whoever works says so here (`phase`, `step`); whoever shows it, or limits it, says `reporting`. Outside of that nothing
is shown and time is never up, so that the same seed gives the same audit.
"""

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Shown(Protocol):
    """What shows progress."""

    def phase(self, what: str, total: int) -> None:
        """Another kind of work begins, in so many steps."""

    def __call__(self, text: str = "", steps: int = 1) -> None:
        """Steps are done, the last of them this; the text may hold foreign names."""

    def told(self, text: str) -> None:
        """Something is known before the end, and is told at once."""


_AUDIENCE: ContextVar[tuple[Shown | None, float]] = ContextVar("who is told, and until when", default=(None, math.inf))
TIME_IS_UP = "the time of --budget is up"


class TimeIsUp(Exception):
    """There is no time left for this; what was found before stands."""


@contextmanager
def reporting(shown: Shown | None = None, seconds: float | None = None) -> Iterator[None]:
    """Show the work inside (to whom it is shown already), and say that its time is up after so many seconds."""
    known, until = _AUDIENCE.get()
    until = min(until, math.inf if seconds is None else time.monotonic() + seconds)
    token = _AUDIENCE.set((known if shown is None else shown, until))
    try:
        yield
    finally:
        _AUDIENCE.reset(token)


def phase(what: str, total: int) -> None:
    """Another kind of work begins, in so many steps, if there are any."""
    shown, _ = _AUDIENCE.get()
    if shown is not None and total:
        shown.phase(what, total)


def step(steps: int = 1) -> None:
    """So many steps of it are done."""
    shown, _ = _AUDIENCE.get()
    if shown is not None:
        shown(steps=steps)


def told(text: str) -> None:
    """Something is known before the end."""
    shown, _ = _AUDIENCE.get()
    if shown is not None:
        shown.told(text)


def time_left() -> float:
    """Seconds until the time is up; infinite where nobody limits it."""
    return _AUDIENCE.get()[1] - time.monotonic()


def time_is_up() -> bool:
    """Is it? What is found by now is to be told."""
    return time_left() <= 0
