"""Clipping (Algorithm 1) and the two ways to combine it with averaging, made explicit.

``clip_each``: mean of clipped rows. Replacing one of b rows moves it by at most 2 C / b.
``clip_mean``: clipped mean, which is what Algorithm 2 prints. Replacing one row moves it by up to 2 C, whatever b is,
unless the rows are bounded by C anyway; the paper's noise assumes 2 C / b.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import require
from dpassay.reference.mechanisms.clipping import clip, clip_rows
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
ClipMode = Literal["each", "mean"]


def clipped_mean(rows: Array, threshold: float, mode: ClipMode) -> Array:
    """Combine per-sample rows (b, d) or (b,) into one estimate, clipping each row or the mean."""
    require(mode in ("each", "mean"), "clip_mode", mode, "must be 'each' or 'mean'")
    if threshold == 0:  # an iterate-dependent threshold where nothing moved
        return np.zeros(rows.shape[1:])
    if math.isinf(threshold):
        return np.asarray(np.mean(rows, axis=0))
    if mode == "mean":
        return clip(np.asarray(np.mean(rows, axis=0)), threshold)
    return np.asarray(np.mean(clip_rows(rows, threshold), axis=0))  # Algorithm 1 for each record


def draw(tape: Tape, label: str, n: int, size: int) -> tuple[Indices, Batch | None]:
    """A secret batch without replacement; ``size = n`` is the full data set and no draw at all."""
    require(1 <= size <= n, label, size, f"must lie in 1..n = {n}")
    if size == n:
        return np.arange(n), None
    batch = tape.batch(label, n, size)
    return batch.indices, batch
