"""Empirical risk f(w) = (1/n) sum_i l(w; x_i, y_i) of a margin loss; derivatives in blocks, no n x d x d array."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, inf, log1p, sqrt
from typing import ClassVar, Protocol

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import BadInput, require

from .interfaces import OfRecords, Sized
from .margin_losses import Loss

BLOCK_ROWS = 16_384  # rows per block: 7 MiB of features at d = 54


@dataclass(frozen=True)
class Constants:
    """Bounds of Assumption 2 on ||w|| <= radius: 0 <= l <= B, ||grad l|| <= B_g, ||Hess l|| <= B_H, G, M."""

    value: float  # B
    gradient: float  # B_g
    hessian: float  # B_H
    smoothness: float  # G
    hessian_lipschitz: float  # M
    radius: float


class SmoothRisk(Sized, Protocol):
    """What the algorithms of `second_order_erm` ask of a problem: means over records, their bounds, n and d."""

    def value(self, w: Array, indices: Indices | None = None) -> float:
        """Mean loss over the records `indices` (all when None)."""

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean gradient, shape (d,)."""

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean Hessian, shape (d, d), exactly symmetric."""

    def constants(self, radius: float = inf) -> Constants:
        """Bounds of Assumption 2 on ||w|| <= radius."""

    def value_sensitivity(self, w: Array) -> float:
        """Largest change of f(w) when one record is replaced; depends on public numbers only."""

    def gradient_sensitivity(self) -> float:
        """Largest change of the mean gradient (2-norm), whatever w."""

    def hessian_sensitivity(self) -> float:
        """Largest change of the mean Hessian (Frobenius norm), whatever w."""

    def value_bound(self, w: Array) -> float:
        """Public upper bound on f(w)."""


@dataclass(frozen=True)
class ErmProblem(OfRecords):
    """Features (n, d) with row norms <= feature_bound, labels (n,) in {-1, +1}, and a loss.

    `feature_bound` is public: part of the data's domain, never computed from it. Raises BadInput for anything else.
    """

    RECORDS: ClassVar[Records] = {"features": "feature_bound", "labels": (-1.0, 1.0)}

    features: Array
    labels: Array
    loss: Loss
    feature_bound: float = 1.0  # R

    def __post_init__(self) -> None:
        if self.features.ndim != 2 or self.labels.shape != self.features.shape[:1]:
            raise BadInput("features.shape", self.features.shape, f"expected (n, d) beside labels {self.labels.shape}")
        require(bool(np.isfinite(self.features).all()), "features", "not finite", "NaN or infinity in the data")
        if not np.isin(self.labels, (-1.0, 1.0)).all():
            raise BadInput("labels", np.unique(self.labels)[:4].tolist(), "labels must be -1 or +1")
        largest = sqrt(float(np.einsum("ij,ij->i", self.features, self.features).max(initial=0.0)))
        if largest > self.feature_bound * (1 + 1e-12):
            raise BadInput("features", f"row norm {largest:.6g}", f"exceeds feature_bound = {self.feature_bound:.6g}")

    @property
    def d(self) -> int:
        """Number of parameters."""
        return int(self.features.shape[1])

    def value(self, w: Array, indices: Indices | None = None) -> float:
        """Mean loss over the records `indices` (all when None)."""
        total, count = 0.0, 0
        for x, y in self._records(indices):
            total = total + self.loss.link.value(y * (x @ w)).sum()
            count += len(y)
        return total / count + self._penalty(w)

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean gradient, shape (d,)."""
        total, count = np.zeros(self.d), 0
        for x, y in self._records(indices):
            total += (y * self.loss.link.slope(y * (x @ w))) @ x
            count += len(y)
        return total / count + self._penalty_slope(w)

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean Hessian, shape (d, d), exactly symmetric."""
        total, count = np.zeros((self.d, self.d)), 0
        for x, y in self._records(indices):
            total += x.T @ (self.loss.link.curvature(y * (x @ w))[:, None] * x)
            count += len(y)
        mean, r = total / count, self.loss.regulariser
        return (mean + mean.T) / 2 + np.diag(r.weight * r.curvature(w))

    def values(self, w: Array, indices: Indices | None = None) -> Array:
        """Loss of each record, shape (batch,)."""
        parts = [self.loss.link.value(y * (x @ w)) for x, y in self._records(indices)]
        return np.concatenate(parts) + float(self._penalty(w))

    def gradients(self, w: Array, indices: Indices | None = None) -> Array:
        """Gradient of each record, shape (batch, d)."""
        parts = [(y * self.loss.link.slope(y * (x @ w)))[:, None] * x for x, y in self._records(indices)]
        return np.concatenate(parts) + self._penalty_slope(w)

    def constants(self, radius: float = inf) -> Constants:
        """Constants of the whole loss l on ||w|| <= radius (infinite where the loss is unbounded without a ball)."""
        r, size = self.loss.regulariser, self.feature_bound
        value, slope, curvature, third = r.bounds(radius)
        if r.separable:
            value, slope = self.d * value, sqrt(self.d) * slope
        link = self.loss.link
        hessian = link.curvature_bound * size**2 + r.weight * curvature
        return Constants(
            value=self._link_top(radius) + r.weight * value,
            gradient=link.slope_bound * size + r.weight * slope,
            hessian=hessian,
            smoothness=hessian,
            hessian_lipschitz=link.third_bound * size**3 + r.weight * third,
            radius=radius,
        )

    def value_sensitivity(self, w: Array) -> float:
        """Exact largest change of f(w) when one record is replaced: the regulariser cancels, |<x, w>| <= R ||w||."""
        a = np.array([self.feature_bound * float(np.linalg.norm(w))])
        return abs(float((self.loss.link.value(-a) - self.loss.link.value(a))[0])) / self.n

    def value_bound(self, w: Array) -> float:
        """Public upper bound on f(w): the worst record of the domain; equals f(0) at w = 0."""
        return self._link_top(float(np.linalg.norm(w))) + self._penalty(w)

    def gradient_sensitivity(self) -> float:
        """Bound on the change of the mean gradient: 2 R sup|phi'| / n (the regulariser cancels)."""
        return 2 * self.feature_bound * self.loss.link.slope_bound / self.n

    def hessian_sensitivity(self) -> float:
        """Bound in the Frobenius norm: a record's Hessian has rank one, so there is no factor sqrt(d) as in eq. (4).

        Convex link: both rank-one terms are positive semidefinite, so their inner product is >= 0: sqrt(2) and not 2.
        """
        factor = sqrt(2) if self.loss.link.convex else 2.0
        return factor * self.feature_bound**2 * self.loss.link.curvature_bound / self.n

    def _records(self, indices: Indices | None) -> Iterator[tuple[Array, Array]]:
        total = self.n if indices is None else len(indices)
        require(total > 0, "indices", [], "an empty batch has no mean")
        for start in range(0, total, BLOCK_ROWS):
            if indices is None:
                yield self.features[start : start + BLOCK_ROWS], self.labels[start : start + BLOCK_ROWS]
            else:
                rows = indices if total <= BLOCK_ROWS else indices[start : start + BLOCK_ROWS]
                yield self.features.take(rows, axis=0), self.labels.take(rows)

    def _penalty(self, w: Array) -> float:
        return self.loss.regulariser.weight * float(self.loss.regulariser.value(w).sum())

    def _penalty_slope(self, w: Array) -> Array:
        return self.loss.regulariser.weight * self.loss.regulariser.slope(w)

    def _link_top(self, radius: float) -> float:
        """Largest value of the link for |m| <= R * radius."""
        edge = self.feature_bound * radius
        if not self.loss.link.convex:
            return 1 / (1 + exp(-edge))
        return inf if edge == inf else edge + log1p(exp(-edge))
