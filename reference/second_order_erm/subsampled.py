"""Printed calibration of the mini-batch methods: eq. (27) to (30), and Theorem B.8.

Two things are wrong with the printed route. Eq. (27) keeps min(2, ...) = 2 in its terms of order 3 and more, because
epsilon(infinity) is infinite for a Gaussian: these terms do not shrink as the noise grows, so T steps have a floor and
small budgets cannot be met by any noise (`floor`). And eq. (29) adds the costs of gradient and Hessian as if each had
its own batch, while Section 3.3 computes both from the same S_k: one draw protects the two releases together
(`worst_case.shared_batch` shows from which epsilon on that matters).
"""

from dataclasses import dataclass, replace
from functools import cache, lru_cache
from math import exp, inf, log, sqrt
from typing import Self

import numpy as np
import scipy

from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput, require, require_budget

from .calibration import Split

ORDERS = tuple(range(2, 129)) + tuple(range(132, 513, 4))


@cache  # the same orders for every sigma that is tried
def _choices(order: int) -> tuple[Indices, Array]:
    """j = 3 .. order, and log C(order, j)."""
    j = np.arange(3, order + 1)
    return j, scipy.special.gammaln(order + 1) - scipy.special.gammaln(j + 1) - scipy.special.gammaln(order - j + 1)


def subsampled_rdp(order: int, sigma: float, rate: float) -> float:
    """Return epsilon'_N(alpha; sigma, s) of eq. (27) for the Gaussian mechanism, m of n without replacement."""
    j, log_choose = _choices(order)
    square = 1 / sigma**2
    second = min(4 * np.expm1(min(square, 700.0)), 2 * exp(min(square, 700.0)))
    terms = [0.0, 2 * log(rate) + log(order * (order - 1) / 2) + log(second)]
    rest = log(2) + j * log(rate) + log_choose + (j - 1) * j / (2 * sigma**2)
    return float(np.logaddexp.reduce(np.concatenate([terms, rest]))) / (order - 1)  # eq. (27)


@lru_cache(maxsize=64)
def floor(steps: int, rate: float, delta: float) -> float:
    """Smallest epsilon that eq. (29) can certify with infinite noise, for T = steps."""
    return min(2 * steps * subsampled_rdp(a, 1e9, rate) + log(1 / delta) / (a - 1) for a in ORDERS)


def rdp_epsilon(sigma_f: float, sigma: float, steps: int, rate: float, delta: float) -> float:
    """Convert eq. (29) with sigma_g = sigma_H = sigma, minimised over the order."""
    first = 0.0 if sigma_f == inf else 1 / (2 * sigma_f**2)
    return min(
        a * first + 2 * steps * subsampled_rdp(a, sigma, rate) + log(1 / delta) / (a - 1)  # eq. (29)
        for a in ORDERS
    )


@dataclass(frozen=True)
class _Sampled(Split):
    """An (epsilon, delta) for batches of a share `rate` of the records, of which `part_f` pays for f(w0)."""

    epsilon: float
    delta: float
    rate: float  # s = m / n
    part_f: float = 0.1

    def part(self, share: float) -> Self:
        """A share of the budget: (epsilon, delta) adds up by basic composition."""
        return replace(self, epsilon=share * self.epsilon, delta=share * self.delta)


@dataclass(frozen=True)
class SampledBudget(_Sampled):
    """Eq. (30): the least sigma for which eq. (29) stays within (epsilon, delta); rho_f = part_f of
    Proposition A.6's rho.
    """

    def __post_init__(self) -> None:
        require_budget(self.epsilon, self.delta)
        require(0 < self.rate <= 1, "rate", self.rate, "must lie in (0, 1]")

    @property
    def sigma_f(self) -> float:
        """Noise multiplier of f(w0), which is not sampled (infinite: f is not released)."""
        if self.part_f == 0:
            return inf
        return sqrt(1 / (2 * self.part_f * zcdp_rho(self.epsilon, self.delta)))

    def sigma(self, steps: int) -> float:
        """Noise multiplier of the sampled releases. Raises BadInput where no noise meets the budget."""
        return _least_sigma(self, steps)


@lru_cache(maxsize=128)
def _least_sigma(budget: SampledBudget, steps: int) -> float:
    def excess(log_sigma: float) -> float:
        return rdp_epsilon(budget.sigma_f, exp(log_sigma), steps, budget.rate, budget.delta) - budget.epsilon

    if excess(log(1e6)) > 0:
        least = floor(steps, budget.rate, budget.delta)
        raise BadInput("epsilon", budget.epsilon, f"eq. (29) is at least {least:.3g} for T = {steps}")
    from scipy.optimize import brentq  # here: it takes longer to load than most calls take to run

    return exp(brentq(excess, log(0.05), log(1e6), xtol=1e-9))  # eq. (30)


@dataclass(frozen=True)
class AdvancedBudget(_Sampled):
    """Theorem B.8: (epsilon, delta) by amplification and advanced composition."""

    @property
    def sigma_f(self) -> float:
        """Noise multiplier of f(w0)."""
        return sqrt(2 * log(1.25 / (self.part_f * self.delta))) / (self.part_f * self.epsilon)  # Theorem B.8

    def per_release(self, steps: int) -> tuple[float, float]:
        """Return epsilon_0 and delta_0."""
        epsilon, delta = (1 - self.part_f) * self.epsilon, (1 - self.part_f) * self.delta
        epsilon_0 = epsilon / (8 * self.rate * sqrt(2 * steps * log(2 / delta)))
        return epsilon_0, delta / (4 * self.rate * steps)  # Theorem B.8

    def sigma(self, steps: int) -> float:
        """Noise multiplier. Raises BadInput where the proof's steps fail: it needs e^(2 e0) - 1 <= 4
        e0, so e0 <= 0.628.
        """
        epsilon_0, delta_0 = self.per_release(steps)
        require(np.expm1(2 * epsilon_0) <= 4 * epsilon_0, "epsilon_0", epsilon_0, "Theorem B.8 needs at most 0.628")
        return sqrt(2 * log(1.25 / delta_0)) / epsilon_0
