"""Rules for sums, means, norms, order statistics and counts: over records, over coordinates, or both."""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from typing import Any

import numpy as np

from .arithmetic import add, compared, norm_forms, norm_of_sizes, root, scaled, square, subtract
from .value import INF, NAMED, SOMETHING, Form, Norms, Open, Value, here, private, rule, times


def axes_of(a: Value, axis: Any) -> tuple[int, ...]:
    """Positions counted from the right."""
    given = range(a.ndim) if axis is None else (axis,) if np.ndim(axis) == 0 else axis
    found = tuple(int(one) - a.ndim if one >= 0 else int(one) for one in given)
    if any(not -a.ndim <= one < 0 for one in found):
        raise Open(f"axis {axis} of an array with {a.ndim} axes")
    return found


def left(a: Value, axes: tuple[int, ...], keepdims: bool) -> tuple[tuple[int, ...], int | None]:
    """The shape after a reduction, and where its record axis is."""
    shape = tuple(1 if i - a.ndim in axes else s for i, s in enumerate(a._shape) if keepdims or i - a.ndim not in axes)
    if a.at is None or a.at in axes:
        return shape, None
    return shape, a.at if keepdims else a.at + sum(one > a.at for one in axes)


def _count(a: Value, axes: tuple[int, ...]) -> int:
    return math.prod(a._shape[one] for one in axes)


def unbounded(a: Value) -> str:
    """The line where nothing bounds a sum any more."""
    return a.cause or f"{here()} sums rows that nothing bounds"


@rule(np.sum)
def total(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """Over records one term changes: the sum moves as one row does. Over k numbers: |sum|_2 <= sqrt(k) |v|_2."""
    axes = axes_of(a, axis)
    if axes == (-a.ndim,) and a.parts:
        summed, (shape, at) = functools.reduce(add, a.parts), left(a, axes, keepdims)
        return replaced(summed if summed.at == at else summed.whole(), shape, at)
    if a.at is not None and a.at in axes:
        summed = _over_records(a)
        shape, _ = left(a, (a.at,), True)
        summed = replaced(summed, shape, None)
        return replaced(_over_numbers(summed, axes), left(a, axes, keepdims)[0], None)
    found = _over_numbers(a, axes)
    return replaced(found, *left(a, axes, keepdims))


def replaced(a: Value, shape: tuple[int, ...], at: int | None) -> Value:
    """The same numbers in another shape; axes of length one come and go."""
    found = a.copy()
    found._shape, found.at, found.parts = shape, at, ()
    found.origin = None if a.origin is None else (a.origin[0], a.origin[1].reshape(shape))
    found.negation = found.ends = found.cell = None  # these are about entries where they stood
    return found


def _over_records(a: Value) -> Value:
    """One term changes. Where a private mask chooses, it may also change from or to nothing: by its norm.

    Of Poisson batches the movement is that of a record which appears; two of them are what a release counts.
    """
    assert a.at is not None
    move, count = a.move, a._shape[a.at]
    if count == 1 and a.records.single and not a.absent:
        found = replaced(a, a._shape, None)
        found.truth = False  # it is a number
        found.cause = unbounded(a) if math.isinf(move.two) else ""
        found.origin = None if a.cell is None else _of_cells(a, a._shape)
        return found
    if a.absent == "masked":
        move = move.either(a.norms)
    if a.absent == "poisson":
        move = a.norms
    low, high = times(count, a.low), times(count, a.high)
    if a.absent:
        low, high = min(low, 0.0), max(high, 0.0)
    cause = unbounded(a) if math.isinf(move.two) else ""
    shape = tuple(1 if i == a.at + a.ndim else s for i, s in enumerate(a._shape))
    draws = a.draws - {SOMETHING} if a.absent == "poisson" and a.vanishes else a.draws
    found = Value(shape, None, a.records, a.norms.by(count), move, low, high, draws, cause=cause)
    if a.cell is not None:
        found.origin = _of_cells(a, shape)
    return found


def _of_cells(a: Value, shape: tuple[int, ...]) -> tuple[Value, Any]:
    """The array of what is summed in all cells, and the places of this one: a record leaves one, and enters another."""
    assert a.cell is not None
    size, (numbers, number) = a.norms, a.cell
    apart = a.move.either(Norms(2 * size.one, math.sqrt(2) * size.two, size.sup))
    move = size if a.absent == "poisson" else apart
    whole = Value((2 * a.entries,), None, a.records, move=move, draws=a.draws)  # of the cells that move
    whole = NAMED.setdefault(("cells", numbers, size, a.move, a.draws, a.absent, a._shape), whole)
    place = NAMED.setdefault(("cell", numbers, number), len(NAMED))
    return whole, place * a.entries + np.arange(a.entries).reshape(shape)


def _over_numbers(a: Value, axes: tuple[int, ...]) -> Value:
    """|sum|_1 <= |v|_1, |sum|_2 <= sqrt(k) |v|_2 by Cauchy-Schwarz, |sum|_sup <= k |v|_sup."""
    shape = tuple(1 if i - a.ndim in axes else s for i, s in enumerate(a._shape))
    if shape == a._shape:  # nothing is added up; a sum of one truth value is a number
        found = a.copy()
        found.truth = False
        return found
    k = _count(a, tuple(one for one in axes if a._shape[one] != 1))
    kept = tuple(one for one in a.forms if one.kind in ("squares", "entries"))

    def summed(norms: Norms) -> Norms:
        return Norms(norms.one, times(math.sqrt(k), norms.two), times(k, norms.sup))

    low, high = times(k, a.low), times(k, a.high)
    whole = math.prod(s for i, s in enumerate(shape) if i - a.ndim != a.at) == 1
    forms = (*(replace(one, kind="squares") for one in kept), *norm_of_sizes(a, 1)) if whole else ()
    if a.low >= 0 and whole:  # one of them is as large as that
        low = max(low, *(one.k for one in a.forms if one.kind == "touches"), 0.0)
    return a.like(shape=shape, size=summed(a.norms), move=summed(a.move), low=low, high=high, forms=forms)


@rule(np.mean, np.average)
def mean(a: Value, axis: Any = None, keepdims: bool = False, weights: Any = None) -> Value:
    """The sum over a public number."""
    if weights is not None:
        raise Open("weighted averages are not followed; write the sum and the division")
    axes = axes_of(a, axis)
    if a.at in axes:
        a._counted()
    return scaled(total(a, axis, keepdims), np.asarray(1 / max(_count(a, axes), 1)))


@rule(np.var)
def variance(a: Value, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The mean of squares less the squared mean."""
    count = _count(a, axes_of(a, axis))
    if count <= ddof:
        raise Open("a variance of too few numbers is none")
    found = subtract(mean(square(a), axis, keepdims), square(mean(a, axis, keepdims)))
    return scaled(found.kept(low=0.0, high=max(found.high, 0.0)), np.asarray(count / (count - ddof)))


rule(np.std)(lambda a, axis=None, ddof=0, keepdims=False: root(variance(a, axis, ddof, keepdims)))


@rule(np.linalg.norm)
def norm(a: Value, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    """| |a| - |b| | <= |a - b|, block by block for blocks of the same order."""
    if axis is None and a.ndim == 2 and ord not in (None, "fro"):
        raise Open("matrix norms of private data have no rule")
    order = 2 if ord in (None, "fro") else ord
    if order not in (1, 2, INF):
        raise Open(f"a norm of order {ord} has no rule")
    axes = axes_of(a, axis)
    if len(axes) > 1 and ord not in (None, "fro"):
        raise Open("matrix norms of private data have no rule")
    if a.at in axes:
        a = a.whole()
    whole = a.entries == _count(a, axes)
    bounds = {1: "one", 2: "two"}.get(order, "sup")
    shape, at = left(a, axes, keepdims)

    def of(norms: Norms) -> Norms:
        return Norms(**{bounds: norms.of_order(order)})

    high = a.norms.of_order(order)
    forms = norm_forms(a, order) if whole else ()
    return a.like(shape=shape, at=at, size=of(a.norms), move=of(a.move), low=0.0, high=high, forms=forms)


@rule(np.max, np.amax)
def largest(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """The largest size of the numbers of a row is its sup-norm."""
    found = extreme(a, axis, keepdims)
    if a.at not in (axes := axes_of(a, axis)) and _count(a, axes) == a.entries:
        found.forms = (Form("largest", a.token, INF, 1.0), *norm_of_sizes(a, INF))
    return found


@rule(np.min, np.amin, np.median)
def extreme(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """1-Lipschitz in the sup-norm of what it is taken over, and within its range."""
    axes = axes_of(a, axis)
    if a.at in axes:
        a = a.whole()
    shape, at = left(a, axes, keepdims)
    return a.kept(shape=shape, at=at, size=Norms(), move=Norms(sup=a.move.sup))


rule(np.ptp)(lambda a, axis=None, keepdims=False: subtract(*(extreme(one, axis, keepdims) for one in (a, a))))


@rule(np.quantile, np.percentile)
def quantile(a: Value, q: Any, axis: Any = None, method: Any = None, keepdims: bool = False) -> Value:
    """Within the range of the numbers, and 1-Lipschitz in their sup-norm, for each q."""
    if np.ndim(q):
        raise Open("several quantiles at once have no rule")
    return extreme(a, axis, keepdims)


@rule(np.sort)
def ordered(a: Value, axis: Any = -1, kind: Any = None, stable: Any = None) -> Value:
    """Sorting is 1-Lipschitz in every norm (rearrangement), along any one axis."""
    if axis is None:
        a = replaced(a.whole(), (math.prod(a._shape),), None)
    elif axes_of(a, axis)[0] == a.at:
        a = a.whole()
    return a.kept()


@rule(np.cumsum)
def running(a: Value, axis: Any = None) -> Value:
    """Each partial sum moves by at most the 1-norm of the movement."""
    if axis is None and a.ndim > 1:
        raise Open("cumsum over all axes at once has no rule")
    along = axes_of(a, axis)[0] if axis is not None else -1
    if along == a.at:
        a = a.whole()
    k = a._shape[along]
    size = Norms(sup=a.norms.one)
    move = Norms(times(k, a.move.one), times(k, a.move.two), a.move.one)
    return a.like(size=size, move=move, low=min(times(k, a.low), a.low), high=max(times(k, a.high), a.high))


rule(np.count_nonzero)(lambda a, axis=None, keepdims=False: total(a if a.truth else compared(a, 0.0), axis, keepdims))


@rule(np.any, np.all)
def one_of(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """0 or 1."""
    found = extreme(a if a.truth else compared(a, 0.0), axis, keepdims)
    found.truth = True
    return found


@rule(np.argmin, np.argmax)
def best(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """A place, per record where it is taken within one."""
    axes = axes_of(a, axis)
    if a.at in axes or a.at is None:
        raise Open("the place of the largest private number; release noisy numbers first")
    shape, at = left(a, axes, keepdims)
    return a.like(shape=shape, at=at, low=0.0, high=float(_count(a, axes) - 1))


@rule(np.histogram)
def histogram(a: Value, bins: Any = 10, range: Any = None, density: Any = None, weights: Any = None) -> Any:
    """One number leaves one cell and enters another: 2 in the 1-norm, sqrt(2) in the 2-norm, 1 in the sup-norm."""
    known = not private(bins) and not isinstance(bins, str) and (np.ndim(bins) > 0 or range is not None)
    if density or weights is not None or not known:
        raise Open("np.histogram needs public bins (or their number and a public range), and no weights")
    edges = np.histogram_bin_edges(np.zeros(0), bins, range)
    return _cells(a, len(edges) - 1), edges


def _cells(a: Value, cells: int) -> Value:
    if a.at is None or a.entries != 1:
        raise Open("a count of more than one number a record has no rule")
    move = Norms(2.0, math.sqrt(2), 1.0)
    if a.absent == "poisson":
        move = Norms(1.0, 1.0, 1.0)
    found = Value((cells,), None, a.records, Norms(), move, 0.0, float(a._shape[a.at]), a.draws)
    found.integer = True
    return found


@rule(np.bincount)
def counts(a: Value, weights: Any = None, minlength: int = 0) -> Value:
    """As a histogram, where the numbers are known to lie below the public length."""
    if weights is not None or a.low < 0 or a.high > minlength - 1:
        raise Open("np.bincount needs numbers within 0 .. minlength - 1: clip them first, and give minlength")
    return _cells(a, int(minlength))
