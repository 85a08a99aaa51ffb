"""DP-SGD with per-sample clipping: the known-good baseline that everybody can compare with.

Minimises a finite sum: w_{t+1} = w_t - eta (mean of clipped per-record gradients + noise), projected where there is a
domain. Full batches, fixed-size batches or Poisson batches.
Guarantee: that of ``steps`` (sampled) Gaussian releases of sensitivity ``2 clip / batch_size`` under replace-one.
Cite: abadi2016, Algorithm 1; full batch: bassily2014.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers, NoiseRule
from dpassay.reference.problems.interfaces import Flat, PerSample
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the label "gradient"."""

    steps: int  # T
    learning_rate: float  # eta
    clip: float  # C
    noise: NoiseRule
    batch_size: int | None = None  # None: full batch
    poisson: bool = False  # records join the batch independently, at rate batch_size / n
    project: Callable[[Array], Array] | None = None  # on the domain of w; None: no constraint
    start: Array | None = None  # w_0, shape (d,); None is zero

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.clip > 0, "clip", self.clip, "must be positive")
        require(not self.poisson or self.batch_size is not None, "batch_size", self.batch_size, "needed for poisson")


def with_multiplier(
    steps: int,
    learning_rate: float,
    clip: float,
    noise_multiplier: float,
    batch_size: int | None = None,
    poisson: bool = False,
) -> Schedule:
    """By the ``noise_multiplier`` of the libraries: noise std on the *sum* of clipped gradients, over ``clip``.

    Replacing a record moves the sum by up to ``2 clip``, so noise over sensitivity is half of it.
    """
    require(noise_multiplier >= 0, "noise_multiplier", noise_multiplier, "must not be negative")
    noise = Multipliers({"gradient": noise_multiplier / 2})
    return Schedule(steps, learning_rate, clip, noise, batch_size, poisson)


def calibrated(schedule: Schedule, n: int, epsilon: float, delta: float) -> Schedule:
    """Noise for the budget, for data sets of ``n`` records (replace-one)."""
    dry = replace(schedule, noise=Multipliers({"gradient": 1.0}), project=None, start=None)
    return replace(schedule, noise=noise_for(run, dry, Flat(n), epsilon, delta).noise)


def path(problem: PerSample, schedule: Schedule, tape: Tape) -> tuple[Array, Array]:
    """All iterates w_0..w_T, shape (T + 1, d), and the released gradients, shape (T, d)."""
    s, n = schedule, problem.n
    size = s.batch_size or n  # B; with Poisson sampling the expected size, a fixed divisor
    w = begin_at(s.start, np.zeros(problem.d))
    iterates, gradients = [w], []
    for _ in range(s.steps):
        if size == n and not s.poisson:
            batch, indices = None, np.arange(n)
        else:
            batch = tape.poisson("batch", n, size / n) if s.poisson else tape.batch("batch", n, size)
            indices = batch.indices
        # GRADIENT
        rows = problem.gradients(w, indices)
        # CLIP
        mean = clip_rows(rows, s.clip).sum(axis=0) / size
        # NOISE
        std = s.noise.std("gradient", 2 * s.clip) / size
        released = tape.gaussian("gradient", mean, std=std, sensitivity=2 * s.clip / size, batch=batch)
        # STEP
        w = w - s.learning_rate * released
        w = w if s.project is None else s.project(w)
        iterates.append(w)
        gradients.append(released)
    return np.array(iterates), np.array(gradients)


def run(problem: PerSample, schedule: Schedule, tape: Tape) -> Array:
    """The last iterate, shape (d,); it is a function of the released gradients alone."""
    last: Array = path(problem, schedule, tape)[0][-1]
    return last
