"""Every column by itself, on the training part: which ones exceed the claim, or differ at all between the two sides?

Thresholds at quantiles of both sides together, and the most frequent value of each side (an exact answer, a zero). The
best columns become scores of their own and features of the learned ones.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.audit.evidence.events import excesses, shown, some_pairs
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import Guarantee

from .columns import HUGE, Family, correlated, digits, families, tamed
from .table import Column

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
