"""DP-SGDA (yang2022, Algorithm 1): one noisy ascent step in y and one noisy descent step in x per iteration.

Solves min over x, max over y of a finite sum. Guarantee: that of the calibrated releases. Cite: yang2022, Algorithm 1.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.errors import require, require_at_least, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

from .protocols import Clipped, Game, Path

EQUAL = Multipliers({"y": 1.0, "x": 1.0})


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the labels "y" and "x"."""

    n: int
    steps: int  # T
    batch_x: int
    batch_y: int
    clip_x: float
    clip_y: float
    step_x: float
    step_y: float
    noise: NoiseRule
    alternating: bool  # whether the step in x already sees the new y
    start: tuple[Array, Array] | None = None  # None: where the problem begins

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "batch_x", "batch_y")
        for field in ("batch_x", "batch_y"):
            require(getattr(self, field) <= self.n, field, getattr(self, field), f"must be <= n = {self.n}")
        require_positive(self, "clip_x", "clip_y", "step_x", "step_y")


def calibrated(schedule: Schedule, epsilon: float, delta: float, shares: Multipliers = EQUAL) -> Schedule:
    """Noise for the budget; ``shares`` says how the multipliers of the labels relate."""
    dry = replace(schedule, noise=shares, start=None)
    return replace(schedule, noise=noise_for(run, dry, Clipped(Flat(schedule.n)), epsilon, delta).noise)


def run(problem: Game, schedule: Schedule, tape: Tape) -> Path:
    """The last x, with the whole path."""
    s = schedule
    x, y = map(begin_at, s.start or (None, None), problem.begin())
    iterates = [x]
    for _ in range(s.steps):
        # GRADIENT, CLIP
        indices, batch = draw_records(tape, "y/samples", problem.n, s.batch_y)
        query, sensitivity = problem.query_y(x, y, indices, s.clip_y)
        # NOISE
        noisy_y = tape.gaussian("y", query, std=s.noise.std("y", sensitivity), sensitivity=sensitivity, batch=batch)
        # STEP
        y_next = problem.ascend(y, noisy_y, s.step_y)
        # GRADIENT, CLIP
        indices, batch = draw_records(tape, "x/samples", problem.n, s.batch_x)
        query, sensitivity = problem.query_x(x, y_next if s.alternating else y, indices, s.clip_x, None)
        # NOISE
        noisy_x = tape.gaussian("x", query, std=s.noise.std("x", sensitivity), sensitivity=sensitivity, batch=batch)
        # STEP
        x, y = x - s.step_x * noisy_x, y_next
        iterates.append(x)
    return Path(x, np.array(iterates))
