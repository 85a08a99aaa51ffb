"""A problem without data: all gradients are zero. Dry runs of the calibrator need no more than its sizes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require_at_least
from dpassay.reference.types import Array, Indices


@dataclass(frozen=True)
class Flat:
    """``n`` records, ``x`` in R^d, ``y`` in R^(d_y); all Hessians are ``curvature`` times the identity."""

    n: int
    d: int = 1
    d_y: int = 1
    curvature: float = 0.0
    gradient_bound: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(1, self, "n", "d", "d_y")

    def value(self, x: Array) -> float:
        """Zero."""
        return 0.0

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Zeros, shape (len(indices), d)."""
        return np.zeros((len(indices), self.d))

    def hessians(self, x: Array, indices: Indices) -> Array:
        """The same for all records, shape (len(indices), d, d)."""
        return np.tile(self.curvature * np.eye(self.d), (len(indices), 1, 1))

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Zeros, shape (len(indices), d)."""
        return np.zeros((len(indices), self.d))

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Zeros, shape (len(indices), d_y)."""
        return np.zeros((len(indices), self.d_y))

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Zeros, shape (len(indices), d)."""
        return np.zeros((len(indices), self.d))

    def project(self, y: Array) -> Array:
        """No constraint."""
        return y
