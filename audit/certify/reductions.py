"""Rules for sums, means, norms, order statistics and counts, over records, coordinates or both; and for products."""

import functools
import itertools
import math
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from .arithmetic import add, clipped, compared, multiply, norm_forms, norm_of_sizes, root, scaled, square, subtract
from .derivation import Open, here, refuse
from .facts import INF, NAMED, SOMETHING, Form, Norms, Origin, rows_of, times
from .value import Value, join, plain, private, rule


def axes_of(a: Value, axis: Any) -> tuple[int, ...]:
    """Positions counted from the right."""
    given = range(a.ndim) if axis is None else (axis,) if np.ndim(axis) == 0 else axis
    found = tuple(int(one) - a.ndim if one >= 0 else int(one) for one in given)
    refuse(any(not -a.ndim <= one < 0 for one in found), f"axis {axis} of an array with {a.ndim} axes")
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
    found = _over_numbers(_over_records(a) if a.at in axes else a, axes)
    return replaced(found, *left(a, axes, keepdims))


def replaced(a: Value, shape: tuple[int, ...], at: int | None) -> Value:
    """The same numbers in another shape; axes of length one come and go."""
    found = a.copy()
    found._shape, found.at, found.parts = shape, at, ()
    found.origin = None
    if a.origin is not None and at is None:
        found.origin = a.origin._replace(places=a.origin.places.reshape(shape))
    found.sides, found.cell, found.few = rows_of(a.sides), None, None  # the rest is about entries where they stood
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
        found.origin = _origin_of_sum(a)
        return found
    if a.absent == "masked":
        move = move.either(a.norms)
    if a.absent == "lacking":
        move = a.norms
    low, high = times(count, a.low), times(count, a.high)
    if a.absent:
        low, high = min(low, 0.0), max(high, 0.0)
    draws = a.draws - {SOMETHING} if a.absent == "lacking" and a.vanishes else a.draws
    size, cause = a.norms.by(count), unbounded(a) if math.isinf(move.two) else ""
    origin = _origin_of_sum(a)
    return Value(a.shape_of_one, None, a.records, size, move, low, high, draws, cause=cause, origin=origin, adds=True)


def _origin_of_sum(a: Value) -> Origin | None:
    """The array of what is summed in all cells, and the places of this one: a record leaves one, and enters another."""
    if a.cell is None and a.origin is not None:
        whole = a.origin.whole
        return a.origin._replace(whole=NAMED.setdefault(("sum", whole.token), _over_records(whole)))
    if a.cell is None:
        return None
    size, (numbers, number, _) = a.norms, a.cell
    apart = a.move.either(Norms(2 * size.one, math.sqrt(2) * size.two, size.sup))
    move = size if a.absent == "lacking" else apart
    whole = Value((2 * a.entries,), None, a.records, move=move, draws=a.draws)  # of the cells that move
    whole = NAMED.setdefault(("cells", numbers, size, a.move, a.draws, a.absent, a._shape), whole)
    place = NAMED.setdefault(("cell", numbers, number), len(NAMED))
    return Origin(whole, place * a.entries + np.arange(a.entries).reshape(a.shape_of_one))


def _over_numbers(a: Value, axes: tuple[int, ...]) -> Value:
    """|sum|_1 <= |v|_1, |sum|_2 <= sqrt(k) |v|_2 by Cauchy-Schwarz, |sum|_sup <= k |v|_sup."""
    shape = tuple(1 if i - a.ndim in axes else s for i, s in enumerate(a._shape))
    if shape == a._shape:  # nothing is added up; a sum of one truth value is a number
        found = a.copy()
        found.truth = False
        found.forms += norm_forms(a, 1) * (a.low >= 0 and a.entries == 1)
        return found
    k = _count(a, tuple(one for one in axes if a._shape[one] != 1))
    kept = tuple(one for one in a.forms if one.kind in ("squares", "entries"))

    def summed(norms: Norms) -> Norms:
        return Norms(norms.one, times(math.sqrt(k), norms.two), times(k, norms.sup))

    low, high = times(k, a.low), times(k, a.high)
    whole = math.prod(s for i, s in enumerate(shape) if i - a.ndim != a.at) == 1
    forms = (*(replace(one, kind="squares") for one in kept), *norm_of_sizes(a, 1)) if whole else ()
    forms += norm_forms(a, 1) if whole and a.low >= 0 else ()
    if a.low >= 0 and whole:  # one of them is as large as that
        low = max(low, *(one.k for one in a.forms if one.kind == "touches"), 0.0)
    return a.like(shape=shape, size=summed(a.norms), move=summed(a.move), low=low, high=high, forms=forms, adds=a.adds)


@rule(np.mean, np.average)
def mean(a: Value, axis: Any = None, keepdims: bool = False, weights: Any = None) -> Value:
    """The sum over a public number."""
    refuse(weights is not None, "weighted averages are not followed; write the sum and the division")
    axes = axes_of(a, axis)
    if a.at in axes:
        a._counted()
    return scaled(total(a, axis, keepdims), np.asarray(1 / max(_count(a, axes), 1)))


@rule(np.var)
def variance(a: Value, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Value:
    """The mean of squares less the squared mean."""
    count = _count(a, axes_of(a, axis))
    refuse(count <= ddof, "a variance of too few numbers is none")
    found = subtract(mean(square(a), axis, keepdims), square(mean(a, axis, keepdims)))
    return scaled(found.kept(low=0.0, high=max(found.high, 0.0)), np.asarray(count / (count - ddof)))


rule(np.std)(lambda a, axis=None, ddof=0, keepdims=False: root(variance(a, axis, ddof, keepdims)))


@rule(np.linalg.norm)
def norm(a: Value, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Value:
    """| |a| - |b| | <= |a - b|, block by block for blocks of the same order."""
    order = 2 if ord in (None, "fro") else ord
    refuse(order not in (1, 2, INF), f"a norm of order {ord} has no rule")
    axes = axes_of(a, axis)
    refuse(len(axes) > 1 and ord not in (None, "fro"), "matrix norms of private data have no rule")
    if a.at in axes:
        a = a.whole()
    whole = a.entries == _count(a, axes)
    bounds = {1: "one", 2: "two"}.get(order, "sup")
    shape, at = left(a, axes, keepdims)

    def of(norms: Norms) -> Norms:
        return Norms(**{bounds: norms.of_order(order)})

    high = a.norms.of_order(order)
    forms = norm_forms(a, order) if whole else ()
    if order == 2 and whole and axes == (-a.ndim,) and a.parts and all(map(private, a.parts)):
        forms += root(functools.reduce(add, map(square, a.parts))).forms  # of norms, it is that of all their rows
    return a.like(shape=shape, at=at, size=of(a.norms), move=of(a.move), low=0.0, high=high, forms=forms)


@rule(np.max, np.amax)
def largest(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """The largest size of the numbers of a row is its sup-norm."""
    found = extreme(a, axis, keepdims)
    if a.at not in (axes := axes_of(a, axis)) and _count(a, axes) == a.entries:
        found.forms = (*found.forms, Form("largest", a.token, INF, 1.0), *norm_of_sizes(a, INF))
    return found


@rule(np.min, np.amin, np.median)
def extreme(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """1-Lipschitz in the sup-norm of what it is taken over, and within its range."""
    axes = axes_of(a, axis)
    if a.at in axes:
        a = a.whole()
    shape, at = left(a, axes, keepdims)
    if _count(a, axes) == 1:  # of one number it is that number
        return replaced(a, shape, at)
    return a.kept(shape=shape, at=at, size=Norms(), move=Norms(sup=a.move.sup))


rule(np.ptp)(lambda a, axis=None, keepdims=False: subtract(*(extreme(one, axis, keepdims) for one in (a, a))))


@rule(np.quantile, np.percentile)
def quantile(a: Value, q: Any, axis: Any = None, method: Any = None, keepdims: bool = False) -> Value:
    """Within the range of the numbers, and 1-Lipschitz in their sup-norm, for each q."""
    refuse(np.ndim(plain(q)), "several quantiles at once have no rule")
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
    refuse(axis is None and a.ndim > 1, "cumsum over all axes at once has no rule")
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
    refuse(0 in a._shape, "whether all of no numbers are so has no rule")
    found = extreme(a if a.truth else compared(a, 0.0), axis, keepdims)
    found.truth = True
    return found


@rule(np.argmin, np.argmax)
def best(a: Value, axis: Any = None, keepdims: bool = False) -> Value:
    """A place, per record where it is taken within one."""
    axes = axes_of(a, axis)
    refuse(a.at in axes or a.at is None, "the place of the largest private number; release noisy numbers first")
    shape, at = left(a, axes, keepdims)
    return a.like(shape=shape, at=at, low=0.0, high=float(_count(a, axes) - 1), integer=True)


# -- matrix products and einsum: a product over records is a sum of one term per record
def _pieces(a: Any) -> int:
    return a.ndim if private(a) else int(np.ndim(a))


@rule(np.matmul, np.dot)
def matmul(a: Any, b: Any) -> Value:
    """As einsum, for vectors and matrices."""
    sides = _pieces(a), _pieces(b)
    if 0 in sides:
        return multiply(a, b)
    inner, outer = (one._shape if private(one) else np.shape(one) for one in (a, b))
    if inner[-1] != outer[-2:][0]:
        raise ValueError(f"matmul: {inner} and {outer} do not fit")  # as NumPy does; einsum would repeat an axis of one
    if sides == (1, 1):
        return total(np.multiply(a, b))
    subscripts = {(2, 1): "ij,j->i", (1, 2): "i,ij->j", (2, 2): "ij,jk->ik"}.get(sides)
    refuse(subscripts is None, "products of more than two axes: write np.einsum")
    return einsum(subscripts, a, b)


@rule(np.tensordot)
def tensordot(a: Any, b: Any, axes: Any = 2) -> Value:
    """As einsum."""
    sides = _pieces(a), _pieces(b)
    pairs = [list(range(sides[0] - axes, sides[0])), list(range(axes))] if np.ndim(axes) == 0 else axes
    one, other = ([int(k) % side for k in np.atleast_1d(places)] for places, side in zip(pairs, sides, strict=True))
    letters = "abcdefghijklmnop"[: sides[0] + sides[1]]
    first, second = list(letters[: sides[0]]), list(letters[sides[0] :])
    for k, place in zip(one, other, strict=True):
        second[place] = first[k]
    kept = [letter for letter in (*first, *second) if (letter in first) != (letter in second)]
    return einsum(f"{''.join(first)},{''.join(second)}->{''.join(kept)}", a, b)


@rule(np.einsum)
def einsum(subscripts: Any, *operands: Any, **options: Any) -> Value:
    """Multilinear: its 2-norm is at most the product of those of the operands (Cauchy-Schwarz, letter by letter)."""
    # of one operand it is a view
    followed = isinstance(subscripts, str) and len(operands) in (2, 3) and not options.keys() - {"optimize"}
    refuse(not followed or "." in subscripts, "this form of einsum has no rule")
    inputs, output = _letters(subscripts, len(operands))
    values = [one if private(one) else plain(one) for one in operands]
    shapes = [one._shape if private(one) else one.shape for one in values]
    sizes: dict[str, int] = {}
    for letter, size in zip("".join(inputs), itertools.chain(*shapes), strict=True):
        refuse(sizes.setdefault(letter, size) != size, "an einsum that repeats an axis of length one has no rule")
    terms = Terms(inputs, output, values, tuple(sizes[letter] for letter in output))
    rows = [(word, one) for word, one in terms.private if one.at is not None]
    records = {word[one.at] for word, one in rows if one.at is not None}
    if rows and len(rows) == len(terms.private) and len(records) == 1:
        alike = all(one.records.same(rows[0][1].records) for _, one in rows)
        if alike:
            return _by_record(terms, records.pop())
    terms.values = [one.whole() if private(one) else one for one in values]
    return _of_wholes(terms)


@rule(np.outer)
def outer(a: Any, b: Any) -> Value:
    """Of vectors."""
    refuse((_pieces(a), _pieces(b)) != (1, 1), "np.outer is followed for vectors")
    return einsum("i,j->ij", a, b)


def _letters(subscripts: str, count: int) -> tuple[list[str], str]:
    words, arrow, output = subscripts.replace(" ", "").partition("->")
    inputs = words.split(",")
    if not arrow or len(inputs) != count or any(len(set(word)) < len(word) for word in (*inputs, output)):
        raise Open("this form of einsum has no rule")
    for number, word in enumerate(inputs):
        rest = "".join(inputs[:number] + inputs[number + 1 :]) + output
        if any(letter not in rest for letter in word):
            raise Open("an einsum that sums over a letter of one operand alone has no rule; sum it first")
    return inputs, output


class Terms:
    """An einsum: its letters, operands, and the shape of its value."""

    def __init__(self, inputs: list[str], output: str, values: list[Any], shape: tuple[int, ...]):
        self.inputs, self.output, self.values, self.shape = inputs, output, values, shape

    @property
    def private(self) -> list[tuple[str, Value]]:
        """The private operands with their letters."""
        return [(word, one) for word, one in zip(self.inputs, self.values, strict=True) if private(one)]

    def outer(self, record: str) -> bool:
        """Is each letter but that of the records in one operand alone, and in the output?"""
        letters = "".join(self.inputs).replace(record, "")
        return len(set(letters)) == len(letters) and set(letters) <= set(self.output)

    def public_factor(self, record: str = "") -> float:
        """What the public operands multiply norms by: spectral norms of matrices, else 2-norms."""
        found = 1.0
        for word, one in zip(self.inputs, self.values, strict=True):
            if not private(one):
                found = times(found, self._of_public(word, one, record))
        return found

    def image(self, norms: Norms) -> Norms:
        """Of a public array times something with these norms: each number of it, and of what comes out, by Hoelder."""
        (word, array), (other, _) = sorted(zip(self.inputs, self.values, strict=True), key=lambda one: private(one[1]))
        sizes = np.abs(array)
        new, lost = (
            tuple(axis for axis, letter in enumerate(word) if letter not in there) for there in (other, self.output)
        )
        largest, summed = sizes.max(initial=0.0), sizes.sum(axis=lost).max(initial=0.0)
        squared = math.sqrt(np.square(sizes).sum(axis=lost).max(initial=0.0))
        least = min(times(norms.one, largest), times(norms.two, squared), times(norms.sup, summed))
        return Norms(times(norms.one, sizes.sum(axis=new).max(initial=0.0)), INF, least)

    def _of_public(self, word: str, array: Any, record: str) -> float:
        if not array.size:
            return 0.0
        if record and record in word:
            of_each = np.moveaxis(array, word.index(record), 0).reshape(array.shape[word.index(record)], -1)
            return float(np.linalg.norm(of_each, axis=1).max())
        others = "".join(other for other in self.inputs if other is not word)
        kept = [letter for letter in word if letter in self.output and letter not in others]
        if len(word) == 2 and len(kept) == 1 and not set(word) - set(kept) & set(self.output):
            return float(np.linalg.norm(array, 2))
        return float(np.linalg.norm(array.ravel()))


def _by_record(terms: Terms, record: str) -> Value:
    """One term per record; summed over records where the letter is not in the output."""
    given, factor = [one for _, one in terms.private], terms.public_factor(record)
    first, absent = given[0], {one.absent for one in given}
    for word, one in zip(terms.inputs, terms.values, strict=True):
        if not private(one) and record in word and absent != {""}:
            raise Open("a public array beside records whose number is private")
    twice = len(given) == 2 == len(terms.inputs) and terms.inputs[0] == terms.inputs[1]
    if twice and terms.output == record and given[0].token is given[1].token:
        return total(square(given[0]), [axis for axis in range(first.ndim) if axis - first.ndim != first.at])
    size = Norms(two=times(_product(one.norms.two for one in given), factor))
    move = Norms(two=times(_telescoped(given), factor))
    origin = None
    if len(given) == len(terms.inputs):
        for (word, rows), (of_factor, number) in itertools.permutations(terms.private, 2) if len(given) == 2 else ():
            if of_factor == record and set(word) == {*terms.output, record}:  # a factor for each row
                limit, part = clipped(rows, number)
                size = size.both(limit)
                places = None if part is None else np.einsum(f"{word}->{terms.output}", part.places)
                origin = None if part is None else part._replace(places=places)
        move = move.both(Norms(two=_gram(terms.private)))
        if terms.outer(record):  # each entry is a product of entries, and each combination is there once
            size = size.both(Norms(*(_product(one.norms.of_order(order) for one in given) for order in (1, 2, INF))))
            move = move.both(Norms(*(_telescoped(given, order) for order in (1, 2, INF))))
    assert first.at is not None
    among = record in terms.output
    shape = terms.shape if among else (first._shape[first.at], *terms.shape)
    of_each = join(*given) | {"at": terms.output.index(record) - len(shape) if among else -len(shape)}
    found = Value(
        shape, size=size, move=move, vanishes=not among and any(one.vanishes for one in given), origin=origin, **of_each
    )
    if not among:
        found = replaced(_over_records(found), terms.shape, None)
        alone = len(given) == len(terms.inputs)
        found.symmetric = len(terms.shape) == 2 and alone and _squared(terms.private) is not None
    return found


def _product(factors: Iterable[float]) -> float:
    return functools.reduce(times, factors, 1.0)


def _telescoped(values: list[Value], order: float = 2) -> float:
    """|a b - a' b'| <= |a - a'| |b| + |a'| |b - b'|, and so on for more factors."""
    return sum(
        times(
            one.move.of_order(order), _product(two.norms.of_order(order) for k, two in enumerate(values) if k != number)
        )
        for number, one in enumerate(values)
    )


def _gram(given: list[tuple[str, Value]]) -> float:
    """Sums of w x x^T with 0 <= w <= c: both terms are positive semidefinite, so |difference|_2 <= sqrt(2) c |x|^2."""
    found = _squared(given)
    if found is None or found[1] < 0:
        return math.inf
    x, _, weight = found
    return math.sqrt(2) * times(weight, times(x.norms.two, x.norms.two))


def _squared(given: list[tuple[str, Value]]) -> tuple[Value, float, float] | None:
    """The rows x of sums of w x x^T, and the ends of w; which are symmetric."""
    words = ["".join(letter for k, letter in enumerate(word, -len(word)) if k != one.at) for word, one in given]
    if len(given) != 2 or any((one in words[1]) != (one == two) for one, two in zip(*words, strict=False)):
        return None  # a letter of both stands at one place of both: the rest is a product of x and x
    for x, other in ((given[0][1], given[1][1]), (given[1][1], given[0][1])):
        token, low, high = (x.token, 1.0, 1.0) if other.token is x.token else other.weighted or (None, 0.0, 0.0)
        if token is x.token:
            return x, low, high
    return None


def _of_wholes(terms: Terms) -> Value:
    """As the product rule: |a b - a' b'|_2 <= |a - a'|_2 |b|_2 + |a'|_2 |b - b'|_2; a public matrix by its norms."""
    given, factor = [one for _, one in terms.private], terms.public_factor()
    size = Norms(two=times(_product(one.norms.two for one in given), factor))
    move = Norms(two=times(_telescoped(given), factor))
    if len(given) == 1 and len(terms.inputs) == 2:
        size, move = size.both(terms.image(given[0].norms)), move.both(terms.image(given[0].move))
    return Value(terms.shape, size=size, move=move, **join(*given))
