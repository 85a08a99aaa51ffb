"""`dpassay mutants`: plant bugs in catalogue algorithms and see who catches them."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.mutants import Effort, Outcome, run_mutants


def _row(outcome: Outcome) -> tuple[str, ...]:
    state = "right" if outcome.right else ("MISSED" if outcome.must_be_caught else "FALSE ALARM")
    bound = "" if outcome.likelihood is None else f"{outcome.likelihood:.3f}"
    caught = ", ".join(outcome.caught_by) or "nobody"
    numbers = (f"{outcome.claimed:.3g}", f"{outcome.exact:.3f}", bound)
    return (outcome.case, outcome.mutation, *numbers, caught, state, f"{outcome.seconds:.1f}")


def mutants(
    cases: Annotated[
        list[str] | None, typer.Argument(help="catalogue cases; none: those with tight pairs")
    ] = None,
    only: Annotated[str, typer.Option(help="keep mutations whose name contains this")] = "",
    runs: Annotated[int, typer.Option(help="runs of the likelihood audit")] = 400,
    outputs: Annotated[int, typer.Option(help="black-box runs a side, 0 to switch it off")] = 1000,
    seed: Annotated[int, typer.Option()] = 0,
) -> None:
    """Exit status 1 when a mutant 10 % over its claim escapes, or a safe one is accused."""
    table = Table("case", "mutation", "claimed", "exact", "likelihood", "caught by", "", "seconds")
    outcomes = []
    for outcome in run_mutants(tuple(cases or ()), Effort(runs=runs, outputs=outputs, seed=seed), only):
        outcomes.append(outcome)
        table.add_row(*_row(outcome))
    console = Console()
    console.print(table)
    bad = [o for o in outcomes if o.must_be_caught]
    safe = [o for o in outcomes if o.safe]
    for method in ("replay", "likelihood", "black box"):
        console.print(f"{method}: {sum(method in o.caught_by for o in bad)} of {len(bad)}")
    missed = sum(not o.right for o in bad)
    accused = sum(not o.right for o in safe)
    console.print(
        f"caught by at least one: {len(bad) - missed} of {len(bad)}; safe: {accused} of {len(safe)} accused"
    )
    if missed or accused:
        raise typer.Exit(1)
