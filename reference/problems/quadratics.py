"""Strongly convex quadratics with a known condition number and a population risk in closed form."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array, Indices

from .checks import bounded_rows
from .finite_sum import Loss


@dataclass(frozen=True)
class QuadraticLoss(Loss):
    """f(x; xi) = sum_j h_j (x_j - xi_j)^2 / 2 with ||xi|| <= record_bound, ||x|| <= radius; Assumption 3.2 as it is.

    mu = min h, ell = max h, L = max h (radius + record_bound).
    """

    records: Array  # (n, d)
    curvatures: Array  # h, (d,)
    radius: float
    record_bound: float = 1.0

    def __post_init__(self) -> None:
        if not (self.curvatures > 0).all():
            raise BadInput("curvatures", self.curvatures.tolist()[:4], "must be positive")
        bounded_rows("records", self.records, self.record_bound)
        steepest = float(self.curvatures.max())
        for name, value in (
            ("n", len(self.records)),
            ("d", self.records.shape[1]),
            ("strong_convexity", float(self.curvatures.min())),
            ("smoothness", steepest),
            ("lipschitz", steepest * (self.radius + self.record_bound)),
        ):
            object.__setattr__(self, name, value)

    def rows(self, z: Array, indices: Indices) -> Array:
        """h (x - xi_i)."""
        return self.curvatures * (z - self.records[indices])

    def values(self, z: Array, indices: Indices) -> Array:
        """Half weighted squared distances."""
        return np.asarray(0.5 * (z - self.records[indices]) ** 2 @ self.curvatures)

    def subset(self, indices: Indices) -> QuadraticLoss:
        """Some of the records."""
        return QuadraticLoss(self.records[indices], self.curvatures, self.radius, self.record_bound)

    def affine(self) -> tuple[Array, Array]:
        """A = diag(h), b = -h times the mean record."""
        return np.diag(self.curvatures), -self.curvatures * self.records.mean(axis=0)

    def excess(self, x: Array, centre: Array) -> float:
        """Risk of x above that of the minimiser `centre` (the mean record, or its expectation)."""
        return float(0.5 * (x - centre) ** 2 @ self.curvatures)
