"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console
from rich.table import Column, Table


def wide_console(width: int = 150) -> Console:
    """The reader's terminal; `width` columns where nothing says how wide it is (a pipe, a CI log)."""
    return Console() if Console().is_terminal else Console(width=width)


def plain_table(*heads: str) -> Table:
    """A table without lines; what has no room is folded, never cut off, and verdicts stay whole."""
    whole = {"verdict", "answer"}
    columns = [Column(head, overflow="fold", no_wrap=head in whole) for head in heads]
    return Table(*columns, box=None, header_style="bold")
