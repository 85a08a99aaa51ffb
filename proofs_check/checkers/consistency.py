"""The same quantity in several places, and pseudocode in which every variable is written before it is read."""

from __future__ import annotations

import re

from dpassay.proofs_check.claim import Claim, Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse, resolve
from dpassay.proofs_check.region import region

from . import identity

_STEP = re.compile(r"^(?P<line>[\w.-]+): (?P<writes>[^<]*)<-(?P<reads>.*)$")


def same(claim: Claim) -> Finding:
    """Formula keys: ``places`` (formula by place), optional ``let``. The weakest comparison decides."""
    space = region(claim.assumptions)
    table = resolve(claim.formula.get("let", {}), space.symbols)
    places = list(claim.formula["places"].items())
    if len(places) < 2:
        raise FormulaError("same: needs two places or more")
    first_place, first = places[0]
    findings = []
    for place, text in places[1:]:
        finding = identity.compare(parse(first, table), parse(text, table), space)
        if finding.verdict is Verdict.REFUTED:
            told = f"{first_place} has {first}, {place} has {text}; {finding.evidence}"
            return Finding(Verdict.ILL_DEFINED, told, finding.counterexample, finding.points)
        findings.append(finding)
    strength = (Verdict.UNKNOWN, Verdict.CHECKED, Verdict.PROVED)
    return min(findings, key=lambda finding: strength.index(finding.verdict))


def program(claim: Claim) -> Finding:
    """Formula keys: ``steps`` and ``given``. Definite assignment over straight lines, branches and loops.

    A step is ``"7: a b <- c d"`` (line, written names, read names), or one of ``loop``, ``if``, ``else``, ``end``.
    The first pass through a loop is the one that counts: a name that only an earlier pass could have written is
    undefined.
    """
    steps, known = claim.formula["steps"], set(str(claim.formula.get("given", "")).split())
    stack: list[tuple[str, set[str], set[str] | None]] = []
    missing: list[str] = []
    for step in steps:
        if step in ("loop", "if"):
            stack.append((step, set(known), None))
        elif step == "else":
            kind, before, _ = stack.pop()
            stack.append((kind, before, known))
            known = set(before)
        elif step == "end":
            kind, before, first = stack.pop()
            if kind == "if":
                known = (first if first is not None else before) & known
        else:
            known, undefined = _line(step, known)
            missing += undefined
    if missing:
        told = "read before it is written: " + "; ".join(dict.fromkeys(missing))
        return Finding(Verdict.ILL_DEFINED, told, {"undefined": "; ".join(missing)}, len(steps))
    told = f"every variable is written before it is read ({len(steps)} steps)"
    return Finding(Verdict.PROVED, told, points=len(steps))


def _line(step: str, known: set[str]) -> tuple[set[str], list[str]]:
    match = _STEP.match(step)
    if match is None:
        raise FormulaError(f"step = {step!r}: expected 'line: writes <- reads'")
    undefined = [f"{name} at line {match['line']}" for name in match["reads"].split() if name not in known]
    return known | set(match["writes"].split()), undefined
