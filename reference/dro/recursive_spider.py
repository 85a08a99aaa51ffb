"""DP Recursive-SPIDER (paper ``dro``, Algorithm 3): private compositional descent for KL-divergence DRO.

Minimises Psi(x, lambda) = lambda log(mean exp(loss_i(x) / lambda)) + lambda rho over x and lambda >= lambda_0, eq. (5),
for losses >= 0: v estimates the x-gradient and u the lambda-gradient of the inner function g, s its value (STORM).
Claimed guarantee: (epsilon, delta)-DP with the noise of Theorems 3 and 8. Readings, by switches of the schedule:

printed    lines 13-14 without the previous estimate; line 16 with g(w_t; xi) twice, one record per step; noise of
           differences after ||x_t - x_{t-1}|| for v and |lambda_t - lambda_{t-1}| for u (Theorem 3), or after neither
           (Theorem 8, which drops the factor).
repaired   differences are added to the previous estimate, clipped at min(C, L ||w_t - w_{t-1}||) with noise in
           proportion; s over a batch, with the proof's recursion (Lemma 8) and its true sensitivity.

Completions of the printed text, in both readings: lambda starts at ``start_temperature`` (line 1 sets it to zero, where
g is undefined) and is kept >= lambda_0 (eq. (5)); s is floored at 1 where it is divided by or its log is taken (g >= 1
for a loss >= 0, and the proof of Lemma 7 uses s >= 1); w_1 = w_0; u, v and s are zero, zero and one before their first
update; eta and beta are constants (Theorem 8 and Lemma 9 define each through the other).

Cite: ``dro``, Algorithm 3, Theorems 3, 4, 8, Lemma 8.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array, Indices

from .objective import CompositionalObjective


@dataclass(frozen=True)
class InnerEstimator:
    """How v (or u) is estimated.

    Args:
        refresh_batch, refresh_clip, refresh_std: b_1, C_1, sigma_1 (b_3, C_3, sigma_3).
        batch, clip: b_2, C_2 (b_4, C_4) of the differences.
        std_per_move, std_cap: noise of a difference is min(std_per_move * move, std_cap), lines 11-12 (which cross
            sigma^_2 and sigma^_4; both are equal for b_2 = b_4).
    """

    refresh_batch: int
    refresh_clip: float
    refresh_std: float
    batch: int
    clip: float
    std_per_move: float
    std_cap: float


@dataclass(frozen=True)
class RecursiveSpiderSchedule:
    """Everything that Algorithm 3 takes as input, and the switches between its readings."""

    steps: int  # T
    phase: int  # q
    x: InnerEstimator  # v
    temperature: InnerEstimator  # u
    value_batch: int  # records behind s_t: 1 as printed
    value_clip: float  # C_5
    value_std: float  # sigma_{s_t}
    momentum: float  # beta
    step: float  # eta
    smoothness: float  # L, of the inner gradient in w: differences are claimed to be at most L ||w_t - w_{t-1}||
    first_refresh: int = 1  # refresh at t = first_refresh mod q: 0 as printed, 1 repaired
    accumulate: bool = True  # v_t = v_{t-1} + difference; False as printed
    moves: Literal["own", "none", "all"] = "all"  # noise of v follows ||dx|| (Theorem 3), nothing (Theorem 8), ||dw||
    adaptive_clip: bool = True  # clip differences at min(C, L ||dw||); False: at C
    recursion: Literal["printed", "proof"] = "proof"
    claimed_value_sensitivity: float | None = None  # what the noise formula takes for granted; None: the true one
    start_x: Array | None = None
    start_temperature: float = 1.0
    largest_temperature: float = np.inf  # lambda is kept at most this large: no cap as printed
    last: bool = False  # output the last iterate (a function of the releases too) instead of a random one
    note: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(self.phase >= 1, "phase", self.phase, "must be at least 1")
        require(0 < self.momentum <= 1, "momentum", self.momentum, "must lie in (0, 1]")
        require(self.value_clip >= 1, "value_clip", self.value_clip, "g = exp(loss / lambda) is at least 1")

    @property
    def value_sensitivity(self) -> float:
        """Largest change of the released part of s_t when one of ``value_batch`` records is replaced.

        Clipped values lie in [1, C_5], so beta * value ranges over beta (C_5 - 1) (recursion as printed), and
        value - (1 - beta) * previous value over (2 - beta) (C_5 - 1) (recursion of the proof).
        """
        coefficient = self.momentum if self.recursion == "printed" else 2.0 - self.momentum
        return coefficient * (self.value_clip - 1.0) / self.value_batch


@dataclass(frozen=True)
class RecursiveSpiderOutput:
    """Line 20: (w, v, u, s) at a uniformly random step."""

    x: Array
    temperature: float
    v: Array
    u: float
    s: float


State = tuple[Array, float]


def run(problem: CompositionalObjective, schedule: RecursiveSpiderSchedule, tape: Tape) -> RecursiveSpiderOutput:
    """Run Algorithm 3; v, u and s are releases, the rest is post-processing."""
    # SCHEDULE
    x = np.zeros(problem.dimension) if schedule.start_x is None else np.array(schedule.start_x, dtype=float)
    temperature = max(schedule.start_temperature, problem.floor)
    now, before = (x, temperature), (x, temperature)
    v, u, s = np.zeros(problem.dimension), 0.0, 1.0
    chosen = tape.public("select", lambda rng: int(rng.integers(1, schedule.steps + 1)))  # line 20
    selected = RecursiveSpiderOutput(x, temperature, v, u, s)

    for t in range(1, schedule.steps + 1):
        # GRADIENT, CLIP, NOISE: the inner gradients
        if (t - schedule.first_refresh) % schedule.phase == 0:  # line 4
            v = _refresh(problem, schedule, tape, "x", now)  # line 7
            u = float(_refresh(problem, schedule, tape, "temperature", now))  # line 8
        else:
            v_change = _difference(problem, schedule, tape, "x", now, before)  # line 13
            u_change = float(_difference(problem, schedule, tape, "temperature", now, before))  # line 14
            v, u = (v + v_change, u + u_change) if schedule.accumulate else (v_change, u_change)
        # GRADIENT, CLIP, NOISE: the inner value
        s = (1.0 - schedule.momentum) * s + _value_change(problem, schedule, tape, now, before)  # line 16
        # STEP
        safe = max(s, 1.0)
        slope = now[1] / safe  # derivative of f in its second argument
        in_temperature = slope * u + float(np.log(safe)) + problem.radius  # line 18
        if t == chosen:
            selected = RecursiveSpiderOutput(now[0], now[1], v, u, s)
        before = now
        lowered = now[1] - schedule.step * in_temperature
        lowered = min(max(lowered, problem.floor), schedule.largest_temperature)
        now = (now[0] - schedule.step * slope * v, lowered)  # line 17
    return RecursiveSpiderOutput(now[0], now[1], v, u, s) if schedule.last else selected


def _rows(problem: CompositionalObjective, which: str, w: State, records: Indices) -> Array:
    if which == "x":
        return problem.inner_x_gradients(*w, records)
    return problem.inner_temperature_gradients(*w, records)


def _refresh(
    problem: CompositionalObjective, schedule: RecursiveSpiderSchedule, tape: Tape, which: str, now: State
) -> Array:
    how = schedule.x if which == "x" else schedule.temperature
    records, batch = draw_records(tape, f"{which}/refresh batch", problem.n, how.refresh_batch)
    rows, spread = _rows(problem, which, now, records), 2.0 * how.refresh_clip
    if which == "temperature":  # -g loss / lambda^2 <= 0: clipped rows lie in [-C_3, 0], half as far apart
        rows, spread = np.minimum(rows, 0.0), how.refresh_clip
    mean = clipped_mean(rows, how.refresh_clip, "each")
    claimed = spread / how.refresh_batch
    return np.asarray(tape.gaussian(f"{which}/refresh", mean, std=how.refresh_std, sensitivity=claimed, batch=batch))


def _difference(
    problem: CompositionalObjective,
    schedule: RecursiveSpiderSchedule,
    tape: Tape,
    which: str,
    now: State,
    before: State,
) -> Array:
    how = schedule.x if which == "x" else schedule.temperature
    own = float(np.linalg.norm(now[0] - before[0])), abs(now[1] - before[1])
    move = float(np.hypot(*own))
    bound = min(how.clip, schedule.smoothness * move)  # what the proof of Theorem 8 takes for the norm
    records, batch = draw_records(tape, f"{which}/difference batch", problem.n, how.batch)
    rows = _rows(problem, which, now, records) - _rows(problem, which, before, records)
    mean = clipped_mean(rows, bound if schedule.adaptive_clip else how.clip, "each")
    if schedule.moves == "own":  # Theorem 3: sigma_2, sigma_4
        move = own[0] if which == "x" else own[1]
    elif schedule.moves == "none":  # Theorem 8
        move, bound = 1.0, how.clip
    std = min(how.std_per_move * move, how.std_cap)  # lines 11-12
    claimed = 2.0 * bound / how.batch
    return np.asarray(tape.gaussian(f"{which}/difference", mean, std=std, sensitivity=claimed, batch=batch))


def _value_change(
    problem: CompositionalObjective,
    schedule: RecursiveSpiderSchedule,
    tape: Tape,
    now: State,
    before: State,
) -> float:
    """The new part of s_t; (1 - beta) s_{t-1} is a function of earlier releases."""
    records, batch = draw_records(tape, "value batch", problem.n, schedule.value_batch)

    def clipped(w: State) -> Array:
        return np.clip(problem.inner_values(*w, records), 1.0, schedule.value_clip)

    other = clipped(now if schedule.recursion == "printed" else before)
    mean = np.mean(clipped(now) - (1.0 - schedule.momentum) * other)
    claimed = schedule.claimed_value_sensitivity
    claimed = schedule.value_sensitivity if claimed is None else claimed
    return float(tape.gaussian("value", mean, std=schedule.value_std, sensitivity=claimed, batch=batch))
