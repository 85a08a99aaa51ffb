"""Methods of a library that ask the current world's tape while a run is on, and are the library's own otherwise.

Every world of a lockstep run is a greenlet, and every greenlet has a context of its own, so "the current tape" is a
context variable. A patched method looks it up; where there is none it calls the method that it replaced. So other code
that uses the same library at the same time notices nothing, and patches are left in place.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from dpassay.reference.tape import Tape

_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def current_tape() -> Tape | None:
    """The tape of the run that is on in this world; None outside of runs."""
    return _TAPE.get()


def patch(owner: Any, name: str, answer: Callable[..., Any]) -> None:
    """An attribute that calls ``answer(tape, *arguments)`` while a run is on, and else what was there."""
    original = vars(owner)[name]

    @wraps(original)
    def method(*args: Any, **kwargs: Any) -> Any:
        tape = current_tape()
        return original(*args, **kwargs) if tape is None else answer(tape, *args, **kwargs)

    setattr(owner, name, method)


def on_tape(
    patched: Callable[[], None], work: Callable[[Any], Mapping[str, Any]], name: str
) -> Callable[[Any, Tape], None]:
    """``run(problem, tape)`` of code that uses a library.

    Args:
        patched: patches the library, which it may import; called before every run, and to be cached.
        work: ``work(problem)`` calls the library, unmodified, and returns what a user sees afterwards, by name. Each is
            revealed: computed from releases alone, it is the same on neighbouring data.
    """

    def run(problem: Any, tape: Tape) -> None:
        patched()
        token = _TAPE.set(tape)
        try:
            seen = work(problem)
        finally:
            _TAPE.reset(token)
        for label in sorted(seen):
            tape.reveal(label, seen[label])

    run.__name__ = name
    return run


def caller(package: str, skip: tuple[str, ...] = ()) -> FrameType | None:
    """The innermost frame inside ``package`` that is in none of the files or folders ``skip``."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename.replace("\\", "/")
        if f"/{package}/" in file and "/audit/libraries/" not in file and not any(part in file for part in skip):
            return frame
        frame = frame.f_back
    return None


def place(frame: FrameType | None) -> str:
    """``file.py:12`` of a frame."""
    return "own code" if frame is None else f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"
