"""Low-rank matrix sensing as a minimax problem (minimax_sosp, Section 5.1).

min over U, V and max over y in R^n of  (1/n) sum_i ( y_i (<A_i, U V^T> - b_i) - y_i^2 / 2 ).
The inner maximum is y_i = <A_i, U V^T> - b_i, so Phi(U, V) = (1/(2n)) sum_i (<A_i, U V^T> - b_i)^2.

What the text leaves open is a named parameter: `signal_norm` (the size of the true matrix after "a rescaling").
"""

from dataclasses import dataclass

import numpy as np
import scipy

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require

from .interfaces import OfRecords


@dataclass(frozen=True)
class MatrixSensing(OfRecords):
    """One instance: sensing matrices (n, p, q), measurements (n,), and the rank of the factorisation.

    x is U (p, r) and V (q, r), flattened one after the other; y has one entry per record.
    """

    sensing: Array
    measurements: Array
    rank: int

    @property
    def d(self) -> int:
        """(p + q) r."""
        return int((self.sensing.shape[1] + self.sensing.shape[2]) * self.rank)

    @property
    def d_y(self) -> int:
        """One dual variable per record."""
        return self.n

    def factors(self, x: Array) -> tuple[Array, Array]:
        """U (p, r) and V (q, r)."""
        rows, columns = self.sensing.shape[1:]
        return x[: rows * self.rank].reshape(rows, self.rank), x[rows * self.rank :].reshape(columns, self.rank)

    def residuals(self, x: Array, indices: Indices | None = None) -> Array:
        """<A_i, U V^T> - b_i for the chosen records."""
        U, V = self.factors(x)
        chosen = slice(None) if indices is None else indices
        flat = self.sensing[chosen].reshape(-1, U.shape[0] * V.shape[0])
        return np.asarray(flat @ (U @ V.T).reshape(-1) - self.measurements[chosen])

    def jacobian(self, x: Array, indices: Indices | None = None) -> Array:
        """Rows: derivative of <A_i, U V^T>, shape (len(indices), d1)."""
        U, V = self.factors(x)
        A = self.sensing if indices is None else self.sensing[indices]
        left = (A @ V).reshape(len(A), -1)
        right = (A.transpose(0, 2, 1) @ U).reshape(len(A), -1)
        return np.concatenate([left, right], axis=1)

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """y_i times the derivative of the fit."""
        return np.asarray(y[indices, None] * self.jacobian(x, indices))

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Record i moves only its own coordinate: (residual_i - y_i) e_i."""
        rows = np.zeros((len(indices), self.n))
        rows[np.arange(len(indices)), indices] = self.residuals(x, indices) - y[indices]
        return rows

    def project(self, y: Array) -> Array:
        """No constraint on y."""
        return y

    # the value function: what the minimisation baselines are given directly

    def value(self, x: Array) -> float:
        """Phi(x)."""
        return float(0.5 * np.mean(self.residuals(x) ** 2))

    def value_gradient(self, x: Array) -> Array:
        """Gradient of Phi, shape (d1,)."""
        return np.asarray(self.residuals(x) @ self.jacobian(x) / self.n)

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients of residual_i^2 / 2 (the explicit value function), shape (b, d1)."""
        return np.asarray(self.residuals(x, indices)[:, None] * self.jacobian(x, indices))

    def value_hessian(self, x: Array) -> Array:
        """Hessian of Phi in closed form, shape (d1, d1): J^T J / n plus the bilinear part."""
        split = self.sensing.shape[1] * self.rank
        jacobian = self.jacobian(x)
        hessian: Array = jacobian.T @ jacobian / self.n
        weighted = np.tensordot(self.residuals(x), self.sensing, axes=1) / self.n
        corner = np.kron(weighted, np.eye(self.rank))  # (p r, q r): d2/dU_{ja} dV_{kb} = R_jk [a = b]
        hessian[:split, split:] += corner
        hessian[split:, :split] += corner.T
        return hessian

    def smallest_eigenvalue(self, x: Array) -> float:
        """Smallest eigenvalue of the Hessian of Phi, dense and exact to rounding."""
        return float(scipy.linalg.eigh(self.value_hessian(x), eigvals_only=True, subset_by_index=[0, 0])[0])


def make_matrix_sensing(
    rng: np.random.Generator,
    rows: int = 20,
    columns: int = 20,
    rank: int = 3,
    samples: int = 400,
    noise: float = 0.01,
    signal_norm: float = 20.0,
) -> MatrixSensing:
    """The instance of Section 5.1; `signal_norm` is the Frobenius norm of the true matrix (not printed).

    The default 20 = sqrt(p q) makes the measurements of variance one.
    """
    sizes = (rows, columns, rank, samples)
    require(min(sizes) >= 1, "rows, columns, rank, samples", sizes, "each must be at least 1")
    require(signal_norm > 0, "signal_norm", signal_norm, "must be positive")
    require(noise >= 0, "noise", noise, "must not be negative")
    sensing = rng.standard_normal((samples, rows, columns)) / np.sqrt(rows * columns)
    truth = rng.standard_normal((rows, rank)) @ rng.standard_normal((columns, rank)).T
    truth *= signal_norm / np.linalg.norm(truth)
    measurements = np.tensordot(sensing, truth, axes=2) + noise * rng.standard_normal(samples)
    return MatrixSensing(sensing, measurements, rank)


def initial_point(problem: MatrixSensing, rng: np.random.Generator, scale: float = 0.1) -> tuple[Array, Array]:
    """x with independent N(0, scale^2) entries and y = 0 (Section 5.1)."""
    return scale * rng.standard_normal(problem.d), np.zeros(problem.d_y)
