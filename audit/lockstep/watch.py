"""A run that is watched line by line: what it asks its tape for, and which lines of the code make which number.

A number is known by its value: the first line after which a variable, or a result, holds it, made it. A number that
differs between the neighbours must be that of D on one side and that of D' on the other at the same line. Where the
calls part, the line is the last one that both sides ran.
"""

from __future__ import annotations

import math
import sys
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cache
from itertools import takewhile
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np
from greenlet import getcurrent, greenlet

from .source_lines import line_of, trade

_MOST = 300_000  # lines that are watched in one run
_ROUNDING = 1e-12


Number = tuple[Any, Any]  # to look for: its value on D, and on D' where that is another one (else None)


class Spot(NamedTuple):
    """One line of source: its file, its number, and the function that it is in."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return line_of(*self)


def spot_of(frame: FrameType, number: int = 0) -> Spot:
    """The line at which a frame is, or another one of it."""
    return Spot(frame.f_code.co_filename, number or frame.f_lineno, frame.f_code.co_name)


@dataclass(eq=False)
class Call:
    """One call of the tape: its label, its arguments, and the line that makes it.

    Args:
        lines: that were run since the call before.
        stack: file and name of the functions that wait for it, outermost first, with their variables.
    """

    label: str
    name: str
    asked: dict[str, Any]
    spot: Spot | None
    lines: list[Spot]
    stack: list[tuple[str, str, dict[str, Any]]]


class Held(NamedTuple):
    """A variable that holds a number: after which line, its name, after how many calls of the tape."""

    spot: Spot
    name: str
    calls: int


@dataclass(eq=False)
class Side:
    """What was seen of one world: its calls, the lines since the last one, and what held each number.

    ``held`` is by number and side (``here`` or ``there``), and leads to the innermost line of the algorithm's folder.
    """

    calls: list[Call] = field(default_factory=list)
    lines: list[Spot] = field(default_factory=list)
    held: dict[tuple[int, str], dict[Held, Spot]] = field(default_factory=lambda: defaultdict(dict))


class Watch:
    """Watches the code in some folders, and what it calls of others' that is neither installed nor the apparatus.

    Args:
        homes: folders of the algorithm.
        begins: its first functions; the lines at which they return are kept.
        numbers: to look for.
    """

    def __init__(self, homes: Collection[Path], begins: Collection[CodeType], numbers: Sequence[Number] = ()):
        self._homes, self._begins, self._numbers = set(homes), set(begins), numbers
        self._left = _MOST
        self._last: dict[FrameType, int] = {}
        self.returned: dict[Spot, None] = {}
        self.inner: dict[Spot, Spot] = {}  # a line to the return of what it called last
        self.before, self._sides = Side(), dict[greenlet, Side]()
        self._main = getcurrent()

    @property
    def sides(self) -> list[Side]:
        """The worlds, those of D first."""
        return list(self._sides.values())

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Runs inside are watched."""
        before = sys.gettrace()
        sys.settrace(self._called)
        try:
            yield
        finally:
            sys.settrace(before)
            self._last.clear()

    def made(self, number: int, here: Side | None, there: Side | None) -> list[Spot]:
        """The line that holds a number first, and how one comes there.

        Outside of the algorithm's folder the folder's line that leads there comes before it (of a block of the
        reference: alone). Where a function returns it, the line that called it comes behind.

        Args:
            here, there: the two sides, of a number that differs; else it may be held anywhere.
        """
        if here is not None and there is not None:
            other = there.held[number, "there"]
            found = [(one, home) for one, home in here.held[number, "here"].items() if one in other]
        else:
            found = [pair for side in (self.before, *self.sides) for pair in side.held[number, "here"].items()]
            if float(self._numbers[number][0]).is_integer():  # too many variables hold whole numbers
                found = [(one, home) for one, home in found if one.spot == home and self._numbers[number][0] > 1]
        if not found:
            return []
        one, home = found[0]
        if one.spot == home:
            return [home, *(self._callers(home) if one.name == "return" else [])]
        return [home] if trade(one.spot.file) == "block" else [home, one.spot]

    def _callers(self, returned: Spot) -> list[Spot]:
        found = (one for one, inner in self.inner.items() if inner == returned and is_watched(one.file))
        return list(found)[:1]

    def assigned(self, number: int, call: Call) -> Spot | None:
        """The line that gave a number to the outermost variable which holds it at a call; none if none does."""
        wanted, _ = self._numbers[number]
        held = [one for side in (self.before, *self.sides) for one in side.held[number, "here"]]
        for file, function, variables in call.stack:
            names = {name for name, value in variables.items() if holds(wanted, value)}
            for spot, name, _ in held:
                if (spot.file, spot.function) == (file, function) and name in names:
                    return spot
        return None

    # -- while the code runs ------------------------------------------------------------------------------
    def _side(self) -> Side:
        current = getcurrent()
        return self.before if current is self._main else self._sides.setdefault(current, Side())

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        name = frame.f_code.co_filename
        if trade(name) == "tape":
            self._asked(frame)
        return self._inside if self._left > 0 and is_watched(name) else None

    def _asked(self, frame: FrameType) -> None:
        caller, asked = frame.f_back, frame.f_locals
        if "label" not in asked or caller is None or trade(caller.f_code.co_filename) == "tape":
            return
        side = self._side()
        stack = _stack(caller)
        spot = self._home(caller) or (spot_of(stack[-1]) if stack else None)
        waiting = [(one.f_code.co_filename, one.f_code.co_name, dict(one.f_locals)) for one in stack]
        side.calls.append(Call(asked["label"], frame.f_code.co_name, dict(asked), spot, side.lines, waiting))
        side.lines = []

    def _home(self, frame: FrameType | None) -> Spot | None:
        """The innermost line of the algorithm's own folder."""
        own = [one for one in _stack(frame) if _folder(one.f_code.co_filename) in self._homes]
        return spot_of(own[-1]) if own else None

    def _inside(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code, caller, side = frame.f_code, frame.f_back, self._side()
        last = self._last.get(frame)
        self._left -= 1
        if last is not None:
            self._look(side, spot_of(frame, last), frame, frame.f_locals)
        elif caller is not None and is_watched(caller.f_code.co_filename):
            self._look(side, spot_of(caller), caller, frame.f_locals)
        if event == "line":
            self._last[frame] = frame.f_lineno
            side.lines.append(spot_of(frame))
        elif event == "return":
            spot = spot_of(frame)
            self._look(side, spot, frame, {"return": arg})
            self._last.pop(frame, None)
            if code in self._begins:
                self.returned[spot] = None
            if caller is not None and not code.co_name.startswith("<"):
                self.inner[spot_of(caller)] = spot
        return self._inside if self._left > 0 else None

    def _look(self, side: Side, spot: Spot, frame: FrameType, variables: Mapping[str, Any]) -> None:
        for number, both in enumerate(self._numbers):
            depth = 3 if both[1] is None else 0
            for which, value in zip(("here", "there"), both, strict=True):
                for name, one in variables.items() if value is not None else ():
                    held = Held(spot, name, len(side.calls))
                    if held not in side.held[number, which] and holds(value, one, depth):
                        at_home = _folder(spot.file) in self._homes
                        side.held[number, which][held] = spot if at_home else self._home(frame) or spot


@cache
def _folder(name: str) -> Path:
    return Path(name).resolve().parent


def is_watched(name: str) -> bool:
    """Is this file code of the user, or an algorithm of the reference?"""
    return trade(name) in ("theirs", "ours", "block")


def _stack(frame: FrameType | None) -> list[FrameType]:
    """The watched frames that wait for this one, it included, outermost first."""
    found = []
    while frame is not None:
        if is_watched(frame.f_code.co_filename):
            found.append(frame)
        frame = frame.f_back
    return found[::-1]


def holds(wanted: Any, value: Any, depth: int = 0) -> bool:
    """Is a value this number, or does it hold it: a field, an entry? Up to rounding."""
    if isinstance(value, float | int | np.number) and not isinstance(value, bool):
        if isinstance(wanted, float) and not isinstance(value, float):
            return False
        return np.ndim(wanted) == 0 and math.isclose(value, wanted, rel_tol=_ROUNDING)
    if isinstance(value, np.ndarray):
        good = value.dtype.kind in "fiu" and value.shape == np.shape(wanted)
        return good and bool(np.allclose(value, wanted, rtol=_ROUNDING, atol=0.0))
    if depth == 0 or isinstance(value, type):
        return False
    if is_dataclass(value):
        parts = [value.__dict__.get(one.name) for one in fields(value)] if hasattr(value, "__dict__") else []
    elif isinstance(value, dict | list | tuple):
        parts = list(value.values()) if isinstance(value, dict) else list(value)
    else:
        return False
    return any(holds(wanted, one, depth - 1) for one in parts[:100])


def parting(here: Sequence[Spot], there: Sequence[Spot]) -> Spot | None:
    """The last line that both ran before they went different ways; None where they did not."""
    common = sum(1 for _ in takewhile(lambda both: both[0] == both[1], zip(here, there, strict=False)))
    return here[common - 1] if common and common < max(len(here), len(there)) else None
