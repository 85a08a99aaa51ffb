"""Minimisation losses with derived constants: mean estimation, least squares (ridge), logistic.

Every loss is the data part only; the strongly convex problem adds a `Regulariser`.  Features have norm at most
`feature_bound`, the domain is a ball of radius `radius`, and L and ell follow from these (tests check both).
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from dpassay.reference.arrays import Array, Indices, Records

from .domains import Ball, Domain, Everywhere
from .finite_sum import FiniteSum, Loss, Regulariser, bounded_rows, bounded_values, plus_or_minus_one


@dataclass(frozen=True)
class LinearLoss(Loss):
    """f(x; xi) = -slope <xi, x>, ||xi|| <= 1: with a regulariser, mean estimation; the worst case for stability."""

    RECORDS: ClassVar[Records] = {"records": 1.0}

    records: Array  # (n, d)
    slope: float = 1.0  # a = L of the data part

    def __post_init__(self) -> None:
        bounded_rows("records", self.records, 1.0)
        self._constants(lipschitz=self.slope, smoothness=0.0)

    def rows(self, z: Array, indices: Indices) -> Array:
        """Constant gradients -slope xi_i."""
        return -self.slope * self.records[indices]

    def values(self, z: Array, indices: Indices) -> Array:
        """-slope <xi_i, z>."""
        return -self.slope * self.records[indices] @ z

    def affine(self) -> tuple[Array, Array]:
        """A = 0, b = -slope * mean record."""
        d = self.d
        return np.zeros((d, d)), -self.slope * self.records.mean(axis=0)


@dataclass(frozen=True)
class SquaredLoss(Loss):
    """f(x; (w, b)) = (<w, x> - b)^2 / 2 with ||w|| <= feature_bound, |b| <= target_bound, ||x|| <= radius."""

    RECORDS: ClassVar[Records] = {"features": "feature_bound", "targets": None}

    features: Array  # (n, d)
    targets: Array  # (n,)
    radius: float
    feature_bound: float = 1.0
    target_bound: float = 1.0

    def __post_init__(self) -> None:
        bounded_rows("features", self.features, self.feature_bound)
        bounded_values("targets", self.targets, len(self.features), self.target_bound)
        lipschitz = self.feature_bound * (self.feature_bound * self.radius + self.target_bound)
        self._constants(lipschitz=lipschitz, smoothness=self.feature_bound**2)

    def rows(self, z: Array, indices: Indices) -> Array:
        """(<w_i, z> - b_i) w_i."""
        w = self.features[indices]
        return (w @ z - self.targets[indices])[:, None] * w

    def values(self, z: Array, indices: Indices) -> Array:
        """Half squared residuals."""
        return 0.5 * np.asarray(self.features[indices] @ z - self.targets[indices]) ** 2

    def mean_operator(self, z: Array) -> Array:
        """W^T (W z - b) / n."""
        return self.features.T @ (self.features @ z - self.targets) / self.n

    def affine(self) -> tuple[Array, Array]:
        """A = W^T W / n, b = -W^T targets / n."""
        return self.features.T @ self.features / self.n, -self.features.T @ self.targets / self.n


@dataclass(frozen=True)
class LogisticLoss(Loss):
    """f(x; (w, s)) = log(1 + exp(-s <w, x>)), s in {-1, +1}, ||w|| <= feature_bound = L, ell = L^2/4."""

    RECORDS: ClassVar[Records] = {"features": "feature_bound", "labels": (-1.0, 1.0)}

    features: Array  # (n, d)
    labels: Array  # (n,), -1 or +1
    feature_bound: float = 1.0

    def __post_init__(self) -> None:
        bounded_rows("features", self.features, self.feature_bound)
        plus_or_minus_one("labels", self.labels, len(self.features))
        self._constants(lipschitz=self.feature_bound, smoothness=self.feature_bound**2 / 4)

    def rows(self, z: Array, indices: Indices) -> Array:
        """-s_i sigmoid(-s_i <w_i, z>) w_i."""
        w, s = self.features[indices], self.labels[indices]
        return (-s * scipy.special.expit(-s * (w @ z)))[:, None] * w

    def values(self, z: Array, indices: Indices) -> Array:
        """log(1 + exp(-margin))."""
        return np.logaddexp(0.0, -self.labels[indices] * (self.features[indices] @ z))

    def mean_operator(self, z: Array) -> Array:
        """Gradient of the mean loss."""
        weights = -self.labels * scipy.special.expit(-self.labels * (self.features @ z))
        return self.features.T @ weights / self.n


def regularised(loss: Loss, strong_convexity: float, radius: float | None = None) -> FiniteSum:
    """The loss plus (strong_convexity/2) ||x||^2 on a ball of the given radius (everywhere when None)."""
    domain: Domain = Everywhere() if radius is None else Ball(radius)
    return FiniteSum(loss, Regulariser(x_weight=strong_convexity), domain_x=domain)
