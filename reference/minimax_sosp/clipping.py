"""The two places where clipping (minimax_sosp, Algorithm 1; `mechanisms.clipping.clip`) can stand."""

from __future__ import annotations

from dpassay.reference.mechanisms.clipping import clip, clip_rows
from dpassay.reference.problems.interfaces import Array


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
