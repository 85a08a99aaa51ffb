"""``dpassay report``: the rows of a report as one HTML file, with what the ledger says of their papers."""

import os
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer
from markupsafe import Markup

from dpassay.audit.report.html import StatementView, page, paper_of
from dpassay.audit.running.report_file import load
from dpassay.audit.terminal.options import Jobs
from dpassay.reference.errors import BadInput, require
from dpassay.reference.extras import installing
from dpassay.reference.files import require_writable, write_text
from dpassay.reference.papers import PAPERS


def report(
    source: Annotated[Path, typer.Argument(metavar="[REPORT.json]", help="What `dpassay audit` wrote.")] = Path(
        "reports/audit.json"
    ),
    output: Annotated[
        Path | None, typer.Option(help="The page; default: beside the report, with the ending .html.")
    ] = None,
    ledger: Annotated[bool, typer.Option(help="With the proof ledger's tables about the papers of the report.")] = True,
    jobs: Jobs = 2,
) -> None:
    """Write a report as one HTML file that needs nothing else: no network, no server, light and dark, printable.

    It shows the verdicts with filters; for each row delta over epsilon as claimed, accounted and realised, the timeline
    of releases, findings with their smallest example, and the lines of source that were not reached; and what becomes
    of the papers' statements.

    The statements of its papers are derived anew, which takes some seconds a paper; --no-ledger leaves them out.
    """
    rows = load(source, any_version=True)
    target = output or source.with_suffix(".html")
    require(bool(rows), str(source), "no rows", "there is nothing to show")
    require(os.path.realpath(target) != os.path.realpath(source), "--output", str(target), "is the report itself")
    through = target.is_symlink() and not target.is_relative_to("/dev")
    require(not through, "--output", str(target), "is a symbolic link: name the file itself")
    require_writable(target, "--output")
    papers = list(dict.fromkeys(paper for row in rows if (paper := paper_of(row)) in PAPERS))
    text = page(rows, source.name, *(statements_of(papers, jobs) if ledger and papers else ()))
    write_text(target, text, "--output")
    failed = sum(row.exit_code() == 1 for row in rows)
    count = f"{len(rows)} row{'s' * (len(rows) != 1)}" + (f", {failed} not as they should be" if failed else "")
    print(f"{target}: {count}, {len(text.encode()) / 2**20:.1f} MiB")


def statements_of(papers: Sequence[str], jobs: int) -> tuple[list[StatementView], str]:
    """What becomes of the statements of these papers, each with its chain; and all of them in a sentence."""
    if find_spec("sympy") is None:
        raise BadInput("--ledger", True, f"needs {installing('proofs')}; --no-ledger leaves it out")
    from dpassay.audit.commands.prove import examined
    from dpassay.proofs_check.derivation.ledger import summary
    from dpassay.proofs_check.derivation.model import statements
    from dpassay.proofs_check.derivation.show import sentence, svg

    every = examined([one for one in statements() if one.paper in papers], jobs, quiet=False)
    found = [one for one in every if one.statement.paper in papers]
    views = [
        StatementView(
            one.statement.paper, one.statement.name, one.group, one.status.label, one.statement.title, sentence(one),
            Markup(svg(one.derivation.chain, f"chain-{number}")),
            tuple((step.step.id, step.step.says, f"{step.decision.answer} {step.decision.evidence}".strip())
                  for step in one.derivation.chain.steps),
            f'dpassay prove "{one.statement.name}" --paper {one.statement.paper}',
        )
        for number, one in enumerate(found)
    ]  # fmt: skip
    return views, f"{summary(found)}, decided by machine."
