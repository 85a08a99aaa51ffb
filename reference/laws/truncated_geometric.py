"""Two-sided geometric noise, then clamped to an interval."""

from __future__ import annotations

import math
from dataclasses import dataclass

from .geometric import Geometric
from .number import require_range


@dataclass(frozen=True, eq=False)
class TruncatedGeometric(Geometric):
    """``clamp(query + geometric noise, lower, upper)``; the ends are whole numbers or infinite."""

    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self.lower, self.upper)

    def possible(self, value: float) -> int:
        """Clamped."""
        return round(min(max(float(value), self.lower), self.upper))

    def log_density(self, value: float) -> float:
        """Log probability; the ends hold the tails."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        if value == self.lower:
            return self.log_from(self.at - self.lower)
        return self.log_from(self.upper - self.at) if value == self.upper else self.log_at(value)
