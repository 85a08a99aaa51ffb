"""`dpassay reproduce PAPER`: run a paper's experiments on real data, print tables, draw plots."""

from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table as RichTable

from dpassay.audit.report.verdicts import wide_console
from dpassay.audit.reproductions.report import Options, Report
from dpassay.audit.terminal.progress import Quiet, tracked
from dpassay.reference.errors import require
from dpassay.reference.files import require_writable

# Each has a module of its name in `reproductions`, with run(options) -> Report.
PAPERS = ("dro", "minimax_sosp", "second_order_erm")
OUTPUT = Path("reports/reproduce")
WITH_DATA = ("dro", "second_order_erm")  # whose original data sets can be given with --data


def reproduce(
    paper: Annotated[str, typer.Argument(help=f"One of {', '.join(PAPERS)}.")],
    seed: Annotated[int, typer.Option(min=0, help="Names all randomness.")] = 0,
    runs: Annotated[
        int | None, typer.Option(min=1, help="Repetitions per cell; default: the paper's own number.")
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A small version that shows the shape.")] = False,
    output: Annotated[Path, typer.Option(help="Folder for tables and plots; dro continues there.")] = OUTPUT,
    data: Annotated[Path | None, typer.Option(help="Folder with the data sets of dro or second_order_erm.")] = None,
    page: Annotated[Path | None, typer.Option(help="Also write a Markdown page here, plots beside it.")] = None,
    quiet: Quiet = False,
) -> None:
    """Reproduce a paper's experiments: private methods, comparators and the non-private optimum.

    Exit code 0 when the experiments ran, 2 for an unknown paper or bad data.
    """
    require(paper in PAPERS, "paper", paper, f"cannot be reproduced; known: {', '.join(PAPERS)}")
    require(data is None or paper in WITH_DATA, "--data", str(data), f"{paper} has no data sets of its own")
    require_writable(output / f"{paper}.json", "--output")
    if page is not None:
        require_writable(page, "--page")
    options = Options(seed, runs, quick, output, data, partial(tracked, quiet=quiet))
    report: Report = import_module(f"dpassay.audit.reproductions.{paper}").run(options)
    console = wide_console()
    for table in report.tables:
        shown = RichTable(title=table.title)
        for position, column in enumerate(table.columns):  # sentences wrap, figures do not
            shown.add_column(column, no_wrap=all(len(row[position]) <= 40 for row in table.rows))
        for row in table.rows:
            shown.add_row(*row)
        console.print(shown)
    for note in report.notes:
        console.print(f"- {note}")
    for file in (*report.files, report.write(output)):
        console.print(f"written: {file}")
    if page is not None:
        words = "".join((f" --seed {seed}" if seed else "", f" --runs {runs}" if runs else "", " --quick" * quick))
        words += " --data FOLDER" * (data is not None)
        place = page.name if page.is_absolute() else page  # all that a reader elsewhere can use
        command = f"dpassay reproduce {paper}{words} --page {place}"
        console.print(f"written: {report.write_page(page, command)}")
