"""Gaussian noise on every coordinate."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.arrays import Array, Indices, norm
from dpassay.reference.errors import require

from .law import LARGEST, SMALLEST, Cost, Difference, Law, as_released, query_of

_FEW = 32  # numbers


@dataclass(frozen=True, eq=False, init=False)
class Gaussian(Law):
    """``query + N(0, std^2 I)``; the sensitivity is in the 2-norm.

    ``std = 0``, or next to it (its square is no float), means: released as it is. An algorithm may reuse its array.
    """

    query: Array
    std: float
    public = ("std",)

    def __init__(self, query: ArrayLike, std: float) -> None:
        held = np.array(query, dtype=float)
        if not 0 <= std <= LARGEST:
            require(0 <= std < math.inf, "std", std, "must be finite and not negative")
            require(std <= LARGEST, "std", std, f"must be at most {LARGEST:g}")
        if not _finite(held):
            require(False, "query", held, "must be finite")
        # frozen, and made at every release
        self.__dict__.update(query=held, std=std, scale=std, is_normal=std >= SMALLEST)

    @property
    def is_bare(self) -> bool:
        """No noise at all, or next to none."""
        return self.std < SMALLEST

    def changed(self, noise: float, query: float) -> Gaussian:
        """Both, multiplied."""
        return Gaussian(query * self.query, noise * self.std)

    def distance(self, other: Law) -> float:
        """2-norm."""
        return norm(self.query - query_of(other))

    def cost(self, sensitivity: float) -> Cost:
        """mu-GDP (Dong, Roth and Su 2022, Theorem 2.7)."""
        if sensitivity == 0 or self.std == 0:
            return Cost("gaussian", math.inf if sensitivity else 0.0)
        return Cost("gaussian", float(sensitivity) / float(self.std))

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        std = 0.0 if self.is_bare else self.std
        return as_released(self.query + std * rng.standard_normal(self.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density; without noise the counting density (0 at the query, else ``-inf``)."""
        difference = np.asarray(value, dtype=float) - self.query
        if self.is_bare:
            return 0.0 if not np.any(difference) else -math.inf
        size = self.query.size
        squares = float(np.sum(difference**2))
        return -squares / (2 * self.std**2) - size * (math.log(self.std) + 0.5 * math.log(2 * math.pi))

    def public_difference(self, other: Law) -> Difference | None:
        """Type, shape and noise scale are public."""
        if type(other) is Gaussian and self.std == other.std and self.query.shape == other.query.shape:
            return None
        return super().public_difference(other)


def _finite(array: Array) -> bool:
    """Are all numbers finite? A few numbers are asked one by one, in a third of the time."""
    if array.size <= _FEW:
        return all(map(math.isfinite, array.ravel().tolist()))
    return bool(np.isfinite(array).all())


@lru_cache(maxsize=16)
def upper_triangle(size: int) -> tuple[Indices, Indices]:
    """``numpy.triu_indices``, kept: to make them takes longer than the rest of a small symmetric release."""
    rows, columns = np.triu_indices(size)
    rows.setflags(write=False)
    columns.setflags(write=False)
    return rows, columns
