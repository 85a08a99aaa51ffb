"""Folding into an interval: what falls outside is reflected at its ends until it is inside."""

from __future__ import annotations

import math

import numpy as np

from .number import NumberBetween


def fold(value: float, lower: float, upper: float) -> float:
    """Reflect at the ends until inside."""
    if math.isfinite(lower) and math.isfinite(upper):
        width = upper - lower
        place = (value - lower) % (2 * width)
        return lower + min(place, 2 * width - place)
    if value < lower:
        return 2 * lower - value
    return 2 * upper - value if value > upper else value


def log_images(gap: float, law: NumberBetween) -> float:
    """Log of the sum of ``exp(-|gap + k period| / scale)`` over all whole k, with period ``2 (upper - lower)``.

    With one end only there is no period, and one image.
    """
    period = 2 * (law.upper - law.lower)
    if not math.isfinite(period):
        return -abs(gap) / law.scale
    rest = gap % period
    near = np.logaddexp(-rest / law.scale, -(period - rest) / law.scale)
    return float(near) - math.log(-math.expm1(-period / law.scale))
