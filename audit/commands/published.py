"""``dpassay published``: hold a printed attack result against the guarantee it was printed with."""

from __future__ import annotations

import json
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from dpassay.audit.matching import Group
from dpassay.audit.published import (
    Assessment,
    Ceilings,
    Finding,
    Metric,
    Published,
    assess,
    ceilings,
    gdp_trade_off,
    sampled_gaussian_trade_off,
)
from dpassay.audit.published_dro import CONFOUNDS, table_2
from dpassay.reference.errors import BadInput

MEANING = {
    Finding.CONTRADICTS: "impossible under the claim, even with every pair across groups granted",
    Finding.CONTRADICTS_UNLESS_SHIFT: "impossible under the claim, if members and non-members share a distribution",
    Finding.ABOVE: "above the ceiling of the expectation; chance was not excluded",
    Finding.WITHIN: "possible under the claim (which is not shown by this)",
}


def published(
    epsilon: Annotated[float | None, typer.Option(help="Claimed epsilon.")] = None,
    delta: Annotated[float, typer.Option(help="Claimed delta.")] = 0.0,
    auc: Annotated[float | None, typer.Option(help="Printed area under the ROC curve.")] = None,
    balanced_accuracy: Annotated[float | None, typer.Option(help="Printed balanced accuracy.")] = None,
    tpr: Annotated[float | None, typer.Option(help="Printed true positive rate; needs --fpr.")] = None,
    fpr: Annotated[float | None, typer.Option(help="False positive rate of --tpr.")] = None,
    members: Annotated[int, typer.Option(help="Members attacked.")] = 1,
    nonmembers: Annotated[int, typer.Option(help="Non-members attacked.")] = 1,
    group: Annotated[list[str] | None, typer.Option(help="MEMBERS:NONMEMBERS of one group (repeat).")] = None,
    runs: Annotated[int, typer.Option(help="Independent trainings behind the number.")] = 1,
    std: Annotated[float | None, typer.Option(help="Deviation over the runs.")] = None,
    confidence: Annotated[float, typer.Option(help="Confidence of the statements.")] = 0.95,
    gdp: Annotated[float | None, typer.Option(help="Also print the ceilings under mu-GDP.")] = None,
    sampled_gaussian: Annotated[
        str | None, typer.Option(help="NOISE:RATE:STEPS of DP-SGD: also print the ceilings under its PLD.")
    ] = None,
    paper: Annotated[str | None, typer.Option(help="Assess a stored table instead: dro.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
) -> None:
    """The largest value any attack can reach, the epsilon a number implies, and the verdict."""
    if paper is not None:
        _paper(paper, confidence, as_json)
        return
    counts = tuple(_group(text) for text in group or [])
    result = _one(epsilon, delta, auc, balanced_accuracy, tpr, fpr, members, nonmembers, counts, runs, std)
    assessment = assess(result, confidence)
    curves = _curves(gdp, sampled_gaussian)
    if as_json:
        print(json.dumps(_record(assessment), sort_keys=True, allow_nan=False))
    else:
        _show(assessment, confidence, curves)
    if assessment.finding in (Finding.CONTRADICTS, Finding.CONTRADICTS_UNLESS_SHIFT):
        raise typer.Exit(1)


def _one(
    epsilon: float | None, delta: float, auc: float | None, accuracy: float | None, tpr: float | None,
    fpr: float | None, members: int, nonmembers: int, groups: tuple[Group, ...], runs: int, std: float | None,
) -> Published:  # fmt: skip
    if epsilon is None:
        raise BadInput("--epsilon", epsilon, "is required (or give --paper)")
    options: tuple[tuple[Metric, float | None], ...] = (("auc", auc), ("balanced accuracy", accuracy), ("tpr", tpr))
    given = [(metric, value) for metric, value in options if value is not None]
    if len(given) != 1:
        raise BadInput("metric", [name for name, _ in given], "give exactly one of --auc, --balanced-accuracy, --tpr")
    metric, value = given[0]
    return Published(metric, value, epsilon, delta, members, nonmembers, fpr, runs, std, groups)


def _group(text: str) -> Group:
    parts = text.split(":")
    if len(parts) != 2 or not all(part.isdecimal() for part in parts):
        raise BadInput("--group", text, "must read MEMBERS:NONMEMBERS, two counts")
    return int(parts[0]), int(parts[1])


def _curves(gdp: float | None, sampled: str | None) -> dict[str, Ceilings]:
    found = {} if gdp is None else {f"{gdp:g}-GDP": ceilings(gdp_trade_off(gdp))}
    if sampled is not None:
        try:
            noise, rate, steps = sampled.split(":")
            curve = sampled_gaussian_trade_off(float(noise), float(rate), int(steps))
        except BadInput:
            raise
        except ValueError as error:
            raise BadInput("--sampled-gaussian", sampled, f"must read NOISE:RATE:STEPS ({error})") from error
        found[f"DP-SGD {sampled}"] = ceilings(curve)
    return found


def _record(assessment: Assessment) -> dict[str, object]:
    result = assessment.result
    implied = assessment.implied_epsilon
    return {
        "metric": result.metric,
        "value": result.value,
        "epsilon": result.epsilon,
        "delta": result.delta,
        "ceiling": assessment.ceiling,
        "ceiling under shift": assessment.shifted_ceiling,
        "implied epsilon": implied if implied != float("inf") else "inf",
        "p-value, random split": assessment.p_value,
        "p-value, shift granted": assessment.shifted_p_value,
        "lower bound, assumes normal runs": assessment.spread_bound,
        "lower bound, assumes independent scores": assessment.independent_bound,
        "finding": str(assessment.finding),
    }


def _show(assessment: Assessment, confidence: float, curves: dict[str, Ceilings]) -> None:
    console, result = Console(), assessment.result
    at = f" at FPR {result.fpr:g}" if result.fpr is not None else ""
    table = Table("statement", "value", title=f"{result.metric}{at} = {result.value:g}")
    table.add_row(f"largest under ({result.epsilon:g}, {result.delta:g})-DP", f"{assessment.ceiling:.4f}")
    for name, ceiling in curves.items():
        table.add_row(
            f"largest AUC / balanced accuracy under {name}", f"{ceiling.auc:.4f} / {ceiling.balanced_accuracy:.4f}"
        )
        rates = ", ".join(f"{value:.4f} at {fpr:g}" for fpr, value in ceiling.tpr.items())
        table.add_row(f"largest TPR under {name}", rates)
    if assessment.shifted_ceiling is not None:
        table.add_row("largest, pairs across groups granted", f"{assessment.shifted_ceiling:.4f}")
    table.add_row("epsilon it implies", f"{assessment.implied_epsilon:.4g}")
    table.add_row("p-value; sound for a random split", f"{assessment.p_value:.3g}")
    if assessment.shifted_p_value is not None:
        table.add_row("p-value; sound for a random split within groups", f"{assessment.shifted_p_value:.3g}")
    if assessment.spread_bound is not None:
        table.add_row(f"{confidence:.0%} lower bound, assumes normal runs", f"{assessment.spread_bound:.4f}")
    if assessment.independent_bound is not None:
        table.add_row(
            f"{confidence:.0%} lower bound, assumes independent scores", f"{assessment.independent_bound:.4f}"
        )
    console.print(table)
    console.print(f"{assessment.finding}: {MEANING[assessment.finding]}")


def _paper(paper: str, confidence: float, as_json: bool) -> None:
    if paper != "dro":
        raise BadInput("--paper", paper, "stored tables: dro")
    cells = table_2(confidence)
    if as_json:
        rows = [{"algorithm": cell.algorithm, **_record(cell.assessment)} for cell in cells]
        print(json.dumps({"cells": rows, "confounds": CONFOUNDS}, sort_keys=True, allow_nan=False))
        return
    table = Table("algorithm", "epsilon", "printed AUC", "ceiling", "with shift", "implies", "p", "p, shift", "finding")
    for cell in cells:
        a = cell.assessment
        table.add_row(
            cell.algorithm, f"{a.result.epsilon:g}", f"{a.result.value:.4f}", f"{a.ceiling:.4f}",
            f"{a.shifted_ceiling:.4f}", f"{a.implied_epsilon:.3g}", f"{a.p_value:.1g}", f"{a.shifted_p_value:.1g}",
            str(a.finding),
        )  # fmt: skip
    console = Console(width=150)
    console.print(table)
    for confound in CONFOUNDS:
        console.print(f"- {confound}")
