"""``dpassay published``: hold a printed attack result against the guarantee it was printed with."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.plain import plain
from dpassay.audit.published.assessment import (
    Assessment,
    CurveAssessment,
    Finding,
    Published,
    assess,
    assess_curve,
)
from dpassay.audit.published.ceilings import (
    Ceilings,
    Metric,
    ceilings,
    gdp_curve,
    sampled_gaussian_curve,
)
from dpassay.audit.published.dro import ASSUMED, CONFOUNDS, table_2
from dpassay.audit.terminal.options import AsJson, relation_named
from dpassay.reference.accounting.sampled import Relation
from dpassay.reference.errors import BadInput, require
from dpassay.reference.guarantee import LARGEST, Guarantee, approx_dp

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
OF_ONE_NUMBER = ("epsilon", "delta", "relation", "gdp", "sampled_gaussian", "auc", "balanced_accuracy", "tpr", "fpr",
                 "members", "nonmembers", "runs")  # fmt: skip


def published(
    context: typer.Context,
    epsilon: Annotated[float | None, typer.Option(help="Claimed epsilon.")] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta.")] = 0.0,
    relation: Annotated[str, typer.Option(help="Neighbours of the claim: replace-one or add-remove.")] = "replace-one",
    auc: Annotated[float | None, typer.Option(help="Printed area under the ROC curve.")] = None,
    balanced_accuracy: Annotated[float | None, typer.Option(help="Printed balanced accuracy.")] = None,
    tpr: Annotated[float | None, typer.Option(help="Printed true positive rate; needs --fpr.")] = None,
    fpr: Annotated[float | None, typer.Option(help="False positive rate of --tpr.")] = None,
    members: Annotated[int | None, typer.Option(help="Members attacked.")] = None,
    nonmembers: Annotated[int | None, typer.Option(help="Non-members attacked.")] = None,
    runs: Annotated[int, typer.Option(help="Independent trainings behind the number.")] = 1,
    confidence: Annotated[float, typer.Option(help="Confidence of the statements.")] = 0.95,
    gdp: Annotated[float | None, typer.Option(help="Claimed mu of mu-GDP (beside or instead of --epsilon).")] = None,
    sampled_gaussian: Annotated[
        str | None, typer.Option(help="NOISE:RATE:STEPS of DP-SGD, held against its PLD (beside or instead).")
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Assess a stored table instead: dro.")] = None,
    as_json: AsJson = False,
) -> None:
    """The largest value any attack can reach, the epsilon a number implies, and the verdict.

    Exit code 1 when the number contradicts a claim, 2 for bad input, else 0; a stored table (--paper) is only shown.
    """
    if paper is not None:
        for name in OF_ONE_NUMBER:
            source = context.get_parameter_source(name)
            given = source is not None and source.name == "COMMANDLINE"
            require(not given, "--paper", paper, f"has its own numbers; drop --{name.replace('_', '-')}")
        _paper(paper, confidence, as_json)
        return
    if epsilon is None and gdp is None and sampled_gaussian is None:
        raise BadInput("--epsilon", epsilon, "is required (or --gdp, --sampled-gaussian, --paper)")
    metric, value = _metric(auc, balanced_accuracy, tpr)
    for option, count in (("--members", members), ("--nonmembers", nonmembers)):
        require(count is not None, option, count, "is required: without it chance cannot be excluded")
    printed = Published(metric, value, members or 0, nonmembers or 0, fpr, runs)
    neighbours = relation_named(relation) or "replace-one"
    assessment = None if epsilon is None else assess(printed, _pair(epsilon, delta, neighbours), confidence)
    curves = _curves(printed, gdp, sampled_gaussian, neighbours, confidence)
    if as_json:
        record: dict[str, object] = {} if assessment is None else _record(assessment)
        record["curves"] = {
            name: {"ceiling": one.ceiling, "p-value, random split": one.p_value, "finding": str(one.finding)}
            for name, (one, _) in curves.items()
        }
        print(json.dumps(plain(record), sort_keys=True, allow_nan=False))
    else:
        _show(printed, assessment, confidence, curves)
    found = [one.finding for one, _ in curves.values()] + ([] if assessment is None else [assessment.finding])
    if any(finding in (Finding.CONTRADICTS, Finding.CONTRADICTS_UNLESS_SHIFT) for finding in found):
        raise typer.Exit(1)


def _metric(auc: float | None, accuracy: float | None, tpr: float | None) -> tuple[Metric, float]:
    options: tuple[tuple[Metric, float | None], ...] = (("auc", auc), ("balanced accuracy", accuracy), ("tpr", tpr))
    given = [(metric, value) for metric, value in options if value is not None]
    if len(given) != 1:
        raise BadInput("metric", [name for name, _ in given], "give exactly one of --auc, --balanced-accuracy, --tpr")
    return given[0]


def _pair(epsilon: float, delta: float, relation: Relation) -> Guarantee:
    require(0 <= epsilon < LARGEST, "epsilon", epsilon, f"must lie in [0, {LARGEST:g})")
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    return approx_dp(epsilon, delta, relation)


Curves = dict[str, tuple[CurveAssessment, Ceilings]]


def _curves(
    printed: Published, gdp: float | None, sampled: str | None, relation: Relation, confidence: float
) -> Curves:
    claims = {} if gdp is None else {f"{gdp:g}-GDP": gdp_curve(gdp, relation)}
    if sampled is not None:
        try:
            noise, rate, steps = sampled.split(":")
            claims[f"DP-SGD {sampled}"] = sampled_gaussian_curve(float(noise), float(rate), int(steps))
        except BadInput as error:
            raise BadInput("--sampled-gaussian", sampled, str(error)) from error
        except ValueError as error:
            raise BadInput("--sampled-gaussian", sampled, f"must read NOISE:RATE:STEPS ({error})") from error
    return {name: (assess_curve(printed, claim, confidence), ceilings(claim)) for name, claim in claims.items()}


def _record(assessment: Assessment) -> dict[str, object]:
    result = assessment.result
    implied = assessment.implied_epsilon
    epsilon, delta = assessment.claim.outermost
    return {
        "metric": result.metric,
        "value": result.value,
        "epsilon": epsilon,
        "delta": delta,
        "ceiling": assessment.ceiling,
        "ceiling under shift": assessment.shifted_ceiling,
        "implied epsilon": implied,
        "p-value, random split": assessment.p_value,
        "p-value, shift granted": assessment.shifted_p_value,
        "finding": str(assessment.finding),
    }


def _show(printed: Published, assessment: Assessment | None, confidence: float, curves: Curves) -> None:
    console = Console()
    at = f" at FPR {printed.fpr:g}" if printed.fpr is not None else ""
    table = Table("statement", "value", title=f"{printed.metric}{at} = {printed.value:g}")
    for statement, value in [] if assessment is None else _statements(assessment, confidence):
        table.add_row(statement, value)
    for name, (one, ceiling) in curves.items():
        table.add_row(f"largest under {name}", f"{one.ceiling:.4f}")
        table.add_row(f"p-value under {name}; sound for a random split", f"{one.p_value:.3g}")
        table.add_row(
            f"largest AUC / balanced accuracy under {name}", f"{ceiling.auc:.4f} / {ceiling.balanced_accuracy:.4f}"
        )
        rates = ", ".join(f"{value:.4f} at {fpr:g}" for fpr, value in ceiling.tpr.items())
        table.add_row(f"largest TPR under {name}", rates)
    console.print(table)
    if assessment is not None:
        console.print(f"{assessment.finding}: {MEANING[assessment.finding]}")
    for name, (one, _) in curves.items():
        console.print(f"{name}: {one.finding}: {MEANING[one.finding]}")
    for assumption in ASSUMPTIONS:
        console.print(f"- {assumption}")


def _statements(assessment: Assessment, confidence: float) -> list[tuple[str, str]]:
    rows = [(f"largest under {assessment.claim.name}", f"{assessment.ceiling:.4f}")]
    rows.append(("epsilon it implies as an expectation", f"{assessment.implied_epsilon:.4g}"))
    rows.append(("p-value; sound for a random split", f"{assessment.p_value:.3g}"))
    return rows


def _paper(paper: str, confidence: float, as_json: bool) -> None:
    if paper != "dro":
        raise BadInput("--paper", paper, "stored tables: dro")
    cells = table_2(confidence)
    if as_json:
        rows = [{"algorithm": cell.algorithm, **_record(cell.assessment)} for cell in cells]
        document = {"cells": rows, "assumed": ASSUMED, "confounds": CONFOUNDS}
        print(json.dumps(plain(document), sort_keys=True, allow_nan=False))
        return
    table = Table("algorithm", "epsilon", "printed AUC", "ceiling", "with shift", "implies", "p", "p, shift", "finding")
    for cell in cells:
        a = cell.assessment
        table.add_row(
            cell.algorithm, f"{a.claim.outermost[0]:g}", f"{a.result.value:.4f}", f"{a.ceiling:.4f}",
            f"{a.shifted_ceiling:.4f}", f"{a.implied_epsilon:.3g}", f"{a.p_value:.1g}", f"{a.shifted_p_value:.1g}",
            str(a.finding),
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    for title, lines in (("Assumed by the findings:", ASSUMED), ("What else could explain a number:", CONFOUNDS)):
        console.print(title)
        for line in lines:
            console.print(f"- {line}")
