"""Noise where the number of steps T is computed during the run: the split of eq. (8) and (14).

A Gaussian release with noise multiplier sigma is 1/(2 sigma^2)-zCDP and, exactly, 1/sigma-GDP. Both add up in squares,
so one number, rho = mu^2 / 2, carries both. They part where rho is turned into (epsilon, delta): Proposition A.6 is an
upper bound, the Gaussian trade-off curve is exact.

As sigma grows with sqrt(T), a run costs the same whatever T is. That is why noise can be calibrated before T is known:
on a dry run of one step. A schedule is public, so it is never made from the records: the calibrator runs an algorithm
on a risk that is zero everywhere, with answers under which the most is released.

Theorems 1 and 5 state the cost of a run by its realised counts k_g and k_H. These counts are random and depend on the
releases, so the statement is not a DP guarantee by itself. As a filter it is one: a limit is fixed before the run, and
the realised sum never passes it. Gaussian and zCDP releases lose nothing to adaptivity (Feldman and Zrnic 2021 for RDP;
Smith and Thakurta 2022 for GDP), so the run is as private as the limit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from math import sqrt
from typing import Any, ClassVar, TypeVar

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.accounting.gdp import zcdp_rho
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.problems.interfaces import Flat

S = TypeVar("S", bound=Any)
PART_F = 0.1  # c_f of Theorem 4: the share of rho that pays for f(w0)


class Split(ABC):
    """A budget of which a part pays for f(w0), and the rest for the releases of T steps."""

    DERIVED: ClassVar[tuple[str, ...]] = ("sigma_f",)

    @property
    @abstractmethod
    def sigma_f(self) -> float:
        """Noise multiplier of f(w0)."""

    @abstractmethod
    def sigma(self, steps: int) -> float:
        """Noise multiplier of every other release."""

    def multipliers(self, steps: int) -> Multipliers:
        """Noise multipliers of a run of `steps` iterations."""
        sigma = self.sigma(steps)
        return Multipliers({"initial value": self.sigma_f, "gradient": sigma, "hessian": sigma})


@dataclass(frozen=True)
class Budget(Split):
    """A total rho, the part rho_f of it that pays for f(w0), and how many releases one iteration makes at most."""

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


def spends_most(curvature: float, label: str, law: Any, step: int) -> Any:
    """Answers under which a run spends the most: small gradients, Hessian -curvature I, so T steps of two releases.

    `curvature` must exceed epsilon_H, or the run ends at its first Hessian.
    """
    if label == "gradient":  # its sign decides the direction: to and fro
        return np.full(law.query.shape, 1e-9 if step % 4 < 2 else -1e-9)
    if label == "hessian":  # the upper triangle of -curvature I
        d = round((sqrt(8 * law.query.size + 1) - 1) / 2)
        rows, columns = np.triu_indices(d)
        return -curvature * (rows == columns).astype(float)
    return None


def one_step(curvature: float, label: str, law: Any, step: int) -> Any:
    """The same with f(w0) released so low that T = 1: enough where a run costs the same whatever T is."""
    if label == "initial value":
        return float(law.query) - 1e6 * law.std
    return spends_most(curvature, label, law, step)


def calibrated(run: Callable[..., Any], unit: S, problem: SmoothRisk, epsilon: float, delta: float) -> S:
    """The schedule ``unit`` with the noise that its costliest run asks for."""
    longest = partial(spends_most, 2 * unit.accuracy.curvature)
    return noise_for(run, unit, Flat(problem.n, problem.d), epsilon, delta, longest=longest)


def gaussian_cost(sigma: float, count: int = 1) -> float:
    """Rho (or mu^2 / 2) of Gaussian releases with noise multiplier sigma."""
    return count / (2 * sigma**2)
