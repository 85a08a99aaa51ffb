"""Both ways out of every decision of an algorithm: which ones its runs took, and which ones nothing private can take.

A decision is a conditional jump of the bytecode, so decisions inside of an expression count as well. What counts is the
code that runs: that of the algorithm and of what it calls, but for its problem, the tape, the laws, and libraries.
"""

import dis
import functools
import gc
import linecache
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import BuiltinFunctionType, CodeType, FrameType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from dpassay.audit.lockstep.source_lines import trade
from dpassay.audit.search.coverage import apparatus

from .facts import reachable

_CHECKS = ("__init__", "__post_init__")  # of schedules and results: they check their fields
_IS_NONE, _LENGTH = "is None", "len"  # where nothing else of a value is looked at
_ENOUGH = 10  # runs on chosen released values, before what never changed is taken to be public
_FIXED = (BuiltinFunctionType, FunctionType, ModuleType, np.ufunc, type)


class Way(NamedTuple):
    """One way out of a decision: the code, the place of the jump in it, and whether it is taken."""

    code: CodeType
    offset: int
    jumps: bool

    @property
    def other(self) -> "Way":
        """The other one."""
        return self._replace(jumps=not self.jumps)


@functools.cache
def followed_file(name: str) -> bool:
    """Does the code of this file count?"""
    return trade(name) != "other" and not apparatus(name)


class _Decision(NamedTuple):
    """A conditional jump: the ways out of it by what runs next, the line that each leads to, and what it looks at."""

    falls: int
    lines: tuple[int, int]  # of the code that runs next: without the jump, with it
    names: tuple[tuple[str, str], ...] | None  # and an attribute, or nothing; None: not only names


@functools.cache
def _decisions(code: CodeType) -> dict[int, _Decision]:
    steps = list(dis.get_instructions(code))
    place = {one.offset: number for number, one in enumerate(steps)}
    found: dict[int, _Decision] = {}
    for number, one in enumerate(steps):
        if ("JUMP" in one.opname and "IF" in one.opname) or one.opname == "FOR_ITER":
            ends = number + 1, place[one.argval]
            lines: Any = tuple(steps[end].positions.lineno or 0 for end in ends)  # type: ignore[union-attr]
            found[one.offset] = _Decision(steps[ends[0]].offset, lines, _names(steps[:number], one.opname))
    return found


def _names(steps: list[dis.Instruction], jump: str) -> tuple[tuple[str, str], ...] | None:
    """The names that the value on top of the stack is computed from; None if another decision is between."""
    found: set[tuple[str, str]] = set()
    depth, attribute = 0, ""
    for number, one in reversed([*enumerate(steps)]):
        if "JUMP" in one.opname or one.opname == "FOR_ITER":
            return None
        if one.opname.startswith("LOAD_") and "ATTR" not in one.opname and "METHOD" not in one.opname:
            if one.opname != "LOAD_CONST":
                names = [one.argval] if isinstance(one.argval, str) else one.argval
                found.update((name, attribute) for name in names)
            elif isinstance(one.argval, CodeType):
                return None  # a comprehension has decisions of its own
        attribute = one.argval if one.opname == "LOAD_ATTR" else ""
        depth += dis.stack_effect(one.opcode, one.arg, jump=False)
        if depth == 1:
            rest = [other.opname for other in steps[number + 1 :]]
            if "NONE" in jump or rest == ["LOAD_CONST", "IS_OP"]:
                return tuple((name, attribute or _IS_NONE) for name, attribute in sorted(found))
            return tuple((name, attribute or ("" if rest else _LENGTH)) for name, attribute in sorted(found))
    return None


def held(one: Any) -> Iterable[Any]:
    """What a thing is made of."""
    return () if isinstance(one, _FIXED) else gc.get_referents(one)


class Ways:
    """Collects the ways that runs take.

    Args:
        given: what is public before a run; what a decision looks at there is the same in all runs.
    """

    def __init__(self, *given: Any):
        self.taken: set[Way] = set()
        self._given = set(map(id, reachable([given], held)))
        self._last: dict[FrameType, int] = {}
        self._looked: dict[tuple[CodeType, int], list[set[Any]]] = {}
        self._seen: dict[tuple[CodeType, int], set[Any]] | None = None
        self._forced: Way | None = None

    @contextmanager
    def watched(self, force: Way | None = None, compared: bool = False) -> Iterator[None]:
        """A run: what is done inside counts. A decision is forced the first time that the run comes to its line.

        With ``compared``, on chosen released values, what its decisions look at is kept, too.
        """
        before, self._forced, self._seen = sys.gettrace(), force, {} if compared else None
        sys.settrace(self._call)
        try:
            yield
        finally:
            sys.settrace(before)
            self._last.clear()
            for place, values in (self._seen or {}).items():
                self._looked.setdefault(place, []).append(values)

    def _call(self, frame: FrameType, event: str, argument: Any) -> Any:
        if not followed_file(frame.f_code.co_filename) or frame.f_code.co_name in _CHECKS:
            return None
        frame.f_trace_opcodes = True
        return self._step

    def _step(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event in ("line", "opcode") and (last := self._last.pop(frame, None)) is not None:
            self.taken.add(Way(frame.f_code, last, frame.f_lasti != _decisions(frame.f_code)[last].falls))
        if event == "line" and self._forced is not None and self._forced.code is frame.f_code:
            self._force(frame, self._forced)
        elif event == "opcode":
            here, found = frame.f_lasti, _decisions(frame.f_code).get(frame.f_lasti)
            if found is not None:
                self._last[frame] = here
                if self._seen is not None:
                    looked = self._seen.setdefault((frame.f_code, here), set())
                    looked.add(self._looks_at(frame, found.names))
        elif event in ("return", "exception"):
            self._last.pop(frame, None)
        return self._step

    def _force(self, frame: FrameType, way: Way) -> None:
        target = _target(way)
        if frame.f_lineno == _line(way) != target:
            try:
                frame.f_lineno = target  # type: ignore[misc]  # a tracer may set it
            except ValueError:  # into a loop, say
                return
            self._forced = None
            self.taken.add(way)

    def _looks_at(self, frame: FrameType, names: tuple[tuple[str, str], ...] | None) -> Any:
        if names is None:
            return object()
        found = [(frame.f_locals.get(name, frame.f_globals.get(name)), attribute) for name, attribute in names]
        return tuple(self._constant(self._part(value, attribute)) for value, attribute in found)

    def _part(self, value: Any, attribute: str) -> Any:
        """What is looked at of an object that is made in the run: its field, or the shape of an array."""
        if id(value) in self._given:
            return value
        if attribute == _IS_NONE:
            return int(value is None)
        if attribute == _LENGTH and isinstance(value, list | tuple | dict):
            return len(value)
        if issubclass(type(value), np.ndarray) and attribute in ("ndim", "shape"):
            return getattr(value, attribute)
        return getattr(value, "__dict__", {}).get(attribute, value)

    def _constant(self, value: Any) -> Any:
        """Equal for what is surely the same; a truth value may be a decision already, so it never is."""
        if isinstance(value, tuple) and all(isinstance(one, int) for one in value):
            return value
        if value is None or (isinstance(value, int | float | str | np.integer) and not isinstance(value, bool)):
            return type(value), repr(value)
        if issubclass(type(value), np.ndarray):  # not what stands for one
            return value.shape, value.tobytes()
        return id(value) if isinstance(value, _FIXED) or id(value) in self._given else object()

    def public(self, way: Way) -> bool:
        """Did its decision look at the same values in every run, whatever was released?"""
        looked = self._looked.get((way.code, way.offset), [])
        return len(looked) >= _ENOUGH and all(one == looked[0] for one in looked)

    def missed(self) -> list[Way]:
        """Ways that were not taken out of decisions that were, except into exceptions."""
        missed = {way.other for way in self.taken} - self.taken
        left = [way for way in missed if not _text(way.code, _target(way)).startswith(("raise ", "assert "))]
        left = [way for way in left if ": require(" not in place(way)]  # which raises where it is not so
        return sorted(left, key=lambda way: (way.code.co_filename, _line(way), way.offset))


def _target(way: Way) -> int:
    return _decisions(way.code)[way.offset].lines[way.jumps]


def _text(code: CodeType, line: int) -> str:
    return linecache.getline(code.co_filename, line).strip()


def _line(way: Way) -> int:
    lines = way.code.co_lines()
    return next((line for start, end, line in lines if start <= way.offset < end and line is not None), 0)


def place(way: Way) -> str:
    """``file.py:12: text`` of the line of its decision."""
    line = _line(way)
    return f"{Path(way.code.co_filename).name}:{line}: {_text(way.code, line)}"


def said(ways: list[Way]) -> str:
    """The lines, for a person."""
    return "no followed run took both ways at " + "; ".join([*dict.fromkeys(map(place, ways))][:3])
