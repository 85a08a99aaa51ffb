"""Limits of time and memory for somebody's code: what goes beyond them ends in one line."""

from __future__ import annotations

import resource
import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.plain_numpy.audited import trial_pairs
from dpassay.audit.plain_numpy.generator import OldNames
from dpassay.audit.plain_numpy.mechanism import PlainMechanism
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.space import Space

SECONDS = 20  # for one run: an audit makes thousands
MEMORY = 4 * 2**30  # bytes beyond what is in use
_PAGE = resource.getpagesize()


class _TooLong(BaseException):
    """No code of others may catch it by chance."""


@contextmanager
def little_memory(name: str) -> Iterator[None]:
    """While it is open, the process may take so much memory more, where the system can limit it.

    Raises:
        BadInput: naming the algorithm, where it takes more.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    statm = Path("/proc/self/statm")
    used = int(statm.read_text().split()[0]) * _PAGE if statm.is_file() else None
    if used is not None:
        resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, hard))
    try:
        yield
    except MemoryError:
        raise _too_much(name) from None
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))


def _too_much(name: str) -> BadInput:
    why = f"takes more than {MEMORY // 2**30} GB: a smaller --space, or other values with --with"
    return BadInput("algorithm", name, why)


def one_run_in_time(run: Callable[..., Any], where: Space, claim: PrivacyClaim, name: str) -> None:
    """Runs the code as it is on one data set of the space.

    Raises:
        BadInput: it takes too long, or more memory than there may be.
        Exception: what the code raises on every data set that is tried.
    """
    mechanism = PlainMechanism(run, epsilon=claim.epsilon, delta=claim.delta)
    error: Exception | None = None
    for pair in trial_pairs(where, 0):
        try:
            with _at_most(SECONDS):
                mechanism.once(pair.here, OldNames(np.random.PCG64(0)))
            return
        except _TooLong:
            why = f"one run takes more than {SECONDS} seconds, and an audit makes thousands: try a smaller --space"
            raise BadInput("algorithm", name, why) from None
        except MemoryError:
            raise _too_much(name) from None
        except Exception as raised:  # the search says on which data it raises
            error = raised
    if error is not None:
        raise error


@contextmanager
def _at_most(seconds: int) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():  # only there a signal arrives
        yield
        return

    def stop(*_: Any) -> None:
        raise _TooLong

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
