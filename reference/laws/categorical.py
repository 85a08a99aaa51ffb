"""A value from a finite list; candidates by noisy utility (exponential mechanism, permute-and-flip)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import LARGEST, Cost, Form, Law

_ROUNDING = 1e-6  # of the sum of the probabilities
_CAP = 50.0  # of the privacy loss, when a law is tilted


@dataclass(frozen=True, eq=False)
class Categorical(Law):
    """A value from a finite list with known log probabilities (they are the query)."""

    support: tuple[Any, ...]
    log_probabilities: Array
    is_finite = True
    form: ClassVar[Form] = ()  # supports may differ: that is a privacy loss, and it is counted as one

    def __post_init__(self) -> None:
        logs = np.asarray(self.log_probabilities, dtype=float)
        object.__setattr__(self, "log_probabilities", logs)
        require(len(self.support) == logs.size, "support", len(self.support), "one log probability for each value")
        largest = float(np.max(logs, initial=-math.inf))  # NaN, if there is one
        require(largest <= _ROUNDING, "log_probabilities", largest, "must not be above zero, or no number")
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


@dataclass(frozen=True, eq=False)
class Selection(Categorical):
    """A choice whose probabilities follow from ``utilities``; the utilities are what the data move.

    Args:
        utilities: one for each candidate.
        rate: log of a probability ratio for each unit of utility.
        monotonic: adding a record moves all utilities in one direction, so half of the usual price is paid.
    """

    utilities: Any = None
    rate: float = 1.0
    monotonic: bool = False
    form = (("number of candidates", lambda law: len(law.support)),)
    public = ("rate",)

    def distance(self, other: Law) -> float:
        """Largest change of a utility."""
        if not isinstance(other, Selection) or len(self.utilities) != len(other.utilities):
            return 0.0
        return float(np.max(np.abs(self.utilities - other.utilities)))

    def cost(self, sensitivity: float) -> Cost:
        """Rate times sensitivity, twice unless monotonic (McSherry and Talwar 2007; McKenna and Sheldon 2020)."""
        return Cost("pure", self.rate * sensitivity * (1 if self.monotonic else 2))


def exponential(
    utilities: Sequence[float], rate: float, support: Sequence[Any] | None = None, monotonic: bool = False
) -> Selection:
    """The exponential mechanism: probabilities proportional to ``exp(rate * utility)``."""
    values = _checked(utilities, rate)
    logs = rate * (values - np.max(values))
    return Selection(_names(support, values), logs - np.logaddexp.reduce(logs), values, rate, monotonic)


def permute_and_flip(
    utilities: Sequence[float], rate: float, support: Sequence[Any] | None = None, monotonic: bool = False
) -> Selection:
    """Permute-and-flip: in random order, each candidate is taken with probability ``p_i = exp(rate (u_i - max u))``.

    With arrival times uniform on [0, 1], candidate r is the first that is taken with probability
    ``p_r * integral over t of prod_{j != r} (1 - t p_j)``: a polynomial, which Gauss-Legendre integrates exactly.
    """
    values = _checked(utilities, rate)
    flips = np.exp(rate * (values - np.max(values)))
    nodes, weights = np.polynomial.legendre.leggauss(len(values) // 2 + 1)
    t = (nodes + 1) / 2
    factors = 1 - t[:, None] * flips
    others = np.stack([np.prod(np.delete(factors, r, axis=1), axis=1) for r in range(len(values))], axis=1)
    means = (weights / 2) @ others
    logs = rate * (values - np.max(values)) + np.log(means)  # in logs: a hopeless candidate keeps its probability
    return Selection(_names(support, values), logs - np.logaddexp.reduce(logs), values, rate, monotonic)


def _checked(utilities: Sequence[float], rate: float) -> Array:
    values = np.asarray(utilities, dtype=float)
    require(values.ndim == 1 and values.size > 0, "utilities", values.shape, "must be a list of one candidate or more")
    require(bool(np.isfinite(values).all()), "utilities", values.tolist(), "must be finite")
    require(0 <= rate < math.inf, "rate", rate, "must be finite and not negative")
    good = float(np.abs(values).max()) <= LARGEST and rate <= LARGEST
    require(good, "utilities, rate", (values.tolist(), rate), f"must lie in -{LARGEST:g}..{LARGEST:g}")
    return values


def _names(support: Sequence[Any] | None, values: Array) -> tuple[Any, ...]:
    return tuple(range(len(values))) if support is None else tuple(support)
