"""Where a region was visited: many points over many decades at once, and a search that attacks the violation.

Points are floating-point columns, so that a formula is evaluated at all of them in one pass. A violation counts only
when it is confirmed at a short rational point with fifty digits.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import Any

import numpy as np
import sympy as sp

from .region import SEED, Point, Region, Variable, admissible, holds

COUNT = 2048  # points of a visit
DECADES = 12  # from which an unbounded positive variable is drawn, log-uniformly
SUSPECT = 1e-9  # relative slack below which a point is looked at with fifty digits
LOOKED_AT = 6  # suspicious points that are looked at
ROUNDS, PARENTS, CHILDREN = 24, 24, 8  # of the search
Column = Any  # a NumPy array with one entry a point
Columns = dict[str, Column]
Function = Callable[[Columns], Column]


@dataclass(frozen=True)
class Visit:
    """Admissible points of a region as columns."""

    space: Region
    columns: Columns
    count: int


@lru_cache(maxsize=512)
def visit(space: Region) -> Visit:
    """About a thousand points or more of the region; the same region is visited at the same points."""
    rng = np.random.default_rng(SEED)
    kept: list[Columns] = []
    found = 0
    for _ in range(8):
        columns = draw(space, rng, COUNT)
        inside = within(space, columns)
        kept.append({name: column[inside] for name, column in columns.items()})
        found += int(np.sum(inside))
        if found >= COUNT // 2:
            break
    whole = {v.name: np.concatenate([part[v.name] for part in kept]) for v in space.variables}
    return Visit(space, whole, found)


def draw(space: Region, rng: np.random.Generator, count: int) -> Columns:
    """Columns of values between the variables' own bounds: log-uniform, plain numbers, corners and limits."""
    columns: Columns = {}
    for variable in space.variables:
        low, high = (np.broadcast_to(end, count).astype(float) for end in _ends(variable, space, columns))
        columns[variable.name] = _values(variable, low, high, rng, count)
    return columns


def _ends(v: Variable, space: Region, columns: Columns) -> list[Any]:
    return [column_of(end, space)(columns) if end.free_symbols else float(end) for end in (v.low, v.high)]


def _values(v: Variable, low: Column, high: Column, rng: np.random.Generator, count: int) -> Column:
    values: Column = np.where(np.isinf(high), _above(low, rng, count), _between(low, high, rng, count))
    if not v.low_open:
        values = np.where(rng.uniform(size=count) < 0.04, low, values)
    if not v.high_open:
        values = np.where((rng.uniform(size=count) < 0.04) & np.isfinite(high), high, values)
    if v.integer:
        corner = 2.0 ** rng.integers(0, 20, count) + rng.integers(-1, 2, count)
        corner = np.where(rng.uniform(size=count) < 0.5, low + rng.integers(0, 4, count), corner)
        values = np.where(rng.uniform(size=count) < 0.4, corner, np.round(values))
        values = np.clip(values, np.ceil(low), np.floor(high))
    return values


def _steps(rng: np.random.Generator, count: int) -> Column:
    """Positive numbers: log-uniform over the decades, and plain ones that make short counterexamples."""
    wide = 10.0 ** rng.uniform(-DECADES / 2, DECADES / 2, count)
    return np.where(rng.uniform(size=count) < 0.75, wide, rng.choice([0.5, 1.0, 2.0, 3.0, 10.0], count))


def _above(low: Column, rng: np.random.Generator, count: int) -> Column:
    far = (low > 0) & (rng.uniform(size=count) < 0.5)
    return np.where(far, low * 10.0 ** rng.uniform(0, DECADES, count), low + _steps(rng, count))


def _between(low: Column, high: Column, rng: np.random.Generator, count: int) -> Column:
    """Uniform, near either end (over many decades), and log-uniform where the ends are far apart."""
    which = rng.uniform(size=count)
    near_low, near_high = 10.0 ** rng.uniform(-DECADES, 0, count), 1 - 10.0 ** rng.uniform(-9, 0, count)
    share = np.select([which < 0.3, which < 0.65], [near_low, near_high], rng.uniform(size=count))
    ratio = high / np.where(low > 0, low, np.nan)
    steep = np.isfinite(ratio) & (ratio > 100)
    return np.where(steep, low * np.where(steep, ratio, 1) ** rng.uniform(size=count), low + (high - low) * share)


@lru_cache(maxsize=512)
def column_of(expression: Any, space: Region) -> Function:
    """The expression as a function of columns."""
    names = [v.name for v in space.variables if v.symbol in expression.free_symbols]
    inputs = [space.symbols[name] for name in names]
    function = sp.lambdify(inputs, expression, modules=["scipy", "numpy"], dummify=True)
    return lambda columns: np.asarray(function(*(columns[name] for name in names)))


def within(space: Region, columns: Columns) -> Column:
    """Which points lie in every domain and satisfy every condition."""
    count = len(next(iter(columns.values()))) if columns else 1
    inside = np.ones(count, dtype=bool)
    for v in space.variables:
        value = columns[v.name]
        low, high = _ends(v, space, columns)
        inside &= (value > low) if v.low_open else (value >= low)
        inside &= (value < high) if v.high_open else (value <= high)
        inside &= np.isfinite(value)
    for left, word, right in space.conditions:
        gap = column_of(sp.sympify(right - left), space)(columns)
        inside &= {"==": gap == 0, "<=": gap >= 0, "<": gap > 0, ">=": gap <= 0, ">": gap < 0}[word]
    return inside


def slack_of(left: Any, right: Any, space: Region) -> Function:
    """(right - left) / (|left| + |right|) at columns of points; negative where ``left <= right`` fails.

    It is infinite where it has no value.
    """
    sides = [column_of(sp.sympify(side), space) for side in (left, right)]

    def slack(columns: Columns) -> Column:
        count = len(next(iter(columns.values())))
        left, right = (np.broadcast_to(side(columns), count).astype(float) for side in sides)
        size = np.abs(left) + np.abs(right)
        found = np.where(size > 0, (right - left) / np.where(size > 0, size, 1), 0.0)
        return np.where(np.isfinite(found), found, np.inf)

    return slack


def violation(left: Any, operator: str, right: Any, seen: Visit) -> Point | None:
    """A point of the region at which the relation (``<=`` or ``<``) fails with fifty digits, or None.

    Where no visited one is, the points of least slack are the parents of a random search that attacks the violation.
    """
    space = seen.space
    try:
        slack = slack_of(left, right, space)
        values = slack(seen.columns)
    except (TypeError, ValueError, NameError, KeyError, OverflowError, ZeroDivisionError, AttributeError):
        return None
    found = _confirmed(left, operator, right, space, seen.columns, values)
    if found is None:
        columns, values = _attack(slack, seen, values)
        found = _confirmed(left, operator, right, space, columns, values)
    return found


def _confirmed(left: Any, operator: str, right: Any, space: Region, columns: Columns, values: Column) -> Point | None:
    worst = np.argsort(values, kind="stable")[:LOOKED_AT]
    for index in worst:
        if not values[index] < SUSPECT:
            break
        for digits in (3, 12):
            point = point_at(space, columns, index, digits)
            if admissible(space, point) and holds(left, operator, right, point) is False:
                return point
    return None


def point_at(space: Region, columns: Columns, index: Any, digits: int) -> Point:
    """One of the points, in numbers of so many digits."""
    return {v.symbol: v.rounded(float(columns[v.name][index]), digits) for v in space.variables}


def sample(space: Region, count: int) -> list[Point]:
    """So many of the visited points that are of the region in numbers of three digits too; fewer where there are."""
    columns, found = visit(space).columns, visit(space).count
    points = (point_at(space, columns, index, 3) for index in range(found))
    return list(islice((point for point in points if admissible(space, point)), count))


def _attack(slack: Function, seen: Visit, values: Column) -> tuple[Columns, Column]:
    """Random search from the points of least slack: steps in logarithms that become smaller round by round."""
    rng = np.random.default_rng(SEED + 1)
    best = np.argsort(values, kind="stable")[:PARENTS]
    columns = {name: column[best] for name, column in seen.columns.items()}
    values = values[best]
    for scale in np.geomspace(1.0, 1e-4, ROUNDS):
        children = {name: np.repeat(column, CHILDREN) for name, column in columns.items()}
        count = len(next(iter(children.values())))
        for v in seen.space.variables:
            moved = children[v.name] * 10.0 ** (scale * rng.standard_normal(count))
            moved = np.where(rng.uniform(size=count) < 0.5, moved, children[v.name])
            children[v.name] = np.round(moved) if v.integer else moved
        inside = within(seen.space, children)
        children = {name: column[inside] for name, column in children.items()}
        fresh = slack(children)
        both = {name: np.concatenate([columns[name], children[name]]) for name in columns}
        values = np.concatenate([values, fresh])
        keep = np.argsort(values, kind="stable")[:PARENTS]
        columns, values = {name: column[keep] for name, column in both.items()}, values[keep]
    return columns, values
