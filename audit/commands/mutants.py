"""`dpassay mutants`: plant bugs in catalogue algorithms and see who catches them."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer

from dpassay.audit.inputs.foreign import is_code
from dpassay.audit.inputs.registered import find_cases
from dpassay.audit.plain import json_text
from dpassay.audit.report.console import plain_table, wide_console
from dpassay.audit.subjects.subject import subjects
from dpassay.audit.terminal.options import AsJson
from dpassay.audit.terminal.progress import Quiet, counted
from dpassay.audit.zoo.mutants import Effort, Outcome, plan, run_planned
from dpassay.reference.case import Case
from dpassay.reference.errors import require

METHODS = ("replay", "likelihood", "black box")


def _answer(outcome: Outcome) -> str:
    return "right" if outcome.right else "MISSED" if outcome.must_be_caught else "FALSE ALARM"


def _row(outcome: Outcome) -> tuple[str, ...]:
    bound = "" if outcome.likelihood is None else f"{outcome.likelihood:.3f}"
    caught = ", ".join(outcome.caught_by) or "nobody"
    pair = "unaccounted" if outcome.epsilon is None else f"{'' if outcome.exact else '<= '}{outcome.epsilon:.3f}"
    numbers = (f"{outcome.claimed:.3g}", pair, bound)
    return (outcome.case, outcome.mutation, *numbers, caught, _answer(outcome), f"{outcome.seconds:.1f}")


def mutants(
    cases: Annotated[
        list[str] | None,
        typer.Argument(help="Names of `dpassay list`, or MODULE:RUN of your own; default: cases of every paper."),
    ] = None,
    epsilon: Annotated[
        float | None, typer.Option(help="Claimed epsilon of your own algorithm; default: what it adds up to.")
    ] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta of your own algorithm.")] = 1e-5,
    space: Annotated[str | None, typer.Option(help="MODULE:SPACE of your own algorithm's data.")] = None,
    only: Annotated[str, typer.Option(help="Keep mutations whose name contains this.")] = "",
    runs: Annotated[int, typer.Option(help="Runs of the likelihood audit.")] = 400,
    outputs: Annotated[int, typer.Option(help="Black-box runs a side, 0 to switch it off.")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of replay, likelihood audit and black box.")] = 0,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Plant bugs (half the noise, forgotten factors, no clipping, reused noise, private branches, ...) and look.

    "pair" is the exact epsilon of the mutant on the case's pair; "<=" marks what the accountant proves where runs
    differ (early stops) or the pair does not attain it; "unaccounted": data leave outside the accounting. Such a
    mutant, or one 10 % over its claim, must be caught by at least one method, a safe one must pass all three; otherwise
    exit 1. Takes minutes; `--outputs 0` is faster.
    """
    require(10 <= runs <= 10**9, "--runs", runs, "must lie in 10..1e9")
    require(outputs == 0 or outputs >= 10, "--outputs", outputs, "must be 0 or at least 10")
    require(seed >= 0, "--seed", seed, "must not be negative")
    named = [one for name in cases or () for one in _cases(name, space, epsilon, delta)]
    planned = plan(named, only)
    require(bool(planned), "--only", only, "is part of no mutation's name")
    found = run_planned(planned, Effort(runs=runs, outputs=outputs, seed=seed))
    outcomes = list(counted(found, "planting", len(planned), lambda one: f"{one.case}, {one.mutation}", quiet))
    summary = _summary(outcomes)
    if as_json:
        listed = [asdict(one) | {"caught by": list(one.caught_by), "answer": _answer(one)} for one in outcomes]
        print(json_text({"summary": summary, "mutants": listed}))
    else:
        _print(outcomes, summary)
    raise typer.Exit(1 if summary["missed"] or summary["accused"] else 0)


def _cases(name: str, space: str | None, epsilon: float | None, delta: float) -> list[Case]:
    """The named cases; one's own algorithm on its worst pair, with the claim of the options."""
    if not is_code(name):
        why = "is for an algorithm of your own: MODULE:RUN"
        require(epsilon is None, "--epsilon", epsilon, why)
        require(space is None, "--space", space, why)
        return find_cases(name)
    (subject,) = subjects(name, space=space)
    return [subject.as_case() if epsilon is None else subject.claimed(epsilon, delta)]


def _summary(outcomes: list[Outcome]) -> dict[str, Any]:
    bad, safe = [one for one in outcomes if one.must_be_caught], [one for one in outcomes if one.safe]
    return {
        "must be caught": len(bad),
        "caught": {method: sum(method in one.caught_by for one in bad) for method in METHODS},
        "missed": sum(not one.right for one in bad),
        "safe": len(safe),
        "accused": sum(not one.right for one in safe),
    }


def _print(outcomes: list[Outcome], summary: dict[str, Any]) -> None:
    console = wide_console(170)
    heads = ("case", "mutation", "claimed", "pair", "likelihood >=", "caught by", "answer", "seconds")
    table = plain_table(*heads)
    for outcome in outcomes:
        table.add_row(*_row(outcome))
    console.print(table)
    count = summary["must be caught"]
    for method, caught in summary["caught"].items():
        print(f"{method}: {caught} of {count}")
    print(
        f"caught by at least one: {count - summary['missed']} of {count}; "
        f"safe: {summary['accused']} of {summary['safe']} accused"
    )
