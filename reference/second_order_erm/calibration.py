"""From a privacy budget to noise: eq. (8) and (14), and the exact versions that need less noise.

A Gaussian release with noise multiplier sigma is 1/(2 sigma^2)-zCDP and, exactly, 1/sigma-GDP; both add up in
squares, so one number, rho = mu^2 / 2, carries both. They part where rho is turned into (epsilon, delta): Proposition
A.6 is an upper bound, the Gaussian trade-off curve is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, log, sqrt

from scipy.optimize import brentq
from scipy.stats import norm

from dpassay.reference.errors import require, require_budget


def rho_by_conversion(epsilon: float, delta: float) -> float:
    """Largest rho for which rho-zCDP implies (epsilon, delta)-DP by Proposition A.6 (xi = 0)."""
    require_budget(epsilon, delta)
    return float((sqrt(epsilon + log(1 / delta)) - sqrt(log(1 / delta))) ** 2)  # Prop. A.6


def epsilon_by_conversion(rho: float, delta: float) -> float:
    """Proposition A.6 with xi = 0."""
    return rho + 2 * sqrt(rho * log(1 / delta))  # Prop. A.6


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Exact delta(epsilon) of mu-GDP: a composition of Gaussian releases with sum of 1/sigma^2 equal to mu^2."""
    return float(norm.cdf(-epsilon / mu + mu / 2) - exp(epsilon + norm.logcdf(-epsilon / mu - mu / 2)))


def rho_exact(epsilon: float, delta: float) -> float:
    """Largest rho = mu^2 / 2 for which a composition of Gaussian releases is (epsilon, delta)-DP."""
    require_budget(epsilon, delta)
    top = 2 * sqrt(2 * (epsilon + 20))
    mu = brentq(lambda m: gaussian_delta(m, epsilon) - delta, 1e-9, top, xtol=1e-14, rtol=1e-14)
    return float(mu**2 / 2)


@dataclass(frozen=True)
class Budget:
    """A total rho, the part rho_f of it that pays for f(w0), and how many releases one iteration makes at most."""

    rho: float
    rho_f: float
    releases_per_step: int = 2  # gradient and Hessian; 3 with the line search

    def __post_init__(self) -> None:
        require(0 < self.rho_f < self.rho, "rho_f", self.rho_f, f"must lie in (0, rho = {self.rho:.6g})")

    @property
    def sigma_f(self) -> float:
        """Noise multiplier of f(w0)."""
        return sqrt(1 / (2 * self.rho_f))  # eq. (8), (14)

    def sigma(self, steps: int) -> float:
        """Noise multiplier of each release of `steps` iterations: sigma_g = sigma_H, and lambda of the line search."""
        require(steps >= 1, "T", steps, "must be at least 1")
        return sqrt(self.releases_per_step * steps / (2 * (self.rho - self.rho_f)))  # eq. (8), (14)


def printed_budget(epsilon: float, delta: float, part_f: float = 0.1, releases_per_step: int = 2) -> Budget:
    """Split rho of Proposition A.6; rho_f = c_f rho (Theorem 4)."""
    rho = rho_by_conversion(epsilon, delta)
    return Budget(rho, part_f * rho, releases_per_step)


def exact_budget(epsilon: float, delta: float, part_f: float = 0.1, releases_per_step: int = 2) -> Budget:
    """Split the exact Gaussian budget (a line search is not Gaussian: see `line_search_budget`)."""
    rho = rho_exact(epsilon, delta)
    return Budget(rho, part_f * rho, releases_per_step)
