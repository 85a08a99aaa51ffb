"""How a command that made rows ends: rows and witnesses are printed and kept, files written, the exit code found."""

import glob
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console
from rich.text import Text

from dpassay.audit.assaying.why import names
from dpassay.audit.plain import json_text
from dpassay.audit.report.explain import explain_lines, replay_command
from dpassay.audit.report.junit import junit
from dpassay.audit.report.markdown import markdown, workflow_commands
from dpassay.audit.report.problems import Unchecked, summary_line
from dpassay.audit.report.sarif import sarif
from dpassay.audit.report.table import print_rows
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import document
from dpassay.audit.search.witness import Witness, read_witness, witness_of
from dpassay.audit.verdict import joint_exit_code
from dpassay.reference.case import Case
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import require_writable, write_text
from dpassay.reference.findings import Declared


@dataclass(frozen=True)
class Options:
    """What the command line asks for beside the work; :meth:`check` comes before the work, :meth:`write` after it."""

    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None
    github: bool = False
    as_json: bool = False
    explain: bool = False  # print all that is known of each row
    strict: bool = False  # what a printed reading declares counts as well
    quiet: bool = False

    def __post_init__(self) -> None:
        require(not (self.explain and self.as_json), "--explain", True, "is text; the rows of --json hold all of it")

    def _files(self) -> list[tuple[str, Path, Callable[[Sequence[Row], bool, Sequence[Unchecked]], str]]]:
        each = [("--junit", self.junit, junit), ("--sarif", self.sarif, sarif), ("--markdown", self.markdown, markdown)]
        return [(option, path, made) for option, path, made in each if path is not None]

    def check(self, *taken: Path) -> None:
        """Say before the work begins what cannot be written: also the files that the command reads or writes itself."""
        used = {os.path.realpath(path) for path in taken}
        for option, path, _ in self._files():
            require_writable(path, option)
            if (not path.exists() or path.is_file()) and os.path.realpath(path) in used:
                raise BadInput(option, str(path), "is used by the command as well")
            used.add(os.path.realpath(path))

    def write(self, rows: Sequence[Row], unchecked: Sequence[Unchecked] = ()) -> None:
        """Write the files; print annotations and the summary line, and add to the summary of the job.

        With JSON on standard output the rest goes to standard error.
        """
        for option, path, made in self._files():
            write_text(path, made(rows, self.strict, unchecked), option)
        if self.github:
            print(workflow_commands(rows, self.strict, unchecked), end="", file=sys.stderr if self.as_json else None)
            if page := os.environ.get("GITHUB_STEP_SUMMARY"):
                try:
                    with Path(page).open("a", encoding="utf-8") as file:
                        file.write(markdown(rows, self.strict, unchecked) + "\n")
                except (OSError, ValueError) as error:
                    why = getattr(error, "strerror", None) or str(error)
                    raise BadInput("GITHUB_STEP_SUMMARY", page, why) from None
        if not self.as_json:
            print(summary_line(rows, self.strict, unchecked))


def finish(rows: Sequence[Row], path: Path, options: Options, confidence: float, own: str = "") -> int:
    """The one ending of an audit: print the rows and their witnesses, keep these, write what else is wanted.

    The report is written already. ``own`` names the files with witnesses of an algorithm of one's own, all of which are
    shown. Returns the exit code.
    """
    if options.as_json:
        print(json_text(document(rows)))
    else:
        print_rows(rows, confidence, str(path), options.strict)
    for row in rows:
        show_row(path, row, options, own if len(rows) == 1 else own and file_name(row.algorithm))
    options.write(rows)
    return joint_exit_code(row.exit_code(options.strict) for row in rows)


def show_row(report: Path, row: Row, options: Options, own: str = "") -> None:
    """With ``explain`` all that is known; else the first witness of what was not declared, of one's own code all."""
    witnesses = [witness_of(one, f"{row.key}: witness") for one in row.witnesses]
    if options.explain and not options.as_json:
        print_plainly(["", *explain_lines(row, witnesses)])
    elif not own:
        witnesses = sorted(witnesses, key=lambda one: _named(one) not in row.undeclared)[: bool(row.undeclared)]
    if own or (witnesses and not options.as_json):
        kept = save_witnesses(report, own or file_name(row.key), witnesses)
        if not options.as_json:
            pairs = zip(witnesses, kept, strict=True)
            print_plainly(f"\n{witness}\n  again   {replay_command(witness, path)}" for witness, path in pairs)


def remembered(report: Path, cases: Iterable[Case]) -> dict[str, list[Witness]]:
    """By key what earlier audits found and nobody declared; a file that is none any more is named and left out."""
    found: dict[str, list[Witness]] = {}
    for case in cases:
        for path in sorted(_kept(report).glob(f"{glob.escape(file_name(case.key))}.*.json")):
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
            witness.save(_kept(report) / f"{file_name(row.key)}.{finding}.json")


def _kept(report: Path) -> Path:
    return (report.parent if report.is_file() or not report.exists() else Path("reports")) / "witnesses"


def file_name(key: str, longest: int = 120) -> str:
    """Of a key, of names: what no file should be called is a dash."""
    return re.sub(r"[^\w.@,-]+", "-", key).strip("-")[:longest]


def save_witnesses(report: Path, name: str, witnesses: Sequence[Witness]) -> list[Path]:
    """One file each, beside the report; those of an earlier run under the same name go."""
    folder = report.parent if report.is_file() else Path("reports")  # a report may go to a device
    for old in folder.glob(f"{glob.escape(name)}.witness-*.json"):
        old.unlink()
    paths = [folder / f"{name}.witness-{number}.json" for number in range(1, len(witnesses) + 1)]
    for path, witness in zip(paths, witnesses, strict=True):
        witness.save(path)
    return paths


def print_plainly(lines: Iterable[str]) -> None:
    """Lines as they are: not broken, not coloured."""
    console = Console(soft_wrap=True, highlight=False)
    for line in lines:
        console.print(Text(line))


def _named(witness: Witness) -> str:
    return names([Declared(witness.finding.kind, witness.finding.label)])
