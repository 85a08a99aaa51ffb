"""Clipping to a 2-norm ball: of one vector, of each row, and (what some papers print) of the mean.

Cite: minimax_sosp, Algorithm 1; dro, Algorithm 1.
"""

import math
from typing import Literal

import numpy as np

from dpassay.reference import arrays
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

ClipMode = Literal["each", "mean"]


def clip(vector: Array, bound: float) -> Array:
    """``min(bound / |vector|, 1) vector``: the same direction, norm at most ``bound`` (0 stays 0)."""
    require(bound > 0, "clip", bound, "must be positive")
    return vector * (bound / max(arrays.norm(vector), bound))


@np.errstate(over="ignore")  # a norm that overflows is infinite, and its row becomes 0
def clip_rows(rows: Array, bound: float) -> Array:
    """Each row of a matrix clipped by itself; shape (m, ...) in and out. A sum moves by at most ``2 bound`` per row."""
    require(bound > 0, "clip", bound, "must be positive")
    # an empty batch has no rows, but a shape
    flat = rows if rows.ndim == 2 else rows.reshape(len(rows), math.prod(rows.shape[1:]))
    factors = bound / np.maximum(arrays.row_norms(flat), bound)
    clipped = np.asarray(flat * factors[:, None])
    return clipped if rows.ndim == 2 else clipped.reshape(rows.shape)


def clipped_mean(rows: Array, threshold: float, mode: ClipMode) -> Array:
    """The mean of rows (m, d) or (m,), each clipped (``each``), or the clipped mean of the rows (``mean``).

    Replacing one of m rows moves the first by at most ``2 threshold / m``. The second, which minimax_sosp (Algorithm 3)
    and dro (Algorithm 2) print, moves by up to ``2 threshold`` whatever m is, unless the rows are bounded anyway.
    """
    require(mode in ("each", "mean"), "clip_mode", mode, "must be 'each' or 'mean'")
    if threshold == 0:  # an iterate-dependent threshold where nothing moved
        return np.zeros(rows.shape[1:])
    if math.isinf(threshold):
        return arrays.mean_of(rows)
    if mode == "mean":
        return clip(arrays.mean_of(rows), threshold)
    return arrays.mean_of(clip_rows(rows, threshold))
