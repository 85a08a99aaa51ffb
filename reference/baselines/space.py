"""Where the claims of DP-SGD must hold: any finite rows (they are clipped), all kinds of batches."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Literal

from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.space import Rows, Sizes, Space

from . import dp_sgd

Batches = Literal["full", "fixed", "poisson"]


def space(batches: Batches, epsilon: float, delta: float) -> Space:
    """Batches of one, n that is no multiple of the batch, one step and several; each record has a constant gradient."""
    sizes = {"n": (1, 3, 5), "d": (1, 3), "steps": (1, 3)}
    return Space(
        rows=Rows("d", None),
        sizes=sizes if batches == "full" else {**sizes, "n": (1, 3, 8), "batch": (1, 2, 5)},
        problem=_problem,
        schedule=partial(_schedule, batches, epsilon, delta),
        fits=_fits,
    )


def _problem(rows: Array, sizes: Sizes) -> LinearLosses:
    return LinearLosses(rows)


def _fits(sizes: Sizes) -> bool:
    return sizes.get("batch", 0) < sizes["n"]


def _schedule(batches: Batches, epsilon: float, delta: float, sizes: Sizes) -> dp_sgd.Schedule:
    return _cached(batches == "poisson", epsilon, delta, sizes["n"], sizes["steps"], sizes.get("batch"))


@lru_cache(maxsize=1024)
def _cached(poisson: bool, epsilon: float, delta: float, n: int, steps: int, batch: int | None) -> dp_sgd.Schedule:
    silent = dp_sgd.Schedule(steps, 0.1, 1.0, Multipliers({"gradient": 0.0}), batch, poisson)
    return dp_sgd.calibrated(silent, n, epsilon, delta)
