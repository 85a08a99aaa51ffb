"""Features of raw outputs: the columns that were chosen, low-order bits, and atoms (values that come back exactly).

Everything is fitted on the training split only; what it becomes is judged on other data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.arrays import Array

from .screen import CHOSEN, Found, all_of


def lowest_bit(values: Array) -> Array:
    """log2 of the lowest set bit of each float: the grid it lies on (0 for 0, NaN and infinities)."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    low = np.log2((significand & -significand).astype(np.float64))
    usable = np.isfinite(values) & (values != 0) & (exponent > 0)
    return np.where(usable, exponent - 1075 + low, 0.0)


def row_codes(table: Array) -> NDArray[np.void]:
    """Each row as one opaque value, so that exact repetitions can be counted."""
    clean = np.ascontiguousarray(table)
    return clean.view([("", np.void, clean.itemsize * clean.shape[1])]).ravel()["f0"]


@dataclass
class Atoms:
    """Exact outputs seen more than once in training, with the log odds of their side."""

    codes: NDArray[np.void]
    odds: Array

    @staticmethod
    def fit(table_p: Array, table_q: Array) -> Atoms:
        """Count rows on both sides; a row seen once says nothing yet."""
        codes, where = np.unique(np.concatenate([row_codes(table_p), row_codes(table_q)]), return_inverse=True)
        on_p = np.bincount(where[: len(table_p)], minlength=codes.size)
        on_q = np.bincount(where[len(table_p) :], minlength=codes.size)
        keep = on_p + on_q > 1
        odds = np.log((on_q + 0.5) / (len(table_q) + 1)) - np.log((on_p + 0.5) / (len(table_p) + 1))
        return Atoms(codes[keep], odds[keep])

    def score(self, table: Array) -> Array:
        """Log odds of known atoms, NaN elsewhere."""
        if self.codes.size == 0:
            return np.full(len(table), np.nan)
        rows = row_codes(table)
        place = np.minimum(np.searchsorted(self.codes, rows), self.codes.size - 1)
        return np.where(self.codes[place] == rows, self.odds[place], np.nan)


@dataclass
class Features:
    """The columns that a learner sees: all raw ones if they are few, and those that looked best on their own."""

    chosen: list[Found]
    bits: bool

    @staticmethod
    def fit(screened: list[Found], width: int, low_bits: bool) -> Features:
        """From the screened columns; `low_bits` adds the grid each float lies on."""
        raw = [one for one in screened if one.family.one is not None and one.value is None]
        plain = [one for one in raw if one.column < width][: CHOSEN if width > CHOSEN else None]
        taken = set(plain)
        best = [one for one in screened if one not in taken]
        differ = sorted(best, key=lambda one: -one.difference)[: CHOSEN // 2]
        return Features([*plain, *dict.fromkeys([*best[: CHOSEN // 2], *differ])][: 3 * CHOSEN], low_bits)

    def transform(self, table: Array) -> Array:
        """The feature matrix, without NaN."""
        made = all_of(self.chosen, table)
        if self.bits:
            bits = [lowest_bit(table[:, j])[:, None] for j in range(min(table.shape[1], CHOSEN))]
            made = np.concatenate([made, *bits], axis=1)
        return made if made.shape[1] else np.zeros((len(table), 1))
