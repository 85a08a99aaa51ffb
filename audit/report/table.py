"""The audit table in the terminal."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from rich.table import Table
from rich.text import Text

from dpassay.audit.plain import number
from dpassay.audit.report.console import wide_console
from dpassay.audit.sandwich import Row
from dpassay.reference.errors import printable

_STYLE = {"violated": "bold red", "tight": "green", "consistent": "green", "inconclusive": "yellow"}


def print_rows(rows: Sequence[Row], confidence: float, where: str) -> None:
    """Print the table, and what the verdicts mean."""
    console = wide_console(160)
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
        mark = "" if row.realised is None or row.realised_by == "likelihood" else f" ({row.realised_by})"
        table.add_row(
            Text(name),
            Text(row.reading),
            f"{number(row.claimed)}\ndelta {row.delta:.0e}",
            number(row.accounted),
            number(row.realised) + mark,
            Text(row.verdict, style=_STYLE[row.verdict]),
            Text(row.proved),
            Text(printable(row.why)),
        )
    console.print(table)
    for line in closing_lines(rows, where):
        console.print(Text(line))


def closing_lines(rows: Sequence[Row], where: str) -> list[str]:
    """The lines under the table: counts, what to make of them, where the report is."""
    counts = Counter(row.verdict for row in rows)
    known = sum(row.verdict == "violated" and row.expected for row in rows)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLE if counts[verdict])
    note = f" ({known} of the violated are known: defects of the papers, or planted)" if known else ""
    return [
        f"{len(rows)} rows: {summary}{note}. Report: {where}",
        "tight: the claim is nearly used up; consistent: not refuted, by an audit able to refute a claim 10 % below",
        "what this pair carries; no verdict means 'private'. ledger: the paper's own privacy statements, checked by",
        "machine (`dpassay prove`). More about a row: `dpassay show KEY`; the keys: `dpassay list`.",
    ]
