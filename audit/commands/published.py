"""``dpassay published``: hold a printed attack result against the guarantee it was printed with."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from dpassay.audit.inputs.foreign import relation_named
from dpassay.audit.inputs.stored import column_names, named_columns
from dpassay.audit.plain import json_text
from dpassay.audit.published.assessment import Assessment, Finding, Metric, Published, assess
from dpassay.audit.published.dro import ASSUMED, CONFOUNDS, table_2
from dpassay.audit.report.problems import SENTENCES
from dpassay.audit.report.verdicts import plain_table, wide_console
from dpassay.audit.terminal.options import AsJson, Confidence
from dpassay.reference.errors import BadInput, printable, require
from dpassay.reference.guarantee import LARGEST, approx_dp

IMPOSSIBLE = (Finding.CONTRADICTS, Finding.CONTRADICTS_UNLESS_SHIFT)
MEANING, ASSUMPTIONS = SENTENCES["published"], SENTENCES["assumed"]
COLUMNS = {"epsilon": float, "delta": float, "relation": str, "auc": float, "balanced_accuracy": float, "tpr": float,
           "fpr": float, "members": int, "nonmembers": int}  # fmt: skip


def published(
    context: typer.Context,
    table: Annotated[
        Path | None, typer.Argument(help="One result a line, CSV: columns named like options, epsilon, auc, members.")
    ] = None,
    epsilon: Annotated[float | None, typer.Option(help="Claimed epsilon.")] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta.")] = 0.0,
    relation: Annotated[str, typer.Option(help="Of the claim: replace-one, add-remove or zero-out.")] = "replace-one",
    auc: Annotated[float | None, typer.Option(help="Printed area under the ROC curve.")] = None,
    balanced_accuracy: Annotated[float | None, typer.Option(help="Printed balanced accuracy.")] = None,
    tpr: Annotated[float | None, typer.Option(help="Printed true positive rate; needs --fpr.")] = None,
    fpr: Annotated[float | None, typer.Option(help="False positive rate of --tpr.")] = None,
    members: Annotated[int | None, typer.Option(help="Members attacked.")] = None,
    nonmembers: Annotated[int | None, typer.Option(help="Non-members attacked.")] = None,
    confidence: Confidence = 0.95,
    paper: Annotated[str | None, typer.Option(help="Assess a stored table instead: dro.")] = None,
    as_json: AsJson = False,
) -> None:
    """The largest value any attack can reach, the epsilon a number implies, and the verdict.

    Exit code 1 when a number contradicts its claim, 2 for bad input, else 0; a stored table (--paper) is only shown.
    """
    if paper is not None or table is not None:
        for name in COLUMNS:
            source = context.get_parameter_source(name)
            why = f"has its own numbers; drop --{name.replace('_', '-')}"
            require(source is None or source.name != "COMMANDLINE", "the table", paper or str(table), why)
        require(paper in (None, "dro"), "--paper", paper, "stored tables: dro")
        require(paper is None or table is None, "--paper", paper, f"is another table than {table}; give one of them")
        cells = table_2(confidence) if table is None else list(_of_file(table, confidence))
    else:
        given = (epsilon, delta, relation, auc, balanced_accuracy, tpr, fpr, members, nonmembers)
        found = _assessed(dict(zip(COLUMNS, given, strict=True)), confidence)
        cells = [(found.result.metric + (f" at FPR {fpr:g}" if fpr is not None else ""), found)]
    stored = paper is not None
    if as_json:
        rows = [{"algorithm": name, **_record(one)} for name, one in cells]
        whole = {"cells": rows, **({"assumed": ASSUMED, "confounds": CONFOUNDS} if stored else {})}
        print(json_text(whole if stored or table is not None else _record(cells[0][1])))
    else:
        _table(cells, stored)
    raise typer.Exit(int(not stored and any(one.finding in IMPOSSIBLE for _, one in cells)))


def _of_file(path: Path, confidence: float) -> Iterator[tuple[str, Assessment]]:
    """Each line of a table with its name, or its number; an empty cell is an option that is not given."""
    read = named_columns(path, ("name", *COLUMNS))
    if read is None:
        known = ", ".join(column_names([path]) or ()) or "no header"
        raise BadInput(str(path), known, f"must be .csv with columns named {', '.join(COLUMNS)}, and name")
    for number, cells in enumerate(zip(*read.values(), strict=True), 2):
        line = {name: text for name, text in zip(read, map(str, cells), strict=True) if text.strip()}
        try:
            values = {name: kind(line[name]) if name in line else None for name, kind in COLUMNS.items()}
            yield line.get("name", f"line {number}"), _assessed(values, confidence)
        except ValueError as error:
            raise BadInput(f"{path}: line {number}", ", ".join(line.values()), printable(str(error))) from None


def _assessed(values: Mapping[str, Any], confidence: float) -> Assessment:
    """A printed number against its claim; by name, None where an option, or a cell, is left out."""
    metrics: dict[str, Metric] = {"auc": "auc", "balanced_accuracy": "balanced accuracy", "tpr": "tpr"}
    given = [name for name in metrics if values[name] is not None]
    require(values["epsilon"] is not None, "--epsilon", None, "is required (or --paper)")
    require(len(given) == 1, "metric", given, "give exactly one of --auc, --balanced-accuracy, --tpr")
    for name in ("members", "nonmembers"):
        require(values[name] is not None, f"--{name}", None, "is required: without it chance cannot be excluded")
    epsilon, delta = values["epsilon"], values["delta"] or 0.0
    require(0 <= epsilon < LARGEST, "epsilon", epsilon, f"must lie in [0, {LARGEST:g})")
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    claim = approx_dp(epsilon, delta, relation_named(values["relation"]) or "replace-one")
    counts = values["members"], values["nonmembers"]
    return assess(Published(metrics[given[0]], values[given[0]], *counts, values["fpr"]), claim, confidence)


def _record(one: Assessment) -> dict[str, object]:
    epsilon, delta = one.claim.outermost
    about = {"metric": one.result.metric, "value": one.result.value, "epsilon": epsilon, "delta": delta}
    ceilings = {"ceiling": one.ceiling, "ceiling under shift": one.shifted_ceiling}
    chances = {"p-value, random split": one.p_value, "p-value, shift granted": one.shifted_p_value}
    return {**about, **ceilings, **chances, "implied epsilon": one.implied_epsilon, "finding": str(one.finding)}


def _table(cells: Sequence[tuple[str, Assessment]], stored: bool) -> None:
    rows = [
        {
            "result": printable(name),
            "epsilon": f"{one.claim.outermost[0]:g}",
            "printed": f"{one.result.value:.4f}",
            "largest allowed": f"{one.ceiling:.4f}",
            "with shift": "" if one.shifted_ceiling is None else f"{one.shifted_ceiling:.4f}",
            "epsilon implied": f"{one.implied_epsilon:.3g}",
            "p": f"{one.p_value:.1g}",
            "p, shift": "" if one.shifted_p_value is None else f"{one.shifted_p_value:.1g}",
            "finding": str(one.finding),
        }
        for name, one in cells
    ]
    heads = [head for head in rows[0] if any(row[head] for row in rows)]
    table, console = plain_table(*heads), wide_console()
    for row in rows:
        table.add_row(*(row[head] for head in heads))
    console.print(table)
    for finding in dict.fromkeys(one.finding for _, one in cells):
        console.print(f"{finding}: {MEANING[finding]}")
    notes = {"Assumed by the findings:": ASSUMED, "What else could explain a number:": CONFOUNDS}
    for title, lines in notes.items() if stored else [("Assumed by the findings:", ASSUMPTIONS)]:
        console.print(title)
        for line in lines:
            console.print(f"- {line}")
