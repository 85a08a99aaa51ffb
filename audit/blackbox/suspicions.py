"""Samples that show nothing of a mechanism: nothing was varied, nothing came out, or they were not drawn apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .table import Tables

DISTINCT, SAME = 20, 1e-9  # outputs that are needed to say so; of the spread, what rounding may move


def require_independent(tables: Tables) -> None:
    """Refuse two samples that were not drawn by themselves: outputs of one in the other, or one noise for both.

    They could accuse a right mechanism. By chance both cannot be: outputs that never repeat within a side hardly do
    between two independent ones, since two laws agree at most as often as the geometric mean of what each does with
    itself.
    """
    rows = [set(map(bytes, side)) for side in (tables.p, tables.q)]
    if min(map(len, rows)) < DISTINCT:
        return
    both, fresh = len(rows[0] & rows[1]), len(rows[0]) == len(tables.p) and len(rows[1]) == len(tables.q)
    why = "are the same on both sides, though none comes back on its own: the runs on D and on D' must be independent"
    require(both < DISTINCT or not fresh, "outputs", both, why)
    if len(tables.p) != len(tables.q):
        return
    with np.errstate(invalid="ignore", over="ignore"):  # infinities, and what is nearly as large
        spread = np.ptp(tables.p, axis=0)
        varied = spread > 0  # False where something is missing
        same = np.ptp(tables.q[:, varied] - tables.p[:, varied], axis=0) <= SAME * spread[varied]
    why = "each on D' is the one on D plus a constant: the runs on D and on D' must be independent, with other seeds"
    require(not (varied.any() and same.all()), "outputs", "one noise for both sides", why)


def same_data(datasets: tuple[Any, Any]) -> list[str]:
    """D and D' that are equal cannot show anything."""
    first, second = (data.tolist() if isinstance(data, np.ndarray) else data for data in datasets)
    return ["D and D' are equal: no mechanism can be refuted on them."] if first == second else []


def of_outputs(tables: Tables, outputs_p: Any, outputs_q: Any) -> list[str]:
    """Outputs that are missing or never change."""
    p, q, found = tables.p, tables.q, []
    if bool(_nothing(p, outputs_p) and _nothing(q, outputs_q)):
        found.append("All outputs are None or NaN: the mechanism gave nothing to judge.")
    elif bool(np.all((p == p[:1]) | np.isnan(p)) and np.all((q == p[:1]) | np.isnan(q))):
        found.append("All outputs are equal: a constant shows nothing of the data, or the mechanism does not run.")
    elif bool(np.isnan(p).mean() > 0.5 and np.isnan(q).mean() > 0.5):
        found.append("More than half of the entries are None or NaN.")
    return found


def _nothing(table: Array, outputs: Any) -> bool:
    if isinstance(outputs, np.ndarray):
        return bool(np.isnan(table).all())
    return all(one is None or (isinstance(one, float) and np.isnan(one)) for one in outputs)
