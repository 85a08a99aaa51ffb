"""``dpassay check``: hold algorithms to the claims of a file."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.assay import Effort
from dpassay.audit.claims import ClaimEntry, read_claims
from dpassay.audit.plain import json_text
from dpassay.audit.report.table import print_rows
from dpassay.audit.verdict import Verdict, joint_exit_code
from dpassay.audit.version import installed_version
from dpassay.reference.case import Case
from dpassay.reference.catalogue import find
from dpassay.reference.errors import BadInput, require

from .progress import run_with_progress


def check(
    claims: Annotated[
        Path,
        typer.Argument(help='JSON: {"version": 1, "claims": [{"algorithm": ..., "epsilon": ..., "delta": ...}]}'),
    ],
    runs: Annotated[int, typer.Option(help="Runs whose losses count, for each claim.")] = 1000,
    seed: Annotated[int, typer.Option(help="Same seed, same verdicts.")] = 0,
    jobs: Annotated[int, typer.Option(help="Worker processes.")] = 2,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Check the claims of a file: exit 1 if one fails, 3 if one is inconclusive, else 0.

    The verdicts are those of `dpassay audit`, on the file's claims: a claim fails when more epsilon is realised than
    claimed, something leaks, a query overshoots, or the releases add up to more. What a printed reading of a paper is
    known to show counts as well.
    """
    require(10 <= runs <= 10**9, "--runs", runs, "must lie in 10..1e9")
    require(jobs >= 1, "--jobs", jobs, "must be at least 1")
    require(seed >= 0, "--seed", seed, "must not be negative")
    cases = [
        case
        for position, entry in enumerate(read_claims(claims).claims)
        for case in _claimed(f"{claims}: claims[{position}]", entry)
    ]
    rows = run_with_progress(cases, Effort(runs=runs, seed=seed), jobs, quiet=as_json)
    if as_json:
        print(json_text({"dpassay": installed_version(), "rows": [row.as_dict() for row in rows]}))
    else:
        print_rows(rows, 0.95, "not written", strict=True)
    raise typer.Exit(joint_exit_code(Verdict(row.verdict).exit_code for row in rows))


def _claimed(where: str, entry: ClaimEntry) -> list[Case]:
    """The catalogue's cases with the file's claim put in place of their own."""
    try:
        cases = [case for case in find(entry.algorithm) if entry.reading in (None, case.reading)]
    except BadInput as error:
        raise BadInput(f"{where}.algorithm", entry.algorithm, error.why) from None
    require(bool(cases), f"{where}.reading", entry.reading, f"{entry.algorithm} has no such reading")
    for case in cases:
        why = f"the pair of {case.key} is of {case.claim.relation} neighbours"
        require(entry.relation == case.claim.relation, f"{where}.relation", entry.relation, why)
    return [replace(case, claim=entry.stated(case.claim.cite), declared=()) for case in cases]
