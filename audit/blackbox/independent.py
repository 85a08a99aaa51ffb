"""Two samples that were not drawn by themselves show nothing of a mechanism, and could accuse a right one."""

from __future__ import annotations

import numpy as np

from dpassay.reference.errors import require

from .table import Tables

DISTINCT, SAME = 20, 1e-9  # outputs that are needed to say so; of the spread, what rounding may move


def require_independent(tables: Tables) -> None:
    """Refuse two samples that were not drawn by themselves: outputs of one in the other, or one noise for both.

    By chance both cannot be: outputs that never repeat within a side hardly do between two independent ones, since two
    laws agree at most as often as the geometric mean of what each does with itself.
    """
    rows = [set(map(bytes, side)) for side in (tables.p, tables.q)]
    if min(len(rows[0]), len(rows[1])) < DISTINCT:
        return
    both = len(rows[0] & rows[1])
    fresh = all(len(some) == len(side) for some, side in zip(rows, (tables.p, tables.q), strict=True))
    require(
        both < DISTINCT or not fresh,
        "outputs",
        both,
        "are the same on both sides, though none comes back on its own: the runs on D and on D' must be independent",
    )
    if len(tables.p) != len(tables.q):
        return
    with np.errstate(invalid="ignore", over="ignore"):  # infinities, and what is nearly as large
        varied = np.ptp(tables.p, axis=0) > 0  # False where something is missing
    with np.errstate(invalid="ignore", over="ignore"):  # infinities, and what is nearly as large
        moved = np.subtract(tables.q[:, varied], tables.p[:, varied])
        same = np.ptp(moved, axis=0) <= SAME * np.ptp(tables.p[:, varied], axis=0)
    require(
        not (varied.any() and same.all()),
        "outputs",
        "one noise for both sides",
        "each on D' is the one on D plus a constant: the runs on D and on D' must be independent, with other seeds",
    )
