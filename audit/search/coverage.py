"""Lines and decisions of an algorithm's own source that its runs reached.

What counts is what the algorithm can come to: its ``run`` and every function of its own files that ``run`` names, from
there on. Its own files are those in the folder of ``run`` (for the reference also the shared blocks and baselines).
Tracing is on for a whole lockstep run. Its worlds are greenlets of one thread and take turns, so the line before is
kept by frame.
"""

import ast
import dis
import inspect
import sys
import textwrap
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from linecache import getline
from pathlib import Path
from tokenize import TokenError
from types import CodeType, FrameType, FunctionType, MethodType
from typing import Any

from dpassay.audit.lockstep.source_lines import is_apparatus

_RELEASES = {"gaussian", "symmetric_gaussian", "laplace", "above_threshold", "release", "reveal"}
_SHARED = ("/reference/blocks/", "/reference/baselines/")
_IMPLIED = {"__init__", "__post_init__", "__call__", "__iter__", "__next__"}  # methods that are used without their name
_OUTSIDE = ("site-packages", *(f"/reference/{room}/" for room in ("laws", "problems", "accounting", "solvers")))


@dataclass(frozen=True)
class Coverage:
    """What was reached.

    Args:
        lines, lines_reached: executable lines of the functions that the algorithm can come to.
        branches, branches_reached: the two ways out of every ``if`` and ``while``, and into and past every ``for``.
        missed: releases and decisions that were never reached, ``file.py:12: text``, or a way that was never taken.
        unreached: every line that was never reached, in the same form.
        explained: by place what was missed for a reason that the case gives; it is not in ``missed``.
    """

    lines: int = 0
    lines_reached: int = 0
    branches: int = 0
    branches_reached: int = 0
    missed: tuple[str, ...] = ()
    unreached: tuple[str, ...] = ()
    explained: Mapping[str, str] = field(default_factory=dict)

    def explained_by(self, reasons: Mapping[str, str]) -> "Coverage":
        """The same with the missed places for which there is a reason (``Case.unreached``) set apart."""
        found = {place: reason for place in self.missed if (reason := reason_for(place, reasons))}
        left = tuple(place for place in self.missed if place not in found)
        return replace(self, missed=left, explained={**self.explained, **found})

    def __str__(self) -> str:
        text = f"{self.lines_reached} of {self.lines} lines, {self.branches_reached} of {self.branches} branches"
        return text + (f"; never reached: {'; '.join(self.missed)}" if self.missed else "")


def reason_for(place: str, reasons: Mapping[str, str]) -> str:
    """The reason whose place, ``file.py: beginning of the line``, is this one; empty if there is none."""
    file, _, rest = place.partition(":")
    text = f"{file}:{rest.partition(':')[2]}"
    return next((reason for start, reason in reasons.items() if text.startswith(start)), "")


@dataclass(eq=False)
class _Source:
    """One function: which of its lines hold a release or a decision, and its two-way decisions."""

    name: str
    executable: set[int] = field(default_factory=set)
    marked: set[int] = field(default_factory=set)
    decisions: list[tuple[range, range]] = field(default_factory=list)  # lines of the test, and of the first body part


class Collector:
    """Collects lines and arcs of the runs of one algorithm.

    Runs inside ``collector.tracing()`` count; :meth:`coverage` says what was reached so far.
    """

    def __init__(self, run: Callable[..., Any]):
        self._sources: list[_Source] = []
        self._arcs: dict[str, set[tuple[int, int]]] = {}  # by file: from line to line, -1 is the end of a function
        self._of_code: dict[int, set[tuple[int, int]]] = {}  # the same by identity: to hash a code takes long
        for function in own_functions(run):
            source = _source(function)
            self._sources.append(source)
            for code in nested(function.__code__):
                self._of_code[id(code)] = self._arcs.setdefault(source.name, set())
                first = {code.co_firstlineno} if code is function.__code__ else set()  # "def" itself is never executed
                source.executable |= {line for _, _, line in code.co_lines() if line is not None and line > 0} - first
            source.marked &= source.executable

    @property
    def knows_source(self) -> bool:
        """Is there code of the algorithm that can be traced?"""
        return bool(self._of_code)

    @contextmanager
    def tracing(self) -> Iterator[None]:
        """Everything that runs inside counts."""
        known, last = self._of_code, dict[FrameType, int]()

        def local(frame: FrameType, event: str, arg: Any) -> Any:
            if event == "line":  # is about to be executed
                known[id(frame.f_code)].add((last.get(frame, 0), frame.f_lineno))
                last[frame] = frame.f_lineno
            elif event == "return":  # or is left by an exception
                known[id(frame.f_code)].add((last.pop(frame, 0), -1))
            return local

        before = sys.gettrace()  # asked at every call of every function, so that it does next to nothing
        sys.settrace(lambda frame, event, arg: local if id(frame.f_code) in known else None)
        try:
            yield
        finally:
            sys.settrace(before)

    def coverage(self) -> Coverage:
        """What the runs so far reached."""
        lines = reached = branches = taken = 0
        missed: list[tuple[str, int, str]] = []
        unreached: list[tuple[str, int, str]] = []
        for source in self._sources:
            arcs = self._arcs[source.name]
            seen = {end for _, end in arcs}
            if any(part in source.name for part in _SHARED) and not source.executable & seen:
                continue  # another algorithm's part of what several share
            lines, reached = lines + len(source.executable), reached + len(source.executable & seen)
            unreached += [(source.name, line, "") for line in sorted(source.executable - seen)]
            missed += [(source.name, line, "") for line in sorted(source.marked - seen)]
            for test, body in source.decisions:
                out = {end for start, end in arcs if start in test and end not in test}
                ways = any(end in body for end in out), any(end not in body for end in out)  # entered, passed by
                branches, taken = branches + 2, taken + sum(ways)
                if any(ways) and not all(ways):
                    missed.append((source.name, test.start, " (never true)" if not ways[0] else " (never false)"))
        return Coverage(lines, reached, branches, taken, _named(missed), _named(unreached))


def _named(found: list[tuple[str, int, str]]) -> tuple[str, ...]:
    """Files, lines and ways as people read them, each once."""
    each = dict.fromkeys(found)
    return tuple(f"{Path(name).name}:{line}: {getline(name, line).strip()}{way}" for name, line, way in each)


def nested(code: CodeType) -> Iterator[CodeType]:
    """The code of a function, and of those inside of it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from nested(constant)


def _source(function: FunctionType) -> _Source:
    """What the text says; without a text (code typed into a shell) lines are counted, and none is marked."""
    found = _Source(function.__code__.co_filename)
    try:
        lines, first = inspect.getsourcelines(function)
        tree = ast.parse(textwrap.dedent("".join(lines)))
    except (OSError, TypeError, SyntaxError, TokenError):  # the last: a file of that name that is no Python
        return found
    shift = first - 1
    for node in ast.walk(tree):
        if isinstance(node, ast.If | ast.While | ast.For):
            test = node.iter if isinstance(node, ast.For) else node.test
            start, end = node.lineno + shift, (test.end_lineno or node.lineno) + shift
            body = range(node.body[0].lineno + shift, (node.body[0].end_lineno or 0) + shift + 1)
            found.marked.add(start)
            if body.start > end and not isinstance(test, ast.Constant):  # "while True" has one way only
                found.decisions.append((range(start, end + 1), body))
            for part in node.orelse[:1]:
                found.marked.add(part.lineno + shift)
        elif isinstance(node, ast.Break | ast.Continue | ast.Return) or (
            isinstance(node, ast.Call) and _is_release(node)
        ):
            found.marked.add(node.lineno + shift)
    return found


def _is_release(call: ast.Call) -> bool:
    if not isinstance(call.func, ast.Attribute):
        return False
    owner = call.func.value
    name = owner.id if isinstance(owner, ast.Name) else owner.attr if isinstance(owner, ast.Attribute) else ""
    return call.func.attr in _RELEASES or name.strip("_") == "tape"


# -- what an algorithm can come to ----------------------------------------------------------------------------
def own_functions(run: Callable[..., Any]) -> list[FunctionType]:
    """The functions of the algorithm's own files that ``run`` can come to, in the order in which they are named."""
    todo = [function for function in _functions(run) if not apparatus(function.__code__.co_filename)]
    homes = {Path(function.__code__.co_filename).resolve().parent for function in todo}
    found: dict[CodeType, FunctionType] = {}
    while todo:
        function = todo.pop(0)
        name = function.__code__.co_filename
        ours = not homes.isdisjoint(Path(name).resolve().parents) or any(part in name for part in _SHARED)
        if function.__code__ in found or not ours or apparatus(name):
            continue
        found[function.__code__] = function
        todo += _named_by(function)
    return list(found.values())


def apparatus(name: str) -> bool:
    """Is this file none of an algorithm's own?"""
    return is_apparatus(name) or any(part in name for part in _OUTSIDE)


def _named_by(function: FunctionType) -> list[FunctionType]:
    """Functions that a function uses: globals of its module, its closure, and what it takes of classes and modules.

    An attribute is no global: ``rows.mean()`` is not a function ``mean`` of the same file.
    """
    steps = [step for code in nested(function.__code__) for step in dis.get_instructions(code)]
    names = {str(step.argval) for step in steps if step.opname in ("LOAD_GLOBAL", "LOAD_NAME")}
    parts = {str(step.argval) for step in steps if step.opname in ("LOAD_ATTR", "LOAD_METHOD")}
    found: list[FunctionType] = []
    for name in sorted(names):
        value = function.__globals__.get(name)
        if isinstance(value, type):
            used = parts | _IMPLIED
            found += [one for part, one in vars(value).items() if isinstance(one, FunctionType) and part in used]
        elif inspect.ismodule(value):
            found += [one for part in sorted(parts) for one in _functions(vars(value).get(part))]
        else:
            found += _functions(value)
    for cell in function.__closure__ or ():
        try:
            found += _functions(cell.cell_contents)
        except ValueError:  # not filled yet
            continue
    return found


def _functions(value: Any) -> Iterator[FunctionType]:
    if isinstance(value, partial):
        for part in (value.func, *value.args, *value.keywords.values()):
            yield from _functions(part)
    elif isinstance(value, MethodType):
        yield value.__func__  # type: ignore[misc]
    elif isinstance(value, FunctionType):
        inner = inspect.unwrap(value)
        yield inner if isinstance(inner, FunctionType) else value
    elif callable(value) and not isinstance(value, type):  # an object that wraps functions
        for part in (getattr(type(value), "__call__", None), *getattr(value, "__dict__", {}).values()):  # noqa: B004
            if isinstance(part, FunctionType | partial | MethodType):
                yield from _functions(part)
