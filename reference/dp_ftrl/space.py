"""Where the claim of DP-FTRL must hold: any rows (they are clipped), a record present or taken out."""

from __future__ import annotations

from functools import partial

import numpy as np

from dpassay.reference.problems.linear import LinearLosses
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.types import Array

from .dp_ftrl import Schedule, printed, repaired

CLIP, REGULARISATION = 1.0, 2.0


def _problem(rows: Array, sizes: Sizes) -> LinearLosses:
    return LinearLosses(rows)


def _schedule(reading: str, epsilon: float, delta: float, sizes: Sizes) -> Schedule:
    make = printed if reading == "printed" else repaired
    return make(
        sizes["n"], sizes["d"], epsilon, delta, batch=sizes["batch"], clip=CLIP, regularisation=REGULARISATION
    )  # fmt: skip


def _fits(sizes: Sizes) -> bool:
    return sizes["batch"] <= sizes["n"]


def space(reading: str, epsilon: float, delta: float) -> Space:
    """Rows of any length; n that is no multiple of the batch, a power of two, one less and one more."""
    return Space(
        rows=Rows("d", None),
        sizes={"n": (1, 2, 3, 4, 5, 7, 8), "d": (1, 2), "batch": (1, 2, 3)},
        problem=_problem,
        schedule=partial(_schedule, reading, epsilon, delta),
        fits=_fits,
        relation="add-remove",
        absent=np.zeros(1),
    )
