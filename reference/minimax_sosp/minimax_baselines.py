"""Minimax baselines: DP-SGDA (Yang et al. 2022) and PrivateDiff Minimax (Zhang et al. 2025). Reconstructions.

``dp_sgda``        one noisy ascent step in y and one noisy descent step in x per iteration, on small batches.
``private_diff``   K noisy ascent steps in y, then x moves along a SPIDER estimate: a clipped gradient every q steps,
                   clipped gradient differences (in x and in y) in between.

Guarantee: that of the calibrated releases, each of sensitivity 2 C / B. Cite: yang2022; minimax_sosp, Table 2.
"""

from __future__ import annotations

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.problems.interfaces import MinimaxProblem
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .baseline_schedule import BaselineSchedule
from .dp_rgda import Result

Start = tuple[Array, Array] | None


def dp_sgda(problem: MinimaxProblem, schedule: BaselineSchedule, tape: Tape, start: Start = None) -> Result:
    """DP-SGDA from `start` = (x_0, y_0), zeros when not given."""
    s = schedule
    x, y = _start(problem, start)
    iterates = [x]
    for _ in range(s.outer_steps):
        y_next = problem.project(y + s.step_y * _ascent_gradient(problem, s, tape, x, y))
        x = x - s.step_x * _descent_gradient(problem, s, tape, "x", s.step_batch, (x, y), None)
        y = y_next
        iterates.append(x)
    return Result(x, np.array(iterates), ("step",) * s.outer_steps)


def private_diff(problem: MinimaxProblem, schedule: BaselineSchedule, tape: Tape, start: Start = None) -> Result:
    """PrivateDiff Minimax, as we read its description."""
    s = schedule
    x, y = _start(problem, start)
    before, estimate = (x, y), np.zeros_like(x)
    iterates = [x]
    for t in range(s.outer_steps):
        for _ in range(s.inner_steps):
            y = problem.project(y + s.step_y * _ascent_gradient(problem, s, tape, x, y))
        if t % s.period == 0:
            estimate = _descent_gradient(problem, s, tape, "refresh", s.refresh_batch, (x, y), None)
        else:
            estimate = estimate + _descent_gradient(problem, s, tape, "difference", s.step_batch, (x, y), before)
        before, x = (x, y), x - s.step_x * estimate
        iterates.append(x)
    return Result(x, np.array(iterates), ("step",) * s.outer_steps)


def _start(problem: MinimaxProblem, start: Start) -> tuple[Array, Array]:
    return start if start is not None else (np.zeros(problem.d), np.zeros(problem.d_y))


def _ascent_gradient(problem: MinimaxProblem, s: BaselineSchedule, tape: Tape, x: Array, y: Array) -> Array:
    indices, batch = draw_records(tape, "y/samples", problem.n, s.step_batch)
    mean = clip_rows(problem.gradients_y(x, y, indices), s.clip).mean(axis=0)
    sensitivity = 2 * s.clip / s.step_batch
    released: Array = tape.gaussian("y", mean, std=s.multiplier * sensitivity, sensitivity=sensitivity, batch=batch)
    return released


def _descent_gradient(
    problem: MinimaxProblem,
    s: BaselineSchedule,
    tape: Tape,
    label: str,
    size: int,
    point: tuple[Array, Array],
    before: tuple[Array, Array] | None,
) -> Array:
    indices, batch = draw_records(tape, f"{label}/samples", problem.n, size)
    rows = problem.gradients_x(*point, indices)
    if before is not None:
        rows = rows - problem.gradients_x(*before, indices)
    mean = clip_rows(rows, s.clip).mean(axis=0)
    sensitivity = 2 * s.clip / size
    released: Array = tape.gaussian(label, mean, std=s.multiplier * sensitivity, sensitivity=sensitivity, batch=batch)
    return released
