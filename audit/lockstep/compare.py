"""How the laws of two worlds compare, as numbers: distances, what rounding may add to them, mean densities."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.laws.law import Law
from dpassay.reference.transcript import Draw

from .worlds import Request

LEAST = 1e-12  # a query that moves by less moves by rounding, however small its sensitivity is


def exceeds(distance: float, sensitivity: float, one: Law, other: Law) -> bool:
    """Is a query moved by more than this, beyond rounding."""
    limit = sensitivity * (1 + 1e-9) + LEAST
    return distance > limit and distance > limit + rounding(one, other)


def rounding(one: Law, other: Law) -> float:
    """What rounding alone may move a query: after a huge released value its own size is the measure."""
    found = [law.moved() for law in (one, other)]
    return 1e-12 * max((float(np.max(np.abs(query), initial=0.0)) for query in found if query is not None), default=0.0)


def in_proportion(one: Request, other: Request) -> bool:
    """Both declare the same share of their noise scale as sensitivity: that it differs is said by the scale."""
    if one.sensitivity is None or other.sensitivity is None or one.law is None or other.law is None:
        return False
    crossed = one.sensitivity * other.law.scale, other.sensitivity * one.law.scale
    return math.isclose(*crossed, rel_tol=1e-9) and crossed[0] > 0


def joining(
    draws: Sequence[Draw], sensitivity: float | None, here: Sequence[Law], there: Sequence[Law]
) -> list[tuple[Sequence[Law], float]]:
    """For each side its laws, out of the batch first, and how far a record that joins a Poisson batch moves the query.

    Only Gaussian noise is amplified by half of the sensitivity; elsewhere there are none.
    """
    if len(draws) != 1 or draws[0].kind != "poisson" or draws[0].rate == 1 or sensitivity is None:
        return []
    costs = [(laws, laws[0].cost(sensitivity)) for laws in (here, there)]
    return [(laws, laws[0].distance(laws[1])) for laws, cost in costs if cost is not None and cost.kind == "gaussian"]


def mean_density(log_weights: Array, logs: Array) -> float:
    """Log of the mean density under these weights; one state is certain, its log weight is 0."""
    return float(logs[0]) if len(logs) == 1 else float(np.logaddexp.reduce(log_weights + logs))
