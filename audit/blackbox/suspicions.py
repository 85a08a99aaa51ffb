"""What to say beside a verdict: nothing was varied, nothing came out, another claim would see more."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpassay.reference.arrays import Array

from .power import Additive
from .table import Tables


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


def of_the_claim(additive: Additive | None, pair_claimed: bool) -> list[str]:
    """Gaussian noise is judged far better by its curve than by one pair of it."""
    if additive is None or additive.noise != "gaussian" or not pair_claimed:
        return []
    moved = float(np.sqrt((((additive.answers[0] - additive.answers[1]) / additive.scales) ** 2).sum()))
    return [
        f"The outputs look Gaussian (these answers are {moved:.3g} deviations apart): if mu-GDP is what is claimed, "
        "--gdp MU tests the whole curve and sees far more than one pair of it."
    ]
