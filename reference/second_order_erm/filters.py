"""Privacy filter and odometer for runs that choose the next release (and its noise) from earlier ones.

Theorems 1 and 5 of `second_order_erm` state the cost of a run by its realised counts k_g and k_H. These counts are
random and depend on the releases, so the statement is not a DP guarantee by itself. Two sound ways to use them:

* filter: fix a limit before the run, never let the realised sum pass it. Gaussian and zCDP releases lose nothing to
  adaptivity (Feldman and Zrnic 2021 for RDP; Smith and Thakurta 2022 for GDP): the run is as private as the limit.
* odometer: report a cost for whatever was realised, valid at every stopping time. That needs a union bound: one filter
  for each limit of a fixed grid, each with its own share of delta.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi, sqrt

from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import require


def gaussian_cost(sigma: float, count: int = 1) -> float:
    """Rho (or mu^2 / 2) of Gaussian releases with noise multiplier sigma."""
    return count / (2 * sigma**2)


@dataclass
class Filter:
    """Adds up rho and refuses a release that would pass the limit."""

    limit: float
    spent: float = 0.0

    def __post_init__(self) -> None:
        require(self.limit > 0, "limit", self.limit, "must be positive")

    @property
    def left(self) -> float:
        """What may still be spent."""
        return max(0.0, self.limit - self.spent)

    def allows(self, cost: float) -> bool:
        """Whether a release of this cost stays within the limit (one rounding in 1e12 is forgiven)."""
        require(cost >= 0, "cost", cost, "must not be negative")
        return self.spent + cost <= self.limit * (1 + 1e-12)

    def charge(self, cost: float) -> None:
        """Spend; raises BadInput naming the cost when it does not fit."""
        require(self.allows(cost), "cost", cost, f"only {self.left:.6g} of {self.limit:.6g} is left")
        self.spent += cost


def odometer_epsilon(spent: float, delta: float, first_limit: float = 1e-4) -> float:
    """Epsilon that may be reported for a realised rho (Gaussian releases) at a data-dependent stopping time.

    Limits first_limit * 2^j have shares delta * 6 / (pi^2 (j+1)^2); the smallest limit that holds `spent` is reported.
    """
    require(spent >= 0, "spent", spent, "must not be negative")
    j, limit = 0, first_limit
    while limit < spent:
        j, limit = j + 1, 2 * limit
    return gdp_epsilon(sqrt(2 * limit), delta * 6 / (pi * (j + 1)) ** 2)
