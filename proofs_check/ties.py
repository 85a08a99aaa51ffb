"""Formulas of the papers tied to the code of ``reference/``: both are evaluated at the same numbers.

A tie has a printed formula and a function of the reference that computes the same quantity. When either drifts,
``check_tie`` says so.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import ceil, floor

from .formula import parse, symbol

Numbers = Mapping[str, float]
RTOL = 1e-9  # a dozen roundings on each side, and the ceilings below are exact


@dataclass(frozen=True)
class Tie:
    """One formula and the function that must give the same numbers.

    Args:
        paper: key of the paper.
        place: where it prints the formula.
        formula: as text.
        code: the reference's value at the numbers.
        source: where the code lives, for the reader.
        numbers: one or more points, name to number.
        rounding: how the reference rounds the formula's value to a count, if it does.
    """

    paper: str
    place: str
    formula: str
    code: Callable[[Numbers], float]
    source: str
    numbers: tuple[Numbers, ...]
    rounding: Callable[[float], float] | None = None


def check_tie(tie: Tie) -> str:
    """An empty text when formula and code agree at every point, else where they part."""
    for point in tie.numbers:
        values = {symbol(name): parse(repr(value), {}) for name, value in point.items()}
        left = float(parse(tie.formula, list(point)).xreplace(values).evalf())
        left = left if tie.rounding is None else tie.rounding(left)
        right = tie.code(point)
        if abs(left - right) > RTOL * max(abs(left), abs(right)):
            at = ", ".join(f"{k} = {v:g}" for k, v in point.items())
            return f"{tie.paper}, {tie.place}: the paper gives {left:.10g}, {tie.source} gives {right:.10g} at {at}"
    return ""


def up(value: float) -> float:
    """Rounded up, but for rounding errors of the formula."""
    return float(ceil(value - 1e-9))


def down(value: float) -> float:
    """Rounded down, but for rounding errors of the formula."""
    return float(floor(value + 1e-9))
