"""Can a paper's savings be had at once? A point that satisfies all of them, or a contradiction with its certificate.

Relations between products of powers are linear in logarithms, so a linear program finds a point. Where there is none,
savings are left out one by one until the rest is a smallest contradiction; its certificate is a product of powers of
the relations in which every symbol cancels and a constant remains that is on the wrong side.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import sympy as sp
from scipy.optimize import linprog

from .choices import CHOICES, GIVEN, Choice
from .formula import FormulaError, parse_relation, symbol

_LARGEST = 200.0  # logarithm of the largest value that is tried
_DENOMINATORS = (12, 120, 5000)


@dataclass(frozen=True)
class Conflict:
    """Savings that exclude each other, and why; every proper part of them is possible."""

    rows: tuple[str, ...]
    why: str


@dataclass(frozen=True)
class Joint:
    """What becomes of a paper's savings together.

    Args:
        point: symbols and values that satisfy every relation that is in no conflict.
        conflicts: smallest contradictions, disjoint in the saving that was given up for each.
    """

    point: Mapping[str, float]
    conflicts: tuple[Conflict, ...]


@dataclass(frozen=True)
class _Relation:
    """``constant * product of powers <= 1``, as exponents by name; ``row`` is empty for what is given."""

    row: str
    text: str
    exponents: Mapping[str, Fraction]
    constant: Any


@cache
def joint(paper: str) -> Joint:
    """Solve a paper's choices."""
    return solve(GIVEN.get(paper, ()), CHOICES.get(paper, ()), paper)


def solve(given: Sequence[str], choices: Sequence[Choice], paper: str = "") -> Joint:
    """A point for ``given`` and ``choices``, or the contradictions among the choices.

    Raises:
        FormulaError: a relation that is not between products of powers, or givens that contradict themselves.
    """
    conflicts = [*_of_facts(choices)]
    base = [part for text in given for part in _relations("", text)]
    kept = {one.row: [part for text in one.conditions for part in _relations(one.row, text)] for one in choices}
    if _point(base) is None:
        raise FormulaError(f"{paper}: what is given contradicts itself")
    while (point := _point([*base, *_flat(kept)])) is None:
        smallest = dict(kept)
        for row in kept:
            without = {name: parts for name, parts in smallest.items() if name != row}
            if _point([*base, *_flat(without)]) is None:
                smallest = without
        conflicts.append(Conflict(tuple(smallest), _certificate([*base, *_flat(smallest)])))
        del kept[list(smallest)[-1]]
    return Joint(point, tuple(_named(one, paper) for one in conflicts))


def _named(one: Conflict, paper: str) -> Conflict:
    return Conflict(tuple(f"{paper}/{row}" if paper else row for row in one.rows), one.why)


def _of_facts(choices: Sequence[Choice]) -> Iterable[Conflict]:
    said = [(one.row, fact) for one in choices for fact in one.facts]
    for row, fact in said:
        for other, opposite in said:
            if opposite == f"not {fact}":
                yield Conflict(tuple(sorted((row, other))), f"{fact}, and not")


def _flat(kept: Mapping[str, Sequence[_Relation]]) -> list[_Relation]:
    return [part for parts in kept.values() for part in parts]


def _relations(row: str, text: str) -> list[_Relation]:
    names = set(re.findall(r"[A-Za-z_]\w*", text)) - {"sqrt"}
    left, operator, right = parse_relation(text, {name: symbol(name) for name in names})
    if operator in (">=", ">"):
        left, right = right, left
    sides = [(left, right)] + ([(right, left)] if operator == "==" else [])
    return [_monomial(row, text, one / other) for one, other in sides]


def _monomial(row: str, text: str, ratio: Any) -> _Relation:
    constant: Any = sp.Integer(1)
    exponents: dict[str, Fraction] = {}
    for factor in sp.Mul.make_args(sp.powsimp(sp.expand_power_base(ratio, force=True), force=True)):
        base, power = factor.as_base_exp()
        if factor.is_number and factor.is_positive:
            constant *= factor
        elif base.is_Symbol and power.is_Rational:
            exponents[str(base)] = exponents.get(str(base), Fraction(0)) + Fraction(int(power.p), int(power.q))
        else:
            raise FormulaError(f"choice = {text!r}: {factor} is not a power")
    return _Relation(row, text, exponents, constant)


def _matrix(relations: Sequence[_Relation]) -> tuple[list[str], Any, Any]:
    names = sorted({name for one in relations for name in one.exponents})
    left = np.array([[float(one.exponents.get(name, 0)) for name in names] for one in relations])
    right = np.array([-float(sp.log(one.constant).evalf(30)) for one in relations])
    return names, left.reshape(len(relations), len(names)), right


def _point(relations: Sequence[_Relation]) -> dict[str, float] | None:
    """Values within e^200 that satisfy all relations, the smallest in logarithm; None where there are none."""
    names, left, right = _matrix(relations)
    if not names:
        return {}
    size = len(names)  # logarithm = up - down, and up + down as small as possible
    solution = linprog(
        np.ones(2 * size), A_ub=np.hstack([left, -left]), b_ub=right, bounds=(0, _LARGEST), method="highs"
    )
    if not solution.success or solution.x is None:
        return None
    return {name: float(np.exp(solution.x[i] - solution.x[size + i])) for i, name in enumerate(names)}


def _certificate(relations: Sequence[_Relation]) -> str:
    """Powers of the relations whose product leaves a constant above 1 where at most 1 is allowed."""
    names, left, right = _matrix(relations)
    count = len(relations)
    rows = np.vstack([left.T, np.ones(count)])
    solution = linprog(right, A_eq=rows, b_eq=[*np.zeros(len(names)), 1.0], bounds=(0, None), method="highs")
    if solution.success and solution.x is not None:
        for denominator in _DENOMINATORS:
            powers = [Fraction(float(x)).limit_denominator(denominator) for x in solution.x]
            sums = {
                name: sum((p * one.exponents.get(name, Fraction(0)) for p, one in zip(powers, relations, strict=True)))
                for name in names
            }
            product = sp.Mul(
                *(
                    one.constant ** sp.Rational(p.numerator, p.denominator)
                    for p, one in zip(powers, relations, strict=True)
                )
            )
            if not any(sums.values()) and product.evalf(50) > 1:
                least = min(p for p in powers if p)
                whole = product ** sp.Rational(least.denominator, least.numerator)
                used = [(one.text, p / least) for p, one in zip(powers, relations, strict=True) if p]
                shown = " ".join(f"({text})" + (f"^{p}" if p != 1 else "") for text, p in used)
                return f"{shown} leaves {sp.N(whole, 4)} <= 1"
    return "the linear program has no solution (no certificate in small fractions)"
