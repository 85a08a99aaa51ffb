"""Laplace noise given that the sum lies in an interval: drawn again until it does."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .law import Cost
from .number import NumberBetween, laplace_cdf


@dataclass(frozen=True, eq=False)
class BoundedLaplace(NumberBetween):
    """``query + Laplace(scale)`` given ``lower <= value <= upper`` (Holohan et al. 2020, Definition 3).

    The mass of the interval depends on the query, so the loss is not the sensitivity over the scale.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "query", np.clip(self.query, self.lower, self.upper))

    def cost(self, sensitivity: float) -> Cost:
        """Twice the sensitivity over the scale: density and mass of the interval change by that factor at most."""
        return Cost("pure", 2 * sensitivity / self.scale)

    def _below(self, value: float) -> float:
        return laplace_cdf(value - self.at, self.scale)

    def sample(self, rng: np.random.Generator) -> float:
        """By inversion of the distribution function, on the side of the query that the draw falls."""
        low, middle, high = self._below(self.lower), 0.5, self._below(self.upper)
        u = low + (high - low) * rng.random()
        noise = self.scale * (math.log(2 * u) if u < middle else -math.log(2 * (1 - u)) if u < 1 else math.inf)
        return self.possible(self.at + noise)

    def log_density(self, value: float) -> float:
        """Log density."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        # masses of the two sides, each without cancellation: the query lies in the interval
        below = -0.5 * math.expm1((self.lower - self.at) / self.scale)
        above = -0.5 * math.expm1((self.at - self.upper) / self.scale)
        return -abs(value - self.at) / self.scale - math.log(2 * self.scale) - math.log(below + above)
