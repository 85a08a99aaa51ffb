"""Dry runs: the releases of an algorithm without its data, for the calibrator.

A schedule is public, so it is never made from the records. The calibrator therefore runs an algorithm on a risk that
is zero everywhere, with answers under which the most is released.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import inf, sqrt
from typing import Any

import numpy as np

from dpassay.reference.problems.erm import Constants
from dpassay.reference.types import Array, Indices


@dataclass(frozen=True)
class ZeroRisk:
    """f = 0 over n records in d dimensions (`SmoothRisk`)."""

    n: int
    d: int

    def value(self, w: Array, indices: Indices | None = None) -> float:
        """Zero."""
        return 0.0

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Zeros, shape (d,)."""
        return np.zeros(self.d)

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Zeros, shape (d, d)."""
        return np.zeros((self.d, self.d))

    def constants(self, radius: float = inf) -> Constants:
        """All bounds are zero."""
        return Constants(0.0, 0.0, 0.0, 0.0, 0.0, radius)

    def value_sensitivity(self, w: Array) -> float:
        """Zero."""
        return 0.0

    def gradient_sensitivity(self) -> float:
        """Zero."""
        return 0.0

    def hessian_sensitivity(self) -> float:
        """Zero."""
        return 0.0

    def value_bound(self, w: Array) -> float:
        """Zero."""
        return 0.0


def spends_most(curvature: float, label: str, law: Any, step: int) -> Any:
    """Answers under which a run spends the most: small gradients, Hessian -curvature I, so T steps of two releases.

    `curvature` must exceed epsilon_H, or the run ends at its first Hessian.
    """
    if label == "gradient":  # its sign decides the direction: to and fro
        return np.full(law.query.shape, 1e-9 if step % 4 < 2 else -1e-9)
    if label == "hessian":  # the upper triangle of -curvature I
        d = round((sqrt(8 * law.query.size + 1) - 1) / 2)
        rows, columns = np.triu_indices(d)
        return -curvature * (rows == columns).astype(float)
    return None


def one_step(curvature: float, label: str, law: Any, step: int) -> Any:
    """The same with f(w0) released so low that T = 1: enough where a run costs the same whatever T is."""
    if label == "initial value":
        return float(law.query) - 1e6 * law.std
    return spends_most(curvature, label, law, step)
