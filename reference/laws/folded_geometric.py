"""Two-sided geometric noise, then folded into an interval whose ends are whole or half numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require

from .folded_laplace import fold
from .geometric import Geometric, log_weight
from .number import require_range


@dataclass(frozen=True, eq=False)
class FoldedGeometric(Geometric):
    """``fold(query + geometric noise, lower, upper)``: the images of a value are summed as for folded Laplace noise."""

    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        require_range(self.lower, self.upper)
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            good = math.isinf(end) or float(2 * end).is_integer()
            require(good, name, end, "must be a whole or a half number")

    def possible(self, value: float) -> int:
        """Folded."""
        return round(fold(round(float(value)), self.lower, self.upper))

    def log_density(self, value: float) -> float:
        """Log of the sum over images; a whole end is its own image and counts once."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        logs = [self._images(value)]
        end = self.lower if math.isfinite(self.lower) else self.upper
        if math.isfinite(end) and value not in (self.lower, self.upper):
            logs.append(self._images(2 * end - value))
        return float(np.logaddexp.reduce(logs)) + log_weight(self.scale)

    def _images(self, value: float) -> float:
        period = 2 * (self.upper - self.lower)
        if not math.isfinite(period):
            return -abs(value - self.at) / self.scale
        gap = (value - self.at) % period
        near = np.logaddexp(-gap / self.scale, -(period - gap) / self.scale)
        return float(near) - math.log(-math.expm1(-period / self.scale))
