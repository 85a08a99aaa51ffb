"""Worst-case neighbours for DP-RGDA: records are signs z_i, and every query moves as far as its sensitivity allows.

F(x, y; z) = z (g x + L x^2 / 2 + L x y + h y) - mu y^2 / 2 on the line, y in [-r, r].
One record changes its sign. The others are either half +1 and half -1 (`balanced`: means stay small, so that no clip of
a mean acts) or all -1 (`identical`: a sampled batch matters only through the changed record).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.lockstep import Pair
from dpassay.reference.problems.interfaces import Array, Indices


@dataclass(frozen=True, eq=False)
class TugOfWar:
    """Signs (n,), slopes g and h, curvature L, concavity mu, radius r of the y domain."""

    signs: Array
    slope: float
    curvature: float
    dual_slope: float = 0.0
    concavity: float = 0.01
    radius: float = float("inf")
    gradient_bound: float = float("inf")

    @property
    def size(self) -> int:
        """Number of records."""
        return int(self.signs.size)

    @property
    def dimension_x(self) -> int:
        """One."""
        return 1

    @property
    def dimension_y(self) -> int:
        """One."""
        return 1

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """z (g + L x + L y)."""
        rows: Array = (self.signs[indices] * (self.slope + self.curvature * float(x[0] + y[0])))[:, None]
        return rows

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """z (h + L x) - mu y."""
        pull = self.signs[indices] * (self.dual_slope + self.curvature * float(x[0]))
        rows: Array = (pull - self.concavity * float(y[0]))[:, None]
        return rows

    def project(self, y: Array) -> Array:
        """On [-r, r]."""
        return np.clip(y, -self.radius, self.radius)


def sign_flip(
    records: int,
    others: Literal["balanced", "identical"],
    *,
    slope: float = 1.0,
    curvature: float = 1.0,
    dual_slope: float = 0.0,
    radius: float = float("inf"),
) -> Pair[TugOfWar]:
    """The pair in which record 0 is +1 here and -1 there."""
    require(records >= 2, "records", records, "must be at least 2")
    signs = -np.ones(records)
    if others == "balanced":
        require(records % 2 == 1, "records", records, "balanced others need an odd number of records")
        signs[1::2] = 1.0
    signs[0] = 1.0
    flipped = signs.copy()
    flipped[0] = -1.0
    here, there = (TugOfWar(z, slope, curvature, dual_slope, radius=radius) for z in (signs, flipped))
    return Pair(here, there, 0, f"one sign of {records} flipped, others {others}")
