"""``dpassay check``: hold a project's mechanisms to the claims of its file."""

from __future__ import annotations

import sys
import textwrap
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from dpassay.audit.claims.fail_on import FailOn, exit_code
from dpassay.audit.claims.model import ClaimsFile
from dpassay.audit.claims.reading import DEFAULT, Lines, read_claims
from dpassay.audit.claims.shown import closing_lines
from dpassay.audit.claims.suite import chosen, look_over, run_claims
from dpassay.audit.exit_codes import INTERRUPTED
from dpassay.audit.plain import json_text
from dpassay.audit.report.console import wide_console
from dpassay.audit.report.table import table_lines
from dpassay.audit.report_file import save
from dpassay.audit.row import Row
from dpassay.audit.version import installed_version
from dpassay.reference.errors import require
from dpassay.reference.files import require_writable

from .claims_progress import claims_progress
from .written import GitHub, JUnit, Markdown, Sarif, Wanted

_PIPED, _LONGEST = 100, 140  # columns: where no terminal says how wide it is, and of a line of prose


def check(
    claims: Annotated[Path, typer.Argument(help="The claims file (`dpassay init` writes a first one).")] = DEFAULT,
    only: Annotated[
        list[str] | None, typer.Option("--only", help="Claims with this name; * stands for anything. May be repeated.")
    ] = None,
    fail_on: Annotated[
        FailOn, typer.Option("--fail-on", help="The mildest verdict whose exit code is not 0.")
    ] = FailOn.INCONCLUSIVE,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    output: Annotated[Path | None, typer.Option(help="Write the rows here as a report (JSON).")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
    junit: JUnit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    github: GitHub = False,
) -> None:
    """Hold mechanisms to the claims of a file: exit 1 if one fails, 3 if one is inconclusive, else 0.

    Every claim is searched, accounted and audited as by `dpassay audit`, or judged as by `blackbox` and `scores`. Cheap
    checks come first: where the search or the account fails a claim already, no statistics are made. What a printed
    reading of a paper is known to show counts as well.

    --fail-on X: verdicts count from the worst down to X, in the order violated, leaks, overshoots, over-budget,
    inconclusive; never: exit 0. A claim with severity "warning" is shown and does not count.
    """
    require(1 <= jobs <= 1000, "--jobs", jobs, "must lie in 1..1000")
    file, lines = read_claims(claims)
    numbers = chosen(file, only or [])
    wanted = Wanted(junit, sarif, markdown, github)
    wanted.check(*([output] if output else []))
    if output is not None:
        require_writable(output, "--output")
    look_over(file, numbers, lines)
    rows = _checked(file, numbers, lines, jobs, quiet=as_json)
    if output is not None:
        save(output, rows, [one.name for one in file.claim], replace=True)
    if as_json:
        print(json_text({"dpassay": installed_version(), "rows": [row.as_dict() for row in rows]}))
    else:
        _print(rows, file)
    wanted.write(rows, strict=True, as_json=as_json)
    raise typer.Exit(exit_code(rows, fail_on))


def _checked(file: ClaimsFile, numbers: list[int], lines: Lines, jobs: int, quiet: bool) -> list[Row]:
    done: dict[int, Row] = {}
    try:
        with claims_progress(len(numbers), quiet) as finished:

            def each(number: int, row: Row) -> None:
                done[number] = row
                finished(row)

            run_claims(file, numbers, lines, jobs, each)
    except KeyboardInterrupt:
        print(f"dpassay: interrupted; {len(done)} of {len(numbers)} claims were checked", file=sys.stderr)
        raise typer.Exit(INTERRUPTED) from None
    return [done[number] for number in numbers]


def _print(rows: list[Row], file: ClaimsFile) -> None:
    console = wide_console(_PIPED)
    for line in table_lines(rows, console.width, strict=True):
        console.print(line, soft_wrap=True)
    for text in ["", *closing_lines(rows, file)]:
        console.print(Text(textwrap.fill(text, min(console.width, _LONGEST), subsequent_indent="    ")), soft_wrap=True)
