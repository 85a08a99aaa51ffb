"""Could a passing row have failed? Its mutants are decided; a row none of whose mutants is refuted decides nothing."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import sympy as sp

from .checkers.rates import LOG, order
from .claim import FAILED, Claim, Finding, Kind, Row, Sharpness
from .formula import FormulaError, Opaque, parse_relation, resolve, symbol
from .mutants import mutants, turned
from .region import counterexample, shortened
from .visits import violation, visit

LIMIT = 60  # mutants per row
EXACT = (Kind.IDENTITY, Kind.INEQUALITY, Kind.BUDGET)


def sharpen(row: Row, check: Callable[[Claim], Finding]) -> Sharpness:
    """The nearest mutant of a passing row that is refuted, or why the row decides nothing."""
    hollow = tautology(row.claim)
    if hollow:
        return Sharpness(hollow=hollow)
    tried = 0
    for told, claim in mutants(row):
        if tried == LIMIT:
            break
        tried += 1
        evidence = refutes(claim, check)
        if evidence:
            return Sharpness(tried, told, evidence)
    last = turned(row.claim)
    more = "; its direction can be turned, too" if last and not refutes(last[1], check) else ""
    return Sharpness(tried, hollow=f"none of {tried} mutants is refuted{more}")


def sharpen_correction(row: Row, check: Callable[[Claim], Finding]) -> Sharpness:
    """The same of the claim that decides a row's corrected statement; places that are typed alike decide nothing."""
    if row.corrects is None:
        raise ValueError(f"{row.id}: no claim decides its corrected statement")
    places = row.corrects.formula.get("same", {})
    if places and len(set(places.values())) == 1:
        return Sharpness(hollow="one formula is typed for all places")
    return sharpen(replace(row, claim=row.corrects), check)


def refutes(claim: Claim, check: Callable[[Claim], Finding]) -> str:
    """What refutes a mutant; an empty text when nothing was found."""
    if claim.kind in EXACT and "scale" not in claim.formula:
        return _quickly(claim)
    finding = check(claim)
    return finding.evidence if finding.verdict in FAILED else ""


def _quickly(claim: Claim) -> str:
    """Points of the visited region, without proofs and searches."""
    try:
        seen = visit(claim.assumptions)
        table = resolve(claim.formula.get("let", {}), seen.space.symbols)
        left, operator, right = parse_relation(claim.formula["claim"], table)
    except (FormulaError, ArithmeticError, TypeError, ValueError):
        return ""
    if operator in (">=", ">"):
        left, right, operator = right, left, "<=" if operator == ">=" else "<"
    if seen.count == 0:
        return ""
    found = violation(left, operator, right, seen, search=False)
    if found is None:
        return ""
    return counterexample(left, right, shortened(left, operator, right, seen.space, found))


def tautology(claim: Claim) -> str:
    """Why a relation holds by its form alone: equal sides, x <= c x, x <= x + r, or an assumption that says it."""
    text = claim.formula.get("claim")
    if not isinstance(text, str) or claim.kind not in (*EXACT, Kind.RATES) or claim.formula.get("let"):
        return ""
    names = {name: symbol(name) for name in claim.assumptions.names}
    names |= {name: sp.Integer(1) for name in str(claim.formula.get("constants", "")).split()}
    given = {str(condition).replace(" ", "") for condition in claim.assumptions.conditions}
    if text.replace(" ", "") in given:
        return "an assumption says the same"
    left, operator, right = parse_relation(text, names, build=Opaque)
    if operator in (">=", ">"):
        left, right = right, left
    if operator == "==" and claim.kind is not Kind.RATES:
        if mirrored(text):
            return "a - (-a) is 2 a whatever a is"
        same = right - left == 0 and not computed(text)  # as it stands: nothing expanded, no number worked out
        return "one side is the other with a substitution made" if same and names else ""
    gap = sp.expand(right - left)
    if claim.kind is Kind.RATES:
        return "" if claim.assumptions.conditions else _same_powers(text, names)
    positive = set(claim.assumptions.positive.split())
    if names and all(_plain(term, positive) for term in sp.Add.make_args(gap)):
        return "the right side is the left side plus, or times, something positive"
    return ""


def mirrored(text: str) -> bool:
    """A difference a - (-a) of one expression and its negative."""
    pairs = (
        (node.left, node.right.operand)
        for node in ast.walk(ast.parse(text, mode="eval"))
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Sub) and isinstance(node.right, ast.UnaryOp)
    )
    return any(ast.unparse(one) == ast.unparse(other) for one, other in pairs)


def computed(text: str) -> bool:
    """Whether one side has a number that the other has not: then arithmetic is decided, and could have failed."""
    body = ast.parse(text, mode="eval").body
    if not isinstance(body, ast.Compare):
        return False
    sides = [
        {abs(n.value) for n in ast.walk(side) if isinstance(n, ast.Constant) and isinstance(n.value, int | float)} - {1}
        for side in (body.left, body.comparators[0])
    ]
    return sides[0] != sides[1]


def _same_powers(text: str, names: dict[str, Any]) -> str:
    """Both sides are one product of the same powers, so that no exponent could have made a difference."""
    left, _, right = parse_relation(text, names)
    try:
        sides = [order(side) for side in (left, right)]
    except FormulaError:
        return ""
    if any(len(side) != 1 or len(side[0]) != 1 for side in sides):
        return ""
    one, two = ({k: v for k, v in side[0][0].items() if k != LOG and v} for side in sides)
    return "both sides are the same product of powers, logarithms aside" if one == two else ""


def _plain(term: Any, positive: set[str]) -> bool:
    """A non-negative number times powers of positive variables."""
    number, rest = term.as_coeff_Mul()
    names = {str(s) for s in rest.free_symbols}
    return bool(number >= 0) and names <= positive and not rest.atoms(sp.core.function.AppliedUndef)
