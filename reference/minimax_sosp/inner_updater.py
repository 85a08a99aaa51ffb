"""Inner updater of DP-RGDA (minimax_sosp, Algorithm 3): K ascent steps with recursive gradient estimates.

Algorithm: at a refresh, v and u are clipped noisy mean gradients; then K times, noisy clipped mean differences are
added to both and y moves by a projected ascent step; the y with the smallest gradient mapping is kept.
Guarantee: none of its own; Theorems 1 and 2 claim (epsilon, delta)-DP for the whole run of Algorithm 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.blocks.batches import draw_records
from dpassay.reference.blocks.clipping import clipped_mean
from dpassay.reference.problems.interfaces import MinimaxProblem
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .schedule import Schedule


@dataclass(frozen=True, eq=False)
class Status:
    """What Algorithm 3 receives and hands back: x_t, x_{t-1}, y_t, v_{t-1}, u_{t-1}."""

    x: Array
    x_previous: Array
    y: Array
    v: Array
    u: Array


def inner_updater(problem: MinimaxProblem, schedule: Schedule, tape: Tape, status: Status, t: int) -> Status:
    """One call of Algorithm 3 at outer step t; returns y_{t+1}, v_t, u_t (x unchanged)."""
    x, y, v, u = status.x, status.y, status.v, status.u
    x_before, y_before = status.x_previous, y  # line 3: x_{t,-1} = x_{t-1}, y_{t,-1} = y_{t,0} = y_t
    refreshed = t % schedule.period == 0  # line 4
    if refreshed:
        v, u = _refresh(problem, schedule, tape, x, y)  # lines 5-8; lines 9, 10: otherwise v_{t-1} and u_{t-1} go on
    best: tuple[float, Array, Array, Array] | None = None
    for k in range(schedule.inner_steps):  # line 12
        if not (schedule.restart_at_refresh and refreshed and k == 0):  # repair: the refresh was at (x_t, y_t)
            v, u = _difference(problem, schedule, tape, (x, y, v, u), (x_before, y_before))  # lines 13-15
        y_next = problem.project(y + schedule.ascent_step * u)  # line 16
        mapping = float(np.linalg.norm(y - y_next)) / schedule.ascent_step  # |G~_lambda(y_{t,k})|, (28)
        if best is None or mapping < best[0]:
            best = (mapping, y, v, u)  # line 18
        x_before, y_before, y = x, y, y_next
    assert best is not None
    return Status(x, x, best[1], best[2], best[3])  # y_{t+1}, v_t, u_t


def _refresh(problem: MinimaxProblem, schedule: Schedule, tape: Tape, x: Array, y: Array) -> tuple[Array, Array]:
    """Lines 5 to 8: the noisy clipped gradients at (x_t, y_t)."""
    rule, clip = schedule.noise, schedule.clip_refresh
    indices, batch = draw_records(tape, "refresh/samples", problem.n, schedule.refresh_batch)  # line 5
    mean_v = clipped_mean(problem.gradients_x(x, y, indices), clip, schedule.clip_mode)
    mean_u = clipped_mean(problem.gradients_y(x, y, indices), clip, schedule.clip_mode)
    std, sensitivity = rule.refresh_std, rule.refresh_sensitivity  # line 1
    v: Array = tape.gaussian("refresh/v", mean_v, std=std, sensitivity=sensitivity, batch=batch)  # line 7
    u: Array = tape.gaussian("refresh/u", mean_u, std=std, sensitivity=sensitivity, batch=batch)  # line 8
    return v, u


def _difference(
    problem: MinimaxProblem,
    schedule: Schedule,
    tape: Tape,
    now: tuple[Array, Array, Array, Array],
    before: tuple[Array, Array],
) -> tuple[Array, Array]:
    """Lines 13 to 15: add the noisy clipped mean difference between the last two points."""
    (x, y, v, u), rule, clip = now, schedule.noise, schedule.clip_step
    indices, batch = draw_records(tape, "step/samples", problem.n, schedule.step_batch)  # line 13
    change_v = problem.gradients_x(x, y, indices) - problem.gradients_x(*before, indices)
    change_u = problem.gradients_y(x, y, indices) - problem.gradients_y(*before, indices)
    mean_v = clipped_mean(change_v, clip, schedule.clip_mode)
    mean_u = clipped_mean(change_u, clip, schedule.clip_mode)
    inner_move = float(np.linalg.norm(y - before[1]))
    std = rule.step_std + rule.step_std_per_move * inner_move  # line 2, or Appendix B.2
    moved = float(np.hypot(np.linalg.norm(x - before[0]), np.linalg.norm(y - before[1])))  # Assumption 2: x counts too
    sensitivity = rule.step_sensitivity + rule.step_sensitivity_per_move * moved
    noisy_v: Array = tape.gaussian("step/v", mean_v, std=std, sensitivity=sensitivity, batch=batch)  # line 14
    noisy_u: Array = tape.gaussian("step/u", mean_u, std=std, sensitivity=sensitivity, batch=batch)  # line 15
    return v + noisy_v, u + noisy_u
