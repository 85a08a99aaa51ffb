"""Clipping to a 2-norm ball: of one vector, of each row, and (what some papers print) of the mean."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import require

Array = NDArray[np.float64]


def clip(vector: Array, bound: float) -> Array:
    """``min(bound / |vector|, 1) vector``: the same direction, norm at most ``bound`` (0 stays 0)."""
    require(bound > 0, "clip", bound, "must be positive")
    norm = float(np.linalg.norm(vector))
    return vector if norm <= bound else vector * (bound / norm)


def clip_rows(rows: Array, bound: float) -> Array:
    """Each row of a matrix clipped by itself; shape (m, ...) in and out. A sum moves by at most ``2 bound`` per row."""
    require(bound > 0, "clip", bound, "must be positive")
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))  # an empty batch has no rows, but a shape
    norms = np.linalg.norm(flat, axis=1)
    factors = bound / np.maximum(norms, bound)
    return np.asarray((flat * factors[:, None]).reshape(rows.shape))
