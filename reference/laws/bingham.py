"""A random direction that prefers the leading eigenvectors of a matrix: the Bingham law."""

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import Cost, Law
from .number import require_size

_STEEPEST = 1e8  # rate times an entry: beyond, the covariance of the proposal is singular in floats
_NODES = 4000  # of the trapezoidal rule for the constant; halving the step changes it by less than 1e-10


@dataclass(frozen=True, eq=False)
class Bingham(Law):
    """Unit vectors v with density proportional to ``exp(rate * v' A v)`` on the sphere, for a symmetric ``query`` A.

    The constant is ``2 pi^(d/2) / (2 pi i)`` times the integral of ``e^s prod_k (s - lambda_k)^(-1/2)`` along a line to
    the right of all ``lambda_k`` (eigenvalues of ``rate * A``); bent to the left, it converges geometrically
    (Kume and Wood 2005 give the saddle point; the integral is the Laplace transform of a sum of gamma variables).
    """

    query: Array = field()
    rate: float = field()
    public = ("rate",)

    def __post_init__(self) -> None:
        matrix = np.array(self.query, dtype=float)
        good = matrix.ndim == 2 and matrix.shape[0] == matrix.shape[1] >= 2 and bool(np.isfinite(matrix).all())
        require(good, "query", matrix.shape, "must be a finite square matrix of two rows or more")
        require_size("rate", self.rate)
        good = self.rate * float(np.abs(matrix).max()) <= _STEEPEST
        require(good, "query", float(np.abs(matrix).max()), f"times the rate must be at most {_STEEPEST:g}")
        object.__setattr__(self, "query", (matrix + matrix.T) / 2)
        object.__setattr__(self, "scale", 1 / self.rate)
        object.__setattr__(
            self, "_log_constant", _log_constant(np.asarray(self.rate * np.linalg.eigvalsh(self.query), dtype=float))
        )

    def sample(self, rng: np.random.Generator) -> Any:
        """By rejection from an angular central Gaussian law (Kent, Ganeiber and Mardia 2018)."""
        d = len(self.query)
        lowered = -self.rate * self.query + np.eye(d) * self.rate * float(np.linalg.eigvalsh(self.query)[-1])
        low, high = 1.0, float(d)
        eigenvalues = np.linalg.eigvalsh(lowered)
        for _ in range(60):
            b = (low + high) / 2
            low, high = (low, b) if np.sum(1 / (b + 2 * eigenvalues)) <= 1 else (b, high)
        omega = np.eye(d) + 2 * lowered / b
        root = np.linalg.cholesky(np.linalg.inv(omega))
        log_bound = -(d - b) / 2 + d / 2 * math.log(d / b)
        while True:
            v = root @ rng.standard_normal(d)
            v /= np.linalg.norm(v)
            log_ratio = -v @ lowered @ v + d / 2 * math.log(v @ omega @ v) - log_bound
            if math.log(1 - rng.random()) <= log_ratio:
                return v

    def possible(self, value: Any) -> Any:
        """Unit vectors only: of a matrix (a dictated value has the query's shape) the first row that is not zero."""
        rows = np.atleast_2d(np.asarray(value, dtype=float))
        size = np.linalg.norm(rows, axis=1)
        if not np.any(size > 0):
            return np.eye(len(self.query))[0]
        k = int(np.argmax(size > 0))
        return rows[k] / size[k]

    def log_density(self, value: Any) -> float:
        """Log density with respect to surface area; ``-inf`` off the sphere."""
        v = np.asarray(value, dtype=float)
        if v.shape != (len(self.query),) or abs(float(np.linalg.norm(v)) - 1) > 1e-9:
            return -math.inf
        return float(self.rate * (v @ self.query @ v) - self._log_constant)  # type: ignore[attr-defined]

    def distance(self, other: Law) -> float:
        """Spectral norm of the difference: by how much ``v' A v`` can change at a unit vector."""
        assert isinstance(other, Bingham)
        return float(np.linalg.norm(self.query - other.query, ord=2))

    def cost(self, sensitivity: float) -> Cost:
        """Density and constant change by ``exp(rate * sensitivity)`` each, at most."""
        return Cost("pure", 2 * self.rate * sensitivity)


def _log_constant(eigenvalues: Array) -> float:
    """Log of the integral of ``exp(sum_k lambda_k v_k^2)`` over the unit sphere."""
    top = float(np.max(eigenvalues))
    shifted = eigenvalues - top  # all at most 0: the contour passes the origin on the right
    d = len(shifted)
    # Weideman's hyperbola s(u) = mu (1 + sin(i u - alpha)): the trapezoidal rule on it
    mu, alpha = 8.0, 1.1721
    u = np.linspace(-12.0, 12.0, _NODES + 1)
    s = mu * (1 + np.sin(1j * u - alpha))
    slope = 1j * mu * np.cos(1j * u - alpha)
    logs = s - 0.5 * np.sum(np.log(s[:, None] - shifted), axis=1)
    total = float(np.real(np.sum(np.exp(logs) * slope) * (u[1] - u[0]) / (2j * math.pi)))
    return math.log(2) + d / 2 * math.log(math.pi) + math.log(total) + top
