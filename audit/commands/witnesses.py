"""Witnesses on the command line: printed, kept beside the report, with the command that shows each again."""

from __future__ import annotations

import glob
import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dpassay.audit.assaying.why import names
from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.report.explain import explain_lines
from dpassay.audit.row import Row
from dpassay.audit.search.witness import Witness, read_witness, witness_of
from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Declared


def show_row(report: Path, row: Row, explain: bool) -> None:
    """With ``explain`` all that is known of a row of the catalogue; else the first witness of what was not declared."""
    witnesses = [witness_of(one, f"{row.key}: witness") for one in row.witnesses]
    if explain:
        print_plainly(["", *explain_lines(row, witnesses)])
    elif row.undeclared:
        witnesses = sorted(witnesses, key=lambda one: _named(one) not in row.undeclared)[:1]
    else:
        return
    print_witnesses(witnesses, save_witnesses(report, _name(row.key), witnesses))


def remembered(report: Path, cases: Iterable[Case]) -> dict[str, list[Witness]]:
    """By key what earlier audits found and nobody declared; a file that is none any more is named and left out."""
    found: dict[str, list[Witness]] = {}
    for case in cases:
        for path in sorted(_kept(report).glob(f"{glob.escape(_name(case.key))}.*.json")):
            try:
                found[case.key] = [*found.get(case.key, []), read_witness(path)]
            except BadInput as error:
                print(f"dpassay: left out: {error}", file=sys.stderr)
    return found


def remember(report: Path, row: Row) -> None:
    """Keep what was found and not declared, one file a finding, for the audits to come; none goes by itself."""
    for one in row.witnesses:
        witness = witness_of(one, f"{row.key}: witness")
        if _named(witness) in row.undeclared:
            finding = re.sub(r"[^\w]+", "-", _named(witness)).strip("-")[:80]
            _kept(report).mkdir(parents=True, exist_ok=True)
            witness.save(_kept(report) / f"{_name(row.key)}.{finding}.json")


def _kept(report: Path) -> Path:
    return (report.parent if report.is_file() or not report.exists() else Path("reports")) / "witnesses"


def _name(key: str) -> str:
    return re.sub(r"[^\w.@,-]+", "-", key).strip("-")[:120]


def save_witnesses(report: Path, name: str, witnesses: Sequence[Witness]) -> list[Path]:
    """One file each, beside the report; those of an earlier run under the same name go."""
    folder = report.parent if report.is_file() else Path("reports")  # a report may go to a device
    for old in folder.glob(f"{glob.escape(name)}.witness-*.json"):
        old.unlink()
    paths = [folder / f"{name}.witness-{number}.json" for number in range(1, len(witnesses) + 1)]
    for path, witness in zip(paths, witnesses, strict=True):
        witness.save(path)
    return paths


def print_witnesses(witnesses: Sequence[Witness], paths: Sequence[Path]) -> None:
    """The smallest examples, and the command that shows each again."""
    for witness, path in zip(witnesses, paths, strict=True):
        code = [str(witness.about.get(name, "")) for name in ("algorithm", "space")]
        modules = dict.fromkeys(name.partition(":")[0] for name in code if is_code(name))
        options = "".join(f" --module {name}" for name in modules)
        if program := witness.about.get("program"):
            options += f" --program {shlex.quote(str(program))}"
        print_plainly([f"\n{witness}\n  again   dpassay neighbours replay {shlex.quote(str(path))}{options}"])


def print_plainly(lines: Iterable[str]) -> None:
    """Lines as they are: not broken, not coloured."""
    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text(line))


def _named(witness: Witness) -> str:
    return names([Declared(witness.finding.kind, witness.finding.label)])
