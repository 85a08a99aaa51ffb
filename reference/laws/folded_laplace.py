"""Laplace noise, then folded into an interval: what falls outside is reflected at its ends until it is inside."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .folding import fold, log_images
from .number import NumberBetween


@dataclass(frozen=True, eq=False)
class FoldedLaplace(NumberBetween):
    """``fold(query + Laplace(scale), lower, upper)``. Either end may be infinite.

    The density at a value is the sum over its images; with two ends they have period ``2 (upper - lower)``, so the sum
    is two geometric series.
    """

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
        logs = [log_images(value - self.at, self)]
        if math.isfinite(self.lower):
            logs.append(log_images(2 * self.lower - value - self.at, self))
        elif math.isfinite(self.upper):
            logs.append(log_images(2 * self.upper - value - self.at, self))
        return float(np.logaddexp.reduce(logs)) - math.log(2 * self.scale)
