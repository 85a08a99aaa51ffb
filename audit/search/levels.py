"""Values by design, where chance hardly brings them together: all labels at the same landmark, or none with noise.

A decision on something private shows where a run comes to it and the released values leave it open: just beyond one
landmark and not the next, or as the true queries say, and with data that pull one way. So the largest sizes run with
such values for all labels at once, and each run is compared with every data set far away.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import NamedTuple

import numpy as np

from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.space import Sizes, Space

from .ground import Data, Landmarks
from .moves import SHRINK
from .smaller import resized


class Released(NamedTuple):
    """What is known of the releases under a label."""

    finite: bool  # finitely many outcomes
    vector: bool  # more than one number


SIZES = 7  # that are tried with values at every landmark
FEW = 2  # that are tried without noise, and with values along the first axis
_BEYOND = 1.005  # of a landmark
_FALLS = 0.2  # from one entry of a row to the next: none is zero, and the first does most


def largest(
    space: Space, data: Data, combinations: Sequence[Sizes], count: int, made: Callable[[Space, Data], Data]
) -> Iterator[Data]:
    """The data at the sizes with the most records, evenly spread, with rows that ``made`` changes."""
    most = max(sizes["n"] for sizes in combinations)
    among = [sizes for sizes in combinations if sizes["n"] == most]
    for sizes in among[:: -max(1, len(among) // count)][:count]:
        with suppress(Exception):  # rows that make no problem
            yield made(space, resized(space, data, sizes, 0))


def at_landmarks(labels: Mapping[str, Released], marks: Landmarks) -> Iterator[Script]:
    """Half as far out as the first landmark, then just beyond the first, the second, ..., with all labels at once."""
    distances = {label: sorted({abs(mark) for mark in marks.get(label, ())} - {0.0, inf}) for label in labels}
    distances = {label: found for label, found in distances.items() if found}
    for level in range(-1, max(map(len, distances.values()), default=-1)):
        sizes = {
            label: found[0] / 2 if level < 0 else _BEYOND * found[min(level, len(found) - 1)]
            for label, found in distances.items()
        }
        yield Script({label: Choice("norm", size=size, along="axis") for label, size in sizes.items()})


def one_by_one(labels: Mapping[str, Released], marks: Landmarks) -> Iterator[Script]:
    """Every value equal to its query; then just beyond its first landmark, vectors to either side along the first axis.

    Of finitely many outcomes it is the last one of all, or the first. Values that do not depend on the data stay what
    they are on the way to a data set far away, so that what parts the two ends parts neighbours too.
    """
    near = {
        label: min((abs(mark) for mark in found if 0 < abs(mark) < inf), default=0) for label, found in marks.items()
    }
    yield Script({label: Choice("index", index=-1) if one.finite else Choice("query") for label, one in labels.items()})
    for index in (-1, 0) if any(one.finite for one in labels.values()) else (-1,):
        for side in (1, -1):
            values = {}
            for label, one in labels.items():
                size = _BEYOND * near.get(label, 0) * (side if one.vector else 1)
                values[label] = Choice("norm", size=size, along="axis") if size else Choice("query")
                values[label] = Choice("index", index=index) if one.finite else values[label]
            yield Script(values)


def one_way(space: Space, data: Data) -> Data:
    """All records along the first axis, with one label, the target's on D' opposite; else as they are."""
    assert data.rows is not None and data.there is not None
    width = len(data.there) - bool(space.rows.labels)
    if space.rows.box is not None or space.relation == "add-remove" or not width:
        return data
    rows, there = data.rows.copy(), data.there.copy()
    rows[:, :width] = there[:width] = 0.0
    rows[:] = rows[data.target]
    rows[:, 0] = space.rows.bound or 1.0
    there[0] = -rows[0, 0]
    return Data(data.sizes, rows, there, data.target)


def turned(space: Space, data: Data) -> Data:
    """The target's row turned round, where that is allowed: a row with all entries, so that all it does differs."""
    assert data.rows is not None and data.there is not None
    width = len(data.there) - bool(space.rows.labels)
    if space.rows.box is not None or space.relation == "add-remove" or not width:
        return data
    rows, there, row = data.rows.copy(), data.there.copy(), _FALLS ** np.arange(width)
    row *= (space.rows.bound or 1.0) * SHRINK / np.linalg.norm(row)
    rows[data.target, :width], there[:width] = row, -row
    return Data(data.sizes, rows, there, data.target)
