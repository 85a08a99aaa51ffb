"""Fair binary classification as a nonconvex-strongly-concave minimax problem on real data.

min over weights x, max over group weights y in a ball of radius `radius`:
    (1/n) sum_i (1 + y_{g_i}) loss_i(x)  -  (mu / 2) |y|^2,     loss_i(x) = 1 / (1 + exp(label_i <features_i, x>)).
The sigmoid loss is bounded, smooth and nonconvex; rows of the features have norm at most one. While the ball is not
active, y*(x)_g = (1/mu) mean_i(1[g_i = g] loss_i(x)) and Phi is known in closed form.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpassay.reference.errors import require
from dpassay.reference.extras import Later
from dpassay.reference.types import Array, Indices

datasets = Later("sklearn.datasets")

SIGMOID_SLOPE, SIGMOID_CURVATURE, SIGMOID_THIRD = 0.25, 3**0.5 / 18, 0.125  # sup |s'|, |s''|, |s'''|


@dataclass(frozen=True)
class FairClassification:
    """Features (n, d) with row norms at most one, labels (n,) in {-1, 1}, groups (n,) in 0..k-1."""

    features: Array
    labels: Array
    groups: Indices
    concavity: float = 1.0
    radius: float = 1.0

    def __post_init__(self) -> None:
        norms = float(np.linalg.norm(self.features, axis=1).max())
        require(norms <= 1 + 1e-9, "features", norms, "row norms must be at most 1")
        require(self.radius > 0, "radius", self.radius, "must be positive")
        require(self.concavity > 0, "concavity", self.concavity, "must be positive (Assumption 4)")

    @property
    def n(self) -> int:
        """Number of records n."""
        return int(self.labels.size)

    @property
    def d(self) -> int:
        """Number of features."""
        return int(self.features.shape[1])

    @property
    def d_y(self) -> int:
        """Number of groups."""
        return int(self.groups.max()) + 1

    @property
    def gradient_bound(self) -> float:
        """M: the x part is at most (1 + radius)/4, the y part at most 1 + mu radius."""
        return max((1 + self.radius) * SIGMOID_SLOPE, 1 + self.concavity * self.radius)

    @property
    def smoothness(self) -> float:
        """L: bound on the per-sample Hessian in (x, y), by the norms of its blocks."""
        block_x = (1 + self.radius) * SIGMOID_CURVATURE
        return block_x + SIGMOID_SLOPE + self.concavity

    @property
    def hessian_lipschitz(self) -> float:
        """rho: third derivatives, (1 + radius) s''' in x and s'' in the mixed part."""
        return (1 + self.radius) * SIGMOID_THIRD + 3 * SIGMOID_CURVATURE

    def losses(self, x: Array, indices: Indices | None = None) -> Array:
        """Sigmoid loss of each record."""
        chosen = slice(None) if indices is None else indices
        values: Array = expit(-self.labels[chosen] * (self.features[chosen] @ x))
        return values

    def loss_gradients(self, x: Array, indices: Indices | None = None) -> Array:
        """Per-sample gradients of the loss, shape (b, d)."""
        chosen = slice(None) if indices is None else indices
        values = self.losses(x, indices)
        rows: Array = (-self.labels[chosen] * values * (1 - values))[:, None] * self.features[chosen]
        return rows

    def loss_hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample Hessians of the loss, shape (b, d, d)."""
        values = self.losses(x, indices)
        curvature = values * (1 - values) * (1 - 2 * values)
        rows = self.features[indices]
        stack: Array = curvature[:, None, None] * rows[:, :, None] * rows[:, None, :]
        return stack

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """(1 + y_g) times the loss gradient."""
        rows: Array = (1 + y[self.groups[indices]])[:, None] * self.loss_gradients(x, indices)
        return rows

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """loss_i e_{g_i} - mu y."""
        rows = np.tile(-self.concavity * y, (len(indices), 1))
        rows[np.arange(len(indices)), self.groups[indices]] += self.losses(x, indices)
        return rows

    def hessians_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample second derivatives in x."""
        stack: Array = (1 + y[self.groups[indices]])[:, None, None] * self.loss_hessians(x, indices)
        return stack

    def project(self, y: Array) -> Array:
        """On the ball of the given radius."""
        norm = float(np.linalg.norm(y))
        return y if norm <= self.radius else y * (self.radius / norm)

    def group_losses(self, x: Array) -> Array:
        """(1/n) sum over the group's records of the loss: shape (k,)."""
        return np.bincount(self.groups, weights=self.losses(x), minlength=self.d_y) / self.n

    def best_response(self, x: Array) -> Array:
        """The maximiser: a concave quadratic with curvature -mu I, so the projection of the free maximiser."""
        return self.project(self.group_losses(x) / self.concavity)

    def saddle_value(self, x: Array, y: Array) -> float:
        """f(x, y)."""
        losses = self.losses(x)
        return float(np.mean((1 + y[self.groups]) * losses) - 0.5 * self.concavity * (y @ y))

    def value(self, x: Array) -> float:
        """Phi(x)."""
        return self.saddle_value(x, self.best_response(x))

    def value_gradient(self, x: Array) -> Array:
        """Gradient of Phi, by equation (4): the x part at the maximiser."""
        everyone = np.arange(self.n)
        slope: Array = self.gradients_x(x, self.best_response(x), everyone).mean(axis=0)
        return slope

    def value_hessian(self, x: Array) -> Array:
        """Hessian of Phi where the ball is not active: the x part plus the response, (1/mu) K K^T."""
        everyone = np.arange(self.n)
        direct = self.hessians_x(x, self.best_response(x), everyone).mean(axis=0)
        indicator = np.eye(self.d_y)[self.groups]
        cross = self.loss_gradients(x).T @ indicator / self.n
        hessian: Array = direct + cross @ cross.T / self.concavity
        return hessian

    def smallest_eigenvalue(self, x: Array) -> float:
        """Smallest eigenvalue of the Hessian of Phi."""
        return float(np.linalg.eigvalsh(self.value_hessian(x))[0])


def breast_cancer_fairness(features: int = 10, concavity: float = 1.0, radius: float = 1.0) -> FairClassification:
    """Breast cancer (scikit-learn): the first mean features, standardised, rows scaled into the unit ball.

    Groups are the tertiles of the mean texture, which is left out of the features. Standardisation reads the data
    and is taken as public here; it is part of the problem, not of the private algorithm.
    """
    require(1 <= features <= 29, "features", features, "must lie in 1..29")
    data = datasets.load_breast_cancer()
    table, texture = np.delete(data.data, 1, axis=1)[:, :features], data.data[:, 1]
    table = (table - table.mean(axis=0)) / table.std(axis=0)
    table /= max(1.0, float(np.linalg.norm(table, axis=1).max()))
    groups = np.searchsorted(np.quantile(texture, [1 / 3, 2 / 3]), texture).astype(np.int64)
    return FairClassification(table, 2.0 * data.target - 1.0, groups, concavity, radius)
