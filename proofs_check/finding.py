"""What a checker found out, and a counterexample in words and short numbers."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

import sympy as sp

from .region import DIGITS, Point, Region, admissible, evaluate, friendly, holds


class Verdict(StrEnum):
    """The verdicts of checkers; only the first three count as passed.

    ``spot-checked``: no violation, but on few points.
    """

    PROVED = "proved"
    CHECKED = "checked"
    SPOT_CHECKED = "spot-checked"
    REFUTED = "refuted"
    ILL_DEFINED = "ill-defined"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Finding:
    """What a checker says: verdict, evidence, and the numbers of a counterexample where there is one."""

    verdict: Verdict
    evidence: str
    counterexample: Mapping[str, str] = field(default_factory=dict)

    @property
    def passes(self) -> bool:
        """Not contradicted: it holds, or was looked at on few points."""
        return self.verdict in (Verdict.PROVED, Verdict.CHECKED, Verdict.SPOT_CHECKED)

    @property
    def fails(self) -> bool:
        """Contradicted: by a point, or because it means nothing."""
        return self.verdict in (Verdict.REFUTED, Verdict.ILL_DEFINED)


def both_sides(left: Any, right: Any, point: Point) -> str:
    """The values of both sides at a point, in words: with 8 digits, or with more where 8 do not tell them apart."""
    one, two = evaluate(left, point), evaluate(right, point)
    for digits in (8, 16, DIGITS - 10):
        told = sp.N(one, digits), sp.N(two, digits)
        if one == two or str(told[0]) != str(told[1]):
            break
    return f"left = {told[0]}, right = {told[1]}"


def refuted(left: Any, operator: str, right: Any, space: Region, point: Point, told: str, digits: int = 3) -> Finding:
    """A counterexample in the shortest numbers that are one too, and the values of both sides.

    Args:
        told: further words at the end.
        digits: as many at most; with more than that the numbers stay as they are.
    """
    near = ({key: friendly(float(value), shorter) for key, value in point.items()} for shorter in range(1, digits + 1))
    fails = (one for one in near if admissible(space, one) and holds(left, operator, right, one) is False)
    point = next(fails, point)
    at = f"at {in_words(point)}: " if point else ""  # a claim may have no free symbols
    return Finding(Verdict.REFUTED, f"{at}{both_sides(left, right, point)}{told}", show(point))


def in_words(point: Point) -> str:
    """``x = 2, y = 1/3``."""
    return ", ".join(f"{name} = {value}" for name, value in show(point).items())


def show(point: Point) -> dict[str, str]:
    """A point as strings that anyone can plug in: short decimals, fractions where they are shorter."""
    return {str(key): _text(value) for key, value in point.items()}


def _text(value: Any) -> str:
    rational = sp.Rational(value)
    if rational.q == 1 or len(str(rational)) <= 6:
        return str(rational)
    return f"{float(rational):.6g}" if sp.Rational(f"{float(rational):.6g}") == rational else str(rational)
