"""Laplace noise on every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.types import Array

from .law import Difference, Law, as_released, noise_difference


@dataclass(frozen=True, eq=False)
class Laplace:
    """``query + Laplace(scale)``, independent in each coordinate; the query is copied."""

    query: Array
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", np.array(self.query, dtype=float))
        require(0 < self.scale < math.inf, "scale", self.scale, "must be positive and finite")
        require(bool(np.all(np.isfinite(self.query))), "query", self.query, "must be finite")

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return as_released(self.query + rng.laplace(0.0, self.scale, self.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density."""
        difference = np.abs(np.asarray(value, dtype=float) - self.query)
        return -float(np.sum(difference)) / self.scale - self.query.size * math.log(2 * self.scale)

    def public_difference(self, other: Law) -> Difference | None:
        """Type, shape and noise scale are public."""
        return noise_difference(self, other, "scale")
