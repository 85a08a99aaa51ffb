"""The region of a check: declared variables, points in it, and exact evaluation at a point."""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import mpmath
import sympy as sp

from .formula import FormulaError, parse, parse_relation, symbol

SEED = 20_261_120  # of every sample a checker draws
DIGITS = 50
CANCELLED = sp.Float(10) ** (-DIGITS // 2)  # of two sides: their difference is taken before it is evaluated
Point = dict[Any, Any]

_DOMAIN = re.compile(r"^(integer )?\s*([\[(])(.+),([^,]+)([\])])$")


@dataclass(frozen=True)
class Variable:
    """One real or integer variable between two bounds (sympy expressions, possibly of earlier variables)."""

    name: str
    symbol: Any
    low: Any
    high: Any
    low_open: bool
    high_open: bool
    integer: bool

    def rounded(self, value: float, digits: int) -> Any:
        """The number as an exact one of so many digits, or as a whole one."""
        return sp.Integer(round(value)) if self.integer else friendly(value, digits)


@dataclass(frozen=True)
class Region:
    """Variables in the order of their dependence, and relations that a point must satisfy."""

    variables: tuple[Variable, ...]
    conditions: tuple[tuple[Any, str, Any], ...]

    @property
    def symbols(self) -> dict[str, Any]:
        """Name to sympy symbol."""
        return {variable.name: variable.symbol for variable in self.variables}

    def at(self, numbers: Mapping[str, Any]) -> Point:
        """The point with these values, by name."""
        return {self.symbols[name]: parse(str(text), {}) for name, text in numbers.items()}


def region(table: Mapping[str, Any]) -> Region:
    """The region that a check's table declares.

    ``positive`` lists real symbols greater than zero; ``domain`` gives the others as ``"(0, 1/2)"``,
    ``"[1, inf)"`` or ``"integer [1, 100]"`` (a bound may mention symbols declared before it);
    ``conditions`` are further relations.

    Raises:
        FormulaError: a malformed domain or condition.
    """
    variables = [Variable(name, symbol(name), sp.Integer(0), sp.oo, True, True, False)
                 for name in str(table.get("positive", "")).split()]  # fmt: skip
    symbols = {variable.name: variable.symbol for variable in variables}
    for name, text in table.get("domain", {}).items():
        variables.append(_variable(name, str(text), symbols))
        symbols[name] = variables[-1].symbol
    return Region(tuple(variables), tuple(parse_relation(text, symbols) for text in table.get("conditions", ())))


def interval(name: str, text: str) -> list[str]:
    """``"integer [1, inf)"`` as whether it is of integers, bracket, ends and bracket."""
    match = _DOMAIN.match(text.strip())
    if match is None:
        raise FormulaError(f"domain of {name} = {text!r}: expected like '(0, 1/2]' or 'integer [1, inf)'")
    return [(part or "").strip() for part in match.groups()]


def _variable(name: str, text: str, table: Mapping[str, Any]) -> Variable:
    integer, left, low_text, high_text, right = interval(name, text)
    low = parse(low_text, table)
    high = sp.oo if high_text == "inf" else parse(high_text, table)
    positive = bool(low.is_nonnegative) and (left == "(" or bool(low.is_positive))
    return Variable(name, symbol(name, positive=positive), low, high, left == "(", right == ")", bool(integer))


def holds(left: Any, operator: str, right: Any, point: Point) -> bool | None:
    """Whether a relation holds at a point, by evaluation with 50 digits; None where it cannot be evaluated."""
    one, two = evaluate(left, point), evaluate(right, point)
    scale = abs(one or 0) + abs(two or 0)
    difference = None if one is None or two is None else two - one
    if difference is None or abs(difference) <= scale * CANCELLED:
        difference = evaluate(right - left, point)
    if difference is None:
        return None
    zero = abs(difference) <= scale * sp.Float(10) ** (-DIGITS + 10)
    exact = (right - left).xreplace(point) if zero else difference
    if exact.is_Rational:
        zero, difference = exact == 0, exact
    if operator == "==":
        return bool(zero)
    if operator in (">=", ">"):
        difference = -difference
    return bool(zero or difference > 0) if operator in ("<=", ">=") else bool(not zero and difference > 0)


def evaluate(expression: Any, point: Point) -> Any | None:
    """The real value at a point to 50 digits, or None (complex, infinite, undefined)."""
    expression = sp.sympify(expression)
    names, function = _function(expression)
    values = [point.get(name) for name in names]
    found = _quickly(function, values) if all(isinstance(value, sp.Rational) for value in values) else None
    return _slowly(expression, point) if found is None else found


def _slowly(expression: Any, point: Point) -> Any | None:
    try:
        value = expression.xreplace(point).evalf(DIGITS)
    except (ValueError, TypeError, ZeroDivisionError, OverflowError, mpmath.libmp.NoConvergence):
        return None
    return value if value.is_Float or value.is_Integer or value.is_Rational else None


@lru_cache(maxsize=512)
def _function(expression: Any) -> tuple[tuple[Any, ...], Callable[..., Any]]:
    """Names and the expression for mpmath."""
    names = tuple(sorted(expression.free_symbols, key=str))
    if not names:
        value = _slowly(expression, {})
        return names, lambda: value
    own = {"Max": max, "Min": min, "floor": _whole(mpmath.floor), "ceil": _whole(mpmath.ceil)}
    return names, sp.lambdify(names, expression, modules=[own, "mpmath"], dummify=True)


def _whole(rounded: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Rounding that refuses what may be a whole number and is only nearly one."""

    def function(value: Any) -> Any:
        if abs(value - mpmath.nint(value)) <= mpmath.mpf(10) ** -DIGITS * max(1, abs(value)):
            raise ValueError("too near to a whole number")
        return rounded(value)

    return function


def _quickly(function: Callable[..., Any], values: Sequence[Any]) -> Any | None:
    """A real number by mpmath, with as many digits more as may cancel; sympy takes a hundred times as long."""
    with mpmath.workdps(2 * DIGITS):
        try:
            found = function(*(mpmath.mpf(int(value.p)) / int(value.q) for value in values))
        except (ArithmeticError, NameError, TypeError, ValueError, AttributeError, mpmath.libmp.NoConvergence):
            return None
        if not isinstance(found, mpmath.mpf):
            return found if isinstance(found, sp.Number) else None
        return sp.Float(found, DIGITS) if mpmath.isfinite(found) else None


def admissible(space: Region, point: Point) -> bool:
    """Whether the point lies in every domain and satisfies every condition."""
    for variable in space.variables:
        value = point[variable.symbol]
        low, high = variable.low.xreplace(point), variable.high.xreplace(point)
        if not (low <= value and (high is sp.oo or value <= high)):  # to compare with oo takes sympy long
            return False
        if (variable.low_open and value == low) or (variable.high_open and value == high):
            return False
        if variable.integer and value != int(value):
            return False
    return all(holds(*condition, point) for condition in space.conditions)


def friendly(value: float, digits: int) -> Any:
    """The number rounded to so many significant digits, as an exact rational."""
    if value == 0 or not math.isfinite(value):
        return sp.Integer(0)
    return sp.Rational(f"{value:.{digits - 1}e}")
