"""SPIDER baselines on an explicit objective: DP-SPIDER, Sto-SPIDER and Ada-DP-SPIDER. All are reconstructions.

``dp_spider``       refresh every q steps, clipped noisy gradient differences in between (Arora et al. 2023).
``sto_spider``      refresh when the drift, sum |x_t - x_{t-1}|^2 since the last one, passes kappa; at a small gradient
                    one larger Gaussian step, then `frozen_steps` without another (Liu/Ganesh et al. 2023).
``ada_dp_spider``   the same drift rule; at a small gradient a step drawn uniformly from a ball, as in perturbed
                    gradient descent, whose effect is judged after `frozen_steps` (Tao et al. 2025).

Guarantee: that of at most T releases of sensitivity 2 C / B. Cite: minimax_sosp, Tables 1, 2; arora2023.
"""

from __future__ import annotations

from functools import partial
from typing import Literal, Protocol

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array, Indices

from .baseline_schedule import BaselineSchedule
from .dp_rgda import Result, uniform_ball

Refresh = Literal["period", "drift"]
Perturbation = Literal["none", "gaussian", "ball"]


class ExplicitObjective(Protocol):
    """A finite sum with per-sample gradients in x alone."""

    @property
    def n(self) -> int:
        """Number of records."""

    @property
    def d(self) -> int:
        """Dimension of x."""

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (b, d)."""


def _spider(
    refresh: Refresh,
    perturbation: Perturbation,
    problem: ExplicitObjective,
    schedule: BaselineSchedule,
    tape: Tape,
    start: Array | None = None,
) -> Result:
    s = schedule
    x = np.zeros(problem.d) if start is None else start
    before, estimate, drift, frozen = x, np.zeros_like(x), np.inf, 0
    iterates, phases = [x], []
    for t in range(s.outer_steps):
        again = t % s.period == 0 if refresh == "period" else drift >= s.drift_limit
        if again:
            estimate, drift = _release(problem, s, tape, "refresh", x, None), 0.0
        else:
            estimate = estimate + _release(problem, s, tape, "difference", x, before)
        step, phase = -s.step_x * estimate, "refresh" if again else "difference"
        if perturbation != "none" and frozen <= 0 and float(np.linalg.norm(estimate)) <= s.tolerance:
            kick = tape.public("perturb", partial(_kick, perturbation, x.size, s.perturbation))
            step, phase, frozen = step + kick, "perturb", s.frozen_steps
        frozen -= 1
        before, x = x, x + step
        drift += float(step @ step)
        iterates.append(x)
        phases.append(phase)
    return Result(x, np.array(iterates), tuple(phases))


def _release(
    problem: ExplicitObjective, s: BaselineSchedule, tape: Tape, label: str, x: Array, before: Array | None
) -> Array:
    """A noisy mean of clipped gradients, or of clipped differences to the point before."""
    size = s.refresh_batch if before is None else s.step_batch
    indices, batch = draw_records(tape, f"{label}/samples", problem.n, size)
    rows = problem.value_gradients(x, indices)
    if before is not None:
        rows = rows - problem.value_gradients(before, indices)
    sensitivity = 2 * s.clip / size
    mean = clip_rows(rows, s.clip).mean(axis=0)
    released: Array = tape.gaussian(label, mean, std=s.multiplier * sensitivity, sensitivity=sensitivity, batch=batch)
    return released


def _kick(kind: Perturbation, dimension: int, size: float, rng: np.random.Generator) -> Array:
    if kind == "ball":
        return uniform_ball(rng, dimension, size)
    noise: Array = size * rng.standard_normal(dimension)
    return noise


dp_spider = partial(_spider, "period", "none")
sto_spider = partial(_spider, "drift", "gaussian")
ada_dp_spider = partial(_spider, "drift", "ball")
