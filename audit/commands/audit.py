"""``dpassay audit``: the audit suite."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.exit_codes import FAILED, INTERRUPTED
from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.inputs.registered import find_cases
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.fingerprint import fingerprint
from dpassay.audit.running.report_file import Report, store_of
from dpassay.audit.running.workers import require_address
from dpassay.reference.case import Case
from dpassay.reference.catalogue import CASES
from dpassay.reference.errors import require
from dpassay.reference.files import require_writable

from .finish import Options, finish, remember, remembered
from .options import GitHub, JsonTable, JUnit, Markdown, Sarif, names
from .own import OwnClaim, Program, audit_own, audit_own_program, audit_program
from .progress import Quiet, run_with_progress
from .proofs import with_proofs

Algorithms = Annotated[
    list[str] | None,
    typer.Argument(
        help="Papers, algorithms, keys (see `dpassay list`), or your MODULE:RUN; default: the quick.",
        autocompletion=names,
    ),
]
Everything = Annotated[bool, typer.Option("--all", help="Slow cases too; named ones run in any case.")]
Runs = Annotated[int, typer.Option(help="Runs whose losses count, for each case.")]
Pilot = Annotated[int, typer.Option(help="Runs for choosing the tilt, thrown away.")]
Confidence = Annotated[float, typer.Option(help="Confidence of each lower bound.")]
Seed = Annotated[int, typer.Option(help="Same seed, same table, whatever the number of jobs.")]
Examples = Annotated[int, typer.Option(help="Examples of the search, for each case; 0: no search.")]
Epsilon = Annotated[float | None, typer.Option(help="Claimed epsilon of your own algorithm.")]
Delta = Annotated[float, typer.Option(help="Claimed delta of your own algorithm.")]
Space = Annotated[
    str | None, typer.Option(help="MODULE:SPACE, the data that the claim covers; default: rows of any length.")
]
Relation = Annotated[
    str | None, typer.Option(help="replace-one or add-remove; default: that of the space, else replace-one.")
]
Given = Annotated[
    list[str] | None,
    typer.Option("--with", help="NAME=VALUE for a parameter of your own function that is neither data nor noise."),
]
ProgramCommand = Annotated[
    str | None, typer.Option(help="A command that speaks the live protocol: it runs in place of the reference.")
]
Timeout = Annotated[float, typer.Option(help="Seconds for one line of --program.")]
Declared = Annotated[
    bool, typer.Option("--declared", help="--program is meant to show what this printed reading declares.")
]
Jobs = Annotated[int, typer.Option(help="Worker processes.")]
Scheduler = Annotated[
    str, typer.Option(help="Work on a Dask cluster instead: the address of its scheduler (docs/scale.md).")
]
Output = Annotated[
    Path | None,
    typer.Option(help="The report (JSON); default: reports/audit.json, for named algorithms a file of their name."),
]
Resume = Annotated[bool, typer.Option(help="Keep rows of the report that the same code and effort made.")]
Strict = Annotated[bool, typer.Option(help="Exit 1 for declared findings of printed readings as well.")]
Required = Annotated[
    str | None, typer.Option("--require", help="certified: exit 1 where a row has no certificate in its claim.")
]
Explain = Annotated[bool, typer.Option(help="Below the table: premises, movements, source reached, and every witness.")]


def audit(
    algorithms: Algorithms = None,
    everything: Everything = False,
    runs: Runs = 1000,
    pilot: Pilot = 400,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    examples: Examples = 150,
    epsilon: Epsilon = None,
    delta: Delta = 1e-5,
    space: Space = None,
    relation: Relation = None,
    given: Given = None,
    program: ProgramCommand = None,
    timeout: Timeout = 10.0,
    declared: Declared = False,
    jobs: Jobs = 2,
    scheduler: Scheduler = "",
    output: Output = None,
    resume: Resume = False,
    strict: Strict = False,
    required: Required = None,
    explain: Explain = False,
    as_json: JsonTable = False,
    junit: JUnit = None,
    sarif: Sarif = None,
    markdown: Markdown = None,
    github: GitHub = False,
    quiet: Quiet = False,
) -> None:
    """Account, replay and audit algorithms; print claimed, accounted and realised epsilon.

    "realised epsilon >=" is a lower bound at the stated confidence; "exact" and "replay" need no statistics. Findings
    that a printed reading of a paper declares do not change the exit code (see --strict); any other finding does.
    An algorithm of your own is searched on the data that its claim covers and audited on the worst pair of neighbours
    that was found: ``dpassay audit mine:run --space mine:space --epsilon 1``. What breaks a claim is printed as a
    witness and kept beside the report, and in the folder ``witnesses`` there, for later audits.

    A program in another language asks for every draw and release line by line (docs/live.md). With data of its own it
    takes any name: ``dpassay audit counts --program ./counts --space data:COUNTS --epsilon 1``.
    A run without names writes its report anew; a run with names changes the rows of these names and keeps the others.
    """
    effort = _effort(runs, pilot, confidence, seed, examples)
    options = Options(junit, sarif, markdown, github, as_json, explain, strict, quiet)
    said = OwnClaim(epsilon, delta, space, relation, required, tuple(given or ()))
    told = Program(program, timeout, declared)
    named, workers = algorithms or [], _workers(jobs, scheduler)
    require(not (everything and named), "--all", True, "is for a run without names; named ones run, slow or not")
    told.check(named, resume)
    if told.given and space is not None:
        ended = audit_own_program(named, said, told, effort, output, options)
    elif any(is_code(name) for name in named):
        require(not told.given, "--program", program, "is told a plain name, with --space MODULE:SPACE and --epsilon")
        ended = audit_own(named, said, effort, output, options)
    elif said.check_unsaid() and told.given:
        require(required is None, "--require", required, "is for code; a program has no certificate")
        ended = audit_program(_chosen(named, False), told, effort, output, options)
    else:
        path = output or _default_report(named)
        rows = _audit_cases(_chosen(named, everything), effort, workers, path, (resume, bool(named)), options)
        ended = finish(rows, path, options, confidence)
        ended = FAILED if said.lost(rows) else ended
    raise typer.Exit(ended)


def _workers(jobs: int, scheduler: str) -> tuple[int, str]:
    require(jobs >= 1, "--jobs", jobs, "must be at least 1")
    if scheduler:
        require_address(scheduler)
    return jobs, scheduler


def _audit_cases(
    cases: list[Case],
    effort: Effort,
    workers: tuple[int, str],
    path: Path,
    kept: tuple[bool, bool],
    options: Options,
) -> list[Row]:
    """The rows of cases of the catalogue, kept in the report; ``kept``: rows that are good, and rows of other cases."""
    resume, others = kept
    require_writable(path, "--output")
    options.check(path)
    if resume and not (path.exists() or store_of(path).exists()):
        print(f"dpassay: {path}: nothing is kept to go on from; all rows are audited", file=sys.stderr)
    with Report(path, [case.key for case in CASES], anew=not (others or resume), resume=resume) as report:
        done = _kept(report.rows(), cases, effort) if resume else []
        rows = _run(cases, effort, workers, done, report, path, options.quiet)
    for row in rows:
        remember(path, row)
    return rows


def _default_report(algorithms: Sequence[str] | None) -> Path:
    """The full report keeps its place: named algorithms go into a file of their own."""
    name = re.sub(r"[^\w.@,-]+", "-", ",".join(algorithms or ())).strip("-")[:80]
    return Path("reports") / f"{name or 'audit'}.json"


def _kept(rows: Sequence[Row], cases: Sequence[Case], effort: Effort) -> list[Row]:
    """Rows that need not be made again: of these cases, by the same code, with the same effort."""
    known = {row.key: row for row in rows}
    found = [known[case.key] for case in cases if case.key in known]
    code = {case.key: fingerprint(case) for case in cases if case.key in known}
    kept = [row for row in found if row.effort == effort and row.code == code[row.key]]
    if len(kept) < len(found):
        stale = len(found) - len(kept)
        print(
            f"dpassay: {stale} of {len(found)} rows were made by other code or with another effort: audited again",
            file=sys.stderr,
        )
    return kept


def _effort(runs: int, pilot: int, confidence: float, seed: int, examples: int) -> Effort:
    require(0 < confidence < 1, "--confidence", confidence, "must lie in (0, 1)")
    require(10 <= runs <= 10**9, "--runs", runs, "must lie in 10..1e9")
    require(50 <= pilot <= 10**9, "--pilot", pilot, "must lie in 50..1e9")
    require(seed >= 0, "--seed", seed, "must not be negative")
    require(0 <= examples <= 10**6, "--examples", examples, "must lie in 0..1e6")
    return Effort(runs, pilot, confidence, seed, examples)


def _chosen(algorithms: list[str] | None, everything: bool) -> list[Case]:
    """The named cases, each once; without names the quick ones, or all."""
    if not algorithms:
        return [case for case in CASES if everything or case.quick]
    return list({case.key: case for name in algorithms for case in find_cases(name)}.values())


def _run(
    cases: list[Case],
    effort: Effort,
    workers: tuple[int, str],
    done: list[Row],
    report: Report,
    path: Path,
    quiet: bool,
) -> list[Row]:
    """The rows of the cases; each is kept when it is finished, so that an interrupted run can go on."""
    finished, (jobs, scheduler) = len(done), workers

    def keep(row: Row) -> None:
        nonlocal finished
        report.keep([row])
        finished += 1

    try:
        known = remembered(path, cases)
        rows = with_proofs(run_with_progress(cases, effort, jobs, done, keep, quiet, scheduler, known), jobs, quiet)
        report.keep(rows)
    except KeyboardInterrupt:
        print(
            f"dpassay: interrupted; {finished} of {len(cases)} rows are kept for {path}; "
            "the same command with --resume goes on from there",
            file=sys.stderr,
        )
        raise typer.Exit(INTERRUPTED) from None
    finally:
        if finished:
            report.write()
    return rows
