"""DP-RGDA (minimax_sosp, Algorithm 2): descent with normalised steps, and perturb-and-monitor escape from saddles.

Minimises Phi(x) = max_y f(x, y). Guarantee claimed: (epsilon, delta)-DP and an alpha-SOSP of Phi (Theorems 1 and 2).
Every decision of this loop is a function of the estimates v_t that Algorithm 3 releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import sqrt

import numpy as np

from dpassay.reference.problems.interfaces import MinimaxProblem
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from .inner_updater import Status, inner_updater
from .schedule import Schedule


@dataclass(frozen=True, eq=False)
class Result:
    """The returned point, the iterates x_0.. (rows), and what the loop did at each step."""

    x: Array
    iterates: Array
    phases: tuple[str, ...]


def uniform_ball(rng: np.random.Generator, dimension: int, radius: float) -> Array:
    """A point drawn uniformly from the ball of the given radius."""
    direction = rng.standard_normal(dimension)
    scale = radius * rng.random() ** (1 / dimension) / np.linalg.norm(direction)
    point: Array = scale * direction
    return point


def dp_rgda(
    problem: MinimaxProblem, schedule: Schedule, tape: Tape, start: tuple[Array, Array] | None = None
) -> Result:
    """Run Algorithm 2 from `start` = (x_0, y_0), zeros when not given."""
    x, y = start if start is not None else (np.zeros(problem.d), np.zeros(problem.d_y))
    status = Status(x, x, y, np.zeros_like(x), np.zeros_like(y))
    escape, anchor, squares, since = False, None, 0.0, 0  # line 1; x_{m_s}, sum |v_j|^2, t - m_s
    iterates, phases = [x], []
    ball = partial(uniform_ball, dimension=x.size, radius=schedule.perturbation_radius)  # B_0(r)
    for t in range(schedule.outer_steps):  # line 2
        found = inner_updater(problem, schedule, tape, status, t)  # line 3
        x, v = status.x, found.v
        norm = float(np.linalg.norm(v))
        if not escape and norm >= schedule.tolerance:  # lines 4, 5
            x_next, phase = x - (schedule.descent_step / norm) * v, "descent"  # line 6
        elif not escape:
            escape, anchor, squares, since = True, x, 0.0, 0  # line 8
            x_next = x + tape.public("perturb", ball)  # line 9
            phase = "perturb"
        else:
            squares, since = squares + norm**2, since + 1
            movement = schedule.escape_step**2 * squares  # line 12
            allowed = since * schedule.average_movement
            if movement > allowed:  # line 13
                x_next = x - sqrt(allowed / squares) * v  # lines 14, 15
                escape, phase = False, "escaped"
            else:
                x_next, phase = x - schedule.escape_step * v, "escape"  # lines 17, 18
        status = Status(x_next, x, found.y, v, found.u)
        iterates.append(x_next)
        phases.append(phase)
        if escape and since == schedule.escape_threshold:  # line 19
            break
    return Result(status.x if anchor is None else anchor, np.array(iterates), tuple(phases))
