"""Baselines on the minimax form, eq. (2): max over distributions p of sum p_i loss_i - lambda D_psi(p, 1/n).

``run_sgda``           DP-SGDA: one noisy projected ascent step in p, one noisy descent step in x (yang2022).
``run_private_diff``   our reading of PrivateDiff Minimax (the paper names it, its text is not among the sources):
several
                       ascent steps per round, and for x clipped gradient differences with a refresh every q rounds.

Both release the weights' gradient, a vector of n losses: replacing record i moves coordinate i by at most the loss
clip. The x-gradient weights record i by n p_i, so its sensitivity follows the released p: 2 C max_i(p_i) n / b.
Guarantee: that of the calibrated releases. Cite: ``dro``, Section 5.1 and Appendix A.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array, Indices

from .calibration import Sequence, calibrated_ratios, refreshes
from .objective import SampleLoss
from .plan import Plan


@dataclass(frozen=True)
class MinimaxProblem:
    """Eq. (2) with the KL divergence (the paper's experiments): weight is lambda_0."""

    data: SampleLoss
    weight: float = 1.0

    @property
    def n(self) -> int:
        """Number of records."""
        return self.data.n

    @property
    def d(self) -> int:
        """Number of model parameters."""
        return self.data.d


@dataclass(frozen=True)
class Schedule:
    """Inputs of both baselines; ratios are std / sensitivity of (weights, x refresh, x difference)."""

    plan: Plan
    ascents: int  # steps in p per round
    loss_clip: float
    clip: float
    smoothness: float
    ratios: tuple[float, float, float]
    x_step: float
    weight_step: float


def calibrated(
    plan: Plan,
    epsilon: float,
    delta: float,
    *,
    differences: bool,
    ascents: int = 1,
    loss_clip: float = 3.0,
    clip: float = 1.0,
    smoothness: float = 2.0,
    x_step: float = 0.1,
    weight_step: float = 1e-4,
) -> Schedule:
    """Noise by exact accounting; without ``differences`` every x-gradient is a fresh one (DP-SGDA)."""
    often = refreshes(plan.steps, plan.phase) if differences else 0
    usual = Sequence(plan.steps - often, plan.batch / plan.n)
    sequences = (Sequence(plan.steps * ascents, 1.0), Sequence(often, plan.refresh / plan.n), usual)
    weights, refresh, other = calibrated_ratios(sequences, epsilon, delta)
    return Schedule(plan, ascents, loss_clip, clip, smoothness, (weights, refresh, other), x_step, weight_step)


def project_to_simplex(p: Array) -> Array:
    """Euclidean projection onto {p >= 0, sum p = 1} (sorting algorithm, Held, Wolfe and Crowder 1974)."""
    descending = np.sort(p)[::-1]
    excess = (np.cumsum(descending) - 1.0) / np.arange(1, len(p) + 1)
    last = int(np.flatnonzero(descending > excess)[-1])
    return np.asarray(np.maximum(p - excess[last], 0.0))


def run_sgda(problem: MinimaxProblem, schedule: Schedule, tape: Tape, start: Array | None = None) -> Array:
    """DP-SGDA: the last x, shape (d,)."""
    x, p = _start(problem, start), np.full(problem.n, 1.0 / problem.n)
    plan = schedule.plan
    for _ in range(plan.steps):
        p = _ascend(problem, schedule, tape, x, p)
        records, batch = draw_records(tape, "x batch", plan.n, plan.batch)
        rows = problem.data.loss_gradients(x, records)
        x = x - schedule.x_step * _weighted(schedule, tape, "x", rows, p, records, batch, schedule.clip)
    return x


def run_private_diff(problem: MinimaxProblem, schedule: Schedule, tape: Tape, start: Array | None = None) -> Array:
    """PrivateDiff Minimax, our reading: the last x, shape (d,)."""
    x, p = _start(problem, start), np.full(problem.n, 1.0 / problem.n)
    x_before, estimate = x, np.zeros(problem.d)
    plan = schedule.plan
    for t in range(plan.steps):
        for _ in range(schedule.ascents):
            p = _ascend(problem, schedule, tape, x, p)
        if t % plan.phase == 0:
            records, batch = draw_records(tape, "x refresh batch", plan.n, plan.refresh)
            rows = problem.data.loss_gradients(x, records)
            estimate = _weighted(schedule, tape, "x refresh", rows, p, records, batch, schedule.clip)
        else:  # the difference in x at the current weights; the change of the weights enters at the next refresh
            records, batch = draw_records(tape, "x batch", plan.n, plan.batch)
            rows = problem.data.loss_gradients(x, records) - problem.data.loss_gradients(x_before, records)
            threshold = min(2.0 * schedule.clip, schedule.smoothness * float(np.linalg.norm(x - x_before)))
            estimate = estimate + _weighted(schedule, tape, "x", rows, p, records, batch, threshold)
        x_before, x = x, x - schedule.x_step * estimate
    return x


def _start(problem: MinimaxProblem, start: Array | None) -> Array:
    return np.zeros(problem.d) if start is None else np.array(start, dtype=float)


def _ascend(problem: MinimaxProblem, schedule: Schedule, tape: Tape, x: Array, p: Array) -> Array:
    losses = np.minimum(problem.data.losses(x), schedule.loss_clip)
    std = schedule.ratios[0] * schedule.loss_clip
    noisy = tape.gaussian("losses", losses, std=std, sensitivity=schedule.loss_clip)
    gradient = noisy - problem.weight * np.log(np.maximum(problem.n * p, 1e-12))  # psi'(n p) for KL
    return project_to_simplex(p + schedule.weight_step * gradient)


def _weighted(
    schedule: Schedule,
    tape: Tape,
    label: str,
    rows: Array,
    p: Array,
    records: Indices,
    batch: Batch | None,
    clip: float,
) -> Array:
    """Noisy sum of p_i rows_i, scaled up from the batch; p is made of releases, so its largest entry is public."""
    scale = len(p) / len(records)
    sensitivity = 2.0 * clip * scale * float(p.max())
    query = scale * (p[records] @ clip_rows(rows, clip)) if clip > 0 else np.zeros(rows.shape[1])
    ratio = schedule.ratios[1] if label == "x refresh" else schedule.ratios[2]
    return np.asarray(tape.gaussian(label, query, std=ratio * sensitivity, sensitivity=sensitivity, batch=batch))
