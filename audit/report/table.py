"""The audit table in the terminal."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from dpassay.audit.sandwich import Row

_STYLE = {"violated": "bold red", "tight": "green", "consistent": "green", "inconclusive": "yellow"}


def number(value: float | None) -> str:
    """Three digits; ``inf`` and ``-`` spelled as they are read."""
    if value is None:
        return "-"
    return "inf" if math.isinf(value) else f"{value:.3g}"


def print_rows(rows: Sequence[Row], confidence: float, where: str) -> None:
    """Print the table, and what the verdicts mean."""
    console = Console()
    table = Table(
        "algorithm",
        "reading",
        "claimed epsilon",
        "accounted epsilon",
        f"realised epsilon >= ({confidence:.0%})",
        "verdict",
        "why",
        show_lines=True,
    )
    for row in rows:
        name = row.algorithm + (f"\n{row.variant}" if row.variant else "") + (f"\n[{row.data}]" if row.data else "")
        mark = "" if row.realised is None or row.realised_by == "likelihood" else f" ({row.realised_by})"
        table.add_row(
            Text(name),
            row.reading,
            f"{number(row.claimed)}\n(delta {row.delta:.0e})",
            number(row.accounted),
            number(row.realised) + mark,
            Text(row.verdict, style=_STYLE[row.verdict]),
            Text(row.why),
        )
    console.print(table)
    counts = Counter(row.verdict for row in rows)
    known = sum(row.verdict == "violated" and row.expected for row in rows)
    summary = ", ".join(f"{counts[verdict]} {verdict}" for verdict in _STYLE if counts[verdict])
    note = f" ({known} of the violated are known defects of printed papers)" if known else ""
    console.print(Text(f"{len(rows)} rows: {summary}{note}. Report: {where}"))
    console.print(Text("No verdict means 'private': an audit shows violations, or says what it would have seen."))
