"""A non-private reference of the SCDRO type: stochastic compositional descent with momentum on Psi, eq. (5).

STORM estimates of the inner value and gradient, mini-batches, projection to lambda >= lambda_0. Nothing is released and
nothing is private (no CLIP, no NOISE); it shows what the private algorithms give up.
Cite: ``dro``, Section 5.1 (non-private baseline).
"""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape

from .objective import CompositionalObjective


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Inputs: T, batch size, step, momentum beta in (0, 1], start; lambda begins at 1."""

    steps: int
    batch_size: int
    step: float = 0.1
    momentum: float = 0.3
    start_x: Array | None = None
    longest_move: float = np.inf  # of x in one step: the differences of exp(loss / lambda) can overshoot

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(0 < self.momentum <= 1, "momentum", self.momentum, "must lie in (0, 1]")


def run(problem: CompositionalObjective, schedule: Schedule, tape: Tape) -> tuple[Array, float]:
    """The last (x, lambda)."""
    x = np.zeros(problem.d) if schedule.start_x is None else np.array(schedule.start_x, dtype=float)
    now = before = (x, max(1.0, problem.floor))
    estimate = np.zeros(problem.d + 2)  # (g, its gradient in x, its derivative in lambda)
    for t in range(schedule.steps):
        # GRADIENT
        records = tape.batch("batch", problem.n, schedule.batch_size).indices
        keep = 0.0 if t == 0 else 1.0 - schedule.momentum
        estimate = _inner(problem, now, records) + keep * (estimate - _inner(problem, before, records))
        value, x_slope, slope = max(float(estimate[0]), 1.0), estimate[1:-1], float(estimate[-1])
        outer = now[1] / value
        in_temperature = outer * slope + float(np.log(value)) + problem.radius
        # STEP
        lowered = max(now[1] - schedule.step * in_temperature, problem.floor)
        move = schedule.step * outer * x_slope
        move *= min(1.0, schedule.longest_move / max(float(np.linalg.norm(move)), 1e-300))
        before, now = now, (now[0] - move, lowered)
    return now


def _inner(problem: CompositionalObjective, w: tuple[Array, float], records: Indices) -> Array:
    value = problem.inner_values(*w, records).mean()
    slope = problem.inner_temperature_gradients(*w, records).mean()
    return np.concatenate([[value], problem.inner_x_gradients(*w, records).mean(axis=0), [slope]])
