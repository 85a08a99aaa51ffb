"""Progress bars on standard error: of the suite, and of a sequential session."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dpassay.audit.assay import Effort, Row
from dpassay.audit.suite import run_suite
from dpassay.reference.case import Case


def run_with_progress(
    cases: Sequence[Case],
    effort: Effort,
    jobs: int,
    done: Sequence[Row] = (),
    each: Callable[[Row], None] = lambda _: None,
    quiet: bool = False,
) -> list[Row]:
    """:func:`run_suite`, with a bar that goes away in the end; nothing is drawn where no terminal is."""
    console = Console(stderr=True)
    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns,
        TextColumn("{task.fields[now]}"),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    ) as progress:
        task = progress.add_task("audit", total=len(cases), completed=len(done), now="")

        def finished(row: Row) -> None:
            each(row)
            progress.update(task, advance=1, now=f"{row.key}: {row.verdict}")

        return run_suite(cases, effort, jobs, done, finished)


@contextmanager
def session_progress(limit: int, quiet: bool = False) -> Iterator[Callable[[int, float], None]]:
    """A bar of the runs of a session with the wealth that it has reached; gives what has to be called with both."""
    console = Console(stderr=True)
    columns = (TextColumn("betting"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(
        *columns,
        TextColumn("wealth 10^{task.fields[digits]:.1f}"),
        console=console,
        transient=True,
        disable=quiet or not console.is_terminal,
    ) as progress:
        task = progress.add_task("session", total=limit, digits=0.0)
        yield lambda runs, log_wealth: progress.update(task, completed=runs, digits=log_wealth / math.log(10))
