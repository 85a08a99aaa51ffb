"""What is known of a value: its norms, its records, and how it relates to rows, to comparisons and to arrays."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .value import Value

INF = math.inf
Ends = tuple[float, float]
#: the same name for the same part, the same records for the same mask, one array for the cells; of one certificate
NAMED: dict[tuple[Any, ...], Any] = {}


def times(a: float, b: float) -> float:
    """The product of two bounds; what is zero stays zero, however large the other one is."""
    return 0.0 if a == 0 or b == 0 else a * b


class Norms(NamedTuple):
    """Bounds on the 1-, 2- and sup-norm of an array."""

    one: float = INF
    two: float = INF
    sup: float = INF

    def closed(self, entries: int) -> Norms:
        """Each norm by the others: |v|_sup <= |v|_2 <= |v|_1 <= sqrt(d) |v|_2 and |v|_2 <= sqrt(d) |v|_sup."""
        if entries == 0:
            return Norms(0.0, 0.0, 0.0)
        one = min(self.one, times(math.sqrt(entries), self.two), times(entries, self.sup))
        two = min(self.two, one, times(math.sqrt(entries), self.sup))
        return Norms(one, two, min(self.sup, two))

    def by(self, factor: float) -> Norms:
        """All of them times a factor."""
        return Norms(times(self.one, factor), times(self.two, factor), times(self.sup, factor))

    def plus(self, other: Norms) -> Norms:
        """The triangle inequality."""
        return Norms(self.one + other.one, self.two + other.two, self.sup + other.sup)

    def beside(self, other: Norms) -> Norms:
        """Of entries next to each other."""
        return Norms(self.one + other.one, math.hypot(self.two, other.two), max(self.sup, other.sup))

    def either(self, other: Norms) -> Norms:
        """Whichever is larger."""
        return Norms(max(self.one, other.one), max(self.two, other.two), max(self.sup, other.sup))

    def both(self, other: Norms) -> Norms:
        """Two bounds on the same array."""
        return Norms(min(self.one, other.one), min(self.two, other.two), min(self.sup, other.sup))

    def repeated(self, count: float) -> Norms:
        """Of an array that is there ``count`` times."""
        return Norms(times(self.one, count), times(self.two, math.sqrt(count)), self.sup)

    def of_order(self, order: float) -> float:
        """The bound on the norm of this order."""
        return self.one if order == 1 else self.two if order == 2 else self.sup


PRIVATE_TURNS = "a loop of a private number of turns may only add to names; or sum an array of what each adds"
PRIVATE_NUMBER = "the number of these records is private; divide by a public number, or release a noisy count"
ZERO, UNKNOWN = Norms(0.0, 0.0, 0.0), Norms()


#: among the numbers of secret batches: in them a row that stands for no record may still be something
SOMETHING = -2


def reachable(waiting: list[Any], inside: Callable[[Any], Iterable[Any]]) -> Iterator[Any]:
    """These, and what is inside of them, each once."""
    seen = dict[int, Any]()
    while waiting:
        one = waiting.pop()
        if id(one) not in seen:
            seen[id(one)] = one
            yield one
            waiting += inside(one)


class Records:
    """Which records an entry or a value depends on; ``numbers`` is None where a secret batch decides.

    Args:
        numbers: of the records.
        batch: the secret batch of which it is some places.
        places: in it; another record changes one of them at most.
        count: of the places in a batch of public size.
        everyone: all that there are, whose number is private.
        order: the random one in which the numbers are places; which records stand there is not known.
        whole: of which it is a part; which of them stand in it follows how many others there are.
    """

    def __init__(
        self,
        numbers: Any = None,
        batch: Records | None = None,
        places: frozenset[int] = frozenset(),
        count: int | None = None,
        order: object = None,
        everyone: bool = False,
        whole: Records | None = None,
    ):
        self.numbers: Any = None if numbers is None else np.asarray(numbers)
        self.batch, self.places, self.count, self.order, self.everyone = batch, places, count, order, everyone
        self.whole = whole

    def some(self, places: Any) -> Records:
        """Of a batch of public size those at these places, in order."""
        batch, own = (self, np.arange(self.count or 0)) if self.batch is None else (self.batch, np.sort([*self.places]))
        chosen = frozenset(np.atleast_1d(own[places]).tolist())
        found: Records = NAMED.setdefault((batch, chosen), Records(None, batch, chosen, len(chosen)))
        return found

    def part(self, cut: Any) -> Records:
        """Whichever part it is: cut in the same way they are the same parts."""
        found: Records = NAMED.setdefault(("part", self, cut), Records(whole=self))
        return found

    def same(self, other: Records) -> bool:
        """Entry by entry."""
        if self is other:
            return True
        if self.batch is not None:
            return self.batch is other.batch and self.places == other.places
        return self.beside(other) and np.array_equal(self.numbers, other.numbers)

    def beside(self, other: Records) -> bool:
        """Have both numbers, in one order?"""
        return self.numbers is not None and other.numbers is not None and self.order is other.order

    def disjoint(self, other: Records) -> bool:
        """No record is in both, for sure."""
        if self.batch is not None and self.batch is other.batch:
            return not self.places & other.places
        if self is other or not self.beside(other):
            return False
        return not np.intersect1d(self.numbers, other.numbers).size

    def union(self, other: Records) -> Records:
        """All of them."""
        if self is other:
            return self
        if self.batch is not None and self.batch is other.batch:
            return Records(batch=self.batch, places=self.places | other.places)
        if not self.beside(other):
            return Records()
        return Records(np.union1d(self.numbers, other.numbers), order=self.order)

    @property
    def single(self) -> bool:
        """Is it one record, or one place of a batch?"""
        return len(self.places) == 1 if self.numbers is None else self.numbers.size == 1

    @property
    def key(self) -> tuple[Any, ...]:
        """The name of a single one, among all records or the places of a batch."""
        return (self.batch, *self.places) if self.numbers is None else (self.order, int(self.numbers.item()))

    @staticmethod
    def in_turn(given: list[Records]) -> Records | None:
        """One record, or block of them, after another, each record once; None where they are not."""
        if all(one.beside(given[0]) for one in given):
            found = np.concatenate([np.atleast_1d(one.numbers) for one in given])
            return Records(found, order=given[0].order) if len(np.unique(found)) == len(found) else None
        batch = given[0].batch
        if batch is None or any(one.batch is not batch for one in given):
            return None
        return batch if [k for one in given for k in sorted(one.places)] == [*range(batch.count or 0)] else None


@dataclass(frozen=True)
class Form:
    """How a number per record relates to norms of rows; `token` names the rows.

    Of several rows of a record as one it is a tuple: of each the name, and the number that it is multiplied by.

    ``above``: it is at least ``k |row|``. ``norm``: it is a positive multiple of ``|row|``. ``below``: it is between 0
    and ``k / |row|``. ``squares``: it is at least ``(k |row|_2)^2``; ``entries``: so is its sum over all entries of a
    record. ``sizes``: each is at least k times the size of its entry. ``bounded``: ``|row| <= k``, on one side of a
    comparison.

    Of several numbers: ``largest``: it is their largest one; ``touches``: their largest one is k. ``shifted``: they
    move by at most k, up to one number for all; ``rated``: so do their logarithms. ``positive``: each is above zero.
    """

    kind: str
    token: object
    order: float
    k: float

    @property
    def members(self) -> tuple[tuple[object, float], ...]:
        """The rows, each with the number that it is multiplied by."""
        return self.token if isinstance(self.token, tuple) else ((self.token, 1.0),)


class Side(NamedTuple):
    """What a comparison says where it is true, or where it is false.

    Args:
        ends: where the compared numbers lie.
        bounded: rows that are no longer than so much.
        positive: rows that are not zero.
    """

    ends: Ends = (-INF, INF)
    bounded: tuple[Form, ...] = ()
    positive: frozenset[object] = frozenset()


Sides = tuple[object, Side, Side]  # of a comparison: the numbers that are compared; where it is false, where it is true


def rows_of(sides: Sides | None) -> Sides | None:
    """What it says of rows, and not of the numbers that were compared."""
    none = (-INF, INF)
    return None if sides is None else (None, sides[1]._replace(ends=none), sides[2]._replace(ends=none))


class Origin(NamedTuple):
    """Of which array a value is some entries, and their places in it; each times ``factor``, or less.

    Where neighbours differ, they do so by no more. So a public part counts for nothing, but where the value is of one
    record, or of each: there sizes count as well. Of each record, the array is what there is of that record.
    """

    whole: Value
    places: Any
    factor: float = 1.0


class Cell(NamedTuple):
    """The records of which a number is this one; ``chosen``: there are no others along the record axis."""

    token: object
    number: float
    chosen: bool = False
