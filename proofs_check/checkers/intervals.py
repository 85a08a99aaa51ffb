"""Verified lower bounds of an expression on a box, by interval arithmetic and subdivision (mpmath.iv)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from mpmath import iv

Box = tuple[tuple[Any, Any], ...]  # one (low, high) of exact rationals per variable


class EnclosureError(Exception):
    """The expression has no interval rule, or is undefined somewhere on the box."""


class NoRuleError(EnclosureError):
    """The expression has no interval rule, on whatever box."""


def enclose(expression: Any, values: Mapping[Any, Any]) -> Any:
    """The interval of an expression whose symbols range over intervals.

    Raises:
        NoRuleError: a node without a rule.
        EnclosureError: a root or logarithm that leaves its domain, division by zero.
    """
    if expression.is_Rational:
        return _rational(int(expression.p), int(expression.q), iv.prec)
    if expression.is_Symbol:
        return values[expression]
    if expression in (sp.pi, sp.E):
        return iv.pi if expression == sp.pi else iv.exp(iv.mpf(1))
    parts = [enclose(argument, values) for argument in expression.args]
    rule = _RULES.get(expression.func)
    if rule is None:
        raise NoRuleError(f"no interval rule for {expression.func}")
    return rule(expression, parts)


def _power(expression: Any, parts: list[Any]) -> Any:
    base, exponent = parts
    if expression.exp.is_Integer:
        power = int(expression.exp)
        if power < 0 and base.a <= 0 <= base.b:
            raise EnclosureError("division by an interval that contains zero")
        return base**power
    if base.a < 0 or (base.a == 0 and not (expression.exp.is_number and expression.exp > 0)):
        raise EnclosureError("a power leaves its domain")
    if expression.exp == sp.Rational(1, 2):
        return iv.sqrt(base)
    if base.a == 0:
        upper = iv.exp(exponent * iv.log(iv.mpf(base.b))) if base.b > 0 else iv.mpf(0)
        return iv.mpf([0, upper.b])
    return iv.exp(exponent * iv.log(base))


def _log(_expression: Any, parts: list[Any]) -> Any:
    if parts[0].a <= 0:
        raise EnclosureError("a logarithm leaves its domain")
    return iv.log(parts[0])


def _extreme(pick: Callable[..., Any]) -> Callable[[Any, list[Any]], Any]:
    return lambda _expression, parts: iv.mpf([pick(p.a for p in parts), pick(p.b for p in parts)])


def _sum(_expression: Any, parts: list[Any]) -> Any:
    return sum(parts, iv.mpf(0))


def _product(_expression: Any, parts: list[Any]) -> Any:
    result = iv.mpf(1)
    for part in parts:
        result = result * part
    return result


def _absolute(_expression: Any, parts: list[Any]) -> Any:
    part = parts[0]
    if part.a >= 0:
        return part
    return -part if part.b <= 0 else iv.mpf([0, max(-part.a, part.b)])


_RULES: dict[Any, Callable[[Any, list[Any]], Any]] = {
    sp.Add: _sum,
    sp.Mul: _product,
    sp.Pow: _power,
    sp.exp: lambda _expression, parts: iv.exp(parts[0]),
    sp.log: _log,
    sp.Max: _extreme(max),
    sp.Min: _extreme(min),
    sp.Abs: _absolute,
}


def nonnegative_on(
    expression: Any, symbols: list[Any], box: Box, *, strict: bool = False, limit: int = 3000
) -> int | None:
    """Number of boxes covering ``box`` on each of which the expression is >= 0 (> 0 if strict), or None.

    Subdivides the widest side (relative to the start) at most ``limit`` times.
    """
    iv.dps = 20
    widths = [high - low for low, high in box]
    queue, done = [box], 0
    while queue:
        current = queue.pop()
        done += 1
        if done > limit:
            return None
        try:
            sides = zip(symbols, current, strict=True)
            lower = enclose(expression, {symbol: _between(*side, iv.prec) for symbol, side in sides}).a
            if lower > 0 or (lower >= 0 and not strict):
                continue
        except NoRuleError:
            return None
        except EnclosureError:  # of a part of the box, perhaps: it is halved
            pass
        index = max(range(len(box)), key=lambda i: (current[i][1] - current[i][0]) / widths[i] if widths[i] else 0)
        low, high = current[index]
        middle = (low + high) / 2
        queue.append((*current[:index], (low, middle), *current[index + 1 :]))
        queue.append((*current[:index], (middle, high), *current[index + 1 :]))
    return done


@lru_cache(maxsize=10_000)  # thousands of boxes share their sides, and all of them the constants
def _rational(numerator: int, denominator: int, precision: int) -> Any:
    return iv.mpf(numerator) / iv.mpf(denominator)


@lru_cache(maxsize=10_000)
def _between(low: Any, high: Any, precision: int) -> Any:
    left = _rational(int(low.p), int(low.q), precision)
    right = _rational(int(high.p), int(high.q), precision)
    return iv.mpf([left.a, right.b])
