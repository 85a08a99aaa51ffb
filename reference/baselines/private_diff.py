"""PrivateDiff Minimax (named in minimax_sosp and dro; our reading): ascents in y, a SPIDER estimate for x.

K noisy ascent steps in y; then x moves along an estimate that is a clipped gradient every q steps and is moved on by
clipped gradient differences in between.
Guarantee: that of the calibrated releases. Cite: minimax_sosp, Table 2; dro, Section 5.1.
"""

from dataclasses import dataclass, replace
from math import inf

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

EQUAL = Multipliers({"y": 1.0, "refresh": 1.0, "difference": 1.0})


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the labels "y", "refresh" and "difference"."""

    n: int
    steps: int  # T
    ascents: int  # K, steps in y per step in x
    period: int  # q
    refresh_batch: int
    step_batch: int
    batch_y: int
    clip: float  # of a gradient in x
    difference_clip: float
    clip_y: float
    step_x: float
    step_y: float
    noise: NoiseRule
    smoothness: float = inf  # a difference is also clipped at ``smoothness`` times the length of the last step in x
    start: tuple[Array, Array] | None = None  # None: where the problem begins

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "ascents", "period", "refresh_batch", "step_batch", "batch_y")
        for field in ("refresh_batch", "step_batch", "batch_y"):
            require(getattr(self, field) <= self.n, field, getattr(self, field), f"must be <= n = {self.n}")
        require_positive(self, "clip", "difference_clip", "smoothness", "clip_y", "step_x", "step_y")

    def threshold(self, moved: float) -> float:
        """Where a difference is clipped after a step of this length."""
        return self.difference_clip if self.smoothness == inf else min(self.difference_clip, self.smoothness * moved)


def calibrated(schedule: Schedule, epsilon: float, delta: float, shares: Multipliers = EQUAL) -> Schedule:
    """Noise for the budget; ``shares`` says how the multipliers of the labels relate."""
    dry = replace(schedule, noise=shares, start=None)
    return replace(schedule, noise=noise_for(run, dry, Clipped(Flat(schedule.n)), epsilon, delta).noise)


def run(problem: Game, schedule: Schedule, tape: Tape) -> Path:
    """The last x, with the whole path."""
    s = schedule
    x, y = map(begin_at, s.start or (None, None), problem.begin())
    before, estimate, iterates = (x, y), np.zeros_like(x), [x]
    for t in range(s.steps):
        for _ in range(s.ascents):
            # GRADIENT, CLIP
            indices, batch = draw_records(tape, "y/samples", problem.n, s.batch_y)
            query, sensitivity = problem.query_y(x, y, indices, s.clip_y)
            # NOISE
            noisy = tape.gaussian("y", query, std=s.noise.std("y", sensitivity), sensitivity=sensitivity, batch=batch)
            # STEP
            y = problem.ascend(y, noisy, s.step_y)
        # GRADIENT, CLIP
        refresh = t % s.period == 0
        label, size = ("refresh", s.refresh_batch) if refresh else ("difference", s.step_batch)
        threshold = s.clip if refresh else s.threshold(float(np.linalg.norm(x - before[0])))
        indices, batch = draw_records(tape, f"{label}/samples", problem.n, size)
        query, sensitivity = problem.query_x(x, y, indices, threshold, None if refresh else before)
        # NOISE
        noisy = tape.gaussian(label, query, std=s.noise.std(label, sensitivity), sensitivity=sensitivity, batch=batch)
        estimate = noisy if refresh else estimate + noisy
        # STEP
        before, x = (x, y), x - s.step_x * estimate
        iterates.append(x)
    return Path(x, np.array(iterates))
