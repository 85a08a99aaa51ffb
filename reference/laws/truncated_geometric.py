"""Two-sided geometric noise, then clamped to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .geometric import Geometric
from .number import NumberBetween


@dataclass(frozen=True, eq=False)
class TruncatedGeometric(NumberBetween, Geometric):
    """``clamp(query + geometric noise, lower, upper)``; the ends are whole numbers or infinite."""

    def possible(self, value: float) -> int:
        """Clamped."""
        return round(super().possible(value))

    def log_density(self, value: float) -> float:
        """Log probability; the ends hold the tails."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        if value == self.lower:
            return self.log_from(self.at - self.lower)
        return self.log_from(self.upper - self.at) if value == self.upper else self.log_at(value)
