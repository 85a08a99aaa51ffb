"""What laws of one noisy number share: query, scale, and further public numbers that must agree between neighbours."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, fields
from typing import ClassVar

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.types import Array

from .law import LARGEST, SMALLEST, Cost, Difference, Law, other_law, query_of, scale_difference

LARGEST_WHOLE = 2.0**53  # up to here every whole number is a float


def require_size(name: str, value: float, most: float = LARGEST) -> None:
    """A noise scale, a bound, a width: positive, and far enough from the ends of what a float holds."""
    require(0 < value < math.inf, name, value, "must be positive and finite")
    require(SMALLEST <= value <= most, name, value, f"must lie in {SMALLEST:g}..{most:g}")


@dataclass(frozen=True, eq=False)
class Number(Law):
    """A law of one number around ``query`` with noise of size ``scale``; sub-classes give density and sampler.

    Every field but the query is public. ``whole`` says that released values are integers.
    """

    query: Array = field()
    scale: float = field()

    whole: ClassVar[bool] = False

    def __post_init__(self) -> None:
        number = np.array(self.query, dtype=float)
        require(number.ndim == 0 and bool(np.isfinite(number)), "query", self.query, "must be one finite number")
        require(not self.whole or float(number).is_integer(), "query", self.query, "must be a whole number")
        most = LARGEST_WHOLE if self.whole else LARGEST
        require(bool(np.abs(number) <= most), "query", self.query, f"must lie in -{most:g}..{most:g}")
        require_size("scale", self.scale, most)
        object.__setattr__(self, "query", number)

    @property
    def at(self) -> float:
        """The query as a float."""
        return float(self.query)

    def distance(self, other: Law) -> float:
        """Absolute difference."""
        return abs(float(query_of(self)) - float(query_of(other)))

    def cost(self, sensitivity: float) -> Cost | None:
        """Sensitivity over scale: right for Laplace-like noise and whatever is computed from it."""
        return Cost("pure", sensitivity / self.scale)

    def public_difference(self, other: Law) -> Difference | None:
        """Type and every number but the query are public."""
        if not isinstance(other, type(self)):
            return other_law(self, other)
        for one in fields(self):
            if one.name == "query":
                continue
            found = scale_difference(one.name, getattr(self, one.name), getattr(other, one.name))
            if found:
                return found
        return None

    def released(self, value: float) -> float:
        """A value as it is handed back: a float, or an int."""
        return round(value) if self.whole else float(value)


def laplace_cdf(x: float, scale: float) -> float:
    """``P(noise <= x)`` of Laplace noise."""
    return 0.5 * math.exp(x / scale) if x < 0 else 1 - 0.5 * math.exp(-x / scale)


def laplace_log_cdf(x: float, scale: float) -> float:
    """Its logarithm, exact in the lower tail."""
    return x / scale - math.log(2) if x < 0 else math.log1p(-0.5 * math.exp(-x / scale))
