"""Neighbours that separate as far as clipping lets them: one rough record among identical quiet ones.

The target's loss is offset + sign * amplitude * sin(x_0 / width). A narrow width gives gradients that exceed any
threshold and change sign from one iterate to the next, so refreshes and differences are clipped at every step, and
opposite signs on D and D' put them at opposite ends. A wide width gives a loss that meets the paper's assumptions with
G = amplitude / width and L = amplitude / width^2. All other records are equal, so the mixture over the target's
participation is the exact likelihood.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpassay.reference.dro.divergences import Divergence
from dpassay.reference.dro.minimax_baselines import MinimaxProblem
from dpassay.reference.dro.objective import CompositionalObjective, DualObjective
from dpassay.reference.errors import require
from dpassay.reference.lockstep import Pair

Array = NDArray[np.float64]
Indices = NDArray[np.int64]
TARGET = 0


@dataclass(frozen=True)
class RoughRecord:
    """A data set of ``n`` records of which record 0 is rough; implements ``SampleLoss``, losses are >= 0."""

    n: int
    dimension: int
    sign: float
    amplitude: float = 0.5
    width: float = 1e-6
    phase: float = 0.0

    def __post_init__(self) -> None:
        require(self.n >= 2, "n", self.n, "must be at least 2")
        require(self.dimension >= 1, "dimension", self.dimension, "must be at least 1")

    def losses(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Loss of each selected record, shape (b,)."""
        target = self._is_target(indices)
        wave = self.sign * self.amplitude * np.sin(parameters[0] / self.width + self.phase)
        return self.amplitude + np.where(target, wave, 0.0)

    def loss_gradients(self, parameters: Array, indices: Indices | None = None) -> Array:
        """Gradient of each selected record, shape (b, d)."""
        target = self._is_target(indices)
        rows = np.zeros((len(target), self.dimension))
        slope = self.sign * self.amplitude / self.width * np.cos(parameters[0] / self.width + self.phase)
        rows[:, 0] = np.where(target, slope, 0.0)
        return rows

    def _is_target(self, indices: Indices | None) -> NDArray[np.bool_]:
        return np.asarray((np.arange(self.n) if indices is None else indices) == TARGET)


def _two(n: int, dimension: int, amplitude: float, width: float, phase: float) -> tuple[RoughRecord, RoughRecord]:
    one, other = (RoughRecord(n, dimension, sign, amplitude, width, phase) for sign in (1.0, -1.0))
    return one, other


def dual_pair(
    divergence: Divergence,
    n: int,
    *,
    dimension: int = 3,
    width: float = 1e-6,
    amplitude: float = 0.5,
    weight: float = 1.0,
    phase: float = 0.7,
) -> Pair[DualObjective]:
    """Neighbours for Algorithm 2 and the baselines on L(x, eta)."""
    one, other = _two(n, dimension, amplitude, width, phase)
    text = f"record 0: amplitude {amplitude:g}, width {width:g}, opposite signs; {n - 1} quiet records"
    return Pair(DualObjective(one, divergence, weight), DualObjective(other, divergence, weight), TARGET, text)


def compositional_pair(
    n: int, *, dimension: int = 3, width: float = 1e-6, amplitude: float = 0.5, phase: float = 0.7
) -> Pair[CompositionalObjective]:
    """Neighbours for Algorithm 3 on Psi(x, lambda)."""
    one, other = _two(n, dimension, amplitude, width, phase)
    text = f"record 0: amplitude {amplitude:g}, width {width:g}, opposite signs; {n - 1} quiet records"
    return Pair(CompositionalObjective(one), CompositionalObjective(other), TARGET, text)


def minimax_pair(
    n: int, *, dimension: int = 3, width: float = 1e-6, amplitude: float = 0.5, phase: float = 0.7
) -> Pair[MinimaxProblem]:
    """Neighbours for the baselines on eq. (2)."""
    one, other = _two(n, dimension, amplitude, width, phase)
    text = f"record 0: amplitude {amplitude:g}, width {width:g}, opposite signs; {n - 1} quiet records"
    return Pair(MinimaxProblem(one), MinimaxProblem(other), TARGET, text)
