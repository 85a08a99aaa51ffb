"""DP-SPIDER (arora2023, Algorithm 1): clipped noisy gradients every q steps, clipped noisy differences in between.

Minimises a finite sum. x_{t+1} = x_t - eta nabla_t, where nabla_t is refreshed or moved on by a difference.
Guarantee: that of the calibrated releases, each of sensitivity 2 C / B under replace-one. Cite: arora2023, Algorithm 1.
"""

from dataclasses import dataclass, replace
from math import inf
from typing import Literal

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.errors import require, require_at_least, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule
from dpassay.reference.problems.interfaces import Flat, PerSample
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

from .protocols import Path

EQUAL = Multipliers({"refresh": 1.0, "difference": 1.0})


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the labels "refresh" and "difference"."""

    n: int
    steps: int  # T
    period: int  # q
    refresh_batch: int
    step_batch: int
    clip: float  # C, of a gradient
    difference_clip: float
    step_size: float  # eta
    noise: NoiseRule
    smoothness: float = inf  # a difference is also clipped at ``smoothness`` times the length of the last step
    select: Literal["last", "random"] = "last"  # which iterate is returned
    start: Array | None = None  # x_0, shape (d,); None is zero

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "period", "refresh_batch", "step_batch")
        for field in ("refresh_batch", "step_batch"):
            require(getattr(self, field) <= self.n, field, getattr(self, field), f"must be <= n = {self.n}")
        require_positive(self, "clip", "difference_clip", "smoothness", "step_size")

    def threshold(self, moved: float) -> float:
        """Where a difference is clipped after a step of this length."""
        return self.difference_clip if self.smoothness == inf else min(self.difference_clip, self.smoothness * moved)


def calibrated(schedule: Schedule, epsilon: float, delta: float, shares: Multipliers = EQUAL) -> Schedule:
    """Noise for the budget; ``shares`` says how the multipliers of refreshes and differences relate."""
    dry = replace(schedule, noise=shares, start=None)
    return replace(schedule, noise=noise_for(run, dry, Flat(schedule.n), epsilon, delta).noise)


def run(problem: PerSample, schedule: Schedule, tape: Tape) -> Path:
    """The last iterate or a uniformly random one of x_1..x_T, with the whole path."""
    s = schedule
    x = begin_at(s.start, np.zeros(problem.d))
    chosen = s.steps
    if s.select == "random":
        chosen = tape.public("select", lambda rng: int(rng.integers(1, s.steps + 1)))
    before, estimate, iterates = x, np.zeros_like(x), [x]
    for t in range(s.steps):
        # GRADIENT
        refresh = t % s.period == 0
        label, size = ("refresh", s.refresh_batch) if refresh else ("difference", s.step_batch)
        indices, batch = draw_records(tape, f"{label}/samples", problem.n, size)
        rows = problem.gradients(x, indices)
        if not refresh:
            rows = rows - problem.gradients(before, indices)
        # CLIP
        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before)))
        mean = clipped_mean(rows, threshold, "each")
        # NOISE
        sensitivity = 2 * threshold / size
        noisy = tape.gaussian(label, mean, std=s.noise.std(label, sensitivity), sensitivity=sensitivity, batch=batch)
        estimate = noisy if refresh else estimate + noisy
        # STEP
        before, x = x, x - s.step_size * estimate
        iterates.append(x)
    return Path(iterates[chosen], np.array(iterates))
