"""Where tables are printed."""

from __future__ import annotations

from rich.console import Console


def wide_console(width: int = 150) -> Console:
    """The reader's terminal; `width` columns where nothing says how wide it is (a pipe, a CI log)."""
    return Console() if Console().is_terminal else Console(width=width)
