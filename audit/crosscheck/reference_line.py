"""The line of the reference that made a number: one watched run on the vector, up to the event that differs.

From the call of the tape the value is followed back: a name to the statement that set it, a parameter to the argument
of the caller. Where another call differs, the last decision before it is shown as well.
"""

from __future__ import annotations

import ast
import io
import sys
import tokenize
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, fields, is_dataclass, replace
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np

from dpassay.audit.lockstep.source_lines import is_apparatus
from dpassay.audit.mutate.lent import HOME, module_of, source
from dpassay.audit.mutate.slips import Alike
from dpassay.reference.equality import forget
from dpassay.reference.errors import printable

from .differences import SCALES, Difference, Part
from .making import read
from .recording import VectorTape
from .rounding import Run

Data = Mapping[str, Any]
NO_ALGORITHM = ("laws", "accounting")  # folders: what makes a law or an account is what every algorithm shares
FOLLOWED = 8  # names, parameters and functions, from the call back to where the number is made
MOST = 3  # lines that are shown
LONGEST = 160  # letters of one
ENTRIES = 4  # of an array that are printed
QUERY = ("query", "queries", "utilities", "value")  # fields that stand behind the label


class _There(Exception):
    """The event is reached."""


@dataclass(frozen=True)
class Line:
    """A statement of the reference.

    Args:
        file, number: where it begins, from the root of the project.
        text: its code on one line.
        comment: what stands behind it, or on the line above: the number of an equation, the name of a part.
        values: of the names in it, as text, in the reference's run.
        yours: of those that the other implementation declared, or computes otherwise.
    """

    file: str
    number: int
    text: str
    comment: str
    values: Mapping[str, str]
    yours: Mapping[str, str] = field(default_factory=dict)

    def __str__(self) -> str:
        told = []
        for name, value in self.values.items():
            yours = self.yours.get(name, value)
            told.append(f"{name} = {value}" + (f" (yours {yours})" if yours != value else ""))
        text = f"{self.file}:{self.number}: {self.text}" + (f"  # {self.comment}" if self.comment else "")
        return "\n".join([text, *([f"    {', '.join(told)}"] if told else [])])

    def as_data(self) -> dict[str, Any]:
        """For JSON."""
        return asdict(self)


@dataclass
class _Frame:
    """One function that is running: what it is at, what its names hold, and which statement set a name."""

    file: str
    number: int
    names: dict[str, Any]
    function: str
    asked: int = 0  # events that were asked for when this line was begun
    caller: _Frame | None = None
    new: dict[str, Any] = field(default_factory=dict)  # what this line has set, if it is done
    set_at: dict[str, _Frame] = field(default_factory=dict)  # by name: this frame at the statement that set it
    decision: _Frame | None = None  # this frame at the last line that decided
    returned: list[_Frame] = field(default_factory=list)  # at this line, the functions that it called

    def now(self) -> _Frame:
        """As it is at this line."""
        return replace(self, set_at=dict(self.set_at), returned=list(self.returned))


@dataclass
class Watched:
    """What a run of the reference did up to an event.

    Args:
        lines: that were run, by file below ``reference/``.
        kinds: of the values that names of a function held at its end, by file and first line of the function.
        frame: the innermost function that is running at the event; at the end of the run, the run itself.
        method: of the tape, that was called.
    """

    lines: dict[str, set[int]] = field(default_factory=dict)
    kinds: dict[tuple[str, int], dict[str, object]] = field(default_factory=dict)
    frame: _Frame | None = None
    method: str = ""


class _Tape(VectorTape):
    """Stops a run where it asks for one event."""

    def __init__(self, events: Sequence[dict[str, Any]], until: int | None):
        super().__init__(events)
        self._until = until

    def _next(self, kind: str, label: str) -> dict[str, Any]:
        if self._position == self._until:
            raise _There
        return super()._next(kind, label)


def watched(run: Run, vector: Data, until: int | None = None) -> Watched:
    """One run of the reference on a vector, watched until so many events were asked for (None: to its end)."""
    found, tape = Watched(), _Tape(vector["events"], until)
    running: dict[FrameType, _Frame] = {}
    files: dict[str, str] = {}

    def called(frame: FrameType, event: str, arg: Any) -> Callable[..., Any] | None:
        code, back = frame.f_code, frame.f_back
        if code.co_filename not in files:
            files[code.co_filename] = _file(code.co_filename)
        if not files[code.co_filename]:
            if back in running and found.frame is None:
                found.method = code.co_name
            return None
        caller = running.get(back) if back is not None else None
        running[frame] = _Frame(files[code.co_filename], frame.f_lineno, {}, code.co_name, tape.position, caller)
        return within

    def within(frame: FrameType, event: str, arg: Any) -> Callable[..., Any]:
        here = running[frame]
        if event in ("line", "return"):
            names = _set_by(here.file, here.number)
            new = {name: frame.f_locals[name] for name in names if name in frame.f_locals}
            here.set_at.update(dict.fromkeys(names, replace(here.now(), new=new)))
        if event == "line":
            found.lines.setdefault(here.file, set()).add(frame.f_lineno)
            here.number, here.names, here.returned = frame.f_lineno, dict(frame.f_locals), []
            here.asked = tape.position
            here.decision = here.now() if _decides(here.file, here.number) else here.decision
        elif event == "return":
            first = here.file, frame.f_code.co_firstlineno
            found.kinds.setdefault(first, {}).update(_kinds(frame.f_locals))
            del running[frame]
            if here.caller is not None:
                here.caller.returned.append(here)
            elif not running and found.frame is None:
                found.frame = here
        elif event == "exception" and issubclass(arg[0], _There) and found.frame is None:
            found.frame = here.now()
        return within

    problem, schedule = read(vector)
    forget()  # what is known already would not be run
    before = sys.gettrace()
    sys.settrace(called)
    try:
        with suppress(Exception), np.errstate(all="ignore"):
            run(problem, schedule, tape)
    finally:
        sys.settrace(before)
    return found


def alike_in(seen: Watched, file: str) -> Alike:
    """Which other names of a function of a file held the same kind of value as a name when it ended."""

    def alike(function: ast.FunctionDef, name: str) -> list[str]:
        first = min([function.lineno, *(one.lineno for one in function.decorator_list)])
        kinds = seen.kinds.get((file, first), {})
        return [other for other, kind in kinds.items() if other != name and name in kinds and kind == kinds[name]]

    return alike


def lines_of(seen: Watched, vector: Data, given: Data, found: Sequence[Difference]) -> list[Line]:
    """The lines that made what differs: from the call, or the return, to where the number or the label is made.

    Args:
        seen: the run, watched until the event that differs, or to its end where an output differs.
        given: events of the other implementation.
        found: the differences. Where noise differs and is computed from a sensitivity that differs, that is followed.
    """
    first, frame = found[0], seen.frame
    if frame is None:
        return []
    if first.part in (Part.CALL, Part.COUNT):
        path = _followed(frame, _argument_of(frame, seen.method, "label")) if seen.method else []
        decided = [one.decision for one in _chain(frame) if one.decision is not None]
        since = [one for one in decided if one.asked == frame.asked]
        return [_line(one) for one in (path[-MOST:] or [frame])] + [_line(one) for one in since[:MOST]]
    followed = next((one for one in found if one.step == first.step and one.name == "sensitivity"), first)
    followed = followed if first.name in SCALES else first
    output = first.part is Part.OUTPUT
    expression = _field(frame, first) if output else _argument_of(frame, seen.method, followed.name)
    path = _followed(frame, expression)
    yours = _declared(seen, vector, given, first)
    lines = [_line(path[0], yours)]
    for one in path[1:]:
        target = _set_by(one.file, one.number)
        got = {target[0]: _got(followed)} if len(target) == 1 else {}
        lines.append(_line(one, {**(yours if one.function == frame.function else {}), **got}))
    return lines[-MOST:]


def _followed(frame: _Frame, expression: ast.expr | None) -> list[_Frame]:
    """Where a value comes from, as far as it can be read off: the call, and the statements behind it."""
    path = [frame]
    for _ in range(FOLLOWED):
        if isinstance(expression, ast.Name) and expression.id in frame.set_at:
            frame, name = frame.set_at[expression.id], expression.id
            path.append(frame)
            statement = _statement(frame.file, frame.number)
            expression = _part(statement, name)
        elif isinstance(expression, ast.Name) and frame.caller is not None:
            expression, frame = _passed(frame, expression.id), frame.caller
            path += [frame] if expression is not None else []
        elif isinstance(expression, ast.JoinedStr):
            named = [one.value for one in expression.values if isinstance(one, ast.FormattedValue)]
            expression = named[0] if len(named) == 1 else None
        elif isinstance(expression, ast.Call) and len(inside := _made_by(frame, expression)) == 1:
            frame = inside[0]
            path.append(frame)
            expression = _returned(frame)
        else:
            break
    return path


def _chain(frame: _Frame | None) -> Iterator[_Frame]:
    while frame is not None:
        yield frame
        frame = frame.caller


def _part(statement: ast.stmt, name: str) -> ast.expr | None:
    """What a statement sets a name to; a call that returns several values as a whole."""
    if not isinstance(statement, ast.Assign | ast.AnnAssign):
        return None
    target = statement.targets[0] if isinstance(statement, ast.Assign) else statement.target
    value = statement.value
    if isinstance(target, ast.Tuple) and isinstance(value, ast.Tuple):
        pairs = zip(target.elts, value.elts, strict=False)
        return next((b for a, b in pairs if isinstance(a, ast.Name) and a.id == name), None)
    return value


def _made_by(frame: _Frame, call: ast.Call) -> list[_Frame]:
    """The function of the reference that a call at this line ran; none, or several, if that is not clear."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    return [one for one in frame.returned if one.function == name]


def _returned(frame: _Frame) -> ast.expr | None:
    statement = _statement(frame.file, frame.number)
    return statement.value if isinstance(statement, ast.Return) else None


def _field(frame: _Frame, first: Difference) -> ast.expr | None:
    """The part of what a run returns that differs: a field of a dataclass, or all of it."""
    value = _returned(frame)
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or not first.index:
        return value
    kind = getattr(module_of(frame.file), value.func.id, None)
    names = [one.name for one in fields(kind)] if isinstance(kind, type) and is_dataclass(kind) else []
    found = {**dict(zip(names, value.args, strict=False)), **{str(one.arg): one.value for one in value.keywords}}
    return found.get(str(first.index[0]), value)


def _declared(seen: Watched, vector: Data, given: Data, first: Difference) -> dict[str, str]:
    """Names that are arguments of the differing call, with what the other implementation has for them."""
    if first.step < 0 or seen.frame is None:
        return {}
    theirs = [one for one in given["events"] if one["event"] != "secret"]
    place = sum(one["event"] != "secret" for one in vector["events"][: first.step])
    event = theirs[place] if place < len(theirs) else {}
    arguments = {name: _argument_of(seen.frame, seen.method, name) for name in event if name != "value"}
    return {
        one.id: shown(event[name]) for name, one in arguments.items() if isinstance(one, ast.Name) and name in event
    }


def _argument_of(frame: _Frame, method: str, name: str) -> ast.expr | None:
    """What is handed to a method of the tape for a field; None where that is not clear."""
    for call in _calls(frame, method):
        by_name = {one.arg: one.value for one in call.keywords}
        place = 0 if name == "label" else 1 if name in QUERY else None
        if name in by_name or (place is not None and place < len(call.args)):
            return by_name[name] if name in by_name else call.args[place or 0]
    return None


def _calls(frame: _Frame, name: str) -> list[ast.Call]:
    """The calls of a function at the line of a frame."""
    calls = [one for one in _header(_statement(frame.file, frame.number)) if isinstance(one, ast.Call)]
    return [one for one in calls if name == getattr(one.func, "attr", getattr(one.func, "id", ""))]


def _passed(frame: _Frame, name: str) -> ast.expr | None:
    """What the caller hands over for a parameter of a frame; None where that cannot be read off its statement."""
    defined = (one for one in ast.walk(_tree(frame.file)) if isinstance(one, ast.FunctionDef))
    around = [
        one for one in defined if one.name == frame.function and one.lineno <= frame.number <= (one.end_lineno or 0)
    ]
    names = [one.arg for one in around[-1].args.args] if around else []
    for call in _calls(frame.caller, frame.function) if frame.caller is not None and name in names else ():
        by_name = {one.arg: one.value for one in call.keywords}
        position = names.index(name) - (names[0] == "self")
        return by_name.get(name) or (call.args[position] if position < len(call.args) else None)
    return None


def _line(frame: _Frame, yours: Mapping[str, str] | None = None) -> Line:
    statement = _statement(frame.file, frame.number)
    first, last = statement.lineno, _last_line(statement)
    text = source(frame.file).splitlines()
    code, comment = _without_comments("\n".join(text[first - 1 : last]))
    heading = text[first - 2].strip()
    if heading.startswith("# "):
        comment = "; ".join(filter(None, (heading.removeprefix("# "), comment)))
    values: dict[str, str] = {}
    for node in _header(statement):
        if isinstance(node, ast.Name | ast.Attribute):
            value = _value(node, frame.names if isinstance(node.ctx, ast.Load) else frame.new)
            if value is not None:
                values.setdefault(ast.unparse(node), shown(value))
    known = {name: value for name, value in (yours or {}).items() if name in values}
    return Line(f"reference/{frame.file}", first, code, comment, values, known)


def _value(node: ast.expr, names: Mapping[str, Any]) -> Any:
    """A number, or an array of them, that a name or an attribute holds; None for anything else."""
    if isinstance(node, ast.Name):
        found = names.get(node.id)
    elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name | ast.Attribute):
        owner = names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        found = vars(owner).get(node.attr) if hasattr(owner, "__dict__") else None
    else:
        return None
    return found if isinstance(found, int | float | np.number | np.ndarray) else None


def shown(value: Any) -> str:
    """A number, a short array, or the shape and the length of a long one."""
    if isinstance(value, list):
        with suppress(ValueError, TypeError, OverflowError):
            value = np.asarray(value, dtype=float)
    if not isinstance(value, np.ndarray):
        return f"{value:.6g}" if isinstance(value, float) else printable(str(value))[:LONGEST]
    if value.size <= ENTRIES:
        entries = value.ravel().tolist()
        return str([float(f"{one:.6g}") if isinstance(one, float) else one for one in entries])
    return f"array {value.shape} of length {float(np.linalg.norm(np.asarray(value, dtype=float))):.6g}"


def _got(first: Difference) -> str:
    at = "".join(f"[{one}]" for one in first.index)
    return f"{shown(first.got)}{f' at {at}' if at else ''}"


def _file(name: str) -> str:
    """Below ``reference/``, if an algorithm or a part of one is in it; else empty."""
    path = Path(name)
    if not path.exists() or not path.resolve().is_relative_to(HOME) or is_apparatus(name):
        return ""
    inside = path.resolve().relative_to(HOME)
    return "" if inside.parts[0] in NO_ALGORITHM else inside.as_posix()


def _kinds(names: Mapping[str, Any]) -> dict[str, object]:
    """What kind of value a name holds, and the numbers of the dataclasses among them: equal for those that may be
    taken for one another.
    """
    found: dict[str, object] = {}
    held: set[int] = set()  # what has two names is one thing
    for name, value in names.items():
        if isinstance(value, np.ndarray):
            found[name] = (value.dtype.kind, value.shape)
        elif isinstance(value, int | float | np.number):
            found[name] = type(value).__name__.replace("float64", "float")
        elif is_dataclass(value) and hasattr(value, "__dict__") and id(value) not in held:
            held.add(id(value))
            found[name] = type(value)
            numbers = {one.name: vars(value).get(one.name) for one in fields(value)}
            found |= {f"{name}.{one}": type(it).__name__ for one, it in numbers.items() if isinstance(it, int | float)}
    return found


@lru_cache(maxsize=256)
def _tree(file: str) -> ast.Module:
    return ast.parse(source(file))


@lru_cache(maxsize=256)
def _statements(file: str) -> dict[int, ast.stmt]:
    """The innermost statement at each line; of one that holds others, its head."""
    found: dict[int, ast.stmt] = {}
    for node in ast.walk(_tree(file)):
        if isinstance(node, ast.stmt):
            for number in range(node.lineno, _last_line(node) + 1):
                if number not in found or found[number].lineno <= node.lineno:
                    found[number] = node
    return found


def _last_line(node: ast.stmt) -> int:
    body = getattr(node, "body", None)
    return max(node.lineno, body[0].lineno - 1) if body else node.end_lineno or node.lineno


def _statement(file: str, number: int) -> ast.stmt:
    return _statements(file)[number]


def _header(statement: ast.stmt) -> Iterator[ast.AST]:
    """Everything in a statement but the statements that it holds."""
    waiting: list[ast.AST] = [statement]
    while waiting:
        node = waiting.pop(0)
        yield node
        waiting += [one for one in ast.iter_child_nodes(node) if not isinstance(one, ast.stmt)]


@lru_cache(maxsize=4096)
def _set_by(file: str, number: int) -> tuple[str, ...]:
    statement = _statements(file).get(number)
    if statement is None or isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return ()
    names = (one for one in _header(statement) if isinstance(one, ast.Name))
    return tuple(one.id for one in names if isinstance(one.ctx, ast.Store))


@lru_cache(maxsize=4096)
def _decides(file: str, number: int) -> bool:
    return isinstance(_statements(file).get(number), ast.If | ast.While)


def _without_comments(text: str) -> tuple[str, str]:
    """Code on one line, and its comments."""
    code, comments = text, []
    with suppress(tokenize.TokenError, IndentationError):
        for token in tokenize.generate_tokens(io.StringIO(text.strip()).readline):
            if token.type == tokenize.COMMENT:
                comments.append(token.string.lstrip("# "))
                code = code.replace(token.string, "")
    code = " ".join(code.split())
    return code if len(code) <= LONGEST else code[: LONGEST - 3] + "...", "; ".join(comments)
