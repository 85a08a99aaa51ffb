"""Where the claims of adaptive_batch must hold: records that keep to Assumption 3.1, small and awkward sizes.

Records are taken in index order, the strongest reading of "draw among unused": a secret order hides who comes when.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Literal

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.noise import Printed
from dpassay.reference.space import Rows, Sizes, Space, by_sizes

from . import stochastic_spider
from .stochastic_spider import Schedule
from .theorems import Constants
from .worst_case import SignedWave

WAVES = Rows(2, 1.0)
ALPHA = 0.9  # the largest that Theorem 3.17 knows, up to a tenth: b is 5 for d = 1
PRINTED_RECORDS = (12, 16, 60)  # the first so few that they run out
ALWAYS = 1e9  # a threshold of line 11 under which every gradient lies


def repaired(epsilon: float, delta: float) -> Space:
    """T = 1 and a power of two, epochs that end before T, data that run out, one and two escapes per refresh.

    ``near`` 1: line 11's threshold and kappa are of the size of the noise, and b_t grows so slowly that noise neither
    uses the data up nor ends an epoch; 2: all three are of the size of a true gradient, of norm 1 at most, so that a
    decision or a batch size from one would show.
    """
    return Space(
        rows=WAVES,
        sizes={
            "n": (6, 12, 30),
            "d": (1, 2),
            "steps": (1, 4, 5),
            "batch": (1, 3),
            "epoch": (2, 4),
            "escape_steps": (3,),
            "escapes": (1, 2),
            "near": (1, 2),
        },
        problem=_problem,
        schedule=by_sizes(_repaired, epsilon, delta),
        landmarks=_landmarks,
    )


def printed(
    source: str,
    epsilon: float,
    delta: float,
    steps: Sequence[int],
    refresh: Literal["bare", "tree"] = "tree",
    alpha: float = ALPHA,
    records: Sequence[int] = PRINTED_RECORDS,
) -> Space:
    """The parameters of the statement, cut to ``steps``; ``eager`` 1: never an escape, 2: as soon as line 11 may.

    ``records``: numbers of them, the first so small that they run out.
    """
    return Space(
        rows=WAVES,
        sizes={"n": records, "d": (1, 4), "steps": steps, "eager": (1, 2)},
        problem=_problem,
        schedule=partial(printed_schedule, source, epsilon, delta, refresh, alpha),
        landmarks=_landmarks,
    )


def _problem(rows: Array, sizes: Sizes) -> SignedWave:
    """The row (a, b) is the wave -a cos x_1 + b sin x_1: gradient b and Hessian a at zero, G = M = rho <= 1."""
    return SignedWave(np.hypot(rows[:, 0], rows[:, 1]), np.arctan2(rows[:, 1], rows[:, 0]), sizes["d"])


def _repaired(epsilon: float, delta: float, p: Sizes) -> Schedule:
    plain = Schedule(
        n=p["n"],
        d=p["d"],
        steps=p["steps"],
        step_size=0.01,
        threshold=12.0 if p["near"] == 1 else 0.5,
        batch=p["batch"],
        batch_slope=0.05 if p["near"] == 1 else 2.0,
        drift_limit=60.0 if p["near"] == 1 else 0.7,
        escape_limit=p["escapes"],
        escape_steps=p["escape_steps"],
        escape_radius=0.2,
        noise=Printed({"tree": 0.0, "escape": 0.0}),
        lipschitz=1.0,
        smoothness=1.0,
        hessian_lipschitz=1.0,
        refresh="tree",
        order="index",
    )
    return stochastic_spider.repaired(plain, epsilon, delta, p["epoch"])


def printed_schedule(
    source: str, epsilon: float, delta: float, refresh: Literal["bare", "tree"], alpha: float, sizes: Sizes
) -> Schedule:
    """The statement's schedule for these sizes."""
    constants = Constants(sizes["n"], sizes["d"], epsilon, delta)
    made = cut(constants, source, alpha, sizes["steps"], 0.0 if sizes["eager"] == 1 else ALWAYS)
    return replace(made, refresh=refresh)


def cut(constants: Constants, source: str, alpha: float | None, steps: int, threshold: float) -> Schedule:
    """The schedule of the theorem, cut to a few steps; records are taken in index order.

    `threshold` 0 keeps the run in plain descent, a large one starts an escape as soon as line 11 allows it.
    """
    full = stochastic_spider.printed(constants, source, alpha=alpha, check_data=False)
    return replace(full, steps=steps, threshold=threshold, order="index")


def _landmarks(schedule: Schedule) -> Mapping[str, Sequence[float]]:
    """Line 11's threshold, where b_t begins to grow, kappa; and steps that leave the ball of radius Xi."""
    decided = [1 / schedule.batch_slope, schedule.drift_limit]
    decided += [schedule.threshold] if 0 < schedule.threshold < ALWAYS else []
    nodes = [(first, last) for last in range(1, schedule.steps + 1) for first in range(1, last + 1)]
    return {
        **{f"tree/({first},{last})": decided for first, last in nodes},
        "refresh/bare": decided,
        "escape/gradient": (schedule.escape_radius / schedule.step_size,),
    }
