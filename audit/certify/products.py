"""Rules for matrix products and einsum. A product over records is a sum of one term per record."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .arithmetic import clipped, multiply, square
from .reductions import total, unbounded
from .value import INF, Norms, Open, Value, join, plain, private, rule, times


def _pieces(a: Any) -> int:
    return a.ndim if private(a) else int(np.ndim(a))


@rule(np.matmul, np.dot)
def matmul(a: Any, b: Any) -> Value:
    """As einsum, for vectors and matrices."""
    sides = _pieces(a), _pieces(b)
    if 0 in sides:
        return multiply(a, b)
    if sides == (1, 1):
        return total(np.multiply(a, b))
    subscripts = {(2, 1): "ij,j->i", (1, 2): "i,ij->j", (2, 2): "ij,jk->ik"}.get(sides)
    if subscripts is None:
        raise Open("products of more than two axes: write np.einsum")
    return einsum(subscripts, a, b)


@rule(np.inner, np.vdot)
def inner(a: Any, b: Any) -> Value:
    """Of vectors."""
    if (_pieces(a), _pieces(b)) != (1, 1):
        raise Open("np.inner is followed for vectors")
    return total(np.multiply(a, b))


@rule(np.outer)
def outer(a: Any, b: Any) -> Value:
    """Of vectors."""
    if (_pieces(a), _pieces(b)) != (1, 1):
        raise Open("np.outer is followed for vectors")
    return einsum("i,j->ij", a, b)


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
    followed = isinstance(subscripts, str) and len(operands) in (1, 2, 3) and not options.keys() - {"optimize"}
    if not followed or "." in subscripts:
        raise Open("this form of einsum has no rule")
    inputs, output = _letters(subscripts, len(operands))
    values = [one if private(one) else plain(one) for one in operands]
    shapes = [one._shape if private(one) else one.shape for one in values]
    sizes: dict[str, int] = {}
    for letter, size in zip("".join(inputs), itertools.chain(*shapes), strict=True):
        if sizes.setdefault(letter, size) != size:
            raise Open("an einsum that repeats an axis of length one has no rule")
    terms = Terms(inputs, output, values, tuple(sizes[letter] for letter in output))
    rows = [(word, one) for word, one in terms.private if one.at is not None]
    records = {word[one.at] for word, one in rows if one.at is not None}
    if rows and len(rows) == len(terms.private) and len(records) == 1:
        alike = all(one.records.same(rows[0][1].records) for _, one in rows)
        if alike:
            return _by_record(terms, records.pop())
    terms.values = [one.whole() if private(one) else one for one in values]
    return _of_wholes(terms)


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
    if len(given) == len(terms.inputs):
        for (word, rows), (of_factor, number) in itertools.permutations(terms.private, 2) if len(given) == 2 else ():
            if of_factor == record and set(word) == {*terms.output, record}:  # a factor for each row
                size = size.both(clipped(rows, number))
        move = move.both(Norms(two=_gram(terms.private)))
        if terms.outer(record):  # each entry is a product of entries, and each combination is there once
            size = size.both(Norms(*(_product(one.norms.of_order(order) for one in given) for order in (1, 2, INF))))
            move = move.both(Norms(*(_telescoped(given, order) for order in (1, 2, INF))))
    draws = frozenset[int]().union(*(one.draws for one in given))
    cause = next((one.cause for one in given if one.cause), "")
    at = terms.output.index(record) - len(terms.output) if record in terms.output else None
    if at is not None:
        return Value(terms.shape, at, first.records, size, move, draws=draws, absent=max(absent), cause=cause)
    count = first._shape[first.at] if first.at is not None else 1
    # the closure of a single term: |a - b| <= |a| + |b|
    vanishes = any(one.vanishes for one in given)
    move = Value(terms.shape, None, first.records, size, move, vanishes=vanishes).move
    if "masked" in absent:
        move = move.either(size)
    if "poisson" in absent:
        move = size
    cause = (cause or unbounded(first)) if math.isinf(move.two) else ""
    found = Value(terms.shape, None, first.records, size.by(count), move, draws=draws, cause=cause)
    found.symmetric = len(terms.shape) == 2 and len(given) == len(terms.inputs) and _squared(terms.private) is not None
    return found


def _product(factors: Iterable[float]) -> float:
    found = 1.0
    for one in factors:
        found = times(found, one)
    return found


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
    """As the product rule: |a b - a' b'|_2 <= |a - a'|_2 |b|_2 + |a'|_2 |b - b'|_2; a public matrix by its norm."""
    given, factor = [one for _, one in terms.private], terms.public_factor()
    size = Norms(two=times(_product(one.norms.two for one in given), factor))
    move = Norms(two=times(_telescoped(given), factor))
    return Value(terms.shape, None, size=size, move=move, **join(*given))
