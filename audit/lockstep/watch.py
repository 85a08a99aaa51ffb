"""A run that is watched line by line: which statement set which name, so that a value is followed back to its lines.

A dynamic backward slice. From an expression of a statement that ran, a name leads to the statement that set it, a
parameter to the argument of the caller, a call to the ``return`` of the function that it ran, a field to the statement
that set it in that object. Of two runs it goes only where the values differ.
"""

from __future__ import annotations

import ast
import linecache
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import FrameType
from typing import Any, NamedTuple

import numpy as np
from greenlet import getcurrent, greenlet

from dpassay.reference.equality import same, snapshot

from .source_lines import line_of, trade

_MOST = 300_000  # lines that are watched in one run
_FOLLOWED = 1000  # values that are followed back
RETURN = "return"


class Spot(NamedTuple):
    """One line of source: its file, its number, and the function that it is in."""

    file: str
    number: int
    function: str

    def __str__(self) -> str:
        return line_of(*self)


@dataclass(eq=False)
class Step:
    """A statement as it ran.

    Args:
        first: the first line of its function; ``parameters``: their names.
        calls, place: how many calls of the tape were made before it, and how many lines were run since the last.
        begun, done: how many lines were run before it, and before its end.
        caller: the step that waits for its function; ``before``: the one before it in the function.
        names: what they held before it.
        set_at: by name, the step that set it.
        new: what it has set, arrays as they were then; what a function returns is ``return``.
        returned: at this step, the ends of the functions that it called.
        outside: names of the functions that it called outside of what is watched.
    """

    spot: Spot
    first: int
    parameters: tuple[str, ...]
    calls: int
    place: int
    begun: int
    caller: Step | None
    before: Step | None
    names: dict[str, Any]
    set_at: dict[str, Step]
    new: dict[str, Any] = field(default_factory=dict)
    returned: list[Step] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    done: int = 0

    @property
    def statement(self) -> ast.stmt | None:
        """What stands there."""
        return statements(self.spot.file).get(self.spot.number)

    def waiting(self) -> Iterator[Step]:
        """This step and those that wait for it, innermost first."""
        step: Step | None = self
        while step is not None:
            yield step
            step = step.caller

    def calls_of(self, name: str) -> list[ast.Call]:
        """The calls of a function in the statement."""
        calls = [one for one in header(self.statement) if isinstance(one, ast.Call)]
        return [one for one in calls if name == called(one)]


@dataclass(eq=False)
class Call:
    """One call of the tape: its label, its method, its arguments, and the step that makes it."""

    label: str
    name: str
    asked: dict[str, Any]
    step: Step | None


class Origin(NamedTuple):
    """Where a value comes from: a step, the expression there, and under which name the step has it."""

    step: Step
    expression: ast.AST | None
    name: str = ""


@dataclass(eq=False)
class Side:
    """What was seen of one world: its calls of the tape, its steps in order, and which step set which field."""

    calls: list[Call] = field(default_factory=list)
    steps: list[Step] = field(default_factory=list)
    parts: dict[int, dict[str, list[Step]]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(list)))
    raised: dict[type, Step] = field(default_factory=dict)  # where it was first seen, innermost
    ended: list[Step] = field(default_factory=list)  # the ends of all functions
    since: int = 0  # where the lines since the last call begin

    @cached_property
    def places(self) -> dict[tuple[int, int, Spot], Step]:
        """The steps by where in the run they are."""
        return {(one.calls, one.place, one.spot): one for one in self.steps}

    def differs(self, there: Side, step: Step, name: str, sure: bool = False) -> bool:
        """Has a step set another value in the other world? Objects and what has no name may, and are not sure to."""
        other = there.places.get((step.calls, step.place, step.spot))
        if not name or other is None:
            return not sure
        one, two = step.new.get(name), other.new.get(name)
        if isinstance(one, np.random.Generator):  # it holds no data
            return False
        if not (_plain(one) and _plain(two)) or (sure and is_dataclass(one)):
            return not sure
        return not same(one, two)

    def behind(self, step: Step, node: ast.AST | None, there: Side | None = None) -> Iterator[Step]:
        """The steps that an expression's value comes from, the nearest first; of two worlds those that differ."""
        waiting, known = [Origin(step, node)], set[tuple[Step, ast.AST | None]]()
        while waiting and len(known) < _FOLLOWED:
            origin = waiting.pop(0)
            if (origin.step, origin.expression) in known:
                continue
            known.add((origin.step, origin.expression))
            for one in self._spread(origin.step, origin.expression):
                if there is None or self.differs(there, one.step, one.name):
                    if one.name:
                        yield one.step
                    waiting.append(one)

    def _spread(self, step: Step, node: ast.AST | None) -> Iterator[Origin]:
        """Where the parts of an expression come from."""
        found = [] if node is None else self.origins(step, node)
        yield from found
        if node is not None and not (found and isinstance(node, ast.Name | ast.Attribute | ast.Call)):
            for one in ast.iter_child_nodes(node):
                yield from () if isinstance(one, ast.stmt) else self._spread(step, one)
        elif isinstance(node, ast.Call) and found:  # what it was given is followed from inside, its object here
            yield from self._spread(step, node.func)

    def origins(self, step: Step, node: ast.AST) -> list[Origin]:
        """Where the value of a name, a field or a call comes from; none for any other expression."""
        if isinstance(node, ast.Name):
            holder = step if step.spot.function[0] != "<" or step.caller is None else step.caller
            setter = step.set_at.get(node.id) or holder.set_at.get(node.id)
            inside = self._set_in(step, step.names.get(node.id))
            if setter is not None:
                return [Origin(setter, part(setter.statement, node.id), node.id), *inside]
            given = passed(holder, node.id)
            return [
                *inside,
                *([Origin(holder.caller, given)] if given is not None and holder.caller is not None else []),
            ]
        if isinstance(node, ast.Attribute):
            return self._set_in(step, held(node.value, step.names), node.attr) or self._returns(step, node.attr)
        if isinstance(node, ast.Call):
            return self._returns(step, called(node))
        at = node.slice.value if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant) else None
        if isinstance(node, ast.Subscript) and isinstance(at, int):
            found = self.origins(step, node.value)
            tuples = [(one, one.expression.elts) for one in found if isinstance(one.expression, ast.Tuple)]
            return [one._replace(expression=parts[at]) for one, parts in tuples if at < len(parts)]
        return []

    def _set_in(self, step: Step, owner: Any, name: str = "") -> list[Origin]:
        """Where the fields of an object, or one of them, were set last."""
        fields = {each: ends for each, ends in self.parts.get(id(owner), {}).items() if name in ("", each)}
        last = [
            (each, one) for each, ends in fields.items() for one in [one for one in ends if one.done <= step.begun][-1:]
        ]
        return [Origin(one, part(one.statement, f".{each}"), f".{each}") for each, one in last]

    def _returns(self, step: Step, name: str) -> list[Origin]:
        ends = [one for one in step.returned if one.spot.function == name]
        return [Origin(one, getattr(one.statement, "value", None), RETURN) for one in ends]


class Watch:
    """Watches the code in the files that it ``follows``; each world is a greenlet of its own."""

    def __init__(self, follows: Callable[[str], bool]):
        self._follows, self._left = lru_cache(maxsize=None)(follows), _MOST
        self._running: dict[FrameType, Step] = {}
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
            self._running.clear()

    def _side(self) -> Side:
        current = getcurrent()
        return self.before if current is self._main else self._sides.setdefault(current, Side())

    def _waiting(self, frame: FrameType | None) -> Step | None:
        while frame is not None and frame not in self._running:
            frame = frame.f_back
        return None if frame is None else self._running[frame]

    def _called(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code, back = frame.f_code, frame.f_back
        on_tape = trade(code.co_filename) == "tape" and "label" in frame.f_locals
        if on_tape and back is not None and trade(back.f_code.co_filename) != "tape":
            side, asked = self._side(), dict(frame.f_locals)
            side.calls.append(Call(asked["label"], code.co_name, asked, self._waiting(back)))
            side.since = len(side.steps)
        if self._left > 0 and self._follows(code.co_filename):
            self._begin(frame, self._waiting(back), None, {})
            return self._inside
        if back in self._running:
            self._running[back].outside.append(code.co_name)
        return None

    def _begin(self, frame: FrameType, caller: Step | None, before: Step | None, set_at: dict[str, Step]) -> None:
        code, side = frame.f_code, self._side()
        spot = Spot(code.co_filename, frame.f_lineno, code.co_name)
        place = len(side.calls), len(side.steps) - side.since, len(side.steps)
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        step = Step(spot, code.co_firstlineno, parameters, *place, caller, before, dict(frame.f_locals), set_at)
        self._running[frame] = step
        side.steps.append(step)

    def _inside(self, frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        step, side = self._running[frame], self._side()
        self._left -= 1
        if event in ("line", "return"):
            set_at = self._ended(step, frame.f_locals, side)
        if event == "line":
            self._begin(frame, step.caller, step, set_at)
        elif event == "return":
            step.new[RETURN], step.names = arg, dict(frame.f_locals)
            side.ended.append(step)
            del self._running[frame]
            if step.caller is not None and step.spot.function[0] != "<":
                step.caller.returned.append(step)
        elif event == "exception":
            side.raised.setdefault(arg[0], step)
        return self._inside

    def _ended(self, step: Step, names: dict[str, Any], side: Side) -> dict[str, Step]:
        """Note what the statement has set; returns which step set each name behind it."""
        set_at, step.done = step.set_at, len(side.steps)
        for target in targets(step.spot.file, step.spot.number):
            if isinstance(target, ast.Name) and target.id in names:
                step.new[target.id] = _copy(names[target.id])
                set_at = {**set_at, target.id: step}
            elif isinstance(target, ast.Attribute):
                owner = held(target.value, names)
                side.parts[id(owner)][target.attr].append(step)
                step.new[f".{target.attr}"] = _copy(getattr(owner, target.attr, None))
        return set_at


def _copy(one: Any) -> Any:
    return snapshot(one) if type(one) in (np.ndarray, list) else one  # it may change in its place


def _plain(one: Any, depth: int = 3) -> bool:
    """Numbers, texts, and what holds them: nothing of the apparatus, which would notice that it is compared."""
    if isinstance(one, dict | list | tuple) and depth:
        return all(_plain(each, depth - 1) for each in (one.values() if isinstance(one, dict) else one))
    if is_dataclass(one) and not isinstance(one, type) and depth:
        return all(_plain(getattr(one, each.name, None), depth - 1) for each in fields(one))
    return one is None or type(one) in (bool, int, float, str, np.ndarray) or isinstance(one, np.generic)


def is_watched(name: str) -> bool:
    """Is this file code of the user, or an algorithm of the reference?"""
    return trade(name) in ("theirs", "ours", "block")


def parting(here: Sequence[Step], there: Sequence[Step]) -> Step | None:
    """The step of the first of two runs after which they went different ways; None where they did not."""
    common = 0
    while common < min(len(here), len(there)) and here[common].spot == there[common].spot:
        common += 1
    if not here or not there or common == max(len(here), len(there)):
        return None
    longer = here if common < len(here) else there
    last = longer[common].before or longer[common].caller
    if longer is here or last is None:
        return last
    return next((one for one in here if (one.calls, one.place) == (last.calls, last.place)), None)


# source ------------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=256)
def tree(file: str) -> ast.Module:
    """A file of source; empty where it is none."""
    try:
        return ast.parse("".join(linecache.getlines(str(Path(file).resolve()))))
    except SyntaxError:
        return ast.Module([], [])


@lru_cache(maxsize=256)
def statements(file: str) -> dict[int, ast.stmt]:
    """The innermost statement at each line; of one that holds others, its head."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(tree(file)):
        if isinstance(node, ast.stmt):
            for number in range(node.lineno, last_line(node) + 1):
                if number not in found or found[number].lineno <= node.lineno:
                    found[number] = node
    return found


def last_line(node: ast.stmt) -> int:
    """Of its head, if it holds others."""
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def header(statement: ast.AST | None) -> Iterator[ast.AST]:
    """Everything in a statement but the statements that it holds."""
    waiting = [] if statement is None else [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]


@lru_cache(maxsize=8192)
def targets(file: str, number: int) -> tuple[ast.expr, ...]:
    """The names and fields that the statement at a line sets, in whole or in part, or whose method it only calls."""
    statement = statements(file).get(number)
    if statement is None or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return ()
    found = [one for one in header(statement) if isinstance(getattr(one, "ctx", None), ast.Store)]
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        found += [statement.value.func.value] if isinstance(statement.value.func, ast.Attribute) else []
    owners = [_owner(one) for one in found]
    return tuple(one for one in owners if isinstance(one, ast.Name | ast.Attribute))


def _owner(node: ast.AST) -> ast.AST:
    """Of ``a[k]`` it is ``a`` that is set."""
    return _owner(node.value) if isinstance(node, ast.Subscript) else node


def part(statement: ast.stmt | None, name: str) -> ast.AST | None:
    """What a statement sets a name to, or a field (``.name``)."""
    if isinstance(statement, ast.For):
        return statement.iter
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return statement
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    if isinstance(target, ast.Subscript):
        return statement
    parts = target.elts if isinstance(target, ast.Tuple) else []
    names = [getattr(one, "id", "") or f".{getattr(one, 'attr', '')}" for one in parts]
    if name not in names or statement.value is None:
        return statement.value
    if isinstance(statement.value, ast.Tuple):
        return statement.value.elts[names.index(name)]
    return ast.Subscript(statement.value, ast.Constant(names.index(name)), ast.Load())


def called(call: ast.Call) -> str:
    """The bare name of the function that is called."""
    return str(getattr(call.func, "attr", getattr(call.func, "id", "")))


def passed(step: Step, name: str) -> ast.expr | None:
    """What the caller hands over for a parameter of a function; None where that cannot be read off its statement."""
    names = step.parameters
    made = step.spot.function == "__init__" and "self" in step.names
    function = type(step.names["self"]).__name__ if made else step.spot.function
    for call in step.caller.calls_of(function) if step.caller is not None and name in names else ():
        if name == "self":
            return call.func.value if isinstance(call.func, ast.Attribute) and not made else None
        return _handed(call, name, names.index(name) - (names[0] == "self"))
    return None


def held(node: ast.AST, names: dict[str, Any]) -> Any:
    """What a name, or a field of one, holds."""
    if isinstance(node, ast.Name):
        return names.get(node.id)
    owner = held(node.value, names) if isinstance(node, ast.Attribute) else None
    return vars(owner).get(node.attr) if isinstance(node, ast.Attribute) and hasattr(owner, "__dict__") else None


def argument(step: Step, method: str, name: str, place: int | None = None) -> ast.expr | None:
    """What is handed to a method by name, or at a place; None where that is not clear."""
    found = (_handed(call, name, place) for call in step.calls_of(method))
    return next((one for one in found if one is not None), None)


def _handed(call: ast.Call, name: str, place: int | None) -> ast.expr | None:
    by_name = {one.arg: one.value for one in call.keywords}
    at_place = call.args[place] if place is not None and place < len(call.args) else None
    return by_name.get(name, at_place)
