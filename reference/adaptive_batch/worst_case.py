"""Worst-case neighbours for the stochastic SPIDER: waves with signs, so that oracles move as far as they can.

f(x; z) = -s cos(x_1 + phase) for z = (s, phase), s in {-1, 0, 1}, in d dimensions: G = M = rho = 1.
At x = 0 the gradient is s sin(phase) e_1, the Hessian s cos(phase) e_1 e_1^T. One record changes its sign. All others
are the same, so a batch matters only through that record.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.interfaces import OfRecords


@dataclass(frozen=True, eq=False)
class SignedWave(OfRecords):
    """Signs (n,), phases (n,) and the number of coordinates."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n",)
    RECORDS: ClassVar[Records] = {"signs": (-1.0, 1.0), "phases": None}

    signs: Array
    phases: Array
    d: int = 1

    def value(self, x: Array) -> float:
        """Mean loss."""
        return -float(np.mean(self.signs * np.cos(x[0] + self.phases)))

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (b, d)."""
        along: Array = self.signs[indices] * np.sin(x[0] + self.phases[indices])
        return np.concatenate([along[:, None], np.zeros((len(indices), self.d - 1))], axis=1)

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample second derivatives, shape (b, d, d)."""
        along: Array = self.signs[indices] * np.cos(x[0] + self.phases[indices])
        first = np.concatenate([along[:, None], np.zeros((len(indices), self.d**2 - 1))], axis=1)
        return first.reshape(len(indices), self.d, self.d)


@dataclass(frozen=True)
class Scene:
    """Phase of the changed record; sign and phase of all others."""

    phase: float
    other_sign: float = 0.0
    other_phase: float = 0.0


def sign_flip(n: int, target: int, scene: Scene, d: int = 1) -> Pair[SignedWave]:
    """The pair in which record `target` has sign +1 here and -1 there."""
    require(0 <= target < n, "target", target, f"must lie in 0..{n - 1}")
    alike = SignedWave(np.full(n, scene.other_sign), np.full(n, scene.other_phase), d)
    here, there = (alike.replace(target, sign, scene.phase) for sign in (1.0, -1.0))
    text = f"sign of record {target} of {n} flipped, the others {scene.other_sign:g}, d = {d}"
    return Pair(here, there, target, text)
