"""Features of raw outputs: values, order statistics, differences, low-order bits, projections, and atoms.

Everything is fitted on the training split only; what it becomes is judged on other data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from dpassay.reference.types import Array

WIDE = 24  # more columns than this are projected
PAIRED = 8  # up to this many columns all pairwise differences are used


def lowest_bit(values: Array) -> Array:
    """log2 of the lowest set bit of each float: the grid it lies on (0 for 0, NaN and infinities)."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    low = np.log2((significand & -significand).astype(np.float64))
    usable = np.isfinite(values) & (values != 0) & (exponent > 0)
    return np.where(usable, exponent - 1075 + low, 0.0)


def row_codes(table: Array) -> NDArray[np.void]:
    """Each row as one opaque value, so that exact repetitions can be counted (-0.0 counts as 0.0)."""
    clean = np.ascontiguousarray(np.where(table == 0, 0.0, table))
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
    """The columns a learner sees; `projection` is used for wide outputs only."""

    projection: PCA | None
    fill: Array
    bits: bool

    @staticmethod
    def fit(table_p: Array, table_q: Array, rng: np.random.Generator, low_bits: bool) -> Features:
        """Decide on a projection from the training split; `low_bits` adds the grid each float lies on."""
        both = np.concatenate([table_p, table_q])
        finite = np.where(np.isfinite(both), both, np.nan)
        counts = np.isfinite(finite).sum(axis=0)
        fill = np.where(counts > 0, np.nansum(finite, axis=0) / np.maximum(counts, 1), 0.0)
        projection = None
        if both.shape[1] > WIDE:
            filled = np.where(np.isfinite(both), both, fill)
            seed = int(rng.integers(2**31))
            projection = PCA(n_components=WIDE // 2, random_state=seed).fit(filled[:20_000])
        return Features(projection, fill, low_bits)

    def transform(self, table: Array) -> Array:
        """The feature matrix; NaN stays NaN where the learner can use it."""
        raw = np.where(np.isfinite(table), table, np.where(np.isnan(table), np.nan, np.sign(table) * 1e300))
        blocks = []
        if self.projection is not None:
            filled = np.where(np.isfinite(table), table, self.fill)
            blocks += [self.projection.transform(filled), np.linalg.norm(filled, axis=1)[:, None]]
            blocks += [filled.mean(axis=1)[:, None], filled.max(axis=1)[:, None], filled.min(axis=1)[:, None]]
            raw = filled[:, : WIDE // 2]
        blocks.append(raw)
        if raw.shape[1] >= 2:
            blocks.append(np.sort(raw, axis=1))
        if 2 <= raw.shape[1] <= PAIRED:
            left, right = np.triu_indices(raw.shape[1], 1)
            blocks.append(raw[:, left] - raw[:, right])
        if self.bits:
            blocks.append(lowest_bit(raw))
        return np.asarray(np.clip(np.concatenate(blocks, axis=1), -1e300, 1e300))
