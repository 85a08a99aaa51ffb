"""The README's audit table: written from a report, and held against a later one.

    python -m dpassay.audit.report.readme reports/audit.json README.md           rewrite the table
    python -m dpassay.audit.report.readme reports/audit.json README.md --check   exit 1 if it says something else

The check allows the numbers 5 %: another BLAS or NumPy may round another way, and the walk over epsilon may then stop
one grid point aside. Rows, order and verdicts must be the same.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dpassay.audit.plain import number
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_json, read_text, write_text

BEGIN, END = "<!-- audit:begin -->", "<!-- audit:end -->"
COLUMNS = ("algorithm", "reading", "claimed", "accounted", "realised >=", "verdict", "why")
_TOLERANCE = 0.05


def table(rows: Sequence[dict[str, Any]]) -> str:
    """Markdown table of a report's rows."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|---" * len(COLUMNS) + "|"]
    return "\n".join([*lines, *("| " + " | ".join(_cells(row)) + " |" for row in rows)])


def _cells(row: dict[str, Any]) -> list[str]:
    name = f"`{row['algorithm']}`" + (f" {row['variant']}" if row["variant"] else "")
    mark = "" if row["realised"] is None or row["realised_by"] == "likelihood" else f" ({row['realised_by']})"
    numbers = [number(row["claimed"]), number(row["accounted"]), number(row["realised"]) + mark]
    verdict = f"**{row['verdict']}**" if row["verdict"] == "violated" else row["verdict"]
    return [name, row["reading"], *numbers, verdict, row["why"].replace("|", "\\|")]


def split(text: str, where: str) -> tuple[str, str, str]:
    """The text before, between and after the markers."""
    require(text.count(BEGIN) == 1 and text.count(END) == 1, where, "markers", f"must have {BEGIN} and {END} once")
    before, rest = text.split(BEGIN)
    inside, after = rest.split(END)
    return before, inside, after


def differences(found: str, expected: str) -> list[str]:
    """What two tables say differently; empty if they agree up to the tolerance."""
    ours, theirs = ([_row(line) for line in text.strip().splitlines()[2:]] for text in (found, expected))
    names = [row[:2] for row in ours]
    if names != [row[:2] for row in theirs]:
        return [f"rows: {len(ours)} against {len(theirs)}, or in another order"]
    return [
        f"{one[0]} {one[1]}: {heading} {mine} against {other}"
        for one, two in zip(ours, theirs, strict=True)
        for heading, mine, other in zip(COLUMNS[:6], one[:6], two[:6], strict=True)
        if not _agree(mine, other)
    ]


def _row(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split(" | ")]


def _agree(one: str, other: str) -> bool:
    if one == other:
        return True
    try:
        a, b = float(one), float(other)
    except ValueError:
        return False
    return abs(a - b) <= _TOLERANCE * max(abs(a), abs(b))


def main(words: Sequence[str]) -> int:
    """See the module's docstring."""
    check = "--check" in words
    names = [Path(word) for word in words if not word.startswith("--")]
    require(len(names) == 2, "arguments", list(words), "a report and a README, and perhaps --check")
    report, readme = names
    document = read_json(report, "report")
    require(isinstance(document, dict) and "rows" in document, str(report), "malformed", "is no report of an audit")
    rows, text = document["rows"], read_text(readme, "README")
    before, inside, after = split(text, str(readme))
    if check:
        found = differences(inside, table(rows))
        print("\n".join(found) or f"{readme}: the table agrees with {report}")
        return int(bool(found))
    write_text(readme, f"{before}{BEGIN}\n{table(rows)}\n{END}{after}", "README")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except BadInput as error:
        print(error, file=sys.stderr)
        sys.exit(2)
