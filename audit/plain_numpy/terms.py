"""Numbers that are not known yet: which variables are in each number of an array, and how often."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array, Bools, Indices


class Terms(NamedTuple):
    """``factors[k]`` times variable ``ones[k]`` is in number ``rows[k]``: in order of rows, in a row each once.

    Args:
        single: no row has more than one.
    """

    rows: Indices
    ones: Indices
    factors: Array
    single: bool

    def where(self, chosen: Indices | Bools) -> Terms:
        """Those with these places, or truth values."""
        return Terms(self.rows[chosen], self.ones[chosen], self.factors[chosen], self.single)

    def times(self, factors: Array) -> Terms:
        """The same variables; a factor of 0 is none."""
        found = Terms(self.rows, self.ones, factors, self.single)
        return found if np.count_nonzero(factors) == len(factors) else found.where(factors != 0)

    def added_to(self, rows: Indices, numbers: Indices, gains: Array | float = 1.0) -> Terms:
        """Of new numbers, to whose row ``rows[k]`` number ``numbers[k]`` of these is added ``gains[k]`` times."""
        starts = self.rows.searchsorted(numbers)
        which, at = ranges(starts, self.rows.searchsorted(numbers, "right") - starts)
        return collected(rows[which], self.ones[at], np.broadcast_to(gains, rows.shape)[which] * self.factors[at])

    def of_rows(self) -> dict[int, dict[int, float]]:
        """Each row by itself."""
        found: dict[int, dict[int, float]] = {}
        for row, one, factor in zip(self.rows.tolist(), self.ones.tolist(), self.factors.tolist(), strict=True):
            found.setdefault(row, {})[one] = factor
        return found


class Table(dict[str, Any]):
    """Columns by name, which become longer; the last rows may be spare."""

    def __init__(self, **kinds: type):
        super().__init__({name: np.zeros(64, kind) for name, kind in kinds.items()})
        self.count = 0

    def more(self, many: int, **values: Any) -> int:
        """So many rows more, with these values; the place of the first."""
        first, self.count = self.count, self.count + many
        for name, column in self.items():
            if self.count > len(column):
                self[name] = np.concatenate([column, np.zeros(self.count, column.dtype)])
            if name in values:
                self[name][first : self.count] = values[name]
        return first


def joined(parts: Sequence[Terms]) -> Terms:
    """All of them, of the same numbers."""
    if len(parts) == 1:
        return parts[0]
    rows, ones, factors, _ = zip(*parts, strict=True)
    return collected(np.concatenate(rows), np.concatenate(ones), np.concatenate(factors))


def ranges(starts: Indices, counts: Indices) -> tuple[Indices, Indices]:
    """Of ranges, one after the other: which it is, and each place in it."""
    which = np.arange(len(counts)).repeat(counts)
    return which, np.arange(len(which)) + (starts - counts.cumsum() + counts)[which]


def collected(rows: Indices, ones: Indices, factors: Array) -> Terms:
    """In order of rows, each variable of a row once, where it comes first."""
    single = len(rows) < 2 or not np.count_nonzero(rows[1:] <= rows[:-1])
    if not single:
        _, first, place = np.unique(rows * (1 + ones.max()) + ones, return_index=True, return_inverse=True)
        order = np.lexsort((first, rows[first]))
        rows, ones = rows[first[order]], ones[first[order]]
        factors = np.asarray(np.bincount(place, factors), dtype=np.float64)[order]
    return Terms(rows, ones, factors, single).times(factors)
