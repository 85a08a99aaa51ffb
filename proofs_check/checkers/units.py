"""Dimensions: both sides of a relation, and all terms of a sum, must carry the same units."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

import sympy as sp

from dpassay.proofs_check.finding import Finding, Verdict
from dpassay.proofs_check.formula import parse, parse_relation, symbol

Unit = dict[str, Fraction]


class UnitError(Exception):
    """Terms of different units are added, compared or put into a transcendental function."""


def check(table: Mapping[str, Any]) -> Finding:
    """Keys: ``claim`` (a relation), ``units`` (name -> "v/l**2" over base units), ``free`` (without unit)."""
    units: dict[str, Unit] = {name: {} for name in str(table.get("free", "")).split()}
    bases = {base: {base: Fraction(1)} for base in "vls"}
    for name, text in table["units"].items():
        units[name] = _unit(parse(str(text), bases.keys()), bases)
    left, _, right = parse_relation(table["claim"], {name: symbol(name) for name in units})
    try:
        one, two = _unit(left, units), _unit(right, units)
    except UnitError as error:
        return Finding(Verdict.REFUTED, str(error))
    if one != two:
        return Finding(Verdict.REFUTED, f"left has units {_show(one)}, right has units {_show(two)}")
    return Finding(Verdict.PROVED, f"both sides have units {_show(one)}")


def _unit(expression: Any, units: dict[str, Unit]) -> Unit:
    if expression.is_number:
        return {}
    if expression.is_Symbol:
        return units[str(expression)]
    parts = [_unit(argument, units) for argument in expression.args]
    if expression.func in (sp.Add, sp.Max, sp.Min):
        if any(part != parts[0] for part in parts):
            kinds = " and ".join(sorted({_show(part) for part in parts}))
            raise UnitError(f"terms of different units ({kinds}) are combined in {expression}")
        return parts[0]
    if expression.func == sp.Mul:
        total: Unit = {}
        for part in parts:
            total = {k: total.get(k, Fraction(0)) + part.get(k, Fraction(0)) for k in {*total, *part}}
        return {k: v for k, v in total.items() if v}
    if expression.func == sp.Pow and expression.exp.is_Rational:
        power = Fraction(int(expression.exp.p), int(expression.exp.q))
        return {k: v * power for k, v in parts[0].items()}
    if expression.func in (sp.floor, sp.ceiling, sp.Abs):
        return parts[0]
    if any(parts):
        raise UnitError(f"{expression.func} of a quantity with units {_show(parts[0])}")
    return {}


def _show(unit: Unit) -> str:
    names = {"v": "value", "l": "length", "s": "sample"}
    return " ".join(f"{names.get(k, k)}^{v}" for k, v in sorted(unit.items())) or "1"
