"""What an animal of the zoo is: a mechanism, the pair that shows it, the claim, and the exact truth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.audit.blackbox.outputs import Mechanism
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.guarantee import Guarantee, approx_dp, gdp

EPSILON = 1.0  # the claim of every pure mechanism
DELTA = 1e-5  # where Gaussian claims are read
INFINITE = float("inf")


@dataclass(frozen=True)
class Entry:
    """One animal: a mechanism, the pair that shows it, the claim, and the truth."""

    name: str
    mechanism: Mechanism
    dataset: Any
    neighbour: Any
    claim: Guarantee
    claimed: float  # the claim's epsilon at `delta`
    truth: float
    delta: float = 0.0
    at_least: bool = False
    low_bits: bool = False  # judge the floats as they are, not the real numbers they stand for
    source: str = ""

    @property
    def broken(self) -> bool:
        """Does the pair exceed the claim?"""
        return self.truth > self.claimed * (1 + 1e-4)


def pure(name: str, mechanism: Mechanism, pair: tuple[Any, Any], truth: float, **more: Any) -> Entry:
    """Claimed: (EPSILON, 0)-DP."""
    return Entry(name, mechanism, *pair, approx_dp(EPSILON), EPSILON, truth, **more)


def gauss(name: str, mechanism: Mechanism, pair: tuple[Any, Any], mu: float, true_mu: float) -> Entry:
    """Claimed: mu-GDP; the truth is that of `true_mu`, read at DELTA."""
    truth = INFINITE if np.isinf(true_mu) else gdp_epsilon(true_mu, DELTA)
    return Entry(name, mechanism, *pair, gdp(mu), gdp_epsilon(mu, DELTA), truth, DELTA)
