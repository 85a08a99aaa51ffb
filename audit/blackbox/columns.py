"""Columns of a table, and what can be made of them: differences, lags, sums, order statistics, summaries of a row.

A tree of prefix sums shows a bare node as the difference of two entries, a histogram as one entry.
Each family is a matrix that is screened column by column at the end of this file.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.audit.evidence.events import SMALLEST, excesses, shown, some_pairs
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.guarantee import Guarantee

from .table import Column, Origin

CELLS = 1 << 21  # of a made matrix that exist at once
HUGE = 1e150  # sizes are cut there: sums and squares must not overflow
MODULI = (2.0, 1.0, 1e-2, 1e-4, 1e-6)  # what last digits are read by: parity, the fraction, what rounding left
SNAP, DIGITS = 1e-6, 6  # of a modulus: a multiple that was rounded down by a hair is one all the same; of a remainder
BELOW_ZERO = -5e-324  # the largest float below 0.0
BITS = 53  # of a whole number
GRID_ROWS = 64  # by which columns are chosen that lie on a grid
CLEAR = 5.0  # standard errors of a difference below which last digits say nothing
CLOSE, CLOSEST = 0.4, 32  # rank correlation from which on two of many columns are a pair; the closest pairs
PAIRED, ORDERED, LAGGED = 12, 64, 512  # columns up to which all pairs, order statistics, lags above one are looked at
Many = Callable[[Array], Array]
One = Callable[[Array, int], Array]


@dataclass(frozen=True)
class Family:
    """Columns made of a table in one way: `of(table)` is a matrix, `column(j)` says what its column j is.

    `one(table, j)` makes column j alone, where that is cheaper. A column that differs by less than `least` standard
    errors is not taken up: of what hardly ever matters.
    """

    of: Many
    column: Callable[[int], Column]
    one: One | None = None
    least: float = 0.0

    def columns(self, table: Array, wanted: Sequence[int]) -> Array:
        """Some of the columns, of a table that need not be tamed, shape (rows, wanted)."""
        if self.one is not None:
            return np.stack([self.one(table, j) for j in wanted], axis=1)
        rows, found = max(1, CELLS // max(1, table.shape[1])), np.empty((len(table), len(wanted)))
        for first in range(0, len(table), rows):  # each row is by itself, so that parts give the same numbers
            part = slice(first, first + rows)
            found[part] = self.of(tamed(table[part]))[:, list(wanted)]
        return found


def tamed(table: Array) -> Array:
    """Finite numbers that order as the outputs do: NaN lies below all, infinities and huge numbers at the ends.

    A zero with a minus sign is what a reader of the output sees too: it lies just below the other one.
    """
    found = np.clip(np.nan_to_num(table, nan=-HUGE, posinf=HUGE, neginf=-HUGE), -HUGE, HUGE)
    found[(found == 0) & np.signbit(found)] = BELOW_ZERO
    return np.asarray(found)


SUMMARIES: dict[str, Callable[[Array, Array], Any]] = {  # what a row is as a whole: of a table and its ordered rows
    "sum of all": lambda table, _: table.sum(axis=1),
    "length of the vector": lambda table, _: np.sqrt((table**2).sum(axis=1)),
    "sum of sizes": lambda table, _: np.abs(table).sum(axis=1),
    "largest of all": lambda _, ordered: ordered[:, -1],
    "smallest of all": lambda _, ordered: ordered[:, 0],
    "largest less second largest": lambda _, ordered: ordered[:, -1] - ordered[:, -2],
    "place of the largest": lambda table, _: table.argmax(axis=1),
    "place of the smallest": lambda table, _: table.argmin(axis=1),
    "number of zeros": lambda table, _: (table == 0).sum(axis=1),
    "number of negatives": lambda table, _: (table < 0).sum(axis=1),
    "number of missing": lambda table, _: (table == -HUGE).sum(axis=1),
    "number of equal entries": lambda _, ordered: (np.diff(ordered, axis=1) == 0).sum(axis=1),
}


def summaries(table: Array) -> Array:
    """All of these, shape (rows, 12)."""
    ordered = np.sort(table, axis=1)
    return np.stack([np.asarray(of(table, ordered), dtype=float) for of in SUMMARIES.values()], axis=1)


def families(columns: Sequence[Column]) -> Iterator[Family]:
    """All families for a table with these columns, cheapest first; tables must be `tamed`.

    What is made of several columns is made of the outputs' own numbers: codes of texts and lengths are no summands.
    """
    yield Family(lambda t: t, lambda j: columns[j], lambda t, j: tamed(t[:, j]))
    cells = _values(columns)
    if len(cells) == len(columns):
        yield from _made(columns)
    elif len(cells) > 1:
        yield from (_of_cells(family, cells) for family in _made([columns[j] for j in cells]))


def _of_cells(family: Family, cells: list[int]) -> Family:
    one = family.one
    some = None if one is None else lambda t, j: one(t[:, cells], j)
    return Family(lambda t: family.of(t[:, cells]), family.column, some, family.least)


def _values(columns: Sequence[Column]) -> list[int]:
    return [j for j, column in enumerate(columns) if column.origin is Origin.VALUE]


def _family(of: Many, name: Callable[[int], str], one: One | None = None, least: float = 0.0) -> Family:
    """Of columns that are made of others."""
    return Family(of, lambda j: Column(name(j), Origin.MADE), one, least)


def _made(columns: Sequence[Column]) -> Iterator[Family]:
    """Last digits, and families of several columns."""
    width = len(columns)
    if width <= ORDERED:
        yield from (_remainders(modulus, columns, range(width)) for modulus in MODULI)
    if width < 2:
        return
    yield _family(summaries, lambda j: list(SUMMARIES)[j])
    yield _family(lambda t: np.cumsum(t, axis=1), lambda j: f"sum of {columns[0]} to {columns[j]}")
    yield _family(lambda t: t.sum(axis=1, keepdims=True) - t, lambda j: f"sum of all but {columns[j]}")
    if width <= ORDERED:
        yield _family(lambda t: np.sort(t, axis=1), lambda j: f"smallest but {j}" if j else "smallest")
    if width <= PAIRED:
        left, right = np.triu_indices(width, 1)
        yield _family(lambda t: t[:, right] - t[:, left], lambda j: f"{columns[right[j]]} less {columns[left[j]]}")
        yield _family(lambda t: t[:, right] + t[:, left], lambda j: f"{columns[right[j]]} plus {columns[left[j]]}")
        return
    lag = 1
    while lag <= (width // 2 if width <= LAGGED else 1):
        ahead = np.arange(lag, width)
        yield _differences(ahead, ahead - lag, np.ones(ahead.size), columns)
        lag *= 2


def _differences(left: Indices, right: Indices, sign: Array, columns: Sequence[Column]) -> Family:
    """Of pairs of columns: the left one less the right one, or plus it where the sign is -1."""
    return _family(
        lambda t: t[:, left] - sign * t[:, right],
        lambda j: f"{columns[left[j]]} {'less' if sign[j] > 0 else 'plus'} {columns[right[j]]}",
        lambda t, j: tamed(t[:, left[j]]) - sign[j] * tamed(t[:, right[j]]),
    )


def correlated(p: Array, q: Array, columns: Sequence[Column]) -> Iterator[Family]:
    """Of wide tables (training rows, `tamed`): pairs of columns that go together on both sides, freed of each other.

    Noise that is used twice, or taken out elsewhere, shows in one pair of thousands. Ranks take the place of values.
    """
    cells = _values(columns)
    if not PAIRED < len(cells) <= LAGGED:
        return
    ranks = []
    for side in (p[:, cells], q[:, cells]):  # with mean 0 and variance 1; a column of one value is 0
        rank = side.argsort(axis=0, kind="stable").argsort(axis=0, kind="stable").astype(float)
        rank[:, side.min(axis=0) == side.max(axis=0)] = 0.0
        rank -= rank.mean(axis=0)
        ranks.append(rank / np.maximum(rank.std(axis=0), 1.0))
    both = np.concatenate(ranks)
    together = np.triu(both.T @ both / len(both), 1)
    best = np.argsort(-np.abs(together), axis=None)[:CLOSEST]
    best = best[np.abs(together.ravel()[best]) > CLOSE]
    if best.size:
        left, right = np.unravel_index(best, together.shape)
        place = np.array(cells)
        yield _differences(place[right], place[left], np.sign(together[left, right]), columns)


def _remainders(modulus: float, columns: Sequence[Column], cells: Sequence[int]) -> Family:
    def of(table: Array) -> Array:
        units = table[:, cells] / modulus
        return np.asarray(np.round(units - np.floor(units + SNAP), DIGITS))

    return _family(of, lambda j: f"{columns[cells[j]]} modulo {modulus:g}", least=CLEAR)


def digits(p: Array, q: Array, columns: Sequence[Column]) -> Iterator[Family]:
    """Of training rows (`tamed`): the bits of whole numbers; of many columns the last digits of those on a grid."""
    both = np.concatenate([p, q])
    sizes = np.where(both > -HUGE, np.abs(both), 0.0)
    whole = np.all(np.abs(both - np.rint(both)) < SMALLEST, axis=0) & (sizes.max(axis=0) < 2.0**BITS)
    numbers = [j for j, column in enumerate(columns) if not column.origin.coded]
    for k in range(BITS):
        cells = [j for j in numbers if whole[j] and sizes[:, j].max() >= max(2.0**k, 4.0)]
        if 0 < len(cells) <= ORDERED:
            yield _bit(k, cells, columns)
    values = _values(columns)
    for modulus in MODULI[1:] if ORDERED < len(values) <= LAGGED else ():
        rests = _remainders(modulus, columns, values).of(both)
        few = np.sort(rests[:GRID_ROWS], axis=0), np.sort(rests[-GRID_ROWS:], axis=0)
        repeated = np.max([np.sum(one[1:] == one[:-1], axis=0) / len(one) for one in few], axis=0)
        cells = [j for j, share, largest in zip(values, repeated, rests.max(axis=0), strict=True)
                 if share > 0.5 and largest > 0]  # fmt: skip
        if cells:
            yield _remainders(modulus, columns, cells)


def _bit(k: int, cells: Sequence[int], columns: Sequence[Column]) -> Family:
    return _family(
        lambda t: np.floor(np.rint(t[:, cells]) / 2.0**k) % 2,
        lambda j: f"bit {k} of {columns[cells[j]]}",
        lambda t, j: np.floor(np.rint(tamed(t[:, cells[j]])) / 2.0**k) % 2,
    )


# -- every column by itself, on the training part: which ones exceed the claim, or differ at all between the sides?
# Thresholds at quantiles of both sides together, and the most frequent value of each side (an exact answer, a zero).
# The best columns become scores of their own and features of the learned ones.
EDGES = 15
ROWS = ((64, 4000), (256, 2000), (1 << 30, 1000))  # rows a side that are looked at, for tables of up to so many columns
CHOSEN = 24  # columns that the learners see
CHUNK = 512  # columns at a time


@dataclass(frozen=True)
class Found:
    """One made column and what it showed in training: standard errors above the claim, and of any difference."""

    family: Family
    column: int
    value: float | None  # the event is 'equal to this'; None: a threshold
    errors: float
    difference: float

    @property
    def base(self) -> Column:
        """The made column."""
        return self.family.column(self.column)

    def of(self, table: Array) -> Array:
        """The column (or the indicator) of a table."""
        return self.shown(self.family.columns(table, [self.column])[:, 0])

    def shown(self, made: Array) -> Array:
        """The made column itself, or where it is equal to the value."""
        return made if self.value is None else np.asarray(made == self.value, dtype=float)


def named(column: Column, value: float | None) -> str:
    """A column, or the event that it has this value."""
    if value is None:
        return column.name
    return f"{column} is missing" if value <= -HUGE else f"{column} equal to {shown(value)}"


def all_of(found: Sequence[Found], table: Array) -> Array:
    """`of` for many, shape (rows, many); each family is made once."""
    matrix = np.empty((len(table), len(found)))
    for family in dict.fromkeys(one.family for one in found):
        places = [i for i, one in enumerate(found) if one.family is family]
        made = family.columns(table, [found[i].column for i in places])
        for i, column in zip(places, made.T, strict=True):
            matrix[:, i] = found[i].shown(column)
    return matrix


def screen(p: Array, q: Array, claim: Guarantee, columns: Sequence[Column]) -> list[Found]:
    """All made columns, those that exceed the claim most first."""
    rows = next(rows for most, rows in ROWS if p.shape[1] <= most)
    few_p, few_q = tamed(p[:rows]), tamed(q[:rows])
    found: list[Found] = []
    for family in (*families(columns), *correlated(few_p, few_q, columns), *digits(few_p, few_q, columns)):
        made_p, made_q = family.of(few_p), family.of(few_q)
        for first in range(0, made_p.shape[1], CHUNK):
            part = slice(first, first + CHUNK)
            coded = [family.column(j).origin.coded for j in range(*part.indices(made_p.shape[1]))]
            block = _screen_block(made_p[:, part], made_q[:, part], claim, family, first, coded)
            found += [one for one in block if one.difference >= family.least]
    return sorted(found, key=lambda one: -one.errors)


def _mode(ordered: Array) -> list[float]:
    """The most frequent value, if one is repeated."""
    new = np.flatnonzero(np.append(True, ordered[1:] != ordered[:-1]))
    most = ordered[new[int(np.diff(np.append(new, ordered.size)).argmax())]]
    return [float(most)] if new.size < ordered.size else []


def _counts(p: Array, q: Array, coded: bool) -> tuple[Array, Array, list[float | None]]:
    """Events of one column (both sorted): hits on P and on Q, and the value of those that are 'equal to'.

    Codes have no order, so they have only these.
    """
    pooled = np.concatenate([p, q])
    pooled.sort(kind="stable")
    edges = np.unique(pooled[np.linspace(0, pooled.size - 1, EDGES + 2).astype(int)[1:-1]])
    modes = sorted({*_mode(p), *_mode(q)})
    edges = np.array(modes) if coded else np.union1d(edges, modes)
    hits = []
    for side in (p, q):
        above = side.size - np.searchsorted(side, edges, "right")
        least = side.size - np.searchsorted(side, edges, "left")
        equal = (least - above)[np.isin(edges, modes)]
        hits.append(equal.astype(float) if coded else np.concatenate([above, least, equal]).astype(float))
    exact: list[float | None] = [] if coded else [None] * (2 * edges.size)
    return hits[0], hits[1], exact + modes


def _screen_block(
    p: Array, q: Array, claim: Guarantee, family: Family, first: int, coded: Sequence[bool]
) -> list[Found]:
    ordered_p, ordered_q = np.sort(p.T, axis=1), np.sort(q.T, axis=1)
    varied = np.flatnonzero((ordered_p[:, 0] != ordered_p[:, -1]) | (ordered_q[:, 0] != ordered_q[:, -1])
                            | (ordered_p[:, 0] != ordered_q[:, 0]))  # fmt: skip
    some = [(j, _counts(ordered_p[j], ordered_q[j], coded[int(j)])) for j in varied]
    live, counted = np.array([j for j, one in some if one[0].size]), [one for _, one in some if one[0].size]
    if not live.size:
        return []
    width = max(one[0].size for one in counted)
    hits = np.zeros((2, live.size, width))
    for row, (of_p, of_q, _) in enumerate(counted):
        hits[0, row, : of_p.size], hits[1, row, : of_q.size] = of_p, of_q
    rate_p, rate_q = (hits[0] + 0.5) / (len(p) + 1), (hits[1] + 0.5) / (len(q) + 1)
    epsilons, deltas = some_pairs(claim)
    above = excesses(rate_q, rate_p, len(q), len(p), epsilons, deltas).max(axis=2)
    below = excesses(1 - rate_q, 1 - rate_p, len(q), len(p), epsilons, deltas).max(axis=2)
    best = np.maximum(above, below)
    differ = np.abs(rate_q - rate_p) / np.sqrt(rate_q * (1 - rate_q) / len(q) + rate_p * (1 - rate_p) / len(p))
    return [
        Found(
            family,
            first + int(live[j]),
            (*counted[j][2], *[None] * width)[k],
            float(best[j, k]),
            float(differ[j].max()),
        )
        for j, k in enumerate(best.argmax(axis=1))
    ]
