"""What the eigenvector samplers of diffprivlib and OpenDP draw: their rejection step divides where it should multiply.

Proposals have the angular central Gaussian density ``(v' Omega v)^(-d/2)`` and are accepted with a probability
proportional to ``exp(-v' A v) (v' Omega v)^(-d/2)``; a Bingham law needs the power ``+d/2`` (Kent, Ganeiber and Mardia
2018, Section 3.2). So the density is proportional to ``exp(-v' A v) (v' Omega v)^(-d)``: sharper than what is named.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.law import Cost, Difference, Law, other_law

_LARGEST = 4  # dimensions in which the sphere is integrated over


@dataclass(frozen=True, eq=False)
class SampledBingham(Law):
    """The law of what comes out, in two to four dimensions, normalised by quadrature."""

    query: Array = field()
    rate: float = field()

    def __post_init__(self) -> None:
        d = len(self.query)
        require(2 <= d <= _LARGEST, "dimension", d, f"must be 2 to {_LARGEST}: only there its density is known")
        top = float(np.linalg.eigvalsh(self.query)[-1])
        lowered = self.rate * (top * np.eye(d) - self.query)
        low, high = 1.0, float(d)
        eigenvalues = np.linalg.eigvalsh(lowered)
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (low, middle) if np.sum(1 / (middle + 2 * eigenvalues)) <= 1 else (middle, high)
        object.__setattr__(self, "_lowered", lowered)
        object.__setattr__(self, "_omega", np.eye(d) + 2 * lowered / high)
        points, areas = _sphere(d)
        logs = self._log_weight(points) + np.log(areas)
        object.__setattr__(self, "_log_constant", float(np.logaddexp.reduce(logs)))
        object.__setattr__(self, "scale", 1 / self.rate)

    def _log_weight(self, points: Array) -> Array:
        lowered, omega = self._lowered, self._omega  # type: ignore[attr-defined]
        first = np.einsum("ni,ij,nj->n", points, lowered, points)
        return np.asarray(-first - len(lowered) * np.log(np.einsum("ni,ij,nj->n", points, omega, points)))

    def sample(self, rng: np.random.Generator) -> Any:
        """By rejection from a Bingham law of the same matrix: the rest of the density is at most one."""
        bingham = Bingham(self.query, self.rate)
        omega = self._omega  # type: ignore[attr-defined]
        while True:
            v = bingham.sample(rng)
            if math.log(1 - rng.random()) <= -len(v) * math.log(v @ omega @ v):
                return v

    def possible(self, value: Any) -> Any:
        """Unit vectors only."""
        return Bingham(self.query, self.rate).possible(value)

    def log_density(self, value: Any) -> float:
        """Log density with respect to surface area."""
        v = np.asarray(value, dtype=float)
        if v.shape != (len(self.query),) or abs(float(np.linalg.norm(v)) - 1) > 1e-9:
            return -math.inf
        return float(self._log_weight(v[None, :])[0]) - self._log_constant  # type: ignore[attr-defined,no-any-return]

    def distance(self, other: Law) -> float:
        """Spectral norm of the difference."""
        assert isinstance(other, SampledBingham)
        return float(np.linalg.norm(self.query - other.query, ord=2))

    def cost(self, sensitivity: float) -> Cost | None:
        """Unknown."""
        return None

    def public_difference(self, other: Law) -> Difference | None:
        """Size and rate are public."""
        if not isinstance(other, SampledBingham):
            return other_law(self, other)
        if self.query.shape != other.query.shape:
            return Difference("shape", self.query.shape, other.query.shape, comparable=False)
        return None if self.rate == other.rate else Difference("rate", self.rate, other.rate, comparable=True)


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
