"""``dpassay audit KEY --program "COMMAND"``: a program on the live protocol in place of the reference."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

import typer

from dpassay.audit.live.audited import audited
from dpassay.audit.live.program import LiveProgram
from dpassay.audit.plain import json_text
from dpassay.audit.report.table import print_rows
from dpassay.audit.report_file import document, load, save
from dpassay.audit.row import Effort
from dpassay.audit.verdict import joint_exit_code
from dpassay.reference.case import Case
from dpassay.reference.files import require_writable

from .progress import tracked
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
    name = re.sub(r"[^\w.@,-]+", "-", ",".join(case.key for case in cases)).strip("-")[:80]
    path = output or Path("reports") / f"{name}.program.json"
    require_writable(path, "--output")
    wanted.check(path)
    if path.is_file():
        load(path)  # rows of other algorithms stay: the file must be a report
    rows = []
    for case in tracked(cases, "auditing", quiet):
        with LiveProgram(how.command, case.id, case.reading, timeout=how.timeout) as program:
            rows.append(audited(case, program, effort, how.declared))
    save(path, rows)
    if as_json:
        print(json_text(document(rows)))
    else:
        print_rows(rows, effort.confidence, str(path))
        for row in rows:
            show_row(path, row, explain)
    wanted.write(rows, how.strict, as_json)
    raise typer.Exit(joint_exit_code(row.exit_code(how.strict) for row in rows))
