"""A small minimax problem in which every record pulls where it likes: for searches over all data."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require

from .interfaces import OfRecords


@dataclass(frozen=True, eq=False)
class Pulls(OfRecords):
    """F(x, y; (a, b, c)) = <a, x> + b y + c (|x|^2 / 2 + x_1 y) - mu y^2 / 2 on x in R^2, |y| <= radius.

    Args:
        rows: (a_1, a_2, b, c) of every record, shape (n, 4).
        radius: of the domain of y.
        concavity: mu.
    """

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d", "d_y")
    d: ClassVar[int] = 2
    d_y: ClassVar[int] = 1

    rows: Array
    radius: float = 10.0
    concavity: float = 1.0
    gradient_bound: float = float("inf")

    def __post_init__(self) -> None:
        require(self.rows.ndim == 2 and self.rows.shape[1] == 4, "rows", self.rows.shape, "must have shape (n, 4)")

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-record gradients in x, shape (len(indices), 2)."""
        rows = self.rows[indices]
        here = x + np.array([y[0], 0.0])
        return np.asarray(rows[:, :2] + rows[:, 3:] * here)

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-record gradients in y, shape (len(indices), 1)."""
        rows = self.rows[indices]
        return np.asarray(rows[:, 2:3] + rows[:, 3:] * x[0] - self.concavity * y)

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Gradients of the explicit objective F(x, 0), for methods that know no y, shape (len(indices), 2)."""
        return self.gradients_x(x, np.zeros(1), indices)

    def project(self, y: Array) -> Array:
        """On |y| <= radius."""
        return np.clip(y, -self.radius, self.radius)
