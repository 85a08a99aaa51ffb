"""What a mechanism costs on one pair of values, computed from its laws: no search, no statistics."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.laws.law import Law

_MORE = 1e-6  # relative: of rounding, and of the libraries' own root finding
_REFUTED = 1e-4  # p-value below which draws do not follow a law; some twenty laws are tested with fixed seeds or anew


@dataclass(frozen=True)
class Line:
    """One mechanism: what it claims on a pair, what its law costs there.

    Args:
        name: of the mechanism, with its parameters.
        pair: what the two sides are.
        measure: epsilon, delta (at the claimed epsilon), or rho.
        claimed, exact: numbers of that measure.
        p_value: that the library's own draws follow the law (chi-square or Kolmogorov-Smirnov); None: tested elsewhere.
        error: of a quadrature, at most.
    """

    name: str
    pair: str
    measure: str
    claimed: float
    exact: float
    p_value: float | None = None
    error: float = 0.0

    @property
    def kept(self) -> bool:
        """The law costs no more than is claimed."""
        return self.exact <= self.claimed * (1 + _MORE) + self.error + 1e-12

    @property
    def follows(self) -> bool:
        """Nothing says that the library draws from another law."""
        return self.p_value is None or self.p_value > _REFUTED


def largest_loss(one: Law, other: Law, values: Iterable[Any]) -> float:
    """The largest log ratio of densities, either way, over these values."""
    worst = 0.0
    for value in values:
        here, there = one.log_density(value), other.log_density(value)
        worst = max(worst, abs(here - there) if max(here, there) > -math.inf else 0.0)
    return worst


def delta(one: Law, other: Law, epsilon: float, values: Any, step: float) -> float:
    """The smallest delta at epsilon for this pair, either way: a sum over values, each standing for ``step``.

    ``step`` is 1 for probabilities, the distance of the values for densities (the error is of the order of a step).
    """
    here = np.array([one.log_density(value) for value in values])
    there = np.array([other.log_density(value) for value in values])
    ways = (np.maximum(np.exp(a) - np.exp(epsilon + b), 0.0).sum() * step for a, b in ((here, there), (there, here)))
    return float(max(ways))


def renyi_rho(one: Law, other: Law, values: Any, orders: Sequence[float]) -> float:
    """The smallest rho with ``D_alpha <= rho alpha`` for these orders, for laws on countable sets."""
    here = np.array([one.log_density(value) for value in values])
    there = np.array([other.log_density(value) for value in values])
    both = np.isfinite(here) & np.isfinite(there)
    divergences = [np.logaddexp.reduce(a * here[both] + (1 - a) * there[both]) / (a - 1) for a in orders]
    return float(max(d / a for d, a in zip(divergences, orders, strict=True)))
