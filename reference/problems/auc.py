"""AUC maximisation as a convex-strongly-concave saddle problem (Ying, Wen and Lyu 2016).

x = (w, a, b), y = alpha.  With p the share of positives, treated as public:
f = (1-p) (<w,z> - a)^2 [s=1] + p (<w,z> - b)^2 [s=-1] + 2 (1 + alpha) <w,z> (p [s=-1] - (1-p) [s=1]) - p (1-p) alpha^2.
Quadratic, so the saddle point of the regularised problem is a linear system when it lies inside.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import require

from .domains import Ball, Domain
from .finite_sum import Loss, bounded_rows, plus_or_minus_one


@dataclass(frozen=True)
class AUCLoss(Loss):
    """The loss above for ||z|| <= 1, ||(w, a, b)|| <= x_radius, |alpha| <= y_radius."""

    RECORDS: ClassVar[Records] = {"features": 1.0, "labels": (-1.0, 1.0)}

    features: Array  # (n, d)
    labels: Array  # (n,), -1 or +1
    positive_share: float  # p
    x_radius: float
    y_radius: float

    def __post_init__(self) -> None:
        require(0 < self.positive_share < 1, "positive_share", self.positive_share, "must lie in (0, 1)")
        bounded_rows("features", self.features, 1.0)
        plus_or_minus_one("labels", self.labels, len(self.features))
        p = self.positive_share
        share, dual_curvature = max(p, 1 - p), 2 * p * (1 - p)
        # ||d(<w,z> - a)|| = ||(z, -1)|| <= sqrt(2): Jacobian blocks 4c, 2c, 2p(1-p); gradient blocks likewise
        jacobian = np.array([[4 * share, 2 * share], [2 * share, dual_curvature]])
        primal_slope = 4 * share * self.x_radius + 2 * share * (1 + self.y_radius)
        dual_slope = 2 * share * self.x_radius + dual_curvature * self.y_radius
        self._constants(
            d=self.features.shape[1] + 2,
            d_y=1,
            smoothness=float(np.linalg.norm(jacobian, ord=2)),
            lipschitz=float(np.hypot(primal_slope, dual_slope)),
            strong_concavity=dual_curvature,
        )

    def _parts(self, indices: Indices) -> tuple[Array, Array, Array, Array]:
        """Extended features (z, -1, 0) or (z, 0, -1), weights of the square, weights of the linear part, z."""
        z, positive, p = self.features[indices], self.labels[indices] > 0, self.positive_share
        extended = np.hstack([z, -positive[:, None].astype(float), -(~positive)[:, None].astype(float)])
        return extended, np.where(positive, 1 - p, p), np.where(positive, -(1 - p), p), z

    def rows(self, z: Array, indices: Indices) -> Array:
        """(grad_x f, -grad_alpha f) of each record."""
        extended, square, linear, features = self._parts(indices)
        x, alpha, p = z[:-1], float(z[-1]), self.positive_share
        out = np.zeros((len(indices), len(z)))
        out[:, :-1] = (2 * square * (extended @ x))[:, None] * extended
        out[:, :-3] += (2 * (1 + alpha) * linear)[:, None] * features
        out[:, -1] = -2 * linear * (features @ x[:-2]) + 2 * p * (1 - p) * alpha
        return out

    def values(self, z: Array, indices: Indices) -> Array:
        """f of each record."""
        extended, square, linear, features = self._parts(indices)
        x, alpha, p = z[:-1], float(z[-1]), self.positive_share
        score = features @ x[:-2]
        return np.asarray(square * (extended @ x) ** 2 + 2 * (1 + alpha) * linear * score - p * (1 - p) * alpha**2)

    def affine(self) -> tuple[Array, Array]:
        """The operator is affine: (A, b) averaged over all records."""
        extended, square, linear, features = self._parts(np.arange(self.n))
        p, d = self.positive_share, self.d + 1
        matrix = np.zeros((d, d))
        matrix[:-1, :-1] = 2 * (square[:, None] * extended).T @ extended / self.n
        coupling = 2 * (linear[:, None] * features).mean(axis=0)
        matrix[:-3, -1], matrix[-1, :-3] = coupling, -coupling
        matrix[-1, -1] = 2 * p * (1 - p)
        offset = np.zeros(d)
        offset[:-3] = coupling
        return matrix, offset

    def mean_operator(self, z: Array) -> Array:
        """Mean operator, record by record, without the (n, d) table of `rows`."""
        extended, square, linear, features = self._parts(np.arange(self.n))
        x, alpha, p, n = z[:-1], float(z[-1]), self.positive_share, self.n
        out = np.zeros(len(z))
        out[:-1] = extended.T @ (2 * square * (extended @ x)) / n
        out[:-3] += features.T @ (2 * (1 + alpha) * linear) / n
        out[-1] = -2 * linear @ (features @ x[:-2]) / n + 2 * p * (1 - p) * alpha
        return out

    @property
    def domains(self) -> tuple[Domain, Domain]:
        """The balls that the constants were derived for."""
        return Ball(self.x_radius), Ball(self.y_radius)
