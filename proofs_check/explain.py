"""One row of the ledger for a reader at a terminal: source, derivation, assumptions, evidence."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Mapping
from typing import Any

from .claim import Claim, Finding, Kind, Result, Sharpness
from .corrections import ASKED
from .effects import at_stake, effect
from .graph import supports
from .ties import Tie

WIDTH = 108
LABEL = 12
DEFAULTS = {"rate": "1", "failure": "0", "constants": "", "tilde": True, "trials": 20_000, "free": ""}

HOW = {
    Kind.IDENTITY: "sympy reduces the difference of both sides; mpmath evaluates them with 50 digits at sampled points",
    Kind.INEQUALITY: "sampled points and an adversarial search for a violation; for a proof, a positivity certificate "
    "after shifting the region to the positive orthant, or interval arithmetic on boxes that cover it",
    Kind.RATES: "every parameter is a power of the scale; linear programs over the exponents look for a violation",
    Kind.UNITS: "the dimensions of both sides (value v, length l) are computed and compared",
    Kind.BUDGET: "the requirement on the schedule, exactly or (with a scale) in exponents",
    Kind.PRIVACY: "exact accounting: mu = sqrt(count) sensitivity/std for Gaussian releases, neighbours as named; with "
    "sampling the privacy loss distribution of a pair that bounds epsilon from below",
    Kind.MONTECARLO: "simulation with an exact binomial interval at confidence 1 - 1e-6 per side",
    Kind.TABLES: "the printed numbers against what they must satisfy",
    Kind.CONSISTENCY: "the places compared symbolically, or definite assignment over the pseudocode's reads and writes",
}
COUNTED = "the reference is run at each instance, and the printed count is compared with its transcript"


def _only_counts(claim: Claim) -> bool:
    return "releases" in claim.formula and "claim" in claim.formula


def explain(result: Result, ties: Iterable[Tie] = ()) -> str:
    """Everything known about one row; lines of at most ``WIDTH`` characters where words allow."""
    row = result.row
    saved = f", saved by a {result.saved_by}" if result.saved_by else ""
    lines = [f"{row.id}  [{result.verdict}{saved}]", ""]
    lines += _item("source", f"{row.cite.paper}, {row.cite.place}")
    lines += _item("statement", row.statement)
    steps = supports(row)
    lines += _item("a step of", ", ".join(steps)) if steps else []
    lines += _item("costs", effect(result).all) if result.failed else _item("at stake", at_stake(row).all)
    lines += _claim(row.claim)
    lines += _item("decided by", COUNTED if _only_counts(row.claim) else HOW[row.claim.kind])
    lines += _item("evidence", result.finding.evidence)
    if row.explain:
        lines += _item("why", row.explain)
    if result.sharpness is not None:
        lines += _sharpness(result.sharpness)
    if row.corrected:
        lines += _item("corrected", row.corrected)
        lines += _correction(result)
    if row.saving.text:
        lines += _item(row.saving.kind, row.saving.text)
        lines += _decided(row.saving.claim, result.saving)
    if row.garbling:
        lines += _item("rendering", f"{row.garbling} (the plain text of the paper may be to blame)")
    for tie in ties:
        if tie.row == row.id:
            points = "one point" if len(tie.numbers) == 1 else f"{len(tie.numbers)} points"
            lines += _item("tied to", f"{tie.part}: the same numbers as reference.{tie.source} at {points}")
    return "\n".join(lines)


def _item(label: str, text: str) -> list[str]:
    return textwrap.wrap(
        text, WIDTH, initial_indent=f"  {label:<{LABEL}}", subsequent_indent=" " * (LABEL + 2), break_long_words=False,
        break_on_hyphens=False,
    )  # fmt: skip


def _claim(claim: Claim) -> list[str]:
    lines = [f"  {'formula':<{LABEL}}"]
    for key, value in claim.formula.items():
        if value in ([], "", {}) or DEFAULTS.get(key) == value or (key == "count" and value == "1"):
            continue
        lines += _formula(key, value)
    region = _region(claim)
    return lines + (_item("assuming", region) if region else [])


def _formula(key: str, value: Any) -> list[str]:
    names = {"try": "tried first", "instances": "at", "let": "with", "same": "places", "rate": "sampled at"}
    if key == "program":
        return [f"      {step}" for step in value]
    if key == "releases":
        told = [f"{name} = releases '{source[1]}*' of {source[0]}" for name, source in value.items()]
        return [f"      counted     {text}, from its transcript" for text in told]
    if key == "let":
        return [f"      {'with':<12}{name} = {text}" for name, text in value.items()]
    if isinstance(value, Mapping):
        return [f"      {names.get(key, key)}: {name}: {text}" for name, text in value.items()]
    if isinstance(value, list) and value and isinstance(value[0], Mapping):
        return [
            f"      {names.get(key, key):<12}{', '.join(f'{k} = {v}' for k, v in point.items())}" for point in value
        ]
    return [f"      {names.get(key, key):<12}{value}"]


def _region(claim: Claim) -> str:
    assumptions = claim.assumptions
    positive = assumptions.positive.split()
    parts = [f"{', '.join(positive)} > 0"] if positive else []
    parts += [f"{name} in {text}" for name, text in assumptions.domain.items()]
    return "; ".join([*parts, *assumptions.conditions, *([assumptions.note] if assumptions.note else [])])


def _sharpness(found: Sharpness) -> list[str]:
    if found.hollow:
        return _item("decides", f"nothing: {found.hollow}")
    return _item("sharp", f"with {found.nearest} it is refuted: {found.evidence}")


def _correction(result: Result) -> list[str]:
    """What decides the corrected statement: its own formula, the verdict, the nearest mutant; or the row that does."""
    row, claim = result.row, result.row.corrects
    if row.undecidable is not None:
        return _item("", f"(no claim: {row.undecidable}, to {ASKED[row.undecidable]})")
    if row.corrected_by:
        return _item("", f"(decided in row {row.corrected_by})")
    if claim is None:
        return _item("", "(open: no claim decides it)") if result.failed else []
    if claim is row.saving.claim:
        lines = _item("", f"(decided by the {row.saving.kind} below)")
    else:
        lines = [*_claim(claim), *_decided(claim, result.corrected)]
    return lines + (_sharpness(result.corrected_sharpness) if result.corrected_sharpness else [])


def _decided(claim: Claim | None, finding: Finding | None) -> list[str]:
    if claim is None:
        return _item("", "(nothing in it to check)")
    if finding is None:
        return []
    return _item("", f"[{finding.verdict}] {finding.evidence}")
