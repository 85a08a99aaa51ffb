"""`dpassay prove`: what becomes of each statement of the papers, and the chain of one."""

import shutil
import sys
import textwrap
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
import z3

from dpassay.audit.marked import LEDGER
from dpassay.audit.plain import json_text
from dpassay.audit.terminal.options import AsJson, Jobs
from dpassay.audit.terminal.progress import Quiet, progress
from dpassay.proofs_check.derivation import ledger as ledgers
from dpassay.proofs_check.derivation.ledger import Examined
from dpassay.proofs_check.derivation.model import Statement, statements
from dpassay.proofs_check.derivation.show import closing, record, step_text, text
from dpassay.reference.errors import require
from dpassay.reference.files import read_text, require_writable, write_text
from dpassay.reference.papers import PAPERS

OUTPUT = Path("reports") / "ledger.json"


def prove(
    statement: Annotated[
        str, typer.Argument(help='A statement ("Theorem 3.17") or an algorithm (dro/double_spider); default: all.')
    ] = "",
    paper: Annotated[list[str] | None, typer.Option(help="Only of this paper (may be repeated).")] = None,
    step: Annotated[str | None, typer.Option(help="Only this step of the statement.")] = None,
    only_open: Annotated[
        bool, typer.Option("--open", help="List what is broken, added or not examined, and what would close it.")
    ] = False,
    as_json: AsJson = False,
    output: Annotated[
        Path | None, typer.Option(help="Where the ledger as JSON goes (of all papers).", show_default=str(OUTPUT))
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Also write the generated LEDGER.md here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Also rewrite the ledger's block between its markers.")] = None,
    jobs: Jobs = 2,
    no_cache: Annotated[bool, typer.Option("--no-cache", help="Decide anew what was decided before.")] = False,
    quiet: Quiet = False,
) -> None:
    """Check the papers' statements by machine: each step of a proof must follow from the facts that it names.

    Exit code 0 when everything was decided (papers contain mistakes: a broken step is a result, not an error), 2 for an
    unknown paper, statement or step, 3 when the solver left a step undecided.
    """
    for key in paper or []:
        require(key in PAPERS, "--paper", key, f"not one of {', '.join(PAPERS)}")
    require(step is None or bool(statement), "--step", step, "name the statement too")
    whole = not statement and not paper
    target = output or (OUTPUT if whole else None)
    for option, path in (("--output", target), ("--ledger", ledger), ("--readme", readme)):
        if path is not None:
            require(whole, option, str(path), "takes all papers: leave the statement and --paper out")
            require_writable(path, option)
    if readme is not None:
        LEDGER.read(read_text(readme, "--readme"), f"--readme {readme}")  # markers are missed at once
    wanted = ledgers.named(statement, paper) if statement else statements(paper)
    keys, every = {one.key for one in wanted}, examined(wanted, jobs, quiet, no_cache)
    found = [one for one in every if one.statement.key in keys]
    _write(every, target, ledger, readme)
    if as_json:
        typer.echo(json_text([record(one) for one in found]))
    elif only_open:
        typer.echo("\n".join(_open_lines(found)))
    elif step is not None:
        typer.echo("\n".join(_folded(step_text(one, step) for one in found)))
    elif statement:
        typer.echo("\n\n".join("\n".join(_folded([text(one), *_see_also(one)])) for one in found))
    else:
        typer.echo("\n".join([*_list_lines(found), f"{ledgers.summary(found)}."]))
    if any(one.derivation.undecided for one in found):
        raise typer.Exit(3)


def examined(wanted: Sequence[Statement], jobs: int, quiet: bool, anew: bool = False) -> list[Examined]:
    """These statements and those that they rest on, decided."""
    together = ledgers.with_sources(wanted, statements())
    with progress("deriving", len(together), quiet=quiet) as say:
        return ledgers.examine(together, jobs, say, anew)


def _write(every: Sequence[Examined], target: Path | None, ledger: Path | None, readme: Path | None) -> None:
    if ledger is not None:
        write_text(ledger, ledgers.ledger(every), "--ledger")
    if readme is not None:
        block = LEDGER.written(read_text(readme, "--readme"), ledgers.block(every), f"--readme {readme}")
        write_text(readme, block, "--readme")
    if target is not None:
        document: dict[str, Any] = {"solver": f"z3 {z3.get_version_string()}", "summary": ledgers.counts(every)}
        document["statements"] = [record(one) for one in every]
        write_text(target, json_text(document) + "\n", "--output")


def _list_lines(found: Sequence[Examined]) -> list[str]:
    lines = []
    for paper in dict.fromkeys(one.statement.paper for one in found):
        own = [one for one in found if one.statement.paper == paper]
        wide = max(len(one.statement.name) for one in own)
        lines += [paper, *(f"  {one.statement.name:{wide}}  {one.status.label}" for one in own), ""]
    return lines


def _see_also(one: Examined) -> list[str]:
    parts = [each.name for each in statements([one.statement.paper]) if each.name.startswith(one.statement.name + ", ")]
    return [f"     see also {'; '.join(parts)}"] if parts else []


def _folded(texts: Iterable[str]) -> list[str]:
    """Lines as wide as the terminal, if there is one, each further one below the words of the first."""
    lines = [line for text in texts for line in text.split("\n")]
    if not sys.stdout.isatty():
        return lines
    width = max(40, shutil.get_terminal_size().columns)
    return [part for line in lines for part in textwrap.wrap(line, width, subsequent_indent=11 * " ") or [""]]


def _open_lines(found: Sequence[Examined]) -> list[str]:
    lines = []
    for one in found:
        if not one.status.stands:
            lines += [f"{one.statement.key}: {one.status.label}", *(f"  - {line}" for line in closing(one))]
    return lines or ["every step follows"]
