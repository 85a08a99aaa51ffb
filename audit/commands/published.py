"""``dpassay published``: hold a printed attack result against the guarantee it was printed with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.claims.claimed import read_claim
from dpassay.audit.inputs.stored import named_columns
from dpassay.audit.plain import plain
from dpassay.audit.published.assessment import Assessment, Finding, Metric, Published, assess
from dpassay.audit.published.dro import ASSUMED, CONFOUNDS, table_2
from dpassay.audit.terminal.options import AsJson, relation_named
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.guarantee import LARGEST, Guarantee, approx_dp

IMPOSSIBLE = (Finding.CONTRADICTS, Finding.CONTRADICTS_UNLESS_SHIFT)
MEANING = {
    Finding.CONTRADICTS: "impossible under the claim, even with every pair across groups granted",
    Finding.CONTRADICTS_UNLESS_SHIFT: "impossible under the claim, if members and non-members share a distribution",
    Finding.ABOVE: "above the ceiling of the expectation; chance was not excluded",
    Finding.WITHIN: "possible under the claim (which is not shown by this)",
}


ASSUMPTIONS = (
    "The p-value lets the scores of one model depend on each other. It assumes that who is a member was a uniformly "
    "random split, and that attack and threshold were fixed before the members were known.",
    "A ceiling is for the expectation over splits and trainings; members and non-members of one distribution.",
)
COLUMNS = {"epsilon": float, "delta": float, "relation": str, "auc": float, "balanced_accuracy": float, "tpr": float,
           "fpr": float, "members": int, "nonmembers": int}  # fmt: skip
OF_ONE_NUMBER = (*COLUMNS, "gdp", "sampled_gaussian")


def published(
    context: typer.Context,
    table: Annotated[
        Path | None,
        typer.Argument(help="One result a line, CSV: columns named like options, epsilon, auc, members."),
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Claimed epsilon.")] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta.")] = 0.0,
    relation: Annotated[str, typer.Option(help="Neighbours of the claim: replace-one or add-remove.")] = "replace-one",
    auc: Annotated[float | None, typer.Option(help="Printed area under the ROC curve.")] = None,
    balanced_accuracy: Annotated[float | None, typer.Option(help="Printed balanced accuracy.")] = None,
    tpr: Annotated[float | None, typer.Option(help="Printed true positive rate; needs --fpr.")] = None,
    fpr: Annotated[float | None, typer.Option(help="False positive rate of --tpr.")] = None,
    members: Annotated[int | None, typer.Option(help="Members attacked.")] = None,
    nonmembers: Annotated[int | None, typer.Option(help="Non-members attacked.")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the statements.")] = 0.95,
    gdp: Annotated[float | None, typer.Option(help="Claimed mu of mu-GDP (beside or instead of --epsilon).")] = None,
    sampled_gaussian: Annotated[
        str | None, typer.Option(help="NOISE:RATE:STEPS of DP-SGD, held against its PLD (beside or instead).")
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Assess a stored table instead: dro.")] = None,
    as_json: AsJson = False,
) -> None:
    """The largest value any attack can reach, the epsilon a number implies, and the verdict.

    Exit code 1 when a number contradicts its claim, 2 for bad input, else 0; a stored table (--paper) is only shown.
    """
    if paper is not None or table is not None:
        for name in OF_ONE_NUMBER:
            source = context.get_parameter_source(name)
            why = f"has its own numbers; drop --{name.replace('_', '-')}"
            require(source is None or source.name != "COMMANDLINE", "the table", paper or str(table), why)
        require(paper in (None, "dro"), "--paper", paper, "stored tables: dro")
        cells = table_2(confidence) if table is None else list(_of_file(table, confidence))
        _table(cells, as_json, table is None)
        raise typer.Exit(int(table is not None and any(one.finding in IMPOSSIBLE for _, one in cells)))
    if epsilon is None and gdp is None and sampled_gaussian is None:
        raise BadInput("--epsilon", epsilon, "is required (or --gdp, --sampled-gaussian, --paper)")
    printed = _printed(auc, balanced_accuracy, tpr, members, nonmembers, fpr)
    neighbours = relation_named(relation) or "replace-one"
    pair = None if epsilon is None else assess(printed, _pair(epsilon, delta, neighbours), confidence)
    curves = [assess(printed, one, confidence, curve=True) for one in _curves(gdp, sampled_gaussian, neighbours)]
    if as_json:
        record: dict[str, object] = {} if pair is None else _record(pair)
        record["curves"] = {
            one.claim.name: {"ceiling": one.ceiling, "p-value, random split": one.p_value, "finding": str(one.finding)}
            for one in curves
        }
        print(json.dumps(plain(record), sort_keys=True, allow_nan=False))
    else:
        _show(printed, [*([pair] if pair else []), *curves])
    raise typer.Exit(int(any(one.finding in IMPOSSIBLE for one in (pair, *curves) if one)))


def _printed(
    auc: float | None, accuracy: float | None, tpr: float | None, members: int | None, nonmembers: int | None,
    fpr: float | None,
) -> Published:  # fmt: skip
    options: tuple[tuple[Metric, float | None], ...] = (("auc", auc), ("balanced accuracy", accuracy), ("tpr", tpr))
    given = [(metric, value) for metric, value in options if value is not None]
    if len(given) != 1:
        raise BadInput("metric", [name for name, _ in given], "give exactly one of --auc, --balanced-accuracy, --tpr")
    for option, count in (("--members", members), ("--nonmembers", nonmembers)):
        require(count is not None, option, count, "is required: without it chance cannot be excluded")
    return Published(*given[0], members or 0, nonmembers or 0, fpr)


def _of_file(path: Path, confidence: float) -> Iterator[tuple[str, Assessment]]:
    """Each line of a table with its name, or its number; an empty cell is an option that is not given."""
    read = named_columns(path, ("name", *COLUMNS))
    if read is None:
        raise BadInput(str(path), "no named columns", f"must be .csv with a header of {', '.join(COLUMNS)}, and a name")
    for number, cells in enumerate(zip(*read.values(), strict=True), 2):
        line = {name: text for name, text in zip(read, map(str, cells), strict=True) if text.strip()}
        try:
            values: dict[str, Any] = {name: COLUMNS[name](text) for name, text in line.items() if name in COLUMNS}
            relation = relation_named(values.get("relation")) or "replace-one"
            names = ("auc", "balanced_accuracy", "tpr", "members", "nonmembers", "fpr")
            given: list[Any] = [values.get(name) for name in names]
            require("epsilon" in values, "epsilon", None, "is required")
            claim = _pair(values["epsilon"], values.get("delta", 0.0), relation)
            yield line.get("name", f"line {number}"), assess(_printed(*given), claim, confidence)
        except ValueError as error:
            raise BadInput(f"{path}: line {number}", ", ".join(line.values()), printable(str(error))) from None


def _pair(epsilon: float, delta: float, relation: Relation) -> Guarantee:
    require(0 <= epsilon < LARGEST, "epsilon", epsilon, f"must lie in [0, {LARGEST:g})")
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    return approx_dp(epsilon, delta, relation)


def _curves(mu: float | None, sampled: str | None, relation: Relation) -> Iterator[Guarantee]:
    for claim in (read_claim(None, 0.0, mu, None, None), read_claim(None, 0.0, None, sampled, None)):
        if claim is not None:
            yield claim.guarantee if claim.guarantee.relation else replace(claim.guarantee, relation=relation)


def _record(one: Assessment) -> dict[str, object]:
    epsilon, delta = one.claim.outermost
    about = {"metric": one.result.metric, "value": one.result.value, "epsilon": epsilon, "delta": delta}
    ceilings = {"ceiling": one.ceiling, "ceiling under shift": one.shifted_ceiling}
    chances = {"p-value, random split": one.p_value, "p-value, shift granted": one.shifted_p_value}
    return {**about, **ceilings, **chances, "implied epsilon": one.implied_epsilon, "finding": str(one.finding)}


def _show(printed: Published, assessments: Sequence[Assessment]) -> None:
    console = Console()
    at = f" at FPR {printed.fpr:g}" if printed.fpr is not None else ""
    table = Table("statement", "value", title=f"{printed.metric}{at} = {printed.value:g}")
    for one in assessments:
        table.add_row(f"largest under {one.claim.name}", f"{one.ceiling:.4f}")
        if one.implied_epsilon is not None:
            table.add_row("epsilon it implies as an expectation", f"{one.implied_epsilon:.4g}")
        table.add_row("p-value; sound for a random split", f"{one.p_value:.3g}")
    console.print(table)
    for one in assessments:
        name = f"{one.claim.name}: " if len(assessments) > 1 else ""
        console.print(f"{name}{one.finding}: {MEANING[one.finding]}")
    for assumption in ASSUMPTIONS:
        console.print(f"- {assumption}")


def _table(cells: Sequence[tuple[str, Assessment]], as_json: bool, stored: bool) -> None:
    notes = {"Assumed by the findings:": ASSUMED, "What else could explain a number:": CONFOUNDS}
    if as_json:
        rows = [{"algorithm": name, **_record(one)} for name, one in cells]
        document = {"cells": rows, **({"assumed": ASSUMED, "confounds": CONFOUNDS} if stored else {})}
        print(json.dumps(plain(document), sort_keys=True, allow_nan=False))
        return
    table = Table("algorithm", "epsilon", "printed AUC" if stored else "printed", "ceiling", "with shift", "implies",
                  "p", "p, shift", "finding")  # fmt: skip
    for name, a in cells:
        table.add_row(
            printable(name), f"{a.claim.outermost[0]:g}", f"{a.result.value:.4f}", f"{a.ceiling:.4f}",
            "" if a.shifted_ceiling is None else f"{a.shifted_ceiling:.4f}", f"{a.implied_epsilon:.3g}",
            f"{a.p_value:.1g}", "" if a.shifted_p_value is None else f"{a.shifted_p_value:.1g}", str(a.finding),
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    for title, lines in notes.items() if stored else [("Assumed by the findings:", ASSUMPTIONS)]:
        console.print(title)
        for line in lines:
            console.print(f"- {line}")
