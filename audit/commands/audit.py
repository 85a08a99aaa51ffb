"""``dpassay audit``: the audit suite."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

from dpassay.audit.assay import Effort, Row
from dpassay.audit.plain import json_text
from dpassay.audit.report.table import print_rows
from dpassay.audit.suite import load, run_suite, save
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES, find
from dpassay.reference.errors import require
from dpassay.reference.files import require_writable

from .proofs import with_proofs


def audit(
    algorithms: Annotated[
        list[str] | None,
        typer.Argument(help="Papers, algorithms or keys (see `dpassay list`); default: the quick ones."),
    ] = None,
    everything: Annotated[bool, typer.Option("--all", help="Slow cases too; named ones run in any case.")] = False,
    runs: Annotated[int, typer.Option(help="Runs whose losses count, for each case.")] = 1000,
    pilot: Annotated[int, typer.Option(help="Runs for choosing the tilt, thrown away.")] = 400,
    confidence: Annotated[float, typer.Option(help="Confidence of each lower bound.")] = 0.95,
    seed: Annotated[int, typer.Option(help="Same seed, same table, whatever the number of jobs.")] = 0,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    output: Annotated[Path, typer.Option(help="Where the report goes (JSON).")] = Path("reports/audit.json"),
    resume: Annotated[bool, typer.Option(help="Keep the finished rows of the report at --output.")] = False,
    strict: Annotated[bool, typer.Option(help="Exit 1 for known violations of printed readings as well.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rows as JSON instead of a table.")] = False,
) -> None:
    """Account, replay and audit algorithms; print claimed, accounted and realised epsilon.

    "realised epsilon >=" is a lower bound that holds with the stated confidence for each row; "exact" and "replay"
    need no statistics. Violations that are known defects of a printed paper are findings and do not change the exit
    code (see --strict); any other violation exits 1.
    """
    effort = _effort(runs, pilot, confidence, seed)
    require(jobs >= 1, "--jobs", jobs, "must be at least 1")
    cases = _chosen(algorithms, everything)
    require_writable(output, "--output")
    done = [row for row in load(output, effort) if row.key in {case.key for case in cases}] if resume else []
    rows = with_proofs(_run(cases, effort, jobs, done, output, quiet=as_json), jobs)
    save(output, rows, effort)
    if as_json:
        print(json_text([row.as_dict() for row in rows]))
    else:
        print_rows(rows, confidence, str(output))
    bad = [row for row in rows if row.verdict == "violated" and (strict or not row.expected)]
    raise typer.Exit(1 if bad else 0)


def _effort(runs: int, pilot: int, confidence: float, seed: int) -> Effort:
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require(10 <= runs <= 10**9, "--runs", runs, "must lie in 10..1e9")
    require(50 <= pilot <= 10**9, "--pilot", pilot, "must lie in 50..1e9")
    require(seed >= 0, "--seed", seed, "must not be negative")
    return Effort(runs, pilot, confidence, seed)


def _chosen(algorithms: list[str] | None, everything: bool) -> list[Case]:
    """The named cases, each once; without names the quick ones, or all."""
    if not algorithms:
        return [case for case in CASES if everything or case.quick]
    return list({case.key: case for name in algorithms for case in find(name)}.values())


def _run(cases: list[Case], effort: Effort, jobs: int, done: list[Row], output: Path, quiet: bool) -> list[Row]:
    """The suite with a progress bar; finished rows are saved one by one, so that an interrupted run can go on."""
    finished = list(done)
    columns = (TextColumn("auditing"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    try:
        with Progress(
            *columns, TextColumn("{task.fields[now]}"), console=Console(stderr=True), transient=True, disable=quiet
        ) as progress:
            task = progress.add_task("audit", total=len(cases), completed=len(done), now="")

            def each(row: Row) -> None:
                finished.append(row)
                save(output, finished, effort)
                progress.update(task, advance=1, now=f"{row.key}: {row.verdict}")

            return run_suite(cases, effort, jobs, done, each)
    except KeyboardInterrupt:
        print(
            f"dpassay: interrupted; {len(finished)} of {len(cases)} rows are kept in {output}; "
            "the same command with --resume goes on from there",
            file=sys.stderr,
        )
        raise typer.Exit(130) from None
