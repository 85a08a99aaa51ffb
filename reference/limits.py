"""An end to what runs too long."""

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any


class TooLong(BaseException):
    """A run does not end within its limit; no code of others may catch it by chance."""


@contextmanager
def limited(seconds: float, clock: bool = False) -> Iterator[None]:
    """Raise TooLong in what does not end within so many seconds of processor time, or with ``clock`` by the clock.

    Outside the main thread, where no signal arrives, there is no limit.
    """
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    on = [True]

    def ring(number: int, frame: Any) -> None:
        if on:
            raise TooLong

    timer, number = (signal.ITIMER_REAL, signal.SIGALRM) if clock else (signal.ITIMER_VIRTUAL, signal.SIGVTALRM)
    # what is raised where nobody can catch it, as when a generator is closed, is nobody's business
    told, sys.unraisablehook = sys.unraisablehook, lambda _: None
    before = signal.signal(number, ring)
    signal.setitimer(timer, seconds, 0.02)  # again and again: some places swallow what is raised
    try:
        yield
    finally:
        while on:  # it may ring in here as well
            with suppress(TooLong):
                on.clear()
        signal.setitimer(timer, 0)
        signal.signal(number, before)
        sys.unraisablehook = told
