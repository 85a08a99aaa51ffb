"""The value estimate s_t of Algorithm 3, line 16, alone: what one record per step costs.

s_t = Clip(g(w; xi), C_5) + (1 - beta) (s_{t-1} - Clip(g(w; xi), C_5)) + N(0, sigma^2) with one random record xi per
step. At a fixed w this is beta Clip(g) + (1 - beta) s_{t-1} + noise: the record that was drawn is released through one
Gaussian, and a given record is drawn with probability 1 / n. As g = exp(loss / lambda) >= 1, Clip(g) lies in [1, C_5]
and the sensitivity is Delta = beta (C_5 - 1). So each step is the pair (1 - 1/n) N(0, sigma^2) + (1/n) N(Delta,
sigma^2) against N(0, sigma^2). Theorem 3 draws noise as if Delta were O(1 / n).

Guarantee as printed: none at small delta: once sigma << Delta, delta is at least about 1 / n whatever epsilon is.
Cite: ``dro``, Algorithm 3 line 16, Theorems 3 and 8 (sigma_{s_t}).
"""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.tape import Tape

from .recursive_spider import BETA, sigma_s

COMPLETIONS = ("w fixed, beta = 1/2, C_5 = 3, G = 1, c = 1",)
REPAIRS = ("line 16: noise for sensitivity beta (C_5 - 1) at sampling rate 1/n",)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Inputs of line 16 at a fixed w."""

    n: int
    steps: int  # T
    momentum: float  # beta
    clip: float  # C_5
    sensitivity: float  # claimed for beta Clip(g)
    noise: Multipliers | Printed  # of "value": sigma_{s_t}

    def __post_init__(self) -> None:
        require(self.steps >= 1, "steps", self.steps, "must be at least 1")
        require(0 < self.momentum <= 1, "momentum", self.momentum, "must lie in (0, 1]")
        require(self.clip > 1, "clip", self.clip, "g = exp(loss / lambda) is at least 1")


def printed(n: int, steps: int, epsilon: float, delta: float, *, clip: float = 3.0) -> Schedule:
    """sigma_{s_t} of Theorem 3 with c = G = 1, made for a sensitivity of 2 G / n."""
    noise = Printed({"value": sigma_s(n, steps, epsilon, delta)})
    return Schedule(n, steps, BETA, clip, 2.0 / n, noise)


def repaired(n: int, steps: int, epsilon: float, delta: float, *, clip: float = 3.0) -> Schedule:
    """Noise for the true sensitivity, by exact accounting of what is drawn."""
    draft = Schedule(n, steps, BETA, clip, true_sensitivity(BETA, clip), Multipliers({"value": 1.0}))
    return noise_for(run, draft, np.ones(n), epsilon, delta)


def true_sensitivity(momentum: float, clip: float) -> float:
    """Largest change of beta Clip(g) when the drawn record is another: values lie in [1, C_5]."""
    return momentum * (clip - 1.0)


def run(values: Array, schedule: Schedule, tape: Tape) -> float:
    """s_T for per-record values g(w; xi_i), shape (n,), at least 1."""
    s = 1.0
    for _ in range(schedule.steps):
        # GRADIENT: none, a function value
        records, batch = draw_records(tape, "value batch", schedule.n, 1)
        # CLIP
        value = min(max(float(values[records].sum()), 1.0), schedule.clip)
        # NOISE
        query, sensitivity = schedule.momentum * value, schedule.sensitivity
        std = schedule.noise.std("value", sensitivity)  # sigma_{s_t}
        released = tape.gaussian("value", query, std=std, sensitivity=sensitivity, batch=batch)
        # STEP
        s = (1.0 - schedule.momentum) * s + float(released)  # line 16
    return s


def extreme_pair(n: int, clip: float) -> Pair[Array]:
    """Every value 1 but the target's, which is C_5 on D and 1 on D': the pair that the sampled Gaussian stands for."""
    there = np.ones(n)
    here = there.copy()
    here[0] = clip
    return Pair(here, there, 0, f"value C_5 = {clip:g} against 1, all others 1")
