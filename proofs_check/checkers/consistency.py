"""Equal expressions, one quantity in several places, and pseudocode that writes each variable before it reads it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import sympy as sp

from dpassay.proofs_check.finding import Finding, Verdict, refuted
from dpassay.proofs_check.formula import FormulaError, parse, resolve
from dpassay.proofs_check.region import SEED, Region, holds, region, sample

POINTS = 24
_STEP = re.compile(r"^(?P<line>[\w.-]+): (?P<writes>[^<]*)<-(?P<reads>.*)$")


def compare(left: Any, right: Any, space: Region) -> Finding:
    """Decide ``left == right`` on the region."""
    points = sample(space, np.random.default_rng(SEED), POINTS)
    if not points:
        return Finding(Verdict.UNKNOWN, "no point satisfies the assumptions")
    confirmed = 0
    for point in points:
        answer = holds(left, "==", right, point)
        if answer is False:
            ratio = sp.simplify(left / right) if right != 0 else None
            hint = f"; left / right = {ratio}" if ratio is not None and len(str(ratio)) < 80 else ""
            return refuted(left, "==", right, space, point, hint, digits=2)
        confirmed += answer is True
    if not confirmed:
        return Finding(Verdict.UNKNOWN, "could not be evaluated anywhere in the region")
    if sp.simplify(left - right) != 0:
        return Finding(Verdict.CHECKED, f"equal to 40 digits at {confirmed} points, no symbolic proof")
    told = f"sympy reduces the difference to 0; mpmath agrees to 40 digits at {confirmed} points"
    return Finding(Verdict.PROVED, told)


def same(table: Mapping[str, Any]) -> Finding:
    """Keys: ``places`` (formula by place), optional ``let``. The weakest comparison decides."""
    space = region(table)
    symbols = resolve(table.get("let", {}), space.symbols)
    (first_place, first), *places = table["places"].items()
    if not places:
        raise FormulaError("same: needs two places or more")
    findings = []
    for place, text in places:
        finding = compare(parse(first, symbols), parse(text, symbols), space)
        if finding.verdict is Verdict.REFUTED:
            told = f"{first_place} has {first}, {place} has {text}; {finding.evidence}"
            return Finding(Verdict.ILL_DEFINED, told, finding.counterexample)
        findings.append(finding)
    strength = (Verdict.UNKNOWN, Verdict.CHECKED, Verdict.PROVED)
    return min(findings, key=lambda finding: strength.index(finding.verdict))


def program(table: Mapping[str, Any]) -> Finding:
    """Keys: ``steps`` and ``given``. Definite assignment over straight lines, branches and loops.

    A step is ``"7: a b <- c d"`` (line, written names, read names), or one of ``loop``, ``if``, ``else``, ``end``.
    The first pass through a loop is the one that counts: a name that only an earlier pass could have written is
    undefined.
    """
    steps, known = table["steps"], set(str(table.get("given", "")).split())
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
        return Finding(Verdict.ILL_DEFINED, told, {"undefined": "; ".join(missing)})
    return Finding(Verdict.PROVED, f"every variable is written before it is read ({len(steps)} steps)")


def _line(step: str, known: set[str]) -> tuple[set[str], list[str]]:
    match = _STEP.match(step)
    if match is None:
        raise FormulaError(f"step = {step!r}: expected 'line: writes <- reads'")
    undefined = [f"{name} at line {match['line']}" for name in match["reads"].split() if name not in known]
    return known | set(match["writes"].split()), undefined
