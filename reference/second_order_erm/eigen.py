"""Smallest eigenpair of the noisy Hessian: dense, or by the Lanczos method of `second_order_erm`, Appendix C.

The matrix is a release, so whatever is computed from it is post-processing; the random start vector is public.
"""

from dataclasses import dataclass
from math import ceil, log, sqrt

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.equality import once
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape


@dataclass(frozen=True)
class Dense:
    """LAPACK on the full matrix."""

    margin: float = 1.0  # the run stops when the estimate is at least -margin * epsilon_H

    def pair(self, matrix: Array, accuracy: float, tape: Tape) -> tuple[float, Array]:
        """Smallest eigenvalue and its unit eigenvector, shape (d,)."""
        del accuracy, tape
        value, vector = once(_smallest, matrix)
        return float(value[0]), np.asarray(vector[:, 0])


@dataclass(frozen=True)
class Lanczos:
    """Randomised Lanczos: within accuracy / 2 with probability 1 - failure (Lemma C.1), so the test is halved."""

    failure: float = 1e-3  # delta_L
    margin: float = 1 / 2

    def pair(self, matrix: Array, accuracy: float, tape: Tape) -> tuple[float, Array]:
        """Estimate (never below the true value) and its unit Ritz vector, shape (d,)."""
        d = len(matrix)
        start = tape.public("lanczos start", lambda rng: rng.normal(size=d))
        count = iterations(d, float(np.linalg.norm(matrix)), accuracy, self.failure)
        return once(lanczos, matrix, start, count)


def _smallest(matrix: Array) -> tuple[Array, Array]:
    found: tuple[Array, Array] = scipy.linalg.eigh(matrix, subset_by_index=[0, 0])
    return found


def iterations(d: int, norm_bound: float, accuracy: float, failure: float) -> int:
    """Return the count of Lemma C.1 (printed with n for the dimension d)."""
    require(0 < failure < 1, "delta_L", failure, "must lie in (0, 1)")
    require(accuracy > 0, "accuracy", accuracy, "must be positive")
    return min(d, 1 + ceil(0.5 * log(2.75 * d / failure**2) * sqrt(norm_bound / accuracy)))  # Lemma C.1


def lanczos(matrix: Array, start: Array, count: int) -> tuple[float, Array]:
    """Smallest Ritz pair after `count` products with the matrix; fully re-orthogonalised, memory count x d."""
    basis = [start / np.linalg.norm(start)]
    diagonal: list[float] = []
    off: list[float] = []
    for step in range(count):
        v = matrix @ basis[-1]
        scale = float(np.linalg.norm(v))
        diagonal.append(float(v @ basis[-1]))
        for _ in range(2):  # twice is enough
            v = v - np.stack(basis).T @ (np.stack(basis) @ v)
        beta = float(np.linalg.norm(v))
        if step == count - 1 or beta <= 1e-12 * scale:
            break
        off.append(beta)
        basis.append(v / beta)
    values, vectors = scipy.linalg.eigh_tridiagonal(np.array(diagonal), np.array(off[: len(diagonal) - 1]))
    ritz = np.stack(basis[: len(diagonal)]).T @ vectors[:, 0]
    return float(values[0]), np.asarray(ritz / np.linalg.norm(ritz))
