"""A landscape whose saddles are known in closed form, with bounded derivatives, and data that do not move them.

A record is (scale a_i, tilt c_i): f(x; i) = a_i sum_j h_j (1 - cos x_j) + <c_i, x>, with mean(a) = 1 and mean(c) = 0
exactly, so the mean is the landscape while gradients and Hessians differ from record to record. Every point of (pi Z)^d
is stationary, its Hessian diagonal with entries +-h_j.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array, Indices

from .interfaces import OfRecords, Seen


@dataclass(frozen=True)
class CosineSaddle(OfRecords):
    """The landscape with curvatures h (d,) seen through n records: scales (n,), tilts (n, d)."""

    scales: Array
    tilts: Array
    curvatures: Array

    @property
    def d(self) -> int:
        """Number of coordinates."""
        return len(self.curvatures)

    def value(self, x: Array) -> float:
        """Mean of the losses."""
        return float(self.curvatures @ (1 - np.cos(x)))

    def gradient(self, x: Array) -> Array:
        """Mean of the gradients."""
        return np.asarray(self.curvatures * np.sin(x))

    def hessian(self, x: Array) -> Array:
        """Mean of the Hessians, diagonal."""
        return np.diag(self.curvatures * np.cos(x))

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (b, d)."""
        return np.asarray(self.scales[indices, None] * self.gradient(x) + self.tilts[indices])

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample Hessians, shape (b, d, d)."""
        return np.asarray(self.scales[indices, None, None] * self.hessian(x))


def cosine_saddle(
    curvatures: Sequence[float], samples: int, rng: np.random.Generator, spread: float = 0.5, tilt: float = 0.1
) -> CosineSaddle:
    """The landscape seen through records whose scales lie within 1 +- spread, and whose tilts are ``tilt`` at most."""
    scales = rng.uniform(-1.0, 1.0, samples)
    scales -= scales.mean()
    scales = 1.0 + spread * scales / max(1.0, float(np.abs(scales).max()))
    tilts = rng.standard_normal((samples, len(curvatures)))
    tilts -= tilts.mean(axis=0)
    tilts *= tilt / float(np.linalg.norm(tilts, axis=1).max())
    return CosineSaddle(scales, tilts, np.array(curvatures))


@dataclass(frozen=True)
class CoupledSaddle(Seen):
    """The minimax form f(x, y; i) = landscape_i(x) + c <x, y> - |y|^2 / 2, so Phi = landscape + c^2 |x|^2 / 2."""

    landscape: CosineSaddle
    coupling: float = 0.1

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

    def smallest_eigenvalue(self, x: Array) -> float:
        """Smallest eigenvalue of the Hessian of Phi."""
        return float(np.linalg.eigvalsh(self.landscape.hessian(x))[0] + self.coupling**2)
