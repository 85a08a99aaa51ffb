"""The line of the reference that made a number: one watched run on the vector, up to the event that differs.

From the call of the tape the value is followed back: a name to the statement that set it, a parameter to the argument
of the caller. Where another call differs, the last decision before it is shown as well.
"""

import ast
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, is_dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from dpassay.audit.lockstep.source_lines import is_apparatus
from dpassay.audit.lockstep.watch import Side, Step, Watch, argument, header, held, last_line, targets
from dpassay.audit.mutate.lent import HOME, module_of, source
from dpassay.audit.mutate.slips import Alike
from dpassay.reference.equality import forget
from dpassay.reference.errors import printable

from .differences import SCALES, Data, Difference, Part, event_there
from .recording import Diverged, Run, VectorTape, read
from .rounding import visible_events

NO_ALGORITHM = ("laws", "accounting")  # folders: what makes a law or an account is what every algorithm shares
FOLLOWED = 8  # names, parameters and functions, from the call back to where the number is made
MOST = 3  # lines that are shown
LONGEST = 160  # letters of one
ENTRIES = 4  # of an array that are printed
QUERY = ("query", "queries", "utilities", "value")  # fields that stand behind the label


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


@dataclass
class Watched:
    """What a run of the reference did up to an event.

    Args:
        lines: that were run, by file below ``reference/``.
        kinds: of the values that names of a function held at its end, by file and first line of the function.
        side: the run.
        step: the innermost one at the event; at the end of the run, the end of it.
    """

    lines: dict[str, set[int]] = field(default_factory=dict)
    kinds: dict[tuple[str, int], dict[str, object]] = field(default_factory=dict)
    side: Side = field(default_factory=Side)
    step: Step | None = None

    def handed(self, name: str) -> ast.expr | None:
        """What is handed to the method of the tape for a field; None where that is not clear."""
        if self.step is None or not self.step.outside:
            return None
        place = 0 if name == "label" else 1 if name in QUERY else None
        return argument(self.step, self.step.outside[-1], name, place)


def watched(run: Run, vector: Data, until: int | None = None) -> Watched:
    """One run of the reference on a vector, watched until so many events were asked for (None: to its end)."""
    secret = [event for event in vector["events"] if event["event"] == "secret"]
    tape, watch = VectorTape([*visible_events(vector)[:until], *secret]), Watch(lambda name: bool(_file(name)))
    problem, schedule = read(vector)
    forget()  # what is known already would not be run
    with suppress(Exception), np.errstate(all="ignore"), watch.watching():
        run(problem, schedule, tape)
    side = watch.before
    ends = [one for one in side.ended if one.caller is None]
    found = Watched(side=side, step=side.raised.get(Diverged, ends[0] if ends else None))
    for one in side.steps:
        if one.before is not None:
            found.lines.setdefault(_file(one.spot.file), set()).add(one.spot.number)
    for one in side.ended:
        found.kinds.setdefault((_file(one.spot.file), one.first), {}).update(_kinds(one.names))
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
    first, step = found[0], seen.step
    if step is None:
        return []
    if first.part in (Part.CALL, Part.COUNT):
        path = _followed(seen.side, step, seen.handed("label")) if step.outside else []
        decided = [each for one in step.waiting() if (each := _decision(one)) is not None]
        since = [one for one in decided if one.calls == step.calls]
        return [_line(one) for one in (path[-MOST:] or [step])] + [_line(one) for one in since[:MOST]]
    followed = next((one for one in found if one.step == first.step and one.name == "sensitivity"), first)
    followed = followed if first.name in SCALES else first
    expression = _field(step, first) if first.part is Part.OUTPUT else seen.handed(followed.name)
    path = _followed(seen.side, step, expression)
    yours, at = _declared(seen, vector, given, first), "".join(f"[{one}]" for one in followed.index)
    lines = [_line(path[0], yours)]
    if around := _around(seen.side, path, vector["source"], followed.name):
        return [*lines, *map(_line, around)][:MOST]
    for one in path[1:]:
        names = [each.id for each in targets(*one.spot[:2]) if isinstance(each, ast.Name)]
        got = {names[0]: shown(followed.got) + (f" at {at}" if at else "")} if len(names) == 1 else {}
        lines.append(_line(one, {**(yours if one.spot.function == step.spot.function else {}), **got}))
    return lines[-MOST:]


def _followed(side: Side, step: Step, expression: ast.AST | None) -> list[Step]:
    """Where a value comes from, as far as it can be read off: the call, and the statements behind it."""
    path = [step]
    for _ in range(FOLLOWED):
        if isinstance(expression, ast.JoinedStr):
            named = [one.value for one in expression.values if isinstance(one, ast.FormattedValue)]
            expression = named[0] if len(named) == 1 else None
            continue
        simple = isinstance(expression, ast.Name | ast.Call | ast.Subscript)
        found = side.origins(step, expression) if simple and expression is not None else []
        if len(found) != 1:
            break
        step, expression, _ = found[0]
        path.append(step)
    return path


def _around(side: Side, path: Sequence[Step], algorithm: str, name: str) -> list[Step]:
    """Of a value that is followed in a shared part only: the line of the algorithm that waits, and what it gives."""
    where = [f"reference/{_file(one.spot.file)}" for one in path]
    outer = next((one for one in path[0].waiting() if f"reference/{_file(one.spot.file)}" == algorithm), None)
    if algorithm in where or outer is None:
        return []
    calls = [one for one in header(outer.statement) if isinstance(one, ast.Call)]
    handed = [one.value for call in calls for one in call.keywords if one.arg == name]
    return _followed(side, outer, next(iter([*handed, *(one for call in calls for one in call.args)]), None))


def _decision(step: Step | None) -> Step | None:
    """The last step of a function, up to this one, that decided."""
    while step is not None and not isinstance(step.statement, ast.If | ast.While):
        step = step.before
    return step


def _field(step: Step, first: Difference) -> ast.expr | None:
    """The part of what a run returns that differs: a field of a dataclass, or all of it."""
    value = step.statement.value if isinstance(step.statement, ast.Return) else None
    if not isinstance(value, ast.Call) or not isinstance(value.func, ast.Name) or not first.index:
        return value
    kind = getattr(module_of(_file(step.spot.file)), value.func.id, None)
    names = [one.name for one in fields(kind)] if isinstance(kind, type) and is_dataclass(kind) else []
    found = {**dict(zip(names, value.args, strict=False)), **{str(one.arg): one.value for one in value.keywords}}
    return found.get(str(first.index[0]), value)


def _declared(seen: Watched, vector: Data, given: Data, first: Difference) -> dict[str, str]:
    """Names that are arguments of the differing call, with what the other implementation has for them."""
    event = event_there(vector, given, first.step)
    arguments = {name: seen.handed(name) for name in event if name != "value"}
    return {one.id: shown(event[name]) for name, one in arguments.items() if isinstance(one, ast.Name)}


def _line(step: Step, yours: Mapping[str, str] | None = None) -> Line:
    statement, file = step.statement, _file(step.spot.file)
    assert statement is not None  # it ran
    first, last = statement.lineno, last_line(statement)
    text = source(file).splitlines()
    code, comment = _without_comments("\n".join(text[first - 1 : last]))
    heading = text[first - 2].strip()
    if heading.startswith("# "):
        comment = "; ".join(filter(None, (heading.removeprefix("# "), comment)))
    values: dict[str, str] = {}
    for node in header(statement):
        if isinstance(node, ast.Name | ast.Attribute):
            one = held(node, step.names if isinstance(node.ctx, ast.Load) else step.new)
            if isinstance(one, int | float | np.number | np.ndarray):
                values.setdefault(ast.unparse(node), shown(one))
    known = {name: value for name, value in (yours or {}).items() if name in values}
    return Line(f"reference/{file}", first, code, comment, values, known)


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


@lru_cache(maxsize=4096)
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
    known: set[int] = set()  # what has two names is one thing
    for name, value in names.items():
        if isinstance(value, np.ndarray):
            found[name] = (value.dtype.kind, value.shape)
        elif isinstance(value, int | float | np.number):
            found[name] = type(value).__name__.replace("float64", "float")
        elif is_dataclass(value) and hasattr(value, "__dict__") and id(value) not in known:
            known.add(id(value))
            found[name] = type(value)
            numbers = {one.name: vars(value).get(one.name) for one in fields(value)}
            found |= {f"{name}.{one}": type(it).__name__ for one, it in numbers.items() if isinstance(it, int | float)}
    return found


def _without_comments(text: str) -> tuple[str, str]:
    """Code on one line, and its comments, each behind two spaces."""
    parts = [line.partition("  # ") for line in text.splitlines()]
    code, comments = " ".join(" ".join(part[0] for part in parts).split()), [part[2] for part in parts if part[2]]
    return code if len(code) <= LONGEST else code[: LONGEST - 3] + "...", "; ".join(comments)
