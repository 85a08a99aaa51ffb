"""Landscapes whose saddles are known in closed form, with bounded derivatives, and data that do not move them.

A record is (scale a_i, tilt c_i): f(x; i) = a_i base(x) + <c_i, x>, with mean(a) = 1 and mean(c) = 0 exactly, so
the empirical objective is the base function while gradients and Hessians differ from record to record.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require


class Landscape(Protocol):
    """A twice differentiable function with constants that hold everywhere."""

    @property
    def d(self) -> int:
        """Dimension d."""

    @property
    def constants(self) -> tuple[float, float, float]:
        """Lipschitz constants of the value (G), the gradient (M) and the Hessian (rho)."""

    def value(self, x: Array) -> float:
        """Value at x."""

    def gradient(self, x: Array) -> Array:
        """Gradient at x."""

    def hessian(self, x: Array) -> Array:
        """Hessian at x."""


@dataclass(frozen=True)
class CosineSaddle:
    """sum_j curvature_j (1 - cos x_j): every point of (pi Z)^d is stationary, its Hessian diagonal +-curvature."""

    curvatures: tuple[float, ...]

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return len(self.curvatures)

    @property
    def constants(self) -> tuple[float, float, float]:
        """All derivatives of a cosine are bounded by one."""
        weights = np.abs(self.curvatures)
        return float(np.linalg.norm(weights)), float(weights.max()), float(weights.max())

    def value(self, x: Array) -> float:
        """Value at x."""
        return float(np.asarray(self.curvatures) @ (1 - np.cos(x)))

    def gradient(self, x: Array) -> Array:
        """Gradient at x."""
        return np.asarray(np.asarray(self.curvatures) * np.sin(x))

    def hessian(self, x: Array) -> Array:
        """Hessian at x, diagonal."""
        return np.diag(np.asarray(self.curvatures) * np.cos(x))


@dataclass(frozen=True)
class ChainOfSaddles:
    """sum_j w(x_{j-1}) cos(x_j) with w(s) = (1 - cos s)/2 and w(x_0) = 1.

    The origin is a saddle whose only way down is x_1; the m-th saddle is (pi, ..., pi, 0, ..., 0) with m entries pi,
    its smallest Hessian eigenvalue is -1/2 (-1 for the last), and (pi, ..., pi) is a minimum of value -d.
    """

    length: int

    @property
    def d(self) -> int:
        """Number of links."""
        return self.length

    @property
    def constants(self) -> tuple[float, float, float]:
        """|d_j| <= 3/2; row sums of the second and third derivatives are at most 5/2 and 9/2."""
        return 1.5 * float(np.sqrt(self.length)), 2.5, 4.5

    def saddle(self, passed: int) -> Array:
        """The saddle with `passed` links already behind."""
        require(0 <= passed <= self.length, "passed", passed, f"must lie in 0..{self.length}")
        point = np.zeros(self.length)
        point[:passed] = np.pi
        return point

    def _weights(self, x: Array) -> Array:
        return np.concatenate([[1.0], (1 - np.cos(x[:-1])) / 2])

    def _next(self, x: Array) -> Array:
        return np.concatenate([np.cos(x[1:]), [0.0]])

    def value(self, x: Array) -> float:
        """Value at x."""
        return float(self._weights(x) @ np.cos(x))

    def gradient(self, x: Array) -> Array:
        """Gradient at x."""
        return np.asarray(-self._weights(x) * np.sin(x) + 0.5 * np.sin(x) * self._next(x))

    def hessian(self, x: Array) -> Array:
        """Hessian at x, tridiagonal."""
        diagonal = -self._weights(x) * np.cos(x) + 0.5 * np.cos(x) * self._next(x)
        beside = -0.5 * np.sin(x[:-1]) * np.sin(x[1:])
        return np.asarray(np.diag(diagonal) + np.diag(beside, 1) + np.diag(beside, -1))


@dataclass(frozen=True)
class SampledLandscape:
    """A landscape seen through n records (a_i, c_i)."""

    base: Landscape
    scales: Array
    tilts: Array

    @property
    def n(self) -> int:
        """Number of records n."""
        return int(self.scales.size)

    @property
    def d(self) -> int:
        """Dimension d."""
        return self.base.d

    @property
    def constants(self) -> tuple[float, float, float]:
        """G, M, rho that hold for every record."""
        top = float(np.abs(self.scales).max())
        lipschitz, smooth, hessian = self.base.constants
        return top * lipschitz + float(np.linalg.norm(self.tilts, axis=1).max()), top * smooth, top * hessian

    @cached_property
    def _means(self) -> tuple[float, Array]:
        return float(self.scales.mean()), self.tilts.mean(axis=0)

    def value(self, x: Array) -> float:
        """Empirical mean of the losses."""
        scale, tilt = self._means
        return float(scale * self.base.value(x) + tilt @ x)

    def gradient(self, x: Array) -> Array:
        """Mean of the per-sample gradients."""
        scale, tilt = self._means
        return np.asarray(scale * self.base.gradient(x) + tilt)

    def hessian(self, x: Array) -> Array:
        """Mean of the per-sample Hessians."""
        return np.asarray(self._means[0] * self.base.hessian(x))

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (b, d)."""
        return np.asarray(self.scales[indices, None] * self.base.gradient(x) + self.tilts[indices])

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample Hessians, shape (b, d, d)."""
        return np.asarray(self.scales[indices, None, None] * self.base.hessian(x))


def sample_landscape(
    base: Landscape, samples: int, rng: np.random.Generator, spread: float = 0.5, tilt: float = 0.1
) -> SampledLandscape:
    """n records around a base function; means are exact, so its saddles stay where they are."""
    require(samples >= 2, "samples", samples, "must be at least 2")
    require(0 <= spread < 1, "spread", spread, "must lie in [0, 1)")
    require(tilt >= 0, "tilt", tilt, "must not be negative")
    scales = rng.uniform(-1.0, 1.0, samples)
    scales -= scales.mean()
    scales = 1.0 + spread * scales / max(1.0, float(np.abs(scales).max()))
    tilts = rng.standard_normal((samples, base.d))
    tilts -= tilts.mean(axis=0)
    tilts *= tilt / max(float(np.linalg.norm(tilts, axis=1).max()), 1e-300)
    return SampledLandscape(base, scales, tilts)


@dataclass(frozen=True)
class CoupledSaddle:
    """The minimax form f(x, y; i) = landscape_i(x) + c <x, y> - |y|^2 / 2, so Phi = base + c^2 |x|^2 / 2."""

    landscape: SampledLandscape
    coupling: float = 0.1
    gradient_bound: float = float("inf")

    @property
    def n(self) -> int:
        """Number of records n."""
        return self.landscape.n

    @property
    def d(self) -> int:
        """Dimension of x."""
        return self.landscape.d

    @property
    def d_y(self) -> int:
        """Same as x."""
        return self.landscape.d

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample partial gradients in x."""
        return np.asarray(self.landscape.gradients(x, indices) + self.coupling * y)

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """The y part carries no data."""
        return np.asarray(np.broadcast_to(self.coupling * x - y, (len(indices), x.size)).copy())

    def project(self, y: Array) -> Array:
        """No constraint on y."""
        return y

    def best_response(self, x: Array) -> Array:
        """y*(x) = coupling x."""
        return np.asarray(self.coupling * x)

    def value(self, x: Array) -> float:
        """Phi(x)."""
        return self.landscape.value(x) + 0.5 * self.coupling**2 * float(x @ x)

    def value_gradient(self, x: Array) -> Array:
        """Gradient of Phi."""
        return np.asarray(self.landscape.gradient(x) + self.coupling**2 * x)

    def smallest_eigenvalue(self, x: Array) -> float:
        """Smallest eigenvalue of the Hessian of Phi."""
        return float(np.linalg.eigvalsh(self.landscape.hessian(x))[0] + self.coupling**2)
