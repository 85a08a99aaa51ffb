"""Clipping (minimax_sosp, Algorithm 1), and the two places where it can stand."""

from __future__ import annotations

import numpy as np

from dpassay.reference.problems.interfaces import Array


def clip(vector: Array, threshold: float) -> Array:
    """Scale a vector back to norm at most `threshold` (Algorithm 1, line 1); the zero vector stays."""
    norm = float(np.linalg.norm(vector))
    return vector if norm <= threshold else (threshold / norm) * vector


def clip_rows(rows: Array, threshold: float) -> Array:
    """Algorithm 1 applied to every row."""
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    clipped: Array = rows * np.minimum(1.0, threshold / np.maximum(norms, np.finfo(float).tiny))
    return clipped


def clipped_mean(rows: Array, threshold: float, *, clip_each: bool) -> Array:
    """Mean of clipped rows (`clip_each`, sensitivity 2 threshold / rows) or clipped mean of rows (as printed).

    The printed order, Algorithm 3, lines 7, 8, 14 and 15, bounds the length of the mean and not the influence of one
    row: without a bound on the rows its replace-one sensitivity is 2 threshold.
    """
    mean: Array
    if clip_each:
        mean = clip_rows(rows, threshold).mean(axis=0)
        return mean
    mean = rows.mean(axis=0)
    return clip(mean, threshold)
