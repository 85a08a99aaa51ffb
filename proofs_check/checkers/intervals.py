"""Verified lower bounds of an expression on a box, by interval arithmetic and subdivision (mpmath.iv)."""

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import sympy as sp
from mpmath import iv

Box = tuple[tuple[Any, Any], ...]  # one (low, high) of exact rationals per variable
_RULES = {sp.Add, sp.Mul, sp.Pow, sp.exp, sp.log, sp.Max, sp.Min, sp.Abs}


def _extreme(pick: Callable[..., Any]) -> Callable[..., Any]:
    def extreme(*parts: Any) -> Any:
        sides = [iv.convert(part) for part in parts]
        return iv.mpf([pick(side.a for side in sides), pick(side.b for side in sides)])

    return extreme


_INTERVALS = {"mpf": iv.mpf, "exp": iv.exp, "log": iv.log, "sqrt": iv.sqrt, "pi": iv.pi, "e": iv.e,
              "max": _extreme(max), "min": _extreme(min)}  # fmt: skip


def enclosing(expression: Any, symbols: list[Any]) -> Callable[..., Any] | None:
    """The expression as a function of intervals; None where there is no rule for a part of it.

    The function gives None where a logarithm or a power has no value somewhere on its intervals.
    """
    parts = [one for one in sp.preorder_traversal(expression) if not one.is_Atom]
    if not {one.func for one in parts} <= _RULES:
        return None
    narrow = [one for one in parts if one.func is sp.log or (one.is_Pow and not (one.exp.is_Integer and one.exp > 0))]
    sides = [expression, *(one.args[0] for one in narrow)]  # dummify: a name may be one of the printer's, as e or log
    values = sp.lambdify(symbols, sides, modules=[_INTERVALS, "mpmath"], dummify=True)

    def function(*sides: Any) -> Any:
        found, *inside = map(iv.convert, values(*sides))
        return found if all(map(_has_value, narrow, inside)) else None

    return function


def _has_value(part: Any, inside: Any) -> bool:
    if part.is_Pow and part.exp.is_integer and inside.b < 0:
        return True
    return bool(inside.a > 0 or (part.is_Pow and part.exp.is_positive and inside.a >= 0))


def nonnegative_on(
    expression: Any, symbols: list[Any], box: Box, *, strict: bool = False, limit: int = 3000
) -> int | None:
    """Number of boxes covering ``box`` on each of which the expression is >= 0 (> 0 if strict), or None.

    Subdivides the widest side (relative to the start) at most ``limit`` times.
    """
    iv.dps = 20
    function, widths = enclosing(expression, symbols), [high - low for low, high in box]
    if function is None:
        return None
    queue, done = [box], 0
    while queue:
        current = queue.pop()
        done += 1
        if done > limit:
            return None
        try:
            found = function(*(_between(*side) for side in current))
            if found is not None and (found.a > 0 or (found.a >= 0 and not strict)):
                continue
        except (ArithmeticError, ValueError):  # of a part of the box, perhaps: it is halved
            pass
        index = max(range(len(box)), key=lambda i: (current[i][1] - current[i][0]) / widths[i] if widths[i] else 0)
        low, high = current[index]
        middle = (low + high) / 2
        queue.append((*current[:index], (low, middle), *current[index + 1 :]))
        queue.append((*current[:index], (middle, high), *current[index + 1 :]))
    return done


@lru_cache(maxsize=10_000)  # thousands of boxes share their sides
def _between(low: Any, high: Any) -> Any:
    left, right = (iv.mpf(int(end.p)) / iv.mpf(int(end.q)) for end in (low, high))
    return iv.mpf([left.a, right.b])
