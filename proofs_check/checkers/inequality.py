"""One expression bounds another on a whole region: a counterexample, or none that many points and a search found."""

from collections.abc import Mapping
from typing import Any

import sympy as sp

from dpassay.proofs_check.finding import Finding, Verdict, both_sides, refuted
from dpassay.proofs_check.formula import parse_relation, resolve
from dpassay.proofs_check.region import Point, Region, admissible, holds, region
from dpassay.proofs_check.visits import sample, violation, visit

from .consistency import compare

POINTS = 24
FEW = 100  # fewer points than that are a spot check


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``claim`` ("left <= right", also <, >=, >, ==), optional ``let`` and ``hints`` (points to test)."""
    space = region(table)
    left, operator, right = parse_relation(table["claim"], resolve(table.get("let", {}), space.symbols))
    if operator == "==":
        return compare(left, right, space)
    if operator in (">=", ">"):
        left, right = right, left
    hints = [space.at(point) for point in table.get("hints", ())]
    return _bound(left, "<" if operator in ("<", ">") else "<=", right, space, hints)


def _bound(left: Any, operator: str, right: Any, space: Region, hints: list[Point]) -> Finding:
    """Decide ``left <= right`` (or ``<``) on the region: exact points, a wide visit, and a search."""
    fails = f", so left {operator} right fails"
    points = [p for p in hints if admissible(space, p)] + sample(space, POINTS if space.variables else 1)
    if not points:
        return Finding(Verdict.UNKNOWN, "no point satisfies the assumptions")
    states = [holds(left, operator, right, point) for point in points]
    for point, state in zip(points, states, strict=True):
        if state is False:
            return refuted(left, operator, right, space, point, fails)
    evaluated = sum(state is True for state in states)
    if evaluated == 0:
        return Finding(Verdict.UNKNOWN, "could not be evaluated anywhere in the region")
    if not space.variables:
        sure = holds(left, "<", right, {}) or sp.simplify(right - left) == 0
        return Finding(Verdict.PROVED if sure else Verdict.CHECKED, both_sides(left, right, points[0]))
    seen = visit(space)
    found = violation(left, operator, right, seen)
    if found is not None:
        return refuted(left, operator, right, space, found, fails)
    evidence = f"no violation at {seen.count or evaluated} points, nor by a search from the tightest; not a proof"
    verdict = Verdict.CHECKED if evaluated + seen.count >= FEW else Verdict.SPOT_CHECKED
    return Finding(verdict, evidence)
