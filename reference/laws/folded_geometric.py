"""Two-sided geometric noise, then folded into an interval whose ends are whole or half numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require

from .folding import fold, log_images
from .geometric import Geometric, log_weight
from .number import NumberBetween


@dataclass(frozen=True, eq=False)
class FoldedGeometric(NumberBetween, Geometric):
    """``fold(query + geometric noise, lower, upper)``: the images of a value are summed as for folded Laplace noise."""

    def __post_init__(self) -> None:
        super().__post_init__()
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
        logs = [log_images(value - self.at, self)]
        end = self.lower if math.isfinite(self.lower) else self.upper
        if math.isfinite(end) and value not in (self.lower, self.upper):
            logs.append(log_images(2 * end - value - self.at, self))
        return float(np.logaddexp.reduce(logs)) + log_weight(self.scale)
