"""``dpassay audit NAME --program "COMMAND"``: a program on the live protocol, for a case or on data of one's own."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NoReturn

import typer

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.inputs.own import open_space
from dpassay.audit.live.audited import audited
from dpassay.audit.live.own import own_program
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.plain import json_text
from dpassay.audit.report.table import print_rows
from dpassay.audit.row import Effort, Row
from dpassay.audit.running.report_file import document, load, save
from dpassay.audit.verdict import joint_exit_code
from dpassay.reference.case import Case
from dpassay.reference.errors import require
from dpassay.reference.files import require_writable

from .own import OwnClaim
from .progress import progress, tracked
from .witnesses import show_row
from .written import Wanted


@dataclass(frozen=True)
class Told:
    """What the command line says of the program."""

    command: str
    timeout: float
    declared: bool
    strict: bool


def audit_program(
    cases: Sequence[Case],
    how: Told,
    effort: Effort,
    output: Path | None,
    wanted: Wanted,
    as_json: bool,
    explain: bool,
    quiet: bool,
) -> NoReturn:
    """Audit the cases one after another, print and save the rows and their witnesses, exit as the rows say."""
    path = _report([case.key for case in cases], output, wanted)
    rows = []
    for case in tracked(cases, "auditing", quiet):
        with LiveProgram(how.command, case.id, case.reading, timeout=how.timeout) as program:
            rows.append(audited(case, program, effort, how.declared))
    _end(rows, path, how, effort, wanted, as_json, explain)


def audit_own_program(
    names: Sequence[str],
    said: OwnClaim,
    how: Told,
    effort: Effort,
    output: Path | None,
    wanted: Wanted,
    as_json: bool,
    explain: bool,
    quiet: bool,
) -> NoReturn:
    """Audit a program on a space of one's own: what it is told is a plain name; print, save and exit likewise."""
    require(
        len(names) == 1, "algorithms", ", ".join(names), "a program with data of its own stands alone: name it once"
    )
    (name,) = names
    require(not is_code(name), "algorithm", name, "a program is told a plain name; --space names your data")
    require(not how.declared, "--declared", True, "is about a printed reading of the catalogue")
    claim_of, relation = said.stated(), said.of_relation()
    require(effort.examples >= 1, "--examples", effort.examples, "data of your own need a search")
    path = _report([name], output, wanted)
    where = open_space(said.space, relation)
    claim = replace(claim_of, relation=where.relation)
    with (
        progress("searching and auditing", 1, quiet=quiet),
        LiveProgram(how.command, name, timeout=how.timeout) as program,
    ):
        row = own_program(program, said.space or "", where, claim, effort)
    _end([row], path, how, effort, wanted, as_json, explain)


def _report(names: Sequence[str], output: Path | None, wanted: Wanted) -> Path:
    """Where the rows go; rows of other algorithms stay there, so what is there must be a report."""
    name = re.sub(r"[^\w.@,-]+", "-", ",".join(names)).strip("-")[:80]
    path = output or Path("reports") / f"{name}.program.json"
    require_writable(path, "--output")
    wanted.check(path)
    if path.is_file():
        load(path)
    return path


def _end(
    rows: Sequence[Row], path: Path, how: Told, effort: Effort, wanted: Wanted, as_json: bool, explain: bool
) -> NoReturn:
    save(path, rows)
    if as_json:
        print(json_text(document(rows)))
    else:
        print_rows(rows, effort.confidence, str(path))
        for row in rows:
            show_row(path, row, explain)
    wanted.write(rows, how.strict, as_json)
    raise typer.Exit(joint_exit_code(row.exit_code(how.strict) for row in rows))
