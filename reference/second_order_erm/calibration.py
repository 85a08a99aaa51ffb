"""Noise where the number of steps T is computed during the run: the split of eq. (8) and (14).

A Gaussian release with noise multiplier sigma is 1/(2 sigma^2)-zCDP and, exactly, 1/sigma-GDP. Both add up in squares,
so one number, rho = mu^2 / 2, carries both. They part where rho is turned into (epsilon, delta): Proposition A.6 is an
upper bound, the Gaussian trade-off curve is exact.

As sigma grows with sqrt(T), a run costs the same whatever T is. That is why noise can be calibrated before T is known:
on a dry run of one step (`dry_run.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import ClassVar

from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers

PART_F = 0.1  # c_f of Theorem 4: the share of rho that pays for f(w0)


@dataclass(frozen=True)
class Budget:
    """A total rho, the part rho_f of it that pays for f(w0), and how many releases one iteration makes at most."""

    FORMULAS: ClassVar[dict[str, str]] = {
        "sigma_f": "sqrt(1 / (2 rho_f)), noise multiplier of f(w0)",
        "sigma(T)": "sqrt(releases_per_step T / (2 (rho - rho_f))), noise multiplier of every other release",
        "std": "multiplier * sensitivity",
    }
    DERIVED: ClassVar[tuple[str, ...]] = ("sigma_f",)

    rho: float
    rho_f: float
    releases_per_step: int  # gradient and Hessian: 2; with the line search: 3

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

    def multipliers(self, steps: int) -> Multipliers:
        """Noise multipliers of a run of `steps` iterations."""
        sigma = self.sigma(steps)
        return Multipliers({"initial value": self.sigma_f, "gradient": sigma, "hessian": sigma})

    def part(self, rho: float) -> Budget:
        """A smaller total, split in the same proportion."""
        return Budget(rho, self.rho_f / self.rho * rho, self.releases_per_step)

    def scaled(self, factor: float) -> Budget:
        """The budget in which every noise is `factor` times as large (what the calibrator asks for)."""
        return Budget(self.rho / factor**2, self.rho_f / factor**2, self.releases_per_step)


def printed_budget(epsilon: float, delta: float, releases_per_step: int) -> Budget:
    """Split rho of Proposition A.6; rho_f = c_f rho (Theorem 4)."""
    rho = zcdp_rho(epsilon, delta)  # Prop. A.6
    return Budget(rho, PART_F * rho, releases_per_step)


def unit_budget(releases_per_step: int) -> Budget:
    """rho = 1, to be scaled by the calibrator."""
    return Budget(1.0, PART_F, releases_per_step)
