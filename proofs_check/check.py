"""From a claim to a finding: the checker is chosen by the kind, and no exception escapes as a pass."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from .checkers import consistency, identity, inequality, montecarlo, privacy, rates, tables, units
from .claim import Claim, Finding, Verdict

TIME_LIMIT = 30.0  # seconds of processor time per claim; beyond it the verdict is unknown
CHECKERS: dict[str, Callable[[Claim], Finding]] = {
    "same": consistency.same, "program": consistency.program, "releases": privacy.counts, "identity": identity.check,
    "inequality": inequality.check, "rates": rates.check, "units": units.check, "privacy": privacy.check,
    "montecarlo": montecarlo.check, "tables": tables.check,
}  # fmt: skip


def check(claim: Claim) -> Finding:
    """Decide a claim; a checker that gives up or runs out of time yields ``unknown`` with the reason."""
    try:
        with _time_limit(TIME_LIMIT), np.errstate(all="ignore"):  # what overflows is no evidence
            return CHECKERS[claim.kind](claim)
    except TimeoutError:
        return Finding(Verdict.UNKNOWN, f"no decision within {TIME_LIMIT:.0f} s of processor time")
    except (ArithmeticError, ValueError, TypeError, KeyError, NotImplementedError, RecursionError) as error:
        return Finding(Verdict.UNKNOWN, f"checker gave up: {type(error).__name__}: {error}")


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(_signal: int, _frame: Any) -> None:
        raise TimeoutError

    previous = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, seconds)  # again, where a library swallows the first
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, previous)
