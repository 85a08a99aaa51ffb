"""Two-sided geometric noise on a whole number: the discrete Laplace law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .number import Number


@dataclass(frozen=True, eq=False)
class Geometric(Number):
    """``P(query + k)`` is proportional to ``exp(-|k| / scale)`` (Ghosh, Roughgarden and Sundararajan 2012)."""

    whole: ClassVar[bool] = True

    def sample(self, rng: np.random.Generator) -> int:
        """Draw one value: the difference of two geometric variables."""
        return self.possible(self.noisy(rng))

    def noisy(self, rng: np.random.Generator) -> int:
        """Query plus noise, before anything else is done to it."""
        one, other = rng.geometric(-math.expm1(-1 / self.scale), size=2)
        return round(self.at) + int(one) - int(other)

    def possible(self, value: float) -> int:
        """The nearest whole number."""
        return round(float(value))

    def log_density(self, value: float) -> float:
        """Log probability."""
        return self.log_at(value) if float(value).is_integer() else -math.inf

    def log_at(self, value: float) -> float:
        """Log probability of the noisy number at a whole number."""
        return log_weight(self.scale) - abs(value - self.at) / self.scale

    def log_from(self, gap: float) -> float:
        """Log probability that the noise is at least ``gap`` (a whole number) in one direction."""
        if gap <= 0:
            return math.log1p(-math.exp(self.log_from(1 - gap)))
        return -gap / self.scale - math.log1p(math.exp(-1 / self.scale))


def log_weight(scale: float) -> float:
    """Log probability of no noise at all: ``(1 - a) / (1 + a)`` with ``a = exp(-1 / scale)``."""
    return math.log(-math.expm1(-1 / scale)) - math.log1p(math.exp(-1 / scale))
