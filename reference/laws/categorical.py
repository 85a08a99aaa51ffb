"""A value from a finite list."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import Difference, Law, other_law

_ROUNDING = 1e-6  # of the sum of the probabilities
_CAP = 50.0  # of the privacy loss, when a law is tilted


@dataclass(frozen=True, eq=False)
class Categorical(Law):
    """A value from a finite list with known log probabilities (they are the query)."""

    support: tuple[Any, ...]
    log_probabilities: Array
    is_finite = True

    def __post_init__(self) -> None:
        logs = np.asarray(self.log_probabilities, dtype=float)
        object.__setattr__(self, "log_probabilities", logs)
        require(len(self.support) == logs.size, "support", len(self.support), "one log probability for each value")
        require(
            bool((logs <= _ROUNDING).all()), "log_probabilities", _largest(logs), "must not be above zero, or no number"
        )
        total = float(np.sum(np.exp(logs)))
        require(abs(total - 1) < _ROUNDING, "log_probabilities", total, "must sum to one")

    def nth(self, index: int) -> Any:
        """Of the support."""
        return self.support[index % len(self.support)]

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        probabilities = np.exp(self.log_probabilities)
        return self.support[int(rng.choice(len(self.support), p=probabilities / probabilities.sum()))]

    def log_density(self, value: Any) -> float:
        """Log probability."""
        return float(self.log_probabilities[self.support.index(value)]) if value in self.support else -math.inf

    def outcomes(self) -> Categorical:
        """The law itself."""
        return self

    def tilted(self, other: Law, shift: float) -> Categorical | None:
        """By enumeration; a loss above a cap is tilted as if it were the cap (a support hole has an infinite one)."""
        there = other.outcomes()
        if there is None:
            return None
        others = np.array([there.log_density(value) for value in self.support])
        with np.errstate(invalid="ignore"):
            loss = np.minimum(self.log_probabilities - others, _CAP)
        loss = np.where(np.isfinite(self.log_probabilities), loss, 0.0)
        logs = self.log_probabilities + shift * loss
        return Categorical(self.support, logs - np.logaddexp.reduce(logs))

    def public_difference(self, other: Law) -> Difference | None:
        """The type is public; supports may differ (that is a privacy loss, and it is counted as one)."""
        return None if isinstance(other, Categorical) else other_law(self, other)


def _largest(logs: Array) -> float:
    """NaN, if there is one."""
    return float(np.max(logs, initial=-math.inf))
