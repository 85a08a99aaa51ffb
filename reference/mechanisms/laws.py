"""Laws that a released value follows, given the data: what can be sampled, and the exact log density.

A law is what the tape records for a release. Two runs on neighbouring data make the *same call* when their laws
differ in the query alone; ``public_difference`` names the first thing other than the query that differs.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.errors import require

Array = NDArray[np.float64]


@runtime_checkable
class Law(Protocol):
    """A distribution on released values."""

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""

    def log_density(self, value: Any) -> float:
        """Natural log of the density (or probability) at ``value``; ``-inf`` off the support."""

    def public_difference(self, other: Law) -> str | None:
        """The first difference from ``other`` that is not the query: its name and the two values, or None."""


def as_released(value: Array) -> Any:
    """A scalar query is released as a float, anything else as an array of its shape."""
    return float(value) if value.ndim == 0 else value


@dataclass(frozen=True, eq=False)
class Gaussian:
    """``query + N(0, std^2 I)``. ``std = 0`` is allowed and means: released as it is.

    The query is copied: an algorithm may go on to use its array for something else.
    """

    query: Array
    std: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", np.array(self.query, dtype=float))
        require(0 <= self.std < math.inf, "std", self.std, "must be finite and not negative")
        require(bool(np.all(np.isfinite(self.query))), "query", self.query, "must be finite")

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return as_released(self.query + self.std * rng.standard_normal(self.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density; with ``std = 0`` the counting density (0 at the query, else ``-inf``)."""
        difference = np.asarray(value, dtype=float) - self.query
        if self.std == 0:
            return 0.0 if not np.any(difference) else -math.inf
        size = self.query.size
        squares = float(np.sum(difference**2))
        return -squares / (2 * self.std**2) - size * (math.log(self.std) + 0.5 * math.log(2 * math.pi))

    def public_difference(self, other: Law) -> str | None:
        """Type, shape and noise scale are public."""
        return _noise_difference(self, other, "std")


@dataclass(frozen=True, eq=False)
class Laplace:
    """``query + Laplace(scale)``, independent in each coordinate; the query is copied."""

    query: Array
    scale: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "query", np.array(self.query, dtype=float))
        require(0 < self.scale < math.inf, "scale", self.scale, "must be positive and finite")
        require(bool(np.all(np.isfinite(self.query))), "query", self.query, "must be finite")

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return as_released(self.query + rng.laplace(0.0, self.scale, self.query.shape))

    def log_density(self, value: Any) -> float:
        """Log density."""
        difference = np.abs(np.asarray(value, dtype=float) - self.query)
        return -float(np.sum(difference)) / self.scale - self.query.size * math.log(2 * self.scale)

    def public_difference(self, other: Law) -> str | None:
        """Type, shape and noise scale are public."""
        return _noise_difference(self, other, "scale")


@dataclass(frozen=True, eq=False)
class Categorical:
    """A value from a finite list with known log probabilities (they are the query)."""

    support: tuple[Any, ...]
    log_probabilities: Array

    def __post_init__(self) -> None:
        logs = np.asarray(self.log_probabilities, dtype=float)
        object.__setattr__(self, "log_probabilities", logs)
        require(len(self.support) == logs.size, "support", len(self.support), "one log probability for each value")
        total = float(np.sum(np.exp(logs)))
        require(abs(total - 1) < 1e-6, "log_probabilities", total, "must sum to one")

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        probabilities = np.exp(self.log_probabilities)
        return self.support[int(rng.choice(len(self.support), p=probabilities / probabilities.sum()))]

    def log_density(self, value: Any) -> float:
        """Log probability."""
        return float(self.log_probabilities[self.support.index(value)]) if value in self.support else -math.inf

    def public_difference(self, other: Law) -> str | None:
        """The type is public; supports may differ (that is a privacy loss, and it is counted as one)."""
        return None if isinstance(other, Categorical) else f"law: Categorical against {type(other).__name__}"


def _noise_difference(one: Gaussian | Laplace, other: Law, scale: str) -> str | None:
    if not isinstance(other, type(one)):
        return f"law: {type(one).__name__} against {type(other).__name__}"
    if one.query.shape != other.query.shape:
        return f"shape: {one.query.shape} against {other.query.shape}"
    return _scale_difference(scale, getattr(one, scale), getattr(other, scale))


def _scale_difference(name: str, here: float, there: float) -> str | None:
    return None if here == there else f"{name}: {here:.6g} against {there:.6g}"
