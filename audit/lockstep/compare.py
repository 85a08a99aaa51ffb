"""How the laws of two worlds compare, as numbers: distances, what rounding may add to them, mean densities."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.reference.laws.law import Law
from dpassay.reference.types import Array


def exceeds(distance: float, sensitivity: float, one: Law, other: Law) -> bool:
    """Is a query moved by more than this, beyond rounding."""
    limit = sensitivity * (1 + 1e-9) + 1e-12
    return distance > limit and distance > limit + rounding(one, other)


def rounding(one: Law, other: Law) -> float:
    """What rounding alone may move a query: after a huge released value its own size is the measure."""
    found = [law.moved() for law in (one, other)]
    return 1e-12 * max((float(np.max(np.abs(query), initial=0.0)) for query in found if query is not None), default=0.0)


def distances_of(here: Sequence[Law], there: Sequence[Law]) -> list[float]:
    """How far each state's query is moved."""
    return [one.distance(other) for one, other in zip(here, there, strict=True)]


def mean_density(log_weights: Array, logs: Array) -> float:
    """Log of the mean density under these weights; one state is certain, its log weight is 0."""
    return float(logs[0]) if len(logs) == 1 else float(np.logaddexp.reduce(log_weights + logs))
