"""The snapping mechanism: clamp, add Laplace noise, round to a grid of powers of two, clamp again."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require

from .law import LARGEST, Cost
from .number import Number, laplace_log_cdf, require_size


@dataclass(frozen=True, eq=False)
class Snapping(Number):
    """``clamp(round(clamp(query) + Laplace(scale)))`` within ``[-bound, bound]``, rounded to ``grid`` (Mironov 2012).

    Values are multiples of the grid, and the two ends. Probabilities are those of real Laplace noise; that floating
    point noise has them up to rounding is what the mechanism is made for.
    """

    grid: float = 1.0
    bound: float = math.inf

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.grid > 0 and math.frexp(self.grid)[0] == 0.5, "grid", self.grid, "must be a power of two")
        require(self.bound > 0, "bound", self.bound, "must be positive")
        for name, value in (("grid", self.grid), ("bound", min(self.bound, LARGEST))):
            require_size(name, value)
        object.__setattr__(self, "query", np.clip(self.query, -self.bound, self.bound))

    def cost(self, sensitivity: float) -> Cost:
        """Sensitivity over scale (rounding and clamping are post-processing), up to floating point."""
        return Cost("pure", sensitivity / self.scale)

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.possible(self.at + rng.laplace(0.0, self.scale))

    def possible(self, value: float) -> float:
        """Rounded to the grid and clamped; halves go up, as in the mechanism."""
        rounded = self.grid * math.floor(float(value) / self.grid + 0.5) if math.isfinite(value) else float(value)
        return float(min(max(rounded, -self.bound), self.bound))

    def log_density(self, value: float) -> float:
        """Log probability of a grid point; the ends hold all that is rounded beyond them."""
        if abs(value) != self.bound and value != self.possible(value):
            return -math.inf
        low, high = value - self.grid / 2, value + self.grid / 2
        if value <= -self.bound:
            first = self.grid * (math.floor(-self.bound / self.grid) + 1)  # the first grid point above the end
            return laplace_log_cdf(first - self.grid / 2 - self.at, self.scale)
        if value >= self.bound:
            last = self.grid * (math.ceil(self.bound / self.grid) - 1)
            return laplace_log_cdf(self.at - last - self.grid / 2, self.scale)
        return _log_between(low - self.at, high - self.at, self.scale)


def _log_between(low: float, high: float, scale: float) -> float:
    """``log P(low <= noise < high)`` without cancellation in the tails."""
    if low < 0 < high:
        return math.log(-0.5 * math.expm1(low / scale) - 0.5 * math.expm1(-high / scale))
    near = low if low >= 0 else -high
    return -near / scale + math.log(-0.5 * math.expm1(-(high - low) / scale))
