"""DP Double-SPIDER (paper ``dro``, Algorithm 2): private variance-reduced descent on L(x, eta), eq. (3).

Minimises L(x, eta) = lambda mean psi*((loss_i(x) - G eta) / lambda) + G eta over the model x and the dual
variable eta.
Each variable has its own SPIDER estimate: a refresh every q steps, clipped gradient differences between.
Claimed guarantee: (epsilon, delta)-DP with the noise of Theorems 1 and 6. One code, two readings:

printed    clips the mean (lines 4, 6, 10, 12), noise as printed, sensitivity claimed as 2 C / N.
repaired   clips each record's term, noise ratios calibrated by exact accounting (``schedules.py``).

Cite: ``dro``, Algorithm 2, Theorems 1, 2, 6, 7.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import ClipMode, clipped_mean
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .objective import DualObjective

Point = tuple[Array, float]
Block = Literal["eta", "x"]


@dataclass(frozen=True)
class Estimator:
    """How one of the four estimates is made.

    Args:
        batch_size: records per estimate, N_1 .. N_4.
        clip: threshold C; for differences the cap of the iterate-dependent threshold.
        noise_ratio: standard deviation divided by the threshold in force, so that iterate-dependent
            thresholds get noise in proportion (Theorem 6: sigma_2 = ratio * C_2).
        per_x, per_eta: for differences, the threshold is min(clip, 2 max(per_x ||dx||, per_eta |deta|))
            (Theorem 6); both ``inf`` means the constant ``clip``.
    """

    batch_size: int
    clip: float
    noise_ratio: float
    per_x: float = np.inf
    per_eta: float = np.inf

    def threshold(self, x_move: float, eta_move: float) -> float:
        """C_2 or C_4 of Theorem 6, capped at ``clip``; a function of released iterates only."""
        if np.isinf(self.per_x) and np.isinf(self.per_eta):
            return self.clip
        return min(self.clip, 2.0 * max(self.per_x * x_move, self.per_eta * eta_move))


@dataclass(frozen=True)
class DoubleSpiderSchedule:
    """Everything that Algorithm 2 takes as input."""

    steps: int  # T
    phase: int  # q
    eta_refresh: Estimator  # line 4: N_1, C_1, sigma_1
    eta_difference: Estimator  # line 6: N_2, C_2, sigma_2
    x_refresh: Estimator  # line 10: N_3, C_3, sigma_3
    x_difference: Estimator  # line 12: N_4, C_4, sigma_4
    eta_step: float  # alpha
    x_step: float  # beta, before the cap
    move_cap: float = np.inf  # beta_t = min(beta, move_cap / ||v_t||), Theorem 7: 1 / (L_0 sqrt(n))
    clip_mode: ClipMode = "each"
    start_x: Array | None = None  # zeros when absent
    start_eta: float = 0.0
    last: bool = False  # output the last iterate (a function of the releases too) instead of a random one
    note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.phase >= 1, "phase", self.phase, "must be at least 1")


@dataclass(frozen=True)
class DoubleSpiderOutput:
    """The released model: a uniformly random iterate (line 17), and its dual variable."""

    x: Array
    eta: float


def run(problem: DualObjective, schedule: DoubleSpiderSchedule, tape: Tape) -> DoubleSpiderOutput:
    """Run Algorithm 2; every estimate is one release, the rest is post-processing."""
    # SCHEDULE
    x = np.zeros(problem.dimension) if schedule.start_x is None else np.array(schedule.start_x, dtype=float)
    eta = schedule.start_eta
    x_before, eta_before = x, eta
    g, v = 0.0, np.zeros(problem.dimension)
    chosen = tape.public("select", lambda rng: int(rng.integers(1, schedule.steps + 1)))  # line 17
    selected = DoubleSpiderOutput(x, eta)

    for t in range(schedule.steps):
        refresh = t % schedule.phase == 0  # lines 3, 9
        # GRADIENT, CLIP, NOISE: the dual variable
        if refresh:
            g = _refresh(problem, schedule, tape, "eta", (x, eta))  # line 4
        else:
            g = g + _difference(problem, schedule, tape, "eta", (x, eta), (x_before, eta_before))  # line 6
        # STEP: the dual variable
        eta_next = eta - schedule.eta_step * g  # line 8
        # GRADIENT, CLIP, NOISE: the model
        if refresh:
            v = _refresh(problem, schedule, tape, "x", (x, eta_next))  # line 10
        else:
            v = v + _difference(problem, schedule, tape, "x", (x, eta_next), (x_before, eta))  # line 12
        # STEP: the model
        length = float(np.linalg.norm(v))
        rate = min(schedule.x_step, schedule.move_cap / length if length > 0 else np.inf)  # Theorem 7
        x_before, eta_before = x, eta
        x, eta = x - rate * v, eta_next  # line 14
        if t + 1 == chosen:
            selected = DoubleSpiderOutput(x, eta)
    return DoubleSpiderOutput(x, eta) if schedule.last else selected


def _refresh(problem: DualObjective, schedule: DoubleSpiderSchedule, tape: Tape, block: Block, at: Point) -> Any:
    """A clipped batch mean of gradients in `block`, released."""
    how, gradients = (
        (schedule.eta_refresh, problem.eta_gradients) if block == "eta" else (schedule.x_refresh, problem.x_gradients)
    )
    records, batch = draw_records(tape, f"{block}/refresh batch", problem.n, how.batch_size)
    mean = clipped_mean(gradients(*at, records), how.clip, schedule.clip_mode)
    std, claimed = how.noise_ratio * how.clip, 2.0 * how.clip / how.batch_size
    return tape.gaussian(f"{block}/refresh", mean, std=std, sensitivity=claimed, batch=batch)


def _difference(
    problem: DualObjective, schedule: DoubleSpiderSchedule, tape: Tape, block: Block, now: Point, before: Point
) -> Any:
    """A clipped batch mean of gradient differences in `block`, released."""
    how, gradients = (
        (schedule.eta_difference, problem.eta_gradients)
        if block == "eta"
        else (schedule.x_difference, problem.x_gradients)
    )
    threshold = how.threshold(*_moves(now, before))
    records, batch = draw_records(tape, f"{block}/difference batch", problem.n, how.batch_size)
    mean = clipped_mean(gradients(*now, records) - gradients(*before, records), threshold, schedule.clip_mode)
    std, claimed = how.noise_ratio * threshold, 2.0 * threshold / how.batch_size
    return tape.gaussian(f"{block}/difference", mean, std=std, sensitivity=claimed, batch=batch)


def _moves(now: Point, before: Point) -> tuple[float, float]:
    return float(np.linalg.norm(now[0] - before[0])), abs(now[1] - before[1])
