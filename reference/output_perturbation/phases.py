"""Phases: how many, how long, with which regularisers (Algorithms 2, 4, 5 and Section 4.3).

K = log(n) and n_bar = n/K are not whole numbers as printed, and the base is not given.  The proofs of Theorems 3.7
and 4.8 use mu_K = mu n, that is 2^K = n: base 2.  We take K = floor(log2 n), n_bar = floor(n/K); n - K n_bar < K
records stay unused.
"""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

WHOLE_NUMBERS = "K = floor(log2 n), n_bar = floor(n/K), the rest unused; log base 2 because the proof uses mu_K = mu n"


@dataclass(frozen=True)
class Phases:
    """K phases of n_bar records each, regularised with mu_k = mu 2^k."""

    count: int  # K
    length: int  # n_bar
    regularisers: tuple[float, ...]  # mu_1 .. mu_K


def phases(n: int, mu: float) -> Phases:
    """The phases for n records and base regulariser mu."""
    require(n >= 2, "n", n, "K = floor(log2 n) needs at least two records")
    require(mu > 0, "mu", mu, "must be positive")
    count = int(np.log2(n))
    return Phases(count, n // count, tuple(mu * 2.0**k for k in range(1, count + 1)))  # line 1, line 3


def partition(tape: Tape, n: int, plan: Phases) -> list[Batch]:
    """Records of each phase: the next n_bar by index, known to everybody, as printed in line 4."""
    return [tape.fresh(f"phase/{k}", n, plan.length, order="index") for k in range(1, plan.count + 1)]


def convex_regulariser(n: int, d: int, lipschitz: float, diameter: float, epsilon: float, delta: float) -> float:
    """mu of Theorem 3.7."""
    noise = np.sqrt(d * np.log(2.5 / delta)) / (n * epsilon)
    return float(lipschitz / diameter * max(1 / np.sqrt(n), 14 * np.log2(n) * noise))


def convex_concave_regulariser(
    n: int, d: int, lipschitz: float, diameter: float, epsilon: float, delta: float
) -> float:
    """mu of Theorem 4.8; d = max(d_x, d_y)."""
    noise = np.sqrt(d * np.log(5 / delta)) / (n * epsilon)
    return float(lipschitz / diameter * max(2 / np.sqrt(n), 13 * np.log2(n) * noise))
