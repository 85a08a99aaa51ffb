"""What `dpassay check` prints: the table, the lock's differences, and in the end what fails and why."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dpassay.audit.claims.baseline import Compared
from dpassay.audit.claims.model import ClaimsFile
from dpassay.audit.claims.shown import closing_lines
from dpassay.audit.report.console import wide_console
from dpassay.audit.report.table import table_lines
from dpassay.audit.row import Row
from dpassay.reference.errors import printable

_PIPED, _LONGEST = 100, 140  # columns: where no terminal says how wide it is, and of a line of prose
_COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def print_checked(
    rows: Sequence[Row],
    file: ClaimsFile,
    unchanged: int,
    path: Path | None,
    compared: Compared | None,
    updated: bool,
    unchecked: int = 0,
) -> None:
    """The table, the changes, the summary.

    Args:
        unchanged: claims that were skipped because nothing that they reach is other than in the lock.
        unchecked: how many claims could not be run.
    """
    console = wide_console(_PIPED)
    if rows:
        for line in table_lines(rows, console.width, strict=True):
            console.print(line, soft_wrap=True)
        console.print()
    if compared is not None and path is not None:
        _print_changes(console, path, compared, updated, unchecked)
    for text in closing_lines(rows, file, unchanged, unchecked):
        _say(console, text)


def _print_changes(console: Console, path: Path, compared: Compared, updated: bool, unchecked: int) -> None:
    if updated and unchecked:
        _say(console, f"{path}: not written, since {unchecked} of the claims could not be checked.")
        return
    if updated:
        same = "unchanged" if not compared.diff else "written"
        _say(console, f"{path}: {same}, {len(compared.now.claims)} claims.")
        return
    failing = [one for one in compared.changes if one.fails]
    if not compared.changes:
        _say(console, f"Against {path}: nothing is worse than it was.")
    else:
        _say(console, f"Against {path}: {len(failing)} of {len(compared.changes)} differences fail.")
    for one in compared.changes:
        _say(console, f"  {'CHANGED' if one.fails else 'noted'}: {one}", "bold red" if one.fails else "")
    if compared.changes and compared.diff:
        _say(console, f"If that is meant, --update writes it to {path}; this is what to commit:")
        for line in compared.diff:
            indent = line[: len(line) - len(line[1:].lstrip())] if line else ""
            console.print(Text(indent + printable(line[len(indent) :]), _COLOURS.get(line[:1], "")), soft_wrap=True)
    console.print()


def _say(console: Console, text: str, style: str = "") -> None:
    lead = text[: len(text) - len(text.lstrip())]
    width = min(console.width, _LONGEST)
    filled = textwrap.fill(printable(text), width, initial_indent=lead, subsequent_indent=f"{lead}    ")
    console.print(Text(filled, style), soft_wrap=True)
