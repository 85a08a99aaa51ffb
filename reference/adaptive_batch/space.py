"""Where the claims of adaptive_batch must hold: records that keep to Assumption 3.1, small and awkward sizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from dpassay.reference.noise import Printed
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.types import Array

from .stochastic_spider import Schedule, repaired
from .theorems import Constants, noise_stds
from .theorems import Sizes as Parameters
from .worst_case import SignedWave

SLOPE, KAPPA, RADIUS, THRESHOLD = 2.0, 60.0, 20.0, 30.0  # of the size of the repaired noise, so that escapes are common
Reading = Callable[[Schedule, float, float, int], Schedule]


def in_epochs(schedule: Schedule, epsilon: float, delta: float, epoch: int) -> Schedule:
    """The repaired reading, with epochs of this length."""
    return repaired(schedule, epsilon, delta, epoch)


def as_printed(source: str, schedule: Schedule, epsilon: float, delta: float, epoch: int) -> Schedule:
    """The noise of one of the three statements; a printed epoch has no length."""
    s = schedule
    p = Parameters(
        0.5, s.step_size, s.batch, s.drift_limit, s.batch_slope, s.escape_radius, s.escape_limit, s.escape_steps,
        s.steps,
    )  # fmt: skip
    tree_std, escape_std = noise_stds(Constants(s.n, s.d, epsilon, delta), source, p)
    return replace(s, noise=Printed({"tree": tree_std, "escape": escape_std}))


def unprotected(schedule: Schedule, epsilon: float, delta: float, epoch: int) -> Schedule:
    """The literal reading of line 5."""
    return replace(as_printed("Theorem 3.17", schedule, epsilon, delta, epoch), refresh="bare")


def space(reading: Reading, epsilon: float, delta: float, steps: Sequence[int] = (1, 2, 4, 7)) -> Space:
    """Waves of any strength and phase; T = 1, powers of two, data that run out, one and two escapes per refresh.

    Records are taken in index order, the strongest reading of "draw among unused": a secret order hides who comes when.
    """
    return Space(
        rows=Rows(2, 1.0),
        sizes={
            "n": (7, 30),
            "d": (1, 2),
            "steps": steps,
            "batch": (1, 2),
            "epoch": (2, 7),
            "escape_steps": (1, 3),
            "escapes": (1, 2),
        },
        problem=_problem,
        schedule=partial(_schedule, reading, epsilon, delta),
        landmarks=_landmarks,
    )


def _problem(rows: Array, sizes: Sizes) -> SignedWave:
    """The row (a, b) is the wave -a cos x_1 + b sin x_1: gradient b and Hessian a at zero, G = M = rho <= 1."""
    return SignedWave(np.hypot(rows[:, 0], rows[:, 1]), np.arctan2(rows[:, 1], rows[:, 0]), sizes["d"])


def _schedule(reading: Reading, epsilon: float, delta: float, sizes: Sizes) -> Schedule:
    return _cached(reading, epsilon, delta, tuple(sizes.items()))


@lru_cache(maxsize=4096)
def _cached(reading: Reading, epsilon: float, delta: float, sizes: tuple[tuple[str, int], ...]) -> Schedule:
    p = dict(sizes)
    plain = Schedule(
        n=p["n"],
        d=p["d"],
        steps=p["steps"],
        step_size=1.0,
        threshold=THRESHOLD,
        batch=p["batch"],
        batch_slope=SLOPE,
        drift_limit=KAPPA,
        escape_limit=p["escapes"],
        escape_steps=p["escape_steps"],
        escape_radius=RADIUS,
        noise=Printed({"tree": 0.0, "escape": 0.0}),
        lipschitz=1.0,
        smoothness=1.0,
        hessian_lipschitz=1.0,
        refresh="tree",
        order="index",
    )
    return reading(plain, epsilon, delta, p["epoch"])


def _landmarks(schedule: Schedule) -> Mapping[str, Sequence[float]]:
    """Line 11's threshold, lengths at which b_t grows, kappa; and steps that leave the ball of radius Xi."""
    decided = (schedule.threshold, 1 / schedule.batch_slope, schedule.drift_limit)
    nodes = [(first, last) for last in range(1, schedule.steps + 1) for first in range(1, last + 1)]
    return {
        **{f"tree/({first},{last})": decided for first, last in nodes},
        "refresh/bare": decided,
        "escape/gradient": (schedule.escape_radius / schedule.step_size,),
    }
