"""What to say beside a verdict: nothing was varied, nothing came out, another claim would see more."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.types import Array

from .noise import Additive
from .table import Tables

DISTINCT, SAME = 20, 1e-9  # outputs that are needed to say so; of the spread, what rounding may move


def same_data(datasets: tuple[Any, Any]) -> list[str]:
    """D and D' that are equal cannot show anything."""
    first, second = (data.tolist() if isinstance(data, np.ndarray) else data for data in datasets)
    return ["D and D' are equal: no mechanism can be refuted on them."] if first == second else []


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
    varied = np.ptp(tables.p, axis=0) > 0  # False where something is missing
    moved = np.subtract(tables.q[:, varied], tables.p[:, varied])
    same = np.ptp(moved, axis=0) <= SAME * np.ptp(tables.p[:, varied], axis=0)
    require(
        not (varied.any() and same.all()),
        "outputs",
        "one noise for both sides",
        "each on D' is the one on D plus a constant: the runs on D and on D' must be independent, with other seeds",
    )


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


def of_the_claim(additive: Additive | None, pair_claimed: bool) -> list[str]:
    """Gaussian noise is judged far better by its curve than by one pair of it."""
    if additive is None or additive.noise != "gaussian" or not pair_claimed:
        return []
    moved = float(np.sqrt((((additive.answers[0] - additive.answers[1]) / additive.scales) ** 2).sum()))
    return [
        f"The outputs look Gaussian (these answers are {moved:.3g} deviations apart): if mu-GDP is what is claimed, "
        "--gdp MU tests the whole curve and sees far more than one pair of it."
    ]
