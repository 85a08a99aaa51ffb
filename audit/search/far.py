"""Data sets that are far apart: a decision on the data shows between them, and then between two neighbours on the way.

Once the released values are fixed, calls, noise scales, public values and the output may not depend on the data at all,
whether the two data sets differ in one record or in all. A decision such as "is the true gradient small" parts two far
data sets easily, and neighbours only at the place where it turns. On the way from D to a far data set, one record at a
time, it turns somewhere between two neighbours: halving finds them. Only what the neighbours show is reported.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, get_args

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.findings import Kind
from dpassay.reference.space import Space

from .ground import AllOf, Data, Setting

Way = Literal["silent", "opposite", "all as the neighbour", "all along the first axis", "all along the last axis"]
EVERY: tuple[Way, ...] = get_args(Way)
WAYS: tuple[Way, ...] = ("silent", *EVERY[:3])  # of an example; norms of queries change the most where all falls silent

#: what may not differ between any two data sets; a query may move far, and batches may hold other records
ANYWHERE = frozenset(
    (
        Kind.CALL,
        Kind.LAW,
        Kind.NOISE_SCALE,
        Kind.BATCH_SIZE,
        Kind.PUBLIC_VALUE,
        Kind.REVEALED_VALUE,
        Kind.OUTPUT,
        Kind.EARLY_END,
        Kind.BARE_RELEASE,
        Kind.CLAIMED_SENSITIVITY,
    )
)


def far_rows(space: Space, data: Data, way: Way) -> Array | None:
    """Another data set of the same sizes, shape (n, columns); None where this way leads nowhere.

    Under add-remove a record may only go or come, so the far data set is the one without any.
    """
    assert data.rows is not None and data.there is not None
    if space.relation == "add-remove":
        return np.array(np.broadcast_to(0.0 if space.absent is None else space.absent, data.rows.shape), dtype=float)
    found = data.rows.copy()
    features = slice(None, -1 if space.rows.labels else None)
    if way == "all as the neighbour":
        found[:] = data.there
    elif way in EVERY[3:]:
        if space.rows.box is not None or data.rows[:, features].size == 0:
            return None
        found[:, features] = 0.0
        found[:, features][:, 0 if way == EVERY[3] else -1] = space.rows.bound or 1.0
    elif space.rows.box is not None:
        found[:, features] = space.rows.box[way == "opposite"]
    else:
        found[:, features] *= {"silent": 1e-6, "opposite": -1.0}[way]
    return None if np.array_equal(found, data.rows) else found


def turning(ground: AllOf, data: Data, far: Array, parts: Callable[[Setting], bool]) -> Data:
    """Neighbours on the way from D to ``far``, between which the runs part, as they do between the two ends.

    Args:
        parts: do the runs of this setting differ in what may differ nowhere?
    """
    assert data.rows is not None
    low, high = 0, len(data.rows)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if parts(_stretch(ground, data, far, low, middle)) else (middle, high)
    return _between(data, far, low)


def _stretch(ground: AllOf, data: Data, far: Array, start: int, end: int) -> Setting:
    """From D with ``start`` records of ``far`` to D with ``end`` of them."""
    return ground.between(data.sizes, _way(data, far, start), _way(data, far, end), start)


def _between(data: Data, far: Array, place: int) -> Data:
    return Data(data.sizes, _way(data, far, place), far[place].copy(), place)


def _way(data: Data, far: Array, count: int) -> Array:
    assert data.rows is not None
    return np.concatenate([far[:count], data.rows[count:]])
