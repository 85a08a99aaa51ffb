"""Uniform noise: private with a delta only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .law import Cost
from .number import Number


@dataclass(frozen=True, eq=False)
class UniformNoise(Number):
    """``query + U(-scale, scale)``."""

    def cost(self, sensitivity: float) -> Cost | None:
        """Unknown: delta alone, ``sensitivity / (2 scale)`` for one release."""
        return None

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.at + rng.uniform(-self.scale, self.scale)

    def log_density(self, value: float) -> float:
        """Log density."""
        return -math.log(2 * self.scale) if abs(value - self.at) <= self.scale else -math.inf
