"""Laplace noise, then clamped to an interval: what falls outside lands on its nearest end."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .number import NumberBetween, laplace_log_cdf


@dataclass(frozen=True, eq=False)
class TruncatedLaplace(NumberBetween):
    """``clamp(query + Laplace(scale), lower, upper)``, "truncated" in diffprivlib. Either end may be infinite.

    The density is with respect to length inside and counting at the two ends.
    """

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.possible(self.at + rng.laplace(0.0, self.scale))

    def log_density(self, value: float) -> float:
        """Log mass at the ends, log density inside."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        if value == self.lower:
            return laplace_log_cdf(self.lower - self.at, self.scale)
        if value == self.upper:
            return laplace_log_cdf(self.at - self.upper, self.scale)
        return -abs(value - self.at) / self.scale - math.log(2 * self.scale)
