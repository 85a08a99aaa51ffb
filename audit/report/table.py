"""The audit table in the terminal: one line a row, its cause indented below, at any width from 80 columns on."""

import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from rich.text import Text

from dpassay.audit.exit_codes import FAILED
from dpassay.audit.plain import number
from dpassay.audit.row import Row
from dpassay.audit.verdict import Verdict
from dpassay.reference.errors import printable

from .problems import SENTENCES, problems
from .verdicts import wide_console

_PIPED = 100  # columns where no terminal says how wide it is
_LONGEST = 140  # a longer line of prose is hard to read
_INDENT = "    "
_COLUMNS = (("reading", 8), ("claimed", 8), ("accounted", 14), ("realised >=", 13), ("verdict", 12))
_CERTIFIED = ("certified", 10)  # where any row has a certificate
_CLOSING: Mapping[str, str] = SENTENCES["closing"]
_MISSED = re.compile(
    r"not reached by the search: (\S+?:\d+): .*?(\((?:never true|never false)\))?(?: (and \d+ more))?(?=; |$)"
)


def print_rows(rows: Sequence[Row], confidence: float, where: str, strict: bool = False) -> None:
    """Print the table and what the verdicts mean; ``strict``: what a reading declares makes no difference."""
    console = wide_console(_PIPED)
    for line in table_lines(rows, console.width, strict):
        console.print(line, soft_wrap=True)
    for text in closing_lines(rows, where, confidence, strict):
        console.print(Text(textwrap.fill(text, min(console.width, _LONGEST))), soft_wrap=True)


def table_lines(rows: Sequence[Row], width: int, strict: bool = False) -> Iterator[Text]:
    """The lines of the table; a paper's name stands once above its rows."""
    certified = any(row.certified_shown for row in rows)
    columns = (*_COLUMNS[:2], _CERTIFIED, *_COLUMNS[2:]) if certified else _COLUMNS
    room = width - sum(size + 1 for _, size in columns)
    names = max((len(printable(_named(row)[1])) + 2 for row in rows), default=0)
    first = max(min(names, room), 12)
    right = first + sum(size + 1 for _, size in columns) + 1  # where what is beside the verdict begins
    heads = _cells("algorithm", [head for head, _ in columns], first, columns)
    aside = all(right + len(_title(row)) <= width for row in rows)
    yield Text(f"{heads.ljust(right)}variant, data" if aside else heads, style="bold")
    last = ""
    for row in rows:
        paper, algorithm = _named(row)
        if paper != last:
            if paper:
                yield Text(printable(paper), style="bold")
            last = paper
        name = ("  " if paper else "") + printable(algorithm)
        how = "" if row.realised is None or row.realised_by == "likelihood" else f" ({printable(row.realised_by)})"
        accounted = row.shown(row.accounted) + ("" if row.upper_bound else " no bound")
        numbers = [printable(row.reading), number(row.claimed), accounted, row.shown(row.realised) + how]
        if certified:
            numbers.insert(2, row.certified_shown)
        if len(name) > first:  # the name has a line of its own: it is never broken
            yield Text(name)
            name = ""
        title, verdict = _title(row), Verdict(row.verdict)
        style = "bold red" if verdict.failed else "yellow" if verdict is Verdict.INCONCLUSIVE else "green"
        line = Text.assemble(_cells(name, numbers, first, columns) + " ", (row.verdict_shown, style))
        beside = title if aside else ""
        yield line if not beside else Text.assemble(line, " " * (right - line.cell_len), (beside, "dim"))
        for part in _below(row, strict, title if not beside else ""):
            yield Text(textwrap.fill(part, min(width, _LONGEST), initial_indent=_INDENT, subsequent_indent=_INDENT))


def _named(row: Row) -> tuple[str, str]:
    """Paper and algorithm; a claim, or an algorithm of one's own, belongs to no paper."""
    paper, slash, algorithm = row.algorithm.partition("/")
    return (paper, algorithm) if slash and not row.claim else ("", row.key if row.claim else row.algorithm)


def _cells(name: str, cells: Sequence[str], first: int, columns: Sequence[tuple[str, int]]) -> str:
    sized = zip(cells, columns, strict=False)
    texts = [cell.ljust(size) if head in ("reading", "verdict") else cell.rjust(size) for cell, (head, size) in sized]
    return " ".join([name.ljust(first), *texts]).rstrip()


def _title(row: Row) -> str:
    """Which variant, data and delta."""
    held = (row.algorithm, row.variant) if row.claim else (row.variant,)
    return printable(", ".join(part for part in (*held, row.data, f"delta {row.delta:g}") if part))


def _below(row: Row, strict: bool, title: str) -> list[str]:
    """What stands under a row: ``title``, the cause, what differs from the declaration, the ledger."""
    # a line that the search did not reach has no source here: --explain shows it
    why = _MISSED.sub(lambda found: "not reached by the search: " + " ".join(filter(None, found.groups())), row.why)
    parts = [title, why]
    if replace(row, severity="").exit_code(strict) == FAILED:
        parts += [f"at {one.places}" for one in problems(row, strict)[:1] if one.places]
        parts += [f"owner {row.owner}"] if row.owner else []
    parts += ["a warning: it does not count"] if row.severity == "warning" else []
    if not strict and row.reading == "printed":
        parts += [f"not declared: {', '.join(row.undeclared)}"] if row.undeclared else []
        parts += [f"declared, but not shown: {', '.join(row.missing)}"] if row.missing else []
    if row.verdict_shown != row.verdict:
        parts.append(f"how it was read: {row.as_read}")
    if row.proved not in ("", "-"):
        parts.append(f"ledger: {row.proved}")
    return [printable(part) for part in parts if part]


def closing_lines(rows: Sequence[Row], where: str, confidence: float = 0.95, strict: bool = False) -> list[str]:
    """The lines under the table: counts, what to make of it, where the report is."""
    counts = Counter(row.verdict for row in rows)
    summary = ", ".join(f"{counts[verdict.value]} {verdict.value}" for verdict in Verdict if counts[verdict.value])
    failed = [row for row in rows if Verdict(row.verdict).failed]
    known = 0 if strict else sum(row.expected for row in failed)
    which = "it fails" if len(failed) == 1 else "all fail" if known == len(failed) else f"{known} of {len(failed)} fail"
    note = f" ({which} as the paper's reading declares)" if known else ""
    found = [f"{len(rows)} row{'s' * (len(rows) != 1)}: {summary}{note}. Report: {where}"]
    undecided = [row for row in rows if row.verdict == Verdict.INCONCLUSIVE.value and row.reading == "own"]
    lines = {
        "certified": any(row.certified_shown for row in rows),
        "no bound": any(not row.upper_bound for row in rows),
    }
    meanings = {
        "realised": True,
        "inconclusive": counts[Verdict.INCONCLUSIVE.value] > 0,
        "more data": any(row.realised is not None for row in undecided),
        "one record": any(row.realised is None for row in undecided),
        "as read": any(row.verdict_shown != row.verdict for row in rows),
        "ledger": any(row.proved not in ("", "-") for row in rows),
        "keys": any(row.reading in ("printed", "repaired", "baseline") and not row.claim for row in rows),
    }
    found += [_CLOSING[name] for name, holds in lines.items() if holds]
    found.append(" ".join(_CLOSING[name] for name, holds in meanings.items() if holds).format(confidence=confidence))
    return [printable(line) for line in found]  # names in them are other people's
