"""The audit table in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.console import Group
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from dpassay.audit.assay import Row
from dpassay.audit.plain import number
from dpassay.reference.errors import printable

from .console import wide_console

_NEEDED = 120  # columns; a narrower table would break its headings and names inside words
_STYLE = {"violated": "bold red", "tight": "green", "consistent": "green", "inconclusive": "yellow"}


def print_rows(rows: Sequence[Row], confidence: float, where: str) -> None:
    """Print the table (in a narrow terminal the same row by row), and what the verdicts mean."""
    console = wide_console(160)
    if console.width < _NEEDED:
        for row in rows:
            console.print(_block(row, confidence))
    else:
        console.print(_table(rows, confidence))
    for line in closing_lines(rows, where):
        console.print(Text(line))


def _block(row: Row, confidence: float) -> Group:
    """One row as a few lines, for terminals in which the table has no room."""
    name = row.algorithm + (f" {row.variant}" if row.variant else "") + (f" [{row.data}]" if row.data else "")
    title = Text.assemble((printable(name), "bold"), f", {row.reading}: ", (row.verdict, _STYLE[row.verdict]))
    claimed = f"claimed epsilon {number(row.claimed)} at delta {row.delta:.0e}, accounted {number(row.accounted)}"
    realised = f"realised >= {_realised(row)} ({confidence:.0%}); ledger: {row.proved}"
    return Group(title, Padding(Text(f"{claimed}, {realised}\n{printable(row.why)}"), (0, 0, 1, 2)))


def _realised(row: Row) -> str:
    mark = "" if row.realised is None or row.realised_by == "likelihood" else f" ({row.realised_by})"
    return number(row.realised) + mark


def _table(rows: Sequence[Row], confidence: float) -> Table:
    table = Table(show_lines=True)
    table.add_column("algorithm", overflow="fold", max_width=34)
    table.add_column("reading", no_wrap=True)
    for heading in ("claimed epsilon", "accounted epsilon", f"realised epsilon >= ({confidence:.0%})"):
        table.add_column(heading, max_width=12)
    table.add_column("verdict", no_wrap=True)
    table.add_column("ledger", max_width=24)
    table.add_column("why", min_width=24)
    for row in rows:
        paper, _, algorithm = row.algorithm.partition("/")  # two lines: neither is broken inside a word
        parts = (f"{paper}/", algorithm, row.variant, f"[{row.data}]" if row.data else "")
        name = "\n".join(printable(part) for part in parts if part)
        table.add_row(
            Text(name),
            Text(row.reading),
            f"{number(row.claimed)}\ndelta {row.delta:.0e}",
            number(row.accounted),
            _realised(row),
            Text(row.verdict, style=_STYLE[row.verdict]),
            Text(row.proved),
            Text(printable(row.why)),
        )
    return table


def closing_lines(rows: Sequence[Row], where: str) -> list[str]:
    """The lines under the table: counts, what to make of them, where the report is."""
    counts = Counter(row.verdict for row in rows)
    known = sum(row.verdict == "violated" and row.expected for row in rows)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLE if counts[verdict])
    are = "is" if known == 1 else "are"
    note = f" ({known} of the violated {are} known: defects of the papers, or planted)" if known else ""
    return [
        f"{len(rows)} row{'s' * (len(rows) != 1)}: {summary}{note}. Report: {where}",
        "tight: the claim is nearly used up; consistent: not refuted, by an audit able to refute a claim 10 % below "
        "what this pair carries; no verdict means 'private'. ledger: the paper's own privacy statements, checked by "
        "machine (`dpassay prove`). More about a row: `dpassay show KEY`; the keys: `dpassay list`.",
    ]
