"""From a privacy budget to noise: eq. (8) and (14), and the exact versions that need less noise.

A Gaussian release with noise multiplier sigma is 1/(2 sigma^2)-zCDP and, exactly, 1/sigma-GDP; both add up in
squares, so one number, rho = mu^2 / 2, carries both. They part where rho is turned into (epsilon, delta): Proposition
A.6 is an upper bound, the Gaussian trade-off curve is exact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt

from dpassay.reference.accounting.gdp import gdp_mu, zcdp_rho
from dpassay.reference.errors import require

_ROUNDING = 1e-10  # kept back, so that an accountant that rounds up stays below the claim


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
    rho = zcdp_rho(epsilon, delta)  # Prop. A.6
    return Budget(rho, part_f * rho, releases_per_step)


def exact_budget(epsilon: float, delta: float, part_f: float = 0.1, releases_per_step: int = 2) -> Budget:
    """Split the exact Gaussian budget rho = mu^2 / 2 (a line search is not Gaussian: see `line_search.lambda_for`)."""
    rho = gdp_mu(epsilon, delta) ** 2 / 2 * (1 - _ROUNDING)
    return Budget(rho, part_f * rho, releases_per_step)


def noise_saved(epsilon: float, delta: float) -> float:
    """Share of the printed noise that the exact conversion saves: 1 - sqrt(rho_printed / rho_exact)."""
    return 1 - sqrt(zcdp_rho(epsilon, delta) * 2) / gdp_mu(epsilon, delta)
