"""DP-SGD with per-sample clipping: the known-good baseline that everybody can compare with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array, Indices


class PerSample(Protocol):
    """A finite-sum problem with per-sample gradients."""

    @property
    def n(self) -> int:
        """Number of records."""

    @property
    def d(self) -> int:
        """Number of parameters."""

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Gradients of the losses of these records at ``w``, shape (len(indices), d)."""


@dataclass(frozen=True)
class Schedule:
    """Parameters of DP-SGD. ``noise_multiplier`` is the noise std on the *sum* of clipped gradients, over ``clip``."""

    steps: int  # T
    learning_rate: float  # eta
    clip: float  # C
    noise_multiplier: float  # sigma
    batch_size: int | None = None  # None: full batch
    poisson: bool = False  # records join the batch independently, at rate batch_size / n

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.clip > 0, "clip", self.clip, "must be positive")
        require(self.noise_multiplier >= 0, "noise_multiplier", self.noise_multiplier, "must not be negative")
        require(not self.poisson or self.batch_size is not None, "batch_size", self.batch_size, "needed for poisson")


def run(problem: PerSample, schedule: Schedule, tape: Tape) -> Array:
    """Noisy gradient descent on clipped per-sample gradients (abadi2016, Algorithm 1).

    Guarantee: that of ``steps`` (sampled) Gaussian releases of sensitivity ``2 clip / batch_size`` under replace-one.
    Cite: abadi2016, Algorithm 1; full batch: bassily2014.

    Args:
        problem: losses with per-sample gradients.
        schedule: parameters.
        tape: all randomness.

    Returns:
        The last iterate, shape (d,); it is a function of the released gradients alone.
    """
    n = problem.n
    # SCHEDULE
    size = schedule.batch_size or n  # B; with Poisson sampling the expected size, a fixed divisor
    std = schedule.noise_multiplier * schedule.clip / size
    w = np.zeros(problem.d)
    for _ in range(schedule.steps):
        if schedule.batch_size is None:
            batch, indices = None, np.arange(n)
        else:
            batch = tape.poisson("batch", n, size / n) if schedule.poisson else tape.batch("batch", n, size)
            indices = batch.indices
        # GRADIENT
        gradients = problem.gradients(w, indices)
        # CLIP
        mean = clip_rows(gradients, schedule.clip).sum(axis=0) / size
        # NOISE
        released = tape.gaussian("gradient", mean, std=std, sensitivity=2 * schedule.clip / size, batch=batch)
        # STEP
        w = w - schedule.learning_rate * released
    return w
