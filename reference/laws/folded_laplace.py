"""Laplace noise, then folded into an interval: what falls outside is reflected at its ends until it is inside."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .number import Number, require_range


@dataclass(frozen=True, eq=False)
class FoldedLaplace(Number):
    """``fold(query + Laplace(scale), lower, upper)``. Either end may be infinite.

    The density at a value is the sum over its images; with two ends they have period ``2 (upper - lower)``, so the sum
    is two geometric series.
    """

    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self.lower, self.upper)

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.possible(self.at + rng.laplace(0.0, self.scale))

    def possible(self, value: float) -> float:
        """Folded."""
        return fold(float(value), self.lower, self.upper)

    def log_density(self, value: float) -> float:
        """Log of the sum over images."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        logs = [self._images(value)]
        if math.isfinite(self.lower):
            logs.append(self._images(2 * self.lower - value))
        elif math.isfinite(self.upper):
            logs.append(self._images(2 * self.upper - value))
        return float(np.logaddexp.reduce(logs)) - math.log(2 * self.scale)

    def _images(self, value: float) -> float:
        """Log of the sum of ``exp(-|value + k period - query| / scale)`` over all whole k."""
        period = 2 * (self.upper - self.lower)
        if not math.isfinite(period):
            return -abs(value - self.at) / self.scale
        gap = (value - self.at) % period
        near = np.logaddexp(-gap / self.scale, -(period - gap) / self.scale)
        return float(near) - math.log(-math.expm1(-period / self.scale))


def fold(value: float, lower: float, upper: float) -> float:
    """Reflect at the ends until inside."""
    if math.isfinite(lower) and math.isfinite(upper):
        width = upper - lower
        place = (value - lower) % (2 * width)
        return lower + min(place, 2 * width - place)
    if value < lower:
        return 2 * lower - value
    return 2 * upper - value if value > upper else value
