"""Rules for arithmetic, comparisons and functions of single numbers. Each has its proof in one line."""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from .derivation import Open, refuse
from .facts import INF, NAMED, ZERO, Cell, Form, Norms, Origin, Side, rows_of, times
from .value import HOLES_ALLOWED, Value, alike, join, plain, private, rule


def spread(a: Value, shape: tuple[int, ...]) -> Value:
    """Broadcasting: each entry of a record is there ``k`` times, so norms grow by ``k`` and ``sqrt(k)``."""
    if a._shape == shape:
        return a
    if a.at is not None and shape[a.at] != a._shape[a.at]:
        if a._shape[a.at] == 1:  # one record, repeated
            return spread(a.whole(), shape)
        raise Open("records along an axis of another length")
    entries = math.prod(shape) // (shape[a.at] if a.at is not None and shape[a.at] else 1)
    count = entries / a.entries if a.entries else 0.0
    kept = a.forms if a.at is not None and entries == 1 else ()
    size, move = a.norms.repeated(count), a.move.repeated(count)
    sides = rows_of(a.sides) if kept else None
    return a.kept(shape=shape, size=size, move=move, holes=a.holes, forms=kept, sides=sides)


def _shape_of(a: Any, b: Any) -> tuple[int, ...]:
    shapes = [one._shape if private(one) else np.shape(one) for one in (a, b)]
    return np.broadcast_shapes(*shapes)


def aligned(a: Value, b: Value) -> tuple[Value, Value]:
    """Two private values of one shape: record by record where both have the same records there, else as wholes."""
    shape = _shape_of(a, b)
    if a.at is not None and alike((a, b)) and a._shape[a.at] == shape[a.at] == b._shape[a.at]:
        return spread(a, shape), spread(b, shape)
    return spread(a.whole(), shape), spread(b.whole(), shape)


def beside_public(a: Any, b: Any) -> tuple[Value, Any]:
    """A private value in the shape of the result, and the public array; which may not count private records."""
    a, b = (a, plain(b)) if private(a) else (b, plain(a))
    counted(a, b)
    return spread(a, _shape_of(a, b)), b


def counted(a: Value, b: Any) -> None:
    """A public array with an entry per record says how many there are."""
    if a.absent and a.at is not None and np.ndim(b) >= -a.at and np.shape(b)[a.at] != 1:
        raise Open("a public array beside records whose number is private")


def moved(a: Value, b: Value, first: Norms, second: Norms) -> Norms:
    """Both move, so bounds add; where no record is in both, only one of them moves."""
    return first.either(second) if a.at is None and a.records.disjoint(b.records) else first.plus(second)


@rule(np.add)
def add(a: Any, b: Any) -> Value:
    """|(a + b) - (a' + b')| <= |a - a'| + |b - b'|; a public part does not move."""
    if private(a) and private(b):
        truths = a.truth and b.truth  # of which NumPy makes a truth value, and Python a number
        for one, other in ((a, b), (b, a)):  # a + c a = (1 + c) a
            token, least, most = other.weighted or (None, 0.0, 1.0)
            if token is one.token and least == most and _in_place_of(one, other):
                return scaled(one, np.asarray(1 + least))
        a, b = aligned(a, b)
        return Value(
            a._shape,
            size=a.norms.plus(b.norms),
            move=moved(a, b, a.move, b.move),
            low=max(a.low, b.low) if truths else a.low + b.low,
            high=a.high + b.high,
            forms=_above_sum(a, b),
            origin=_origin_of_sum(a, b),
            adds=a.adds and b.adds,
            **join(a, b),
        )
    a, b = beside_public(a, b)
    shape = a._shape
    low, high = _ends(b)
    size = a.norms.plus(_public_norms(np.broadcast_to(b, shape), a.at))
    forms = (*_of_kinds(a, "shifted"), *(_above(a) if low >= 0 else ()))
    ends = {"low": a.low + low, "high": a.high + high}
    origin = a.origin if a.at is None and not (a.alone and np.any(b)) else None
    symmetric = a.symmetric and np.array_equal(there := np.broadcast_to(b, shape), there.T)
    beside: Value = a.like(size=size, move=a.move, **ends, forms=forms, origin=origin, symmetric=symmetric)
    return beside


def _origin_of_sum(a: Value, b: Value) -> Origin | None:
    """The same entries of two arrays of other records: of the two arrays' sum."""
    if a.at is not None or a.origin is None or b.origin is None or not a.records.disjoint(b.records):
        return None
    (one, places, factor), (other, others, more) = a.origin, b.origin
    if one._shape != other._shape or not np.array_equal(places, others):
        return None
    return Origin(NAMED.setdefault((one.token, other.token), add(one, other)), places, max(factor, more))


def _in_place_of(a: Value, b: Value) -> bool:
    """Do numbers of the same name stand at the same places?"""
    return a._shape == b._shape and a.at == b.at


def _of_kinds(a: Value, *kinds: str) -> tuple[Form, ...]:
    return tuple(one for one in a.forms if one.kind in kinds)


def _above(a: Value) -> tuple[Form, ...]:
    return _of_kinds(a, "above", "squares")


def _shifted(a: Value, kind: str = "shifted") -> Form:
    """How far all its numbers move, up to one number for all of them."""
    return Form(kind, a.token, INF, min((one.k for one in _of_kinds(a, "shifted")), default=a.move.sup))


def _above_sum(a: Value, b: Value) -> tuple[Form, ...]:
    """At least what either is; of squared norms of two rows of a record it is that of both as one."""
    sides = [max(_of_kinds(one, "squares"), key=lambda form: len(form.members), default=None) for one in (a, b)]
    joint = tuple((token, one.k * k) for one in sides if one is not None for token, k in one.members)
    both = (Form("squares", joint, 2, 1.0),) if None not in sides and a.records.same(b.records) else ()
    return (*(_above(a) if b.low >= 0 else ()), *(_above(b) if a.low >= 0 else ()), *both)


def _public_norms(b: Any, at: int | None) -> Norms:
    """Norms of a public array, the largest over records."""
    if b.size == 0:
        return ZERO
    flat = np.abs(b).reshape(1, -1) if at is None else np.abs(np.moveaxis(b, at, 0)).reshape(b.shape[at], -1)
    largest = float(flat.max())
    return Norms(float(flat.sum(axis=1).max()), float(np.sqrt((flat**2).sum(axis=1).max())), largest)


def _ends(b: Any) -> tuple[float, float]:
    return (float(b.min()), float(b.max())) if b.size else (0.0, 0.0)


@rule(np.negative)
def negative(a: Value) -> Value:
    """A change of sign keeps norms."""
    return scaled(a, np.asarray(-1.0))


rule(np.positive)(lambda a: a.copy())


@rule(np.subtract)
def subtract(a: Any, b: Any) -> Value:
    """a + (-b); of a row less its largest number the largest is 0."""
    if not private(b):
        return add(a, -plain(b))
    found = add(a, negative(b))
    if private(a) and b.entries == 1 and found._shape == a._shape:
        if a.at is None and b.at is None:
            found.forms = (*found.forms, _shifted(a))
        if any(one.kind == "largest" and one.token is a.token for one in b.forms) and b.at == a.at:
            found.high = min(found.high, 0.0)
            found.forms = (*found.forms, Form("touches", a.token, INF, 0.0))
    return found


def scaled(a: Value, c: Any) -> Value:
    """Entry by entry times public numbers: norms grow by the largest of them."""
    a, c = beside_public(a, c)
    low, high = _ends(c)
    refuse(a.holes and not (c.size and low > 0), "a division by what may be zero")
    largest = max(abs(low), abs(high))
    ends = [times(x, y) for x in (a.low, a.high) for y in (low, high)]
    forms: tuple[Form, ...] = ()
    if c.size and low == high and low > 0:
        powers = {"squares": 0.5, "entries": 0.5, "rated": 0.0}
        kept = (one for one in a.forms if one.kind != "largest")
        forms = tuple(replace(one, k=one.k * low ** powers.get(one.kind, 1.0)) for one in kept)
    weighted = None
    if c.size and low == high:  # of rows that are weighted by the same number themselves, so many times that
        token, least, most = a.weighted if a.weighted and a.weighted[1] == a.weighted[2] else (a.token, 1.0, 1.0)
        weighted = (token, least * low, most * low)
    return a.like(
        size=a.norms.by(largest),
        move=a.move.by(largest),
        low=min(ends),
        high=max(ends),
        forms=forms,
        holes=a.holes,
        weighted=weighted,
        symmetric=a.symmetric and low == high,
        adds=a.adds,
        origin=None if a.origin is None else a.origin._replace(factor=times(a.origin.factor, largest)),
    )


def clipped(rows: Value, factor: Value, forms: tuple[Form, ...] | None = None) -> tuple[Norms, Origin | None]:
    """A factor between 0 and k / |row| makes the row at most k long, whatever it is, and w times the row w k long.

    Of several rows that are k long as one, each is a part of them.
    """
    found, origin = Norms(), None
    token, least, most = rows.weighted or (rows.token, 1.0, 1.0)
    for form in sorted(_of_kinds(factor, "below") if forms is None else forms, key=lambda one: len(one.members)):
        for number, (member, k) in enumerate(form.members):
            if member is rows.token or member is token:
                length = times(form.k / k, 1.0 if member is rows.token else max(abs(least), abs(most)))
                found = found.both(Norms(*(length if form.order == order else INF for order in (1, 2, INF))))
                if isinstance(form.token, tuple) and rows.records.same(factor.records):  # which pay for all of it
                    places = (number << 32) + np.arange(rows.entries).reshape(rows.shape_of_one)
                    origin = Origin(_rows_as_one(rows, form.token), places, length)
    return found, origin


def _rows_as_one(rows: Value, joint: tuple[Any, ...]) -> Value:
    """Several rows of a record that are at most 1 long as one, of nobody knows how many entries."""
    shape = (_MANY,) if rows.at is None else (rows._shape[rows.at], _MANY)
    at = None if rows.at is None else -2
    whole = rows.like(shape=shape, at=at, size=Norms(two=1.0), vanishes=rows.vanishes, cause="")
    found: Value = NAMED.setdefault((joint, rows.vanishes), whole)
    return found


_MANY = 2**62


def _same_rows(factor: Value, rows: Value) -> bool:
    """The factor of a row stands before that row, and not before another one."""
    if factor.at is None or rows.at is None:
        of_one = rows.at is None or (rows.records.single and rows.records.same(factor.records))
        return factor.at is None and of_one and factor.entries == 1
    return factor.at == rows.at and factor.entries == 1 and factor.records.same(rows.records)


@rule(np.multiply)
def multiply(a: Any, b: Any) -> Value:
    """|a b - a' b'| <= |a| |b - b'| + |b'| |a - a'|, each with the sup-norm of the other; a clip by its factor."""
    if not (private(a) and private(b)):
        return scaled(a, plain(b)) if private(a) else scaled(b, plain(a))
    limit, origin, weighted = Norms(), None, None
    for rows, factor in ((a, b), (b, a)):
        if _same_rows(factor, rows) and _shape_of(a, b) == rows._shape:
            bound, part = clipped(rows, factor)
            limit, origin = limit.both(bound), part or origin
            weighted = weighted if rows.at is None else (rows.token, factor.low, factor.high)
    if a.token is b.token and _in_place_of(a, b) and not a.holes:
        return square(a)
    rated = tuple(form for one, other in ((a, b), (b, a)) if not other._shape for form in _of_kinds(one, "rated"))
    a, b = aligned(a, b)
    product = a.norms.by(b.norms.sup).both(b.norms.by(a.norms.sup))
    move = moved(a, b, a.move.by(b.norms.sup), b.move.by(a.norms.sup))
    ends = [times(x, y) for x in (a.low, a.high) for y in (b.low, b.high)]
    return Value(
        a._shape,
        size=product.both(limit),
        move=Norms() if a.holes | b.holes else move,
        low=min(ends),
        high=max(ends),
        holes=a.holes | b.holes,
        weighted=weighted,
        forms=rated,
        origin=origin,
        **join(a, b),
    )


@rule(np.true_divide)
def divide(a: Any, b: Any) -> Value:
    """a times 1 / b; a row over a number that is at least k |row| is at most 1 / k long."""
    if not private(b):
        b = plain(b)
        refuse(not np.all(b), "a division by a public zero")
        return scaled(a, 1 / b)
    if not private(a):
        return scaled(reciprocal(b), plain(a))
    inverse = reciprocal(b)
    if not inverse.holes:
        return multiply(a, inverse)
    if _same_rows(b, a) and _shape_of(a, b) == a._shape:  # 0 / 0 for a row of zeros, unless `where` takes that out
        limit, origin = clipped(a, inverse)
        found: Value = a.like(size=limit, holes=inverse.holes, origin=origin)
        return found
    raise Open("a division by what may be zero; add a floor, as np.maximum(norm, 1e-12) does")


def reciprocal(b: Value) -> Value:
    """1 / b has slope 1 / low^2 for b >= low > 0; b >= k |row| makes it at most 1 / (k |row|)."""
    if b.high < 0:
        return negative(reciprocal(negative(b)))
    forms = tuple(Form("below", one.token, one.order, 1 / one.k) for one in b.forms if one.kind == "above")
    if b.low > 0:
        slope = 1 / b.low / b.low if b.low > 1e-150 else INF
        return b.like(move=b.move.by(slope), low=1 / b.high if b.high < INF else 0.0, high=1 / b.low, forms=forms)
    positive = _of_kinds(b, "positive")
    if b.low == 0 and (forms or positive):
        zero = {one.token for one in b.forms if one.kind == "norm"} or {b.token}  # what is zero where it is
        return b.like(low=0.0, move=Norms(), forms=forms, holes=frozenset(zero if not positive else ()))
    raise Open("a division by private data that may be zero; add a floor, as np.maximum(norm, 1e-12) does")


def _one_end(a: Any, b: Any, end: Callable[..., float], forms: tuple[Form, ...]) -> Value:
    """The larger or the smaller of two is 1-Lipschitz in each; it is shorter where zero, or more, is the other one."""
    low, high = (end(*sides) for sides in zip(_range(a), _range(b), strict=True))
    if private(a) and private(b):
        a, b = aligned(a, b)
        size, holes = a.norms.plus(b.norms), a.holes | b.holes
        found = Value(a._shape, size=size, move=a.move.plus(b.move), low=low, high=high, **join(a, b))
    else:
        a, b = beside_public(a, b)
        holes = frozenset() if _of_kinds(a, "below") else a.holes
        size = Norms() if a.holes or np.any(b > 0 if end is max else b < 0) else a.norms
        found = a.like(size=size, move=Norms() if a.holes else a.move, low=low, high=high)
        found.holes = a.holes if end is max else frozenset()
    refuse(holes, "a division by what may be zero")
    found.forms = forms * (found.entries == 1)
    return found


@rule(np.maximum, np.fmax)
def maximum(a: Any, b: Any) -> Value:
    """It is at least what either is."""
    return _one_end(a, b, max, tuple(form for one in (a, b) if private(one) for form in _above(one)))


@rule(np.minimum, np.fmin)
def minimum(a: Any, b: Any) -> Value:
    """It is at most what either is."""
    below = tuple(form for one in (a, b) if private(one) for form in _of_kinds(one, "below"))
    return _one_end(a, b, min, below if min(_range(a)[0], _range(b)[0]) >= 0 else ())


@rule(np.clip)
def clip(a: Any, a_min: Any = None, a_max: Any = None, *, min: Any = None, max: Any = None) -> Value:
    """The larger, then the smaller one."""
    low, high = (a_min if a_min is not None else min), (a_max if a_max is not None else max)
    refuse(private(low) or private(high), "clipping to private ends")
    found = a.copy()
    if high is not None:  # first, so that a division by zero is gone
        found = minimum(found, high)
    if low is not None:
        refuse(high is not None and np.any(plain(low) > plain(high)), "np.clip with ends in the wrong order")
        below = found.forms if np.all(plain(low) <= 0) and found.low >= 0 else ()
        found = maximum(found, low)
        found.forms = (*found.forms, *below)
        if high is not None and np.ndim(low) + np.ndim(high):  # each number lies between ends of its own
            least, most = (np.broadcast_to(plain(one), found._shape) for one in (low, high))
            found.norms = found.norms.both(_public_norms(np.maximum(np.abs(least), np.abs(most)), found.at))
            found.move = found.move.both(_public_norms(most - least, found.at))
    clipped: Value = found
    return clipped


HOLES_ALLOWED.update({np.minimum, np.fmin, np.clip, np.where, np.multiply})


@rule(np.logical_and, np.logical_or, np.logical_xor)
def compared(*values: Any) -> Value:
    """A truth value per entry: 0 or 1. All private numbers are finite, so a public infinity may be compared with."""
    given = [one for one in values if private(one)]
    values = tuple(
        one if private(one) else np.clip(np.asarray(one, dtype=float), -_LARGEST, _LARGEST) for one in values
    )
    if len(given) == 2:
        a, b = aligned(*given)
        still = moved(a, b, a.move, b.move).two == 0
        return Value(a._shape, low=0.0, high=1.0, move=ZERO if still else Norms(), truth=True, **join(a, b))
    a, _ = beside_public(*values)
    return a.like(low=0.0, high=1.0, move=ZERO if a.move.two == 0 else Norms(), truth=True)


_LARGEST = 1e300


def _range(one: Any) -> tuple[float, float]:
    return (one.low, one.high) if private(one) else _ends(np.asarray(one, dtype=float))


def _larger(a: Value, c: float, strict: bool) -> Side:
    """Where a > c, or a >= c: a norm that is above zero is no zero row's."""
    above = frozenset((*(one.token for one in _of_kinds(a, "norm")), a.token))
    return Side((c, INF), positive=above if c > 0 or (strict and c == 0) else frozenset())


def _smaller(a: Value, c: float) -> Side:
    """Where a <= c: at least k |row| it is, so |row| <= c / k; of squares by the root of c."""
    rows = (replace(one, kind="bounded", k=_rooted(one, c) / one.k) for one in _above(a))
    return Side((-INF, c), bounded=tuple(rows) if c >= 0 else ())


def _rooted(form: Form, c: float) -> float:
    return math.sqrt(c) if form.kind == "squares" else c


def _compares(strict: bool, turned: bool) -> Callable[[Any, Any], Value]:
    def transfer(a: Any, b: Any) -> Value:
        """0 or 1, and what each says of the private number that is compared with a public one."""
        a, b = (b, a) if turned else (a, b)
        found = compared(a, b)
        (a_low, a_high), (b_low, b_high) = (_range(one) for one in (a, b))
        if a_low > b_high or (a_low == b_high and not strict) or b_high == -INF:
            found.low = 1.0
        elif a_high < b_low or (a_high == b_low and strict) or b_low == INF or a_high == -INF:
            found.high = 0.0
        if private(a) and not private(b) and np.ndim(b) == 0:
            found.sides = a.token, _smaller(a, float(b)), _larger(a, float(b), strict)
        elif private(b) and not private(a) and np.ndim(a) == 0:
            found.sides = b.token, _larger(b, float(a), not strict), _smaller(b, float(a))
        if found.sides is not None:  # written twice it is the same one
            number = float(a if private(b) else b)
            found.token = NAMED.setdefault((found.sides[0], found._shape, strict, turned, private(b), number), object())
        return found

    return transfer


rule(np.greater)(_compares(strict=True, turned=False))
rule(np.greater_equal)(_compares(strict=False, turned=False))
rule(np.less)(_compares(strict=True, turned=True))
rule(np.less_equal)(_compares(strict=False, turned=True))


@rule(np.equal)
def equal(a: Any, b: Any) -> Value:
    """0 or 1; the records with one number are a cell, and no record is in two."""
    found = compared(a, b)
    if private(a) and not private(b) and np.ndim(b) == 0:
        found.cell = Cell(a.token, float(b)) if a.entries == 1 else None
        if b == 0 <= a.low:
            found.sides = a.token, _larger(a, 0.0, True), _smaller(a, 0.0)
    return found


@rule(np.isin)
def among(a: Value, values: Any, assume_unique: bool = False, invert: bool = False) -> Value:
    """0 or 1."""
    plain(values)
    return compared(a, 0.0)


@rule(np.digitize)
def place_among(x: Value, bins: Any, right: bool = False) -> Value:
    """How many of the bounds lie below, or above: a whole number."""
    return x.like(low=0.0, high=float(len(plain(bins))), integer=True)


rule(np.searchsorted)(lambda a, v, side="left": place_among(v, a))


@rule(np.bitwise_or, np.bitwise_xor)
def bits(a: Any, b: Any) -> Value:
    """0 or 1, of truth values; other bits are not followed."""
    ends = [_range(one) for one in (a, b)]
    refuse(any(low < 0 or high > 1 for low, high in ends), "bits of private numbers are not followed")
    return compared(a, b)


@rule(np.bitwise_and)
def both(a: Any, b: Any) -> Value:
    """True where both are."""
    found = bits(a, b)
    found.low, found.high = (min(ends) for ends in zip(_range(a), _range(b), strict=True))
    return found


@rule(np.logical_not)
def logical_not(a: Value) -> Value:
    """0 or 1."""
    found = compared(a, 0.0)
    if a.truth and a.sides is not None:
        found.sides = a.sides[0], a.sides[2], a.sides[1]
    return found


rule(np.not_equal)(lambda a, b: logical_not(equal(a, b)))


@rule(np.invert)
def inverted(a: Value) -> Value:
    """One less the truth value."""
    refuse(not a.truth, "bits of private numbers are not followed")
    return logical_not(a)


def _exp(x: float) -> float:
    return math.exp(x) if x < 700 else INF


def _log(x: float) -> float:
    return -INF if x <= 0 else math.log(x) if x < INF else INF


def _function(function: Any, of: Callable[[float], float], slope: Callable[[Value], float], shortens: bool) -> None:
    """An increasing function of single numbers: its range, and its largest slope on the range of the argument."""

    def transfer(a: Value) -> Value:
        size = a.norms if shortens else Norms()
        forms = [replace(one, k=of(one.k)) for one in _of_kinds(a, "touches")]
        if function is np.exp and a.at is None:
            forms.append(_shifted(a, "rated"))
        return a.like(size=size, move=a.move.by(slope(a)), low=of(a.low), high=of(a.high), forms=tuple(forms))

    transfer.__doc__ = "Increasing, so its range is known; |f(a) - f(b)| is at most the largest slope times |a - b|."
    rule(function)(transfer)


def _needs(a: Value, at_least: float) -> float:
    refuse(a.low <= at_least, f"a logarithm of what may be {at_least:g} or less; add a floor")
    return a.low - at_least


_function(np.tanh, lambda x: math.tanh(x), lambda a: 1.0, True)
_function(np.arctan, lambda x: math.atan(x), lambda a: 1.0, True)
_function(expit, lambda x: float(expit(x)), lambda a: 0.25, False)
_function(np.exp, _exp, lambda a: _exp(a.high), False)
_function(np.expm1, lambda x: _exp(x) - 1, lambda a: _exp(a.high), False)
_function(np.log, _log, lambda a: 1 / _needs(a, 0.0), False)
_function(np.log1p, lambda x: _log(1 + x), lambda a: 1 / _needs(a, -1.0), False)
_function(np.sign, lambda x: float(np.sign(x)), lambda a: INF, False)


rule(np.sin, np.cos)(lambda a: a.like(move=a.move, low=-1.0, high=1.0))  # slope 1


def norm_forms(a: Value, order: float, *kinds: str) -> tuple[Form, ...]:
    """Of the norm of a itself; all that is one number times the same rows is named by them."""
    token, least, most = a.weighted or (a.token, 1.0, 1.0)
    token, k = (token, abs(least)) if least == most != 0 else (a.token, 1.0)
    return tuple(Form(kind, token, order, k) for kind in kinds or ("above", "norm"))


def norm_of_sizes(a: Value, order: float) -> tuple[Form, ...]:
    """Of the norm that the sizes of all numbers of a row make."""
    return tuple(Form(kind, one.token, order, one.k) for one in _of_kinds(a, "sizes") for kind in ("above", "norm"))


@rule(np.abs, np.fabs)
def absolute(a: Value) -> Value:
    """||a| - |b|| <= |a - b|, and |a| is as long as a; of single numbers it is their norm."""
    low = 0.0 if a.low < 0 < a.high else min(abs(a.low), abs(a.high))
    of_one = norm_forms(a, 1) + norm_forms(a, 2) + norm_forms(a, INF)
    forms = of_one if a.entries == 1 else norm_forms(a, 1, "sizes")
    return a.kept(low=low, high=max(abs(a.low), abs(a.high)), forms=forms)


@rule(np.sqrt)
def root(a: Value) -> Value:
    """Increasing; sqrt of at least (k |row|)^2 is at least k |row|."""
    refuse(a.low < 0, "a square root of what may be negative")
    forms = tuple(Form("above", one.token, 2, one.k) for one in a.forms if one.kind == "squares")
    forms += _of_kinds(a, "positive")
    slope = 0.5 / math.sqrt(a.low) if a.low > 0 else INF
    return a.like(move=a.move.by(slope), low=math.sqrt(a.low), high=math.sqrt(a.high), forms=forms)


@rule(np.square)
def square(a: Value) -> Value:
    """a times a; slope 2 |a|."""
    low = 0.0 if a.low < 0 < a.high else min(a.low * a.low, a.high * a.high)
    largest = a.norms.sup
    size = Norms(times(a.norms.two, a.norms.two), times(a.norms.two, largest), times(largest, largest))
    move, kind = a.move.by(2 * largest), "entries" if a.entries != 1 else "squares"
    norms = (replace(one, kind="squares") for one in _of_kinds(a, "above") if one.order == 2 and a.entries == 1)
    return a.like(size=size, move=move, low=low, high=size.sup, forms=(*norms, *norm_forms(a, 2, kind)))


@rule(np.power, np.float_power)
def power(a: Any, b: Any) -> Value:
    """Repeated multiplication, or a square root."""
    number = None if private(b) or np.ndim(b) else float(b)
    if number == 2:
        return square(a)
    if number == 0.5:
        return root(a)
    if number in (1, 3, 4):
        return a.copy() if b == 1 else multiply(square(a), a if b == 3 else square(a))
    raise Open("a power has a rule where it is one of 0.5, 1, 2, 3 and 4")


def edges(a: Value) -> tuple[float, float]:
    """Its ends with room for rounding, where a function jumps."""
    return a.low - 1e-9 * abs(a.low), a.high + 1e-9 * abs(a.high)


def _rounding(function: Any) -> None:
    def transfer(a: Value, decimals: int = 0) -> Value:
        unit, more = 10.0 ** (-decimals), (decimals,) if decimals else ()
        low, high = (float(function(one, *more)) for one in edges(a))
        return a.like(move=Norms(sup=a.move.sup + unit), low=low, high=high)

    transfer.__doc__ = "Increasing; each entry changes by less than a unit, so a difference by at most one unit more."
    rule(function)(transfer)


for _name in ("floor", "ceil", "rint", "trunc", "round", "around"):
    _rounding(getattr(np, _name))


@rule(np.floor_divide)
def floor_divide(a: Any, b: Any) -> Any:
    """The quotient, rounded down."""
    return np.floor(np.true_divide(a, b))


@rule(np.remainder)
def remainder(a: Any, b: Any) -> Value:
    """Below what it is divided by; of whole numbers it is one."""
    if private(b) or not np.all(plain(b) > 0):
        raise Open("a remainder of a division by private data, or by what is not positive")
    whole = a.integer and np.asarray(b).dtype.kind in "iu"
    a, b = beside_public(a, b)
    found: Value = a.like(low=0.0, high=float(np.max(b)) - whole)
    return found


@rule(np.logaddexp)
def log_of_two(a: Any, b: Any) -> Value:
    """1-Lipschitz and increasing in each argument."""
    found = maximum(a, b)
    moves = [spread(one, found._shape).move for one in (a, b) if private(one)]
    move = moves[0] if len(moves) == 1 else moves[0].plus(moves[1])
    ends = [_range(one) for one in (a, b)]
    low, high = (float(np.logaddexp(ends[0][side], ends[1][side])) for side in (0, 1))
    return found.like(move=move, low=low, high=high)


@rule(np.where)
def where(condition: Any, a: Any = None, b: Any = None) -> Any:
    """Entries are of one or the other; of a row as one, so is its norm. |row| <= k where `|row| > k` is false."""
    if a is None or b is None:
        return np.nonzero(condition)
    shape = np.broadcast_shapes(*(one._shape if private(one) else np.shape(one) for one in (condition, a, b)))
    token, false, true = (private(condition) and condition.sides) or (None, Side(), Side())
    if private(condition) and not condition.holes:
        for one, always in ((a, condition.low > 0), (b, condition.low == condition.high == 0)):
            if always and private(one):
                return spread(one, shape).copy()
    values = [one if private(one) else plain(one) for one in (a, b)]
    given = list(filter(private, (condition, a, b)))
    if not private(condition):
        counted(given[0], condition)
    refuse(not alike(given), "np.where of values of different records")
    of_rows = private(condition) and condition.entries == 1
    parts, ends, origins, forms, positive = [], [], [], list[Form](), True
    for one, side, other, beside in ((values[0], true, values[1], false), (values[1], false, values[0], true)):
        part, origin = spread(one, shape) if private(one) else constant(one, given[0], shape), None
        low, high = _range(one)
        above_zero = low > 0 or (private(one) and bool(_of_kinds(one, "positive")))
        if private(one):
            if not one.holes <= side.positive:  # a division by a norm is safe where it is said to be positive
                raise Open("a division by what may be zero")
            if one.token is token and one._shape == condition._shape == shape:
                above_zero = above_zero or (token in side.positive and low >= 0)
                low, high = max(low, side.ends[0]), min(high, side.ends[1])
            if of_rows and side.bounded:
                limit, origin = clipped(one, condition, side.bounded)
                part = part.kept(size=part.norms.both(limit))
            if not private(other):
                forms += _factor_forms(one, other, beside)
        parts.append(part)
        ends.append((low, high))
        origins.append(origin)
        positive = positive and above_zero
    size = parts[0].norms.either(parts[1].norms) if of_rows else parts[0].norms.beside(parts[1].norms)
    move = Norms() if private(condition) else parts[0].move.beside(parts[1].move)
    low, high = min(one[0] for one in ends), max(one[1] for one in ends)
    forms += [Form("positive", None, 0, 0.0)] if positive else []
    origin = None
    if any(origins) and private(a) and private(b) and a._shape == b._shape == shape:
        origin = _origin_of_either(origins[0] or a.origin, origins[1] or b.origin)
    return Value(shape, size=size, move=move, low=low, high=high, forms=tuple(forms), origin=origin, **join(*given))


@rule(np.select)
def selected(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """The first one whose condition holds."""
    rest = selected(condlist[1:], choicelist[1:], default) if len(condlist) > 1 else default
    return np.where(condlist[0], choicelist[0], rest)


def _origin_of_either(one: Origin | None, other: Origin | None) -> Origin | None:
    if one is None or other is None or one.whole is not other.whole or not np.array_equal(one.places, other.places):
        return None
    return one._replace(factor=max(one.factor, other.factor))


def _factor_forms(factor: Value, other: Any, beside: Side) -> list[Form]:
    """np.where(|row| > c, f, b): f is at most k / |row|, or at least k |row|, and b with another k where |row| <= c."""
    limits = {(one.token, one.order): one.k for one in beside.bounded if np.ndim(other) == 0 <= other}
    found = []
    for one in _of_kinds(factor, "below", "above", "squares"):
        limit = limits.get((one.token, one.order))
        if limit is not None:
            most, least = float(other) * limit, _rooted(one, float(other)) / limit if limit else INF
            found.append(replace(one, k=max(one.k, most) if one.kind == "below" else min(one.k, least)))
    return [one for one in found if one.k > 0]


def constant(array: Any, known: Value, shape: tuple[int, ...]) -> Value:
    """A public array beside private ones, as a value: it does not move."""
    counted(known, array)
    low, high = _ends(array)
    size = _public_norms(np.broadcast_to(array, shape), known.at)
    return known.like(shape=shape, size=size, move=ZERO, low=low, high=high, cause="")


rule(np.nan_to_num)(lambda a, nan=0, posinf=None, neginf=None: a.copy())
