"""Discrete Gaussian noise on a whole number."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpassay.reference.types import Array

from .law import Cost
from .number import Number

_REACH = 40  # standard deviations: beyond, a term is below the smallest float


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(Number):
    """``P(query + k)`` is proportional to ``exp(-k^2 / (2 scale^2))`` (Canonne, Kamath and Steinke 2020)."""

    whole: ClassVar[bool] = True

    def cost(self, sensitivity: float) -> Cost | None:
        """Unknown: its concentrated bound is that of a Gaussian, its (epsilon, delta) curve is not."""
        return None

    def sample(self, rng: np.random.Generator) -> int:
        """By inversion of the table of probabilities."""
        support, probabilities = _table(self.scale)
        return round(self.at) + int(float(rng.choice(support, p=probabilities)))

    def possible(self, value: float) -> int:
        """The nearest whole number."""
        return round(float(value))

    def log_density(self, value: float) -> float:
        """Log probability."""
        if not float(value).is_integer():
            return -math.inf
        return -((value - self.at) ** 2) / (2 * self.scale**2) - _log_total(self.scale)


@lru_cache(maxsize=64)
def _table(scale: float) -> tuple[Array, Array]:
    reach = math.ceil(_REACH * scale) + 1
    support = np.arange(-reach, reach + 1, dtype=float)
    weights = np.exp(-(support**2) / (2 * scale**2))
    return support, np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def _log_total(scale: float) -> float:
    support = _table(scale)[0]
    return float(np.logaddexp.reduce(-(support**2) / (2 * scale**2)))
