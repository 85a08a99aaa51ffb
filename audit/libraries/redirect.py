"""Methods of a library that ask the current world's tape while a run is on, and are the library's own otherwise.

Every world of a lockstep run is a greenlet, and every greenlet has a context of its own, so "the current tape" is a
context variable. A patched method looks it up; where there is none it calls the method that it replaced. So other code
that uses the same library at the same time notices nothing.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any

from dpassay.reference.tape import Tape

_TAPE: ContextVar[Tape | None] = ContextVar("tape", default=None)


def current_tape() -> Tape | None:
    """The tape of the run that is on in this world; None outside of runs."""
    return _TAPE.get()


@contextmanager
def using(tape: Tape) -> Iterator[None]:
    """``tape`` is the current one of this world inside the block."""
    token = _TAPE.set(tape)
    try:
        yield
    finally:
        _TAPE.reset(token)


@dataclass(frozen=True)
class Patch:
    """One attribute to replace: ``replacement(original)`` makes what stands there."""

    owner: Any
    name: str
    replacement: Callable[[Any], Any]


class Patches:
    """Patches of one library, made when they are first needed and left in place: without a tape they do nothing.

    Args:
        find: makes the list; it may import the library.
    """

    def __init__(self, find: Callable[[], list[Patch]]):
        self._find, self._done = find, False

    def apply(self) -> None:
        """Once."""
        if self._done:
            return
        self._done = True
        for patch in self._find():
            original = vars(patch.owner)[patch.name]
            setattr(patch.owner, patch.name, patch.replacement(original))


def on_the_tape(answer: Callable[..., Any]) -> Callable[[Any], Any]:
    """A replacement that calls ``answer(tape, *arguments)`` while a run is on, else the original."""

    def replacement(original: Any) -> Any:
        @wraps(original)
        def method(*args: Any, **kwargs: Any) -> Any:
            tape = current_tape()
            return original(*args, **kwargs) if tape is None else answer(tape, *args, **kwargs)

        return method

    return replacement


def on_tape(patches: Patches, work: Callable[[Any], Mapping[str, Any]], name: str) -> Callable[[Any, Tape], None]:
    """``run(problem, tape)`` of code that uses a library.

    Args:
        patches: of the library.
        work: ``work(problem)`` calls the library, unmodified, and returns what a user sees afterwards, by name. Each is
            revealed: computed from releases alone, it is the same on neighbouring data.
    """

    def run(problem: Any, tape: Tape) -> None:
        patches.apply()
        with using(tape):
            seen = work(problem)
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
