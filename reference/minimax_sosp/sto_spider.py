"""Sto-SPIDER (named in minimax_sosp, Tables 1 and 2; reconstruction): SPIDER that refreshes when it has drifted.

Minimises an explicit finite sum. A refresh comes when sum |x_t - x_{t-1}|^2 since the last one passes kappa; at a small
gradient one larger Gaussian step, then `frozen_steps` without another.
Guarantee: that of at most T releases of sensitivity 2 C / B. Cite: minimax_sosp, Tables 1 and 2 (after the SpiderBoost
with escape that adaptive_batch starts from).
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import inf

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.baselines.protocols import Path
from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.errors import require, require_at_least, require_positive
from dpassay.reference.noise import Multipliers, NoiseRule
from dpassay.reference.problems.interfaces import Flat, PerSample
from dpassay.reference.space import begin_at
from dpassay.reference.tape import Tape

COMPLETIONS = ("reconstruction: the paper names this method and prints neither its pseudocode nor its parameters",)
Kick = Callable[[np.random.Generator, int, float], Array]


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Public before the run; ``noise`` knows the labels "refresh" and "difference"."""

    n: int
    steps: int  # T
    refresh_batch: int
    step_batch: int
    clip: float  # C
    step_size: float
    drift_limit: float  # kappa
    tolerance: float  # gradient norm under which a saddle is suspected
    perturbation: float  # radius (or std) of the escape perturbation
    frozen_steps: int  # no second perturbation for so many steps
    noise: NoiseRule
    start: Array | None = None  # x_0, shape (d,); None is zero

    def __post_init__(self) -> None:
        require_at_least(1, self, "steps", "refresh_batch", "step_batch", "frozen_steps")
        for field in ("refresh_batch", "step_batch"):
            require(getattr(self, field) <= self.n, field, getattr(self, field), f"must be <= n = {self.n}")
        require_positive(self, "clip", "step_size")
        require_at_least(0, self, "drift_limit", "tolerance", "perturbation")


def costliest(schedule: Schedule) -> Schedule:
    """The same, but each step draws the larger of the two batches: no run can spend more."""
    limit = 0.0 if schedule.refresh_batch >= schedule.step_batch else inf
    return replace(schedule, drift_limit=limit, start=None)


def calibrated(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """Noise for the budget, one multiplier for all releases."""
    dry = replace(costliest(schedule), noise=Multipliers({"refresh": 1.0, "difference": 1.0}))
    return replace(schedule, noise=noise_for(run, dry, Flat(schedule.n), epsilon, delta).noise)


def gaussian_kick(rng: np.random.Generator, d: int, size: float) -> Array:
    """The larger step of Sto-SPIDER, shape (d,)."""
    return np.asarray(size * rng.standard_normal(d))


def run(problem: PerSample, schedule: Schedule, tape: Tape, kick: Kick = gaussian_kick) -> Path:
    """The last iterate, with the whole path; ``kick(rng, d, size)`` draws the step away from a saddle."""
    s = schedule
    x = begin_at(s.start, np.zeros(problem.d))
    before, estimate, drift, frozen, iterates = x, np.zeros_like(x), inf, 0, [x]
    for _ in range(s.steps):
        # GRADIENT
        refresh = drift >= s.drift_limit
        label, size = ("refresh", s.refresh_batch) if refresh else ("difference", s.step_batch)
        indices, batch = draw_records(tape, f"{label}/samples", problem.n, size)
        rows = problem.gradients(x, indices)
        if not refresh:
            rows = rows - problem.gradients(before, indices)
        # CLIP
        mean = clip_rows(rows, s.clip).mean(axis=0)
        # NOISE
        claim = 2 * s.clip / size
        noisy = tape.gaussian(label, mean, std=s.noise.std(label, claim), sensitivity=claim, batch=batch)
        estimate, drift = (noisy, 0.0) if refresh else (estimate + noisy, drift)
        # STEP
        step = -s.step_size * estimate
        if frozen <= 0 and float(np.linalg.norm(estimate)) <= s.tolerance:
            step = step + tape.public("perturb", lambda rng: kick(rng, problem.d, s.perturbation))
            frozen = s.frozen_steps
        frozen -= 1
        before, x = x, x + step
        drift += float(step @ step)
        iterates.append(x)
    return Path(x, np.array(iterates))
