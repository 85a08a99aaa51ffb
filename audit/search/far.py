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
from .strategies import absent_row, width_of

Way = Literal["silent", "opposite", "all as the neighbour", "all along the first axis", "all along the last axis"]
EVERY: tuple[Way, ...] = get_args(Way)
WAYS: tuple[Way, ...] = ("silent", *EVERY[:3])  # of an example; norms of queries change the most where all falls silent

#: what may not differ between any two data sets; a query may move far, and batches may hold other records
ANYWHERE = frozenset(
    (Kind.CALL, Kind.LAW, Kind.NOISE_SCALE, Kind.BATCH_SIZE, Kind.PUBLIC_VALUE, Kind.REVEALED_VALUE, Kind.OUTPUT,
     Kind.EARLY_END, Kind.BARE_RELEASE, Kind.CLAIMED_SENSITIVITY)
)  # fmt: skip


def far_rows(space: Space, data: Data, way: Way) -> Array | None:
    """Another data set of the same sizes, shape (n, columns); None where this way leads nowhere.

    Under add-remove a record may only go or come, so the far data set is the one without any.
    """
    found, _, there = data.parts
    features = found[:, : width_of(space, there)]  # of the same memory
    if space.relation == "add-remove":
        return np.tile(absent_row(space, len(there)), (len(found), 1))
    if way == "all as the neighbour":
        found[:] = there
    elif way in EVERY[3:]:
        if space.rows.box is not None or features.size == 0:
            return None
        features[:] = 0.0
        features[:, 0 if way == EVERY[3] else -1] = space.rows.bound or 1.0
    elif space.rows.box is not None:
        features[:] = space.rows.box[way == "opposite"]
    else:
        features *= {"silent": 1e-6, "opposite": -1.0}[way]
    return None if np.array_equal(found, data.parts[0]) else found


def turning(ground: AllOf, data: Data, far: Array, parts: Callable[[Setting], bool]) -> Data:
    """Neighbours on the way from D to ``far``, between which the runs part, as they do between the two ends.

    Args:
        parts: do the runs of this setting differ in what may differ nowhere?
    """
    rows, _, _ = data.parts

    def way(count: int) -> Array:
        """D with so many records of ``far``."""
        return np.concatenate([far[:count], rows[count:]])

    low, high = 0, len(rows)
    while high - low > 1:
        middle = (low + high) // 2
        stretch = ground.between(data.sizes, way(low), way(middle), low)
        low, high = (low, middle) if parts(stretch) else (middle, high)
    return data.changed(rows=way(low), there=far[low].copy(), target=low)
