"""DP-SPIDER on the composite variable z = (x, eta) (paper ``dro``, Section 3, citing arora2023): one estimate for both.

Minimises L(z), eq. (3). Every q steps the clipped gradient is refreshed, between them clipped differences are added;
the threshold of a difference is min(2 C, L ||z_t - z_{t-1}||) and its noise is in proportion.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 3; arora2023, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .calibration import Sequence, calibrated_ratios, refreshes
from .composite_sgd import composite_gradients
from .objective import DualObjective
from .plan import Plan


@dataclass(frozen=True)
class Schedule:
    """Inputs; the ratios are std / sensitivity of refreshes and of differences."""

    plan: Plan
    clip: float
    smoothness: float
    refresh_ratio: float
    difference_ratio: float
    step: float
    start: Array | None = None


def calibrated(
    plan: Plan, epsilon: float, delta: float, *, clip: float = 1.0, smoothness: float = 2.0, step: float = 0.1
) -> Schedule:
    """Noise by exact accounting."""
    often = refreshes(plan.steps, plan.phase)
    sequences = (Sequence(often, plan.refresh / plan.n), Sequence(plan.steps - often, plan.batch / plan.n))
    refresh, difference = calibrated_ratios(sequences, epsilon, delta)
    return Schedule(plan, clip, smoothness, refresh, difference, step)


def run(problem: DualObjective, schedule: Schedule, tape: Tape) -> Array:
    """A uniformly random z_t, shape (d + 1,)."""
    # SCHEDULE
    plan = schedule.plan
    z = np.zeros(problem.d + 1) if schedule.start is None else np.array(schedule.start, dtype=float)
    before, estimate, selected = z, np.zeros_like(z), z
    chosen = tape.public("select", lambda rng: int(rng.integers(1, plan.steps + 1)))
    for t in range(plan.steps):
        # GRADIENT, CLIP
        refresh = t % plan.phase == 0
        size = plan.refresh if refresh else plan.batch
        records, batch = draw_records(tape, "refresh batch" if refresh else "difference batch", plan.n, size)
        rows = composite_gradients(problem, z, records)
        threshold, ratio = schedule.clip, schedule.refresh_ratio
        if not refresh:
            rows = rows - composite_gradients(problem, before, records)
            threshold = min(2.0 * schedule.clip, schedule.smoothness * float(np.linalg.norm(z - before)))
            ratio = schedule.difference_ratio
        mean = clipped_mean(rows, threshold, "each")
        # NOISE
        sensitivity = 2.0 * threshold / size
        label = "refresh" if refresh else "difference"
        noisy = tape.gaussian(label, mean, std=ratio * sensitivity, sensitivity=sensitivity, batch=batch)
        estimate = noisy if refresh else estimate + noisy
        # STEP
        before, z = z, z - schedule.step * estimate
        if t + 1 == chosen:
            selected = z
    return np.asarray(selected)
