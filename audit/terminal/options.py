"""Options that several commands have, and what a shell may offer for a name of the catalogue."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from dpassay.reference.errors import require

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
JsonTable = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
JUnit = Annotated[Path | None, typer.Option("--junit", help="Write JUnit XML here, one test case a row.")]
Sarif = Annotated[Path | None, typer.Option("--sarif", help="Write SARIF 2.1.0 here, findings at their source lines.")]
Markdown = Annotated[Path | None, typer.Option("--markdown", help="Write Markdown here, for a comment or a summary.")]
GitHub = Annotated[
    bool, typer.Option("--github", help="Print annotations for GitHub Actions, and add to the job's summary.")
]
Epsilon = Annotated[float | None, typer.Option("--epsilon", help="Claimed epsilon, at --delta.")]
Delta = Annotated[float, typer.Option("--delta", help="Claimed delta (0 allowed).")]
Mu = Annotated[float | None, typer.Option("--gdp", help="Claim mu-Gaussian DP instead.")]
Sampled = Annotated[
    str | None,
    typer.Option("--sampled-gaussian", help="NOISE:RATE:STEPS: claim the PLD of DP-SGD (add or remove) instead."),
]
PairsFile = Annotated[
    Path | None, typer.Option("--curve", help="JSON file: claim all of [[epsilon, delta], ...] instead.")
]


def _seconds(budget: float | None) -> float | None:
    require(budget is None or 0 < budget < float("inf"), "--budget", budget, "must be positive and finite")
    return budget


_ENDS = "Seconds after which the audit of your own code ends with what it has found."
Budget = Annotated[float | None, typer.Option(callback=_seconds, help=_ENDS)]


def names(incomplete: str) -> Iterator[tuple[str, str]]:
    """Papers, algorithms and keys that begin so, each with what it is; keys only where nothing shorter is left."""
    from dpassay.reference.catalogue import CASES

    papers = {case.paper: "paper" for case in CASES}
    ids = {case.id: case.title for case in CASES}
    keys = {case.key: case.title for case in CASES}
    for known in (papers, ids, keys) if "/" not in incomplete else (ids, keys):
        found = {name: title for name, title in known.items() if name.startswith(incomplete)}
        if found and set(found) != {incomplete}:
            yield from found.items()
            return
