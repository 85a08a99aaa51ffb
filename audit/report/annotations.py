"""Rows as workflow commands of GitHub Actions: the code host shows each problem at its source line."""

from collections.abc import Sequence

from dpassay.audit.row import Row
from dpassay.reference.errors import printable

from .problems import Level, Problem, Unchecked, problems

SHOWN = 10  # of each level: the code host shows no more of one step
_COMMAND = {Level.ERROR: "error", Level.WARNING: "warning"}


def annotations(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """One line a problem, errors first; what a printed reading declares is left out.

    Args:
        strict: what a printed reading declares counts as well.
        unchecked: what has no row.
    """
    heads = [(_field(f"dpassay: {one.name} not checked"), _text(one.why)) for one in unchecked[:SHOWN]]
    lines = [f"::error title={title}::{text}" for title, text in heads]
    for level, command in _COMMAND.items():
        found = [(row, one) for row in rows for one in problems(row, strict) if one.level is level]
        room = SHOWN if len(found) <= SHOWN else SHOWN - 1
        lines += [_line(command, row, one) for row, one in found[:room]]
        if len(found) > room:
            lines.append(f"::{command} title=dpassay::and {len(found) - room} more, see the report")
    return "".join(f"{line}\n" for line in lines)


def _line(command: str, row: Row, problem: Problem) -> str:
    fields = {"file": one.file, "line": str(one.line)} if (one := next(iter(problem.spots), None)) else {}
    fields["title"] = f"dpassay: {printable(row.key)} {row.verdict_shown}"
    told = ",".join(f"{name}={_field(value)}" for name, value in fields.items())
    return f"::{command} {told}::{_text(problem.message)}"


def _text(text: str) -> str:
    return printable(text).replace("%", "%25")


def _field(text: str) -> str:
    return _text(text).replace(":", "%3A").replace(",", "%2C")
