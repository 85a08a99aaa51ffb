"""`dpassay prove`: run the proof ledger, or explain one of its rows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.plain import json_text
from dpassay.proofs_check import graph, report
from dpassay.proofs_check.cited import named
from dpassay.proofs_check.claim import Result, Row
from dpassay.proofs_check.corrections import corrected_share, open_lines
from dpassay.proofs_check.effects import data_of
from dpassay.proofs_check.explain import explain as explain_row
from dpassay.proofs_check.inventory import told
from dpassay.proofs_check.inventory.items import items
from dpassay.proofs_check.ledger import check_rows, chosen, load_rows, summary
from dpassay.proofs_check.statements import STATEMENTS
from dpassay.proofs_check.surroundings import around, statement
from dpassay.proofs_check.tied import TIES
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import read_text, require_writable, write_text
from dpassay.reference.marked import LEDGER
from dpassay.reference.papers import PAPERS

from .options import PROOF_CACHE as CACHE
from .progress import Quiet, progress

OUTPUT = Path("reports") / "ledger.json"


def prove(
    paper: Annotated[list[str] | None, typer.Option(help="Only this paper's rows (may be repeated).")] = None,
    row_id: Annotated[
        str | None, typer.Option("--id", help="Only this row, or those whose id begins so: minimax_sosp/eqB2, or eqB2.")
    ] = None,
    place: Annotated[str | None, typer.Option(help='Only rows that cite this place, e.g. "Lemma 3.13".')] = None,
    theorem: Annotated[
        str | None, typer.Option(help='A statement, what it rests on and its rows, e.g. "Theorem 3.17".')
    ] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Show formula, region, evidence and derivation.")] = False,
    only_open: Annotated[
        bool, typer.Option("--open", help="Only list the corrected statements that nothing decides, with the reason.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the results as JSON.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(help="Where the ledger as JSON goes (the whole one).", show_default=str(OUTPUT)),
    ] = None,
    ledger: Annotated[Path | None, typer.Option(help="Also write the generated LEDGER.md here.")] = None,
    readme: Annotated[Path | None, typer.Option(help="Also rewrite the ledger's block between its markers.")] = None,
    inventory: Annotated[
        Path | None, typer.Option(help="Only write the page of everything that the papers say, and what decides it.")
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes.")] = 2,
    cache: Annotated[bool, typer.Option(help="Reuse findings of rows and checkers that did not change.")] = True,
    quiet: Quiet = False,
) -> None:
    """Check every statement of the papers by machine and say, row by row, what holds.

    Exit code 0 when the ledger ran (papers contain mistakes: refuted rows are the result, not an error), 2 for an
    unknown paper or id, 3 when a row stayed unknown.
    """
    for key in paper or []:
        if key not in PAPERS:
            raise BadInput("--paper", key, f"not one of {', '.join(PAPERS)}")
    if inventory is not None:
        require_writable(inventory, "--inventory")
        write_text(inventory, told.page(paper or list(PAPERS)), "--inventory")
        typer.echo("\n".join(told.table(paper or list(PAPERS))))
        return
    for option, value in (("--id", row_id), ("--place", place), ("--theorem", theorem)):
        require(value != "", option, value, "names nothing; without it all rows are checked")
    of_papers = row_id is None or not paper or row_id.split("/")[0] not in set(PAPERS) - set(paper)
    require(of_papers, "--id", row_id, f"not a row of --paper {', '.join(paper or [])}")
    some = row_id is not None or place is not None or theorem is not None
    for option, path in (("--ledger", ledger), ("--readme", readme)):
        require(
            path is None or not some, option, str(path), "takes whole papers: leave --id, --place and --theorem out"
        )
    target = output or (None if some else OUTPUT)
    for option, path in (("--output", target), ("--ledger", ledger), ("--readme", readme)):
        if path is not None:
            require_writable(path, option)
    if readme is not None:
        _with_block(readme, "")  # says at once, not after minutes, that the markers are missing
    folder = CACHE if cache else None
    theorem = statement(theorem, paper or PAPERS) if theorem is not None else None
    place = statement(place, paper or PAPERS) if place is not None else None
    if some:
        rows = _under(theorem, paper) if theorem is not None else _some(row_id, place, paper)
    else:
        rows = load_rows(paper)
    beside = _beside(place, rows) if place is not None and not (explain or as_json or only_open) else []
    with progress("checking", len(rows) + len(beside), quiet=quiet) as say:
        decided = check_rows([*rows, *beside], jobs, folder, lambda result: say(f"{result.row.id}: {result.verdict}"))
    results = decided[: len(rows)]
    if not some:
        if ledger is not None:
            write_text(ledger, report.markdown(results).rstrip("\n") + "\n", "--ledger")
        if readme is not None:
            write_text(readme, _with_block(readme, report.readme_block(results)), "--readme")
    if target is not None:
        document = {"summary": summary(results), "rows": [data_of(result) for result in results]}
        write_text(target, json_text(document) + "\n", "--output")
    if only_open:
        typer.echo("\n".join([*open_lines(results), f"{corrected_share(results)}."]))
    elif as_json:
        typer.echo(json_text([data_of(result) for result in results]))
    elif theorem is not None:
        typer.echo("\n\n".join(_around(theorem, results)))
    elif place is not None and not explain:
        typer.echo("\n".join([*_said_at(place, results), *(report.one_line(result) for result in results)]))
        typer.echo("\n".join(_graph_at(place, decided)))
        typer.echo(report.summary_line(results))
    elif explain or len(results) == 1:
        typer.echo("\n\n".join(explain_row(result, TIES) for result in results))
    else:
        typer.echo("\n".join(report.one_line(result) for result in results) if some else report.summary_table(results))
        typer.echo(report.summary_line(results))
    if any(result.verdict == "unknown" for result in results):
        raise typer.Exit(3)


def _under(theorem: str, papers: list[str] | None) -> list[Row]:
    """Rows that decide a statement or anything that it rests on, in every paper that has one of this name."""
    rows = [row for key in papers or PAPERS for row in graph.rows_below(key, theorem)]
    if not rows:
        raise BadInput("--theorem", theorem, "no row decides a statement of this name")
    return rows


def _around(theorem: str, results: list[Result]) -> list[str]:
    known = {result.row.id: result for result in results}
    papers = dict.fromkeys(result.row.cite.paper for result in results)
    return ["\n".join(around(paper, theorem, known)) for paper in papers]


def _beside(place: str, rows: list[Row]) -> list[Row]:
    """Further rows on which the statements of this place rest."""
    papers = sorted({row.cite.paper for row in rows})
    below = {row.id: row for paper in papers for name in sorted(named(place)) for row in graph.rows_below(paper, name)}
    return [row for row_id, row in below.items() if row_id not in {row.id for row in rows}]


def _graph_at(place: str, results: list[Result]) -> list[str]:
    """The graph around each statement that the place names."""
    known, names = {result.row.id: result for result in results}, named(place)
    return [
        line
        for paper in dict.fromkeys(result.row.cite.paper for result in results)
        for name in STATEMENTS[paper]
        if name in names
        for line in around(paper, name, known, rows=False)
    ]


def _some(row_id: str | None, place: str | None, papers: list[str] | None) -> list[Row]:
    found = chosen(row_id or "", place or "", papers)
    if not found and row_id:  # as the ledger prints it, under the heading of its paper
        found = [row for key in papers or PAPERS for row in chosen(f"{key}/{row_id}", place or "", papers)]
        found = [row for row in found if row.id.partition("/")[2] == row_id] or found
    if not found:
        option, value = ("--id", row_id) if place is None else ("--place", place)
        raise BadInput(option, value, "no such row; `dpassay prove --json` lists them")
    return [row for row in found if row.id == row_id] or found


def _said_at(place: str, results: list[Result]) -> list[str]:
    """What the inventory says of a place, in the papers of these results."""
    papers = dict.fromkeys(result.row.cite.paper for result in results)
    found = [item for paper in papers for item in items(paper) if place.lower() in item.place.lower()]
    return [f"{item.paper}: {item.place}: {item.says} ({told.decided(item)})" for item in found]


def _with_block(path: Path, block: str) -> str:
    return LEDGER.written(read_text(path, "--readme"), block, f"--readme {path}")
