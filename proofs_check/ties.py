"""Formulas of the ledger tied to the code of ``reference/``: both are evaluated at the same numbers.

A tie names a row, a part of its formula, and a function of the reference that computes the same quantity. When either
drifts, ``check_tie`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from .claim import Row
from .formula import FormulaError, parse, parse_relation, resolve, symbol

Numbers = Mapping[str, float]
RTOL = 1e-9  # a dozen roundings on each side, and the ceilings below are exact


@dataclass(frozen=True)
class Tie:
    """One formula and the function that must give the same numbers.

    Args:
        row: id of a ledger row.
        part: ``left``, ``right``, ``std``, ``sensitivity``, ``count``, ``same:PLACE`` or ``let:NAME``.
        code: the reference's value at the numbers.
        source: where the code lives, for the reader.
        numbers: one or more points, name to number.
        rounding: how the reference rounds the formula's value to a count, if it does.
    """

    row: str
    part: str
    code: Callable[[Numbers], float]
    source: str
    numbers: tuple[Numbers, ...]
    rounding: Callable[[float], float] | None = None


def expression(row: Row, part: str, names: Iterable[str]) -> Any:
    """The sympy expression of one part of a row's formula.

    Raises:
        FormulaError: the row has no such part.
    """
    formula = row.claim.formula
    table = resolve(formula.get("let", {}), {name: symbol(name) for name in names})
    kind, _, name = part.partition(":")
    if kind in ("left", "right") and "claim" in formula:
        return parse_relation(formula["claim"], table)[0 if kind == "left" else 2]
    if kind == "same" and name in formula.get("same", {}):
        return parse(formula["same"][name], table)
    if kind == "let" and name in formula.get("let", {}):
        return table[name]
    if kind in ("std", "sensitivity", "count") and kind in formula:
        return parse(str(formula[kind]), table)
    raise FormulaError(f"{row.id}: no part {part!r}")


def check_tie(tie: Tie, row: Row) -> str:
    """An empty text when formula and code agree at every point, else where they part."""
    names = row.claim.assumptions.names | {str(name) for point in tie.numbers for name in point}
    formula = expression(row, tie.part, names)
    for point in tie.numbers:
        left = float(formula.xreplace({symbol(name): parse(repr(value), {}) for name, value in point.items()}).evalf())
        left = left if tie.rounding is None else tie.rounding(left)
        right = tie.code(point)
        if abs(left - right) > RTOL * max(abs(left), abs(right)):
            at = ", ".join(f"{k} = {v:g}" for k, v in point.items())
            return f"{row.id}, {tie.part}: the ledger gives {left:.10g}, {tie.source} gives {right:.10g} at {at}"
    return ""


def up(value: float) -> float:
    """Rounded up, but for rounding errors of the formula."""
    return float(ceil(value - 1e-9))


def down(value: float) -> float:
    """Rounded down, but for rounding errors of the formula."""
    return float(floor(value + 1e-9))
