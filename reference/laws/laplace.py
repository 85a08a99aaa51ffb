"""Laplace noise on every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import Cost, Difference, Law, as_released, other_law, query_of

_TINY = 1e-6  # sensitivity over scale: below, dp-accounting has no grid point for a Laplace release


@dataclass(frozen=True, eq=False)
class Laplace(Law):
    """``query + Laplace(scale)``, independent in each coordinate; the sensitivity is in the 1-norm."""

    query: Array = field()
    scale: float = field()
    public = ("scale",)

    def __post_init__(self) -> None:
        query = np.array(self.query, dtype=float)
        require(0 < self.scale < math.inf, "scale", self.scale, "must be positive and finite")
        require(bool(np.isfinite(query).all()), "query", query, "must be finite")
        self.__dict__["query"] = query  # frozen, and made at every release

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return as_released(self.query + rng.laplace(0.0, self.scale, self.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density."""
        difference = np.abs(np.asarray(value, dtype=float) - self.query)
        return -float(np.sum(difference)) / self.scale - self.query.size * math.log(2 * self.scale)

    def changed(self, noise: float, query: float) -> Laplace:
        """Both, multiplied."""
        return Laplace(query * self.query, noise * self.scale)

    def distance(self, other: Law) -> float:
        """1-norm."""
        return float(np.sum(np.abs(self.query - query_of(other))))

    def cost(self, sensitivity: float) -> Cost:
        """Sensitivity over scale: the exact law of a loss is known for one number, for several its worst case."""
        size = sensitivity / self.scale
        return Cost("laplace" if self.query.size == 1 and size > _TINY else "pure", size)

    def tilted(self, other: Law, shift: float) -> TiltedLaplace | None:
        """Exponential on three pieces of each coordinate."""
        return TiltedLaplace(self, other, shift) if isinstance(other, Laplace) else None


class TiltedLaplace(Law):
    """``p (p / q)^shift / Z`` for Laplace ``p`` and ``q`` of one scale (p's where they differ)."""

    def __init__(self, law: Laplace, other: Laplace, shift: float):
        self._law, self._other, self._shift = law, Laplace(other.query, law.scale), shift
        gap = np.abs(other.query - law.query).ravel() / law.scale
        self._rate = 1 + 2 * shift
        with np.errstate(divide="ignore"):
            middle = shift * gap + np.log(-np.expm1(-self._rate * gap)) - math.log(self._rate)
        masses = np.stack([shift * gap, middle, -(1 + shift) * gap], axis=1)  # log masses of the pieces
        self._gap, self._masses = gap, masses
        self._log_z = np.asarray(np.logaddexp.reduce(masses, axis=1))

    def sample(self, rng: np.random.Generator) -> Any:
        """Choose a piece of each coordinate, then a point of it."""
        gap, rate = self._gap, self._rate
        u = rng.random(len(gap))
        edges = np.cumsum(np.exp(self._masses - self._log_z[:, None]), axis=1)
        piece = (u[:, None] > edges[:, :2]).sum(axis=1)
        tail = rng.exponential(size=len(gap))
        inner = -np.log1p(rng.random(len(gap)) * np.expm1(-rate * gap)) / rate
        x = np.choose(piece, [-tail, inner, gap + tail])  # towards D' is positive, in scales
        towards = np.where(self._other.query >= self._law.query, 1.0, -1.0).ravel()
        flat = self._law.query.ravel() + self._law.scale * towards * x
        return as_released(flat.reshape(self._law.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density."""
        here = self._law.log_density(value)
        loss = here - self._other.log_density(value)
        return here + self._shift * loss - float(np.sum(self._log_z - math.log(2.0)))

    def public_difference(self, other: Law) -> Difference | None:
        """A tilted law is a means of sampling; it is never released."""
        return other_law(self, other)
