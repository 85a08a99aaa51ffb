"""Worst-case neighbours for the stochastic SPIDER: records are signs, so that oracles move as far as they can.

f(x; z) = -z cos(x + phase) on the line: the constants are G = M = rho = 1. At the start the gradient is z sin(phase),
the Hessian z cos(phase). One record changes its sign; all others are -1, so a batch matters only through that record.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import cos, pi, sin

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.lockstep import Pair
from dpassay.reference.problems.interfaces import Array, Indices


@dataclass(frozen=True, eq=False)
class SignedWave:
    """Signs (n,) and the phase: pi/2 makes the first gradient largest, 0 the first Hessian."""

    signs: Array
    phase: float = pi / 2

    @property
    def size(self) -> int:
        """Number of records."""
        return int(self.signs.size)

    @property
    def dimension(self) -> int:
        """One."""
        return 1

    def value(self, x: Array) -> float:
        """Mean loss."""
        return -float(self.signs.mean()) * cos(float(x[0]) + self.phase)

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (b, 1)."""
        rows: Array = (self.signs[indices] * sin(float(x[0]) + self.phase))[:, None]
        return rows

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample second derivatives, shape (b, 1, 1)."""
        stack: Array = (self.signs[indices] * cos(float(x[0]) + self.phase))[:, None, None]
        return stack


def sign_flip(records: int, target: int = 0, phase: float = pi / 2) -> Pair[SignedWave]:
    """The pair in which record `target` is +1 here and -1 there; all others are -1."""
    require(0 <= target < records, "target", target, f"must lie in 0..{records - 1}")
    signs = -np.ones(records)
    signs[target] = 1.0
    here, there = SignedWave(signs, phase), SignedWave(-np.ones(records), phase)
    return Pair(here, there, target, f"sign of record {target} of {records} flipped, all others -1")
