"""Neighbours that separate as far as clipping lets them: one rough record among identical ones.

The target's loss is amplitude * (1 + sign * wave(x_0)). A narrow wave has gradients that exceed any threshold and
change sign from one iterate to the next, so refreshes and differences are clipped at every step, and opposite signs put
two records at opposite ends. A sharp wave is a square wave with a fine ripple on it: the loss is either nearly 0 or
nearly 2 * amplitude, so that clipped function values reach both ends as well, and the ripple gives it a steep slope
that has the sign of the level (almost everywhere: a ripple ends in a jump). A wide wave is a loss that meets the
paper's assumptions with G = amplitude / width and L = amplitude / width^2.

All other records are equal, so the mixture over the target's participation is the exact likelihood. They are quiet
(no wave, the target has opposite signs on D and D'), or opposite (the wave with sign -1, like the target on D'): the
pair that makes a sample with the target differ most from one without.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, TypeVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair

from .divergences import Divergence
from .minimax_form import MinimaxProblem
from .objective import CompositionalObjective, DualObjective

P = TypeVar("P")
TARGET = 0
RIPPLE, FINER = 0.01, 1e-2  # height and width of the ripple on a sharp wave, relative to the wave's


@dataclass(frozen=True)
class RoughRecord:
    """A data set of ``n`` records of which record 0 is the target; implements ``SampleLoss``, losses are >= 0."""

    RECORDS: ClassVar[Records] = {"signs": (-1.0, 1.0), "sign": None, "others": None}

    n: int
    d: int
    sign: float  # of the target
    others: float = 0.0  # sign of all other records, 0: quiet
    amplitude: float = 0.5
    width: float = 1e-6
    phase: float = 0.7
    sharpness: float = 0.0  # 0: a sine

    def __post_init__(self) -> None:
        require(self.n >= 2, "n", self.n, "must be at least 2")
        require(self.d >= 1, "d", self.d, "must be at least 1")

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Loss of each selected record, shape (b,)."""
        return np.asarray(self.amplitude * (1.0 + self._signs(indices) * self._wave(float(parameters[0]))[0]))

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record, shape (b, d)."""
        first = self.amplitude * self._signs(indices) * self._wave(float(parameters[0]))[1]
        return np.concatenate([first[:, None], np.zeros((len(first), self.d - 1))], axis=1)

    def _wave(self, x: float) -> tuple[float, float]:
        """Value in [-1, 1] and derivative."""
        angle = x / self.width + self.phase
        if not self.sharpness:
            return math.sin(angle), math.cos(angle) / self.width
        level, fine = math.tanh(self.sharpness * math.sin(angle)), x / (FINER * self.width) + self.phase
        slope = self.sharpness * math.cos(angle) * (1.0 - level**2) / self.width
        turn = 2.0 * math.pi * (fine - math.floor(fine))
        height = (turn + 0.9 * math.sin(turn)) / math.pi - 1.0  # rises from -1 to 1, faster here than there
        steepness = 2.0 * (1.0 + 0.9 * math.cos(turn)) / (FINER * self.width)
        whole = 1.0 + RIPPLE
        return level * (1.0 + RIPPLE * height) / whole, (slope + level * RIPPLE * steepness) / whole

    @cached_property
    def signs(self) -> Array:
        """Of all records, shape (n,)."""
        return np.where(np.arange(self.n) == TARGET, self.sign, self.others)

    def _signs(self, indices: Indices | None) -> Array:
        return self.signs if indices is None else self.signs[indices]


def _pair(objective: Callable[[RoughRecord], P], n: int, d: int, opposite: bool, **shape: float) -> Pair[P]:
    one, other = (RoughRecord(n, d, sign, -1.0 if opposite else 0.0, **shape) for sign in (1.0, -1.0))
    rest = "others like the target on D'" if opposite else "others quiet"
    how = f"record 0: amplitude {one.amplitude:g}, width {one.width:g}, opposite signs; {rest}"
    return Pair(objective(one), objective(other), TARGET, how)


def dual_pair(
    divergence: Divergence, n: int, *, d: int = 3, opposite: bool = False, **shape: float
) -> Pair[DualObjective]:
    """Neighbours for Algorithm 2 and the baselines on L(x, eta); ``shape`` of the target's wave."""
    return _pair(lambda data: DualObjective(data, divergence, 1.0), n, d, opposite, **shape)


def compositional_pair(n: int, *, d: int = 3, opposite: bool = False) -> Pair[CompositionalObjective]:
    """Neighbours for Algorithm 3 on Psi(x, lambda); sharp with amplitude 1 where the others are opposite."""
    return _pair(CompositionalObjective, n, d, opposite, **({"amplitude": 1.0, "sharpness": 50.0} if opposite else {}))


def minimax_pair(n: int) -> Pair[MinimaxProblem]:
    """Neighbours for the baselines on eq. (2); sharp, so that a loss moves by 2 * amplitude = 1."""
    return _pair(MinimaxProblem, n, 3, False, sharpness=50.0)
