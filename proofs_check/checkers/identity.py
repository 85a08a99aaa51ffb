"""Two expressions are equal: sympy proves it, mpmath confirms it, and failures carry a counterexample."""

from __future__ import annotations

from typing import Any

import numpy as np
import sympy as sp

from dpassay.proofs_check.claim import Claim, Finding, Verdict
from dpassay.proofs_check.formula import FormulaError, parse_relation, resolve
from dpassay.proofs_check.region import SEED, Point, Region, holds, refuted, region, sample

POINTS = 24


def check(claim: Claim) -> Finding:
    """Formula keys: ``claim`` ("left == right") and optionally ``let`` (definitions in order)."""
    space = region(claim.assumptions)
    left, operator, right = parse_relation(claim.formula["claim"], resolve(claim.formula.get("let", {}), space.symbols))
    if operator != "==":
        raise FormulaError(f"claim = {claim.formula['claim']!r}: an identity needs ==")
    return compare(left, right, space)


def compare(left: Any, right: Any, space: Region) -> Finding:
    """Decide ``left == right`` on the region."""
    points = sample(space, np.random.default_rng(SEED), POINTS)
    if not points:
        return Finding(Verdict.UNKNOWN, "no point satisfies the assumptions")
    confirmed = 0
    for point in points:
        answer = holds(left, "==", right, point)
        if answer is False:
            return _refuted(left, right, space, point)
        confirmed += answer is True
    symbolic = sp.simplify(left - right) == 0
    if not confirmed:
        return Finding(Verdict.UNKNOWN, "could not be evaluated anywhere in the region")
    if not symbolic:
        told = f"equal to 40 digits at {confirmed} points, no symbolic proof"
        return Finding(Verdict.CHECKED, told, points=confirmed)
    told = f"sympy reduces the difference to 0; mpmath agrees to 40 digits at {confirmed} points"
    return Finding(Verdict.PROVED, told, points=confirmed)


def _refuted(left: Any, right: Any, space: Region, point: Point) -> Finding:
    ratio = sp.simplify(left / right) if right != 0 else None
    hint = f"; left / right = {ratio}" if ratio is not None and len(str(ratio)) < 80 else ""
    return refuted(left, "==", right, space, point, hint, digits=2)
