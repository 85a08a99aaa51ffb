"""Noise of a bounded size: the support moves with the query, so a release is private with a delta only."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from .law import Cost
from .number import Number, require_size


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


@dataclass(frozen=True, eq=False)
class BoundedNoiseLaplace(Number):
    """``query + Laplace(scale)`` given ``|noise| <= bound`` (Geng et al. 2018, truncated Laplacian)."""

    bound: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        require_size("bound", self.bound)

    def cost(self, sensitivity: float) -> Cost | None:
        """Unknown: an (epsilon, delta) pair, which is none of the forms that are composed here."""
        return None

    def sample(self, rng: np.random.Generator) -> float:
        """By inversion."""
        size = -self.scale * math.log1p(rng.random() * math.expm1(-self.bound / self.scale))
        return self.at + (size if rng.random() < 0.5 else -size)

    def log_density(self, value: float) -> float:
        """Log density."""
        gap = abs(value - self.at)
        if gap > self.bound:
            return -math.inf
        return -gap / self.scale - math.log(2 * self.scale) - math.log(-math.expm1(-self.bound / self.scale))
