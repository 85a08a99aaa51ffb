"""Progress of `dpassay check` on standard error: a bar on a terminal, one plain line a claim where there is none."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from dpassay.audit.row import Row
from dpassay.reference.errors import printable


@contextmanager
def claims_progress(total: int, quiet: bool) -> Iterator[Callable[[Row], None]]:
    """A function that is told of every finished row."""
    console = Console(stderr=True)
    if quiet:
        yield lambda row: None
    elif not console.is_terminal:
        done = 0

        def say(row: Row) -> None:
            nonlocal done
            done += 1
            text = "from the cache" if row.cached else f"{row.seconds:.0f} s"
            print(printable(f"{done} of {total}  {row.key}: {row.verdict} ({text})"), file=sys.stderr, flush=True)

        yield say
    else:
        columns = (
            TextColumn("checking"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
        )
        with Progress(*columns, TextColumn("{task.fields[now]}"), console=console, transient=True) as progress:
            task = progress.add_task("check", total=total, now="")
            yield lambda row: progress.update(task, advance=1, now=printable(f"{row.key}: {row.verdict}"))
