"""``dpassay report``: the rows of a report as one HTML file, with what the ledger says of their papers."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from dpassay.audit.report.html.page import render
from dpassay.audit.report.html.records import Ledger, LedgerRow, Statement
from dpassay.audit.report.html.reproduced import pages
from dpassay.audit.report.html.rows import paper_of
from dpassay.audit.report.html.view import view_of
from dpassay.audit.row import Row
from dpassay.audit.running.report_file import load
from dpassay.reference.errors import BadInput, require
from dpassay.reference.files import is_folder, require_writable, write_text
from dpassay.reference.papers import PAPERS

from .options import PROOF_CACHE as CACHE

REPRODUCTIONS = Path("docs") / "reproductions"


def report(
    source: Annotated[Path, typer.Argument(metavar="[REPORT.json]", help="What `dpassay audit` wrote.")] = Path(
        "reports/audit.json"
    ),
    output: Annotated[
        Path | None, typer.Option(help="The page; default: beside the report, with the ending .html.")
    ] = None,
    ledger: Annotated[bool, typer.Option(help="With the proof ledger's tables about the papers of the report.")] = True,
    reproductions: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the pages that `dpassay reproduce` writes; default: docs/reproductions, if there."
        ),
    ] = None,
    jobs: Annotated[int, typer.Option(min=1, help="Worker processes for the ledger.")] = 2,
) -> None:
    """Write a report as one HTML file that needs nothing else: no network, no server, light and dark, printable.

    It shows the verdicts with filters; for each row the curves of delta over epsilon as claimed, accounted and
    realised, the trade-off, the timeline of releases, findings with their smallest example, and the source that was not
    reached; the ledger's tables, and reproduced experiments.

    The ledger is decided anew where nothing is kept of it in reports/proof-cache (a minute or two); --no-ledger leaves
    it out.
    """
    rows = load(source, any_version=True)
    target = output or source.with_suffix(".html")
    require(bool(rows), str(source), "no rows", "there is nothing to show")
    require(os.path.realpath(target) != os.path.realpath(source), "--output", str(target), "is the report itself")
    through = target.is_symlink() and not target.is_relative_to("/dev")
    require(not through, "--output", str(target), "is a symbolic link: name the file itself")
    require_writable(target, "--output")
    require(reproductions is None or is_folder(reproductions), "--reproductions", str(reproductions), "is not a folder")
    papers = list(dict.fromkeys(paper for row in rows if (paper := paper_of(row)) in PAPERS))
    view = view_of(rows, source.name)
    if reproductions is not None or REPRODUCTIONS.is_dir():
        view = replace(view, reproduced=tuple(pages(reproductions or REPRODUCTIONS, papers)))
    if ledger and papers:
        view = replace(view, ledger=ledger_of(papers, jobs))
    text = render(view)
    write_text(target, text, "--output")
    print(f"{target}: {_count(rows)}, {len(text.encode()) / 2**20:.1f} MiB")


def ledger_of(papers: Sequence[str], jobs: int) -> Ledger:
    """The ledger's statements and rows about these papers, as text.

    Raises:
        Missing: what the ledger needs is not installed; ``--no-ledger`` leaves it out.
    """
    if find_spec("sympy") is None:
        raise BadInput("--ledger", True, 'needs pip install "dpassay[proofs]"; --no-ledger leaves it out')
    from dpassay.proofs_check import graph
    from dpassay.proofs_check.corrections import corrected_share
    from dpassay.proofs_check.effects import effect
    from dpassay.proofs_check.ledger import check_all
    from dpassay.proofs_check.report import sharp_share

    print("dpassay: deciding the ledger's rows (kept in reports/proof-cache)", file=sys.stderr)
    results = check_all(papers, jobs=jobs, cache_dir=CACHE)
    statements = tuple(
        Statement(paper, *(_plain(cell) for cell in cells))
        for paper in papers
        for cells in graph.cells_of(paper, [one for one in results if one.row.cite.paper == paper])
    )
    rows = tuple(
        LedgerRow(
            id=one.row.id,
            place=one.row.cite.place,
            statement=one.row.statement,
            verdict=str(one.verdict),
            severity=str(effect(one)) if one.failed else "",
            evidence=one.finding.evidence,
            saved=f"{one.saved_by}: {one.row.saving.text}" if one.saved_by else "not at all" if one.failed else "",
        )
        for one in results
    )
    note = f"{len(rows)} rows about {', '.join(papers)}, decided by machine. {sharp_share(results)}; "
    return Ledger(statements, rows, note + f"{corrected_share(results)}.")


def _plain(cell: str) -> str:
    """A cell of Markdown as text."""
    return cell.replace("**", "").replace("`", "").replace("\\|", "|")


def _count(rows: Sequence[Row]) -> str:
    failed = sum(row.exit_code() == 1 for row in rows)
    return f"{len(rows)} row{'s' * (len(rows) != 1)}" + (f", {failed} not as they should be" if failed else "")
