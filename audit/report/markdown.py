"""Rows as Markdown for a comment on a pull request or a summary of a job, and as workflow commands of GitHub Actions.

All that comes from others (names, causes, source lines) stands in code: there it is neither markup nor a mention.
"""

import re
import textwrap
from collections.abc import Iterator, Sequence

from dpassay.audit.row import Row
from dpassay.reference.errors import printable

from .problems import Level, Unchecked, numbers, outcome, problems, summary_line

LONGEST = 60_000  # characters: a comment may have 65,536
_UNCHECKED = 20  # lines about claims that could not be checked
SHOWN = 10  # of each level: the code host shows no more of one step
_MARK = {"failed": "❌", "inconclusive": "❔", "passed": "✅"}
_HEAD = "| | algorithm | claimed | certified | accounted | realised ≥ | verdict |\n|---|---|---:|---:|---:|---:|---|\n"


def markdown(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """A summary, what has no row, a table (worst rows first) and, folded away, what is wrong with each row."""
    order = list(_MARK)
    ranked = sorted(rows, key=lambda row: order.index(outcome(row, strict)))
    word, _, text = summary_line(rows, strict, unchecked).partition(": ")
    missed = "".join(f"- not checked: {code(one.why[:1000])}\n" for one in unchecked[:_UNCHECKED])
    missed += "\n" if missed else ""
    head = f"### Privacy claims: {word.lower()}\n\n{code(text)}\n\n{missed}{_HEAD}"
    closing = (
        "\n*realised* is a lower bound that holds with the stated confidence for each row; *accounted* is an upper "
        "bound where nothing leaks and no query overshoots. No verdict means “private”.\n"
    )
    left = LONGEST - len(head) - len(closing)
    lines, details = [], []
    for place, row in enumerate(ranked):
        cells = [*list(numbers(row).values())[:4], row.verdict_shown]
        line = f"| {_MARK[outcome(row, strict)]} | {cell(row.key)} | {' | '.join(cells)} |\n"
        detail = "".join(_detail(row, strict))
        if len(line) + 200 > left:
            lines.append(f"| | and {len(ranked) - place} more | | | | | |\n")
            break
        lines.append(line)
        left -= len(line)
        if len(detail) + 200 < left:
            details.append(detail)
            left -= len(detail)
    return head + "".join(lines) + "".join(details) + closing


def _detail(row: Row, strict: bool) -> Iterator[str]:
    """What is wrong with a row that is not as it should be; nothing for others."""
    if outcome(row, strict) == "passed":
        return
    lines = [
        f"delta {row.delta:g}, {printable(row.relation)}; {row.runs} runs, {row.examples} examples, seed {row.seed}"
    ]
    for one in problems(row, strict):
        lines.append(f"{one.level.value}: {one.message}")
        lines += [f"  at {one.places}"] if one.places else []
    lines.append(f"cause: {printable(row.why)}")
    lines += [f"how it was read: {printable(row.as_read)}"] if row.as_read else []
    folded = [part for line in lines for part in textwrap.wrap(line, 110, subsequent_indent="    ") or [""]]
    title = f"{_escaped(printable(row.key))}: {row.verdict_shown}"
    yield f"\n<details><summary>{title}</summary>\n\n{block(folded)}\n</details>\n"


def code(text: str) -> str:
    """A text as code within a line; no backticks in it can end the code."""
    text = printable(text)
    if not text:
        return ""
    fence = "`" * (1 + max((len(run) for run in re.findall("`+", text)), default=0))
    pad = " " if "`" in (text[0], text[-1]) else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def cell(text: str) -> str:
    """The same in a table, where a bar would end the cell even within code."""
    return code(text).replace("|", "\\|")


def block(lines: Sequence[str]) -> str:
    """Lines as a block of code."""
    text = "\n".join(lines)
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    return f"{fence}text\n{text}\n{fence}\n"


def _escaped(text: str) -> str:
    """For HTML; a zero-width space after an at sign keeps it from being a mention."""
    marks = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "@": "@&#8203;"}
    marks |= {letter: f"&#{ord(letter)};" for letter in "`*_[]()!#|~\\:"}
    return "".join(marks.get(letter, letter) for letter in text)


def workflow_commands(rows: Sequence[Row], strict: bool = False, unchecked: Sequence[Unchecked] = ()) -> str:
    """One line a problem, what has no row and errors first; what a printed reading declares is only there if strict."""
    heads = [(_field(f"dpassay: {one.name} not checked"), _said(one.why)) for one in unchecked[:SHOWN]]
    lines = [f"::error title={title}::{text}" for title, text in heads]
    for level, command in ((Level.ERROR, "error"), (Level.WARNING, "warning")):
        found = [(row, one) for row in rows for one in problems(row, strict) if one.level is level]
        room = SHOWN if len(found) <= SHOWN else SHOWN - 1
        for row, one in found[:room]:
            fields = {"file": one.spots[0].file, "line": str(one.spots[0].line)} if one.spots else {}
            fields["title"] = f"dpassay: {printable(row.key)} {row.verdict_shown}"
            told = ",".join(f"{name}={_field(value)}" for name, value in fields.items())
            lines.append(f"::{command} {told}::{_said(one.message)}")
        if len(found) > room:
            lines.append(f"::{command} title=dpassay::and {len(found) - room} more, see the report")
    return "".join(f"{line}\n" for line in lines)


def _said(text: str) -> str:
    return printable(text).replace("%", "%25")


def _field(text: str) -> str:
    return _said(text).replace(":", "%3A").replace(",", "%2C")
