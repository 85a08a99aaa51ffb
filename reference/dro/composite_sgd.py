"""DP-SGD on the composite variable z = (x, eta) (paper ``dro``, Section 3): the baseline of Remark 1.

Minimises L(z), eq. (3), treating x and eta as one vector: per-record gradients (d + 1 numbers) are clipped together.
Guarantee: that of T sampled Gaussian releases of sensitivity 2 C / b. Cite: ``dro``, Section 3; abadi2016, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array, Indices

from .calibration import Sequence, calibrated_ratios
from .objective import DualObjective


@dataclass(frozen=True)
class Schedule:
    """Inputs: T, batch size b, threshold C, noise std, step."""

    steps: int
    batch_size: int
    clip: float
    std: float
    step: float
    start: Array | None = None  # z_0, shape (d + 1,)

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.clip > 0, "clip", self.clip, "must be positive")


def calibrated(
    n: int, steps: int, batch_size: int, epsilon: float, delta: float, *, clip: float = 1.0, step: float = 0.1
) -> Schedule:
    """Noise by exact accounting."""
    ratio = calibrated_ratios((Sequence(steps, batch_size / n),), epsilon, delta)[0]
    return Schedule(steps, batch_size, clip, ratio * 2.0 * clip / batch_size, step)


def composite_gradients(problem: DualObjective, z: Array, records: Indices) -> Array:
    """Per-record gradient of L in z = (x, eta), shape (b, d + 1)."""
    x, eta = z[:-1], float(z[-1])
    return np.column_stack([problem.x_gradients(x, eta, records), problem.eta_gradients(x, eta, records)])


def run(problem: DualObjective, schedule: Schedule, tape: Tape) -> Array:
    """The last z, shape (d + 1,)."""
    # SCHEDULE
    z = np.zeros(problem.d + 1) if schedule.start is None else np.array(schedule.start, dtype=float)
    claimed = 2.0 * schedule.clip / schedule.batch_size
    for _ in range(schedule.steps):
        # GRADIENT
        records, batch = draw_records(tape, "batch", problem.n, schedule.batch_size)
        rows = composite_gradients(problem, z, records)
        # CLIP
        mean = clipped_mean(rows, schedule.clip, "each")
        # NOISE
        noisy = tape.gaussian("gradient", mean, std=schedule.std, sensitivity=claimed, batch=batch)
        # STEP
        z = z - schedule.step * noisy
    return z
