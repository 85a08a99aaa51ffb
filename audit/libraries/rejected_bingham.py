"""What the eigenvector samplers of diffprivlib and OpenDP draw: their rejection step divides where it should multiply.

Proposals have the angular central Gaussian density ``(v' Omega v)^(-d/2)`` and are accepted with a probability
proportional to ``exp(-v' A v) (v' Omega v)^(-d/2)``; a Bingham law needs the power ``+d/2`` (Kent, Ganeiber and Mardia
2018, Section 3.2). So the density is proportional to ``exp(-v' A v) (v' Omega v)^(-d)``: sharper than what is named.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.optimize import brentq

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.law import Cost

_LARGEST = 4  # dimensions in which the sphere is integrated over


@dataclass(frozen=True, eq=False)
class SampledBingham(Bingham):
    """The law of what comes out, in two to four dimensions, normalised by quadrature."""

    def __post_init__(self) -> None:
        super().__post_init__()
        d = len(self.query)
        require(2 <= d <= _LARGEST, "dimension", d, f"must be 2 to {_LARGEST}: only there its density is known")
        eigenvalues, axes = np.linalg.eigh(self.query)
        lowered = self.rate * (eigenvalues[-1] - eigenvalues)
        b = brentq(lambda b: np.sum(1 / (b + 2 * lowered)) - 1, 1.0, d)
        object.__setattr__(self, "_lowered", axes * lowered @ axes.T)
        object.__setattr__(self, "_omega", axes * (1 + 2 * lowered / b) @ axes.T)
        points, areas = _sphere(d)
        logs = self._log_weight(points) + np.log(areas)
        object.__setattr__(self, "_log_constant", float(np.logaddexp.reduce(logs)))

    def _log_weight(self, points: Array) -> Array:
        lowered, omega = self._lowered, self._omega  # type: ignore[attr-defined]
        first = np.einsum("ni,ij,nj->n", points, lowered, points)
        return np.asarray(-first - len(lowered) * np.log(np.einsum("ni,ij,nj->n", points, omega, points)))

    def sample(self, rng: np.random.Generator) -> Any:
        """By rejection from a Bingham law of the same matrix: the rest of the density is at most one."""
        omega = self._omega  # type: ignore[attr-defined]
        while True:
            v = super().sample(rng)
            if math.log(1 - rng.random()) <= -len(v) * math.log(v @ omega @ v):
                return v

    def log_density(self, value: Any) -> float:
        """Log density with respect to surface area; ``-inf`` off the sphere."""
        if super().log_density(value) == -math.inf:
            return -math.inf
        return float(self._log_weight(np.asarray(value, dtype=float)[None, :])[0]) - self._log_constant  # type: ignore[attr-defined,no-any-return]

    def cost(self, sensitivity: float) -> Cost | None:  # type: ignore[override]
        """Unknown."""
        return None


@lru_cache(maxsize=4)
def _sphere(d: int) -> tuple[Array, Array]:
    """Points of the sphere in d dimensions, and the area of each: a circle, and one angle more for each dimension."""
    if d == 2:
        turn = 2 * math.pi * np.arange(128) / 128  # exact to rounding for what is smooth and periodic
        return np.stack([np.cos(turn), np.sin(turn)], axis=1), np.full(len(turn), 2 * math.pi / len(turn))
    nodes, weights = np.polynomial.legendre.leggauss(48)
    angles = math.pi * (nodes + 1) / 2
    inner, areas = _sphere(d - 1)
    points = [np.column_stack([np.sin(a) * inner, np.full(len(inner), np.cos(a))]) for a in angles]
    total = [w * math.pi / 2 * np.sin(a) ** (d - 2) * areas for a, w in zip(angles, weights, strict=True)]
    return np.concatenate(points), np.concatenate(total)
