"""The suite with a progress bar on standard error."""

from __future__ import annotations

from collections.abc import Callable, Sequence

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
