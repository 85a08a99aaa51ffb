"""Verified lower bounds of an expression on a box, by interval arithmetic and subdivision (mpmath.iv)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import sympy as sp
from mpmath import iv

Box = tuple[tuple[Any, Any], ...]  # one (low, high) of exact rationals per variable


def enclose(expression: Any, values: Mapping[Any, Any]) -> Any:
    """The interval of an expression whose symbols range over intervals.

    Raises:
        NotImplementedError: a node without a rule, on whatever box.
        ArithmeticError: a root or logarithm that leaves its domain, division by zero.
    """
    if expression.is_Rational:
        return _rational(int(expression.p), int(expression.q), iv.prec)
    if expression.is_Symbol:
        return values[expression]
    if expression in (sp.pi, sp.E):
        return iv.pi if expression == sp.pi else iv.exp(iv.mpf(1))
    kind, parts = expression.func, [enclose(argument, values) for argument in expression.args]
    if kind is sp.Add:
        return sum(parts, iv.mpf(0))
    if kind is sp.Mul:
        return math.prod(parts, start=iv.mpf(1))
    if kind is sp.Pow:
        return _power(expression.exp, *parts)
    if kind is sp.exp:
        return iv.exp(parts[0])
    if kind is sp.log:
        if parts[0].a <= 0:
            raise ArithmeticError("a logarithm leaves its domain")
        return iv.log(parts[0])
    if kind in (sp.Max, sp.Min):
        pick = max if kind is sp.Max else min
        return iv.mpf([pick(part.a for part in parts), pick(part.b for part in parts)])
    if kind is sp.Abs:
        return iv.mpf([max(iv.mpf(0), parts[0].a, -parts[0].b), max(-parts[0].a, parts[0].b)])
    raise NotImplementedError(f"no interval rule for {kind}")


def _power(exact: Any, base: Any, exponent: Any) -> Any:
    if exact.is_Integer:
        if exact < 0 and base.a <= 0 <= base.b:
            raise ArithmeticError("division by an interval that contains zero")
        return base ** int(exact)
    if base.a < 0 or (base.a == 0 and not (exact.is_number and exact > 0)):
        raise ArithmeticError("a power leaves its domain")
    if exact == sp.Rational(1, 2):
        return iv.sqrt(base)
    if base.a == 0:
        upper = iv.exp(exponent * iv.log(iv.mpf(base.b))) if base.b > 0 else iv.mpf(0)
        return iv.mpf([0, upper.b])
    return iv.exp(exponent * iv.log(base))


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
        except NotImplementedError:
            return None
        except ArithmeticError:  # of a part of the box, perhaps: it is halved
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
