"""Two camps of records, and a target that goes from one to the other.

Where an order decides (a median, a quantile, a majority, a spread), one record turns it only if the others are divided:
a statistic that nobody counted may then move by its whole range. Copies of one record, and silent ones, never show it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from dpassay.reference.types import Array

from .ground import Data
from .moves import Example, Terrain
from .smaller import resized

_HALVES = 6  # times that two halves are tried
_SHORT = 1e-3  # of the long row's length: it hardly counts, and is not zero
_SHORTER = 1e-9  # the same where rows are as long as they like: the threshold may lie anywhere in between


def camps(one: Example, on: Terrain) -> Iterator[Example]:
    """The target's own two rows as camps, or a long and a short one, at the largest sizes; then in other numbers.

    With sampled batches it is chance who meets whom: so the halves come several times, with the target elsewhere.
    """
    largest = max(on.combinations, key=lambda sizes: (sizes["n"], sum(sizes.values())))
    n = largest["n"]
    if n < 3:
        return
    whole = Example(resized(on.space, one.data, largest, one.data.target), one.script)
    for turn, size in enumerate([n // 2, (n - 1) // 2] * _HALVES + [*range(1, n - 1)]):
        yield divided(whole, on, size, turn, short=turn % 4 != 3)


def divided(one: Example, on: Terrain, size: int, turn: int, short: bool) -> Example:
    """``size`` of the other records are like the target on D, all others not; each turn deals them out anew."""
    rows, here, there, _ = one.parts
    n, gone = len(rows), on.space.relation == "add-remove"
    if _absent(on, here) if gone else np.linalg.norm(here) < np.linalg.norm(there):
        here, there = there, here  # so that it is present, or the longer one
    other = _short(here, on) if short or gone else there
    places = np.random.default_rng([turn, n]).permutation(n)
    rows[:] = other
    rows[places[: size + 1]] = here
    return Example(Data(one.data.sizes, rows, there if gone else other, int(places[0])), one.script)


def _short(row: Array, on: Terrain) -> Array:
    """The same row, hardly there; in a box, at the end that it is not at."""
    found, width = row.copy(), len(row) - bool(on.space.rows.labels)
    if on.space.rows.box is not None:
        low, high = on.space.rows.box
        found[:width] = low + high - row[:width]
    else:
        found[:width] *= _SHORT if on.space.rows.bound is not None else _SHORTER
    return found


def _absent(on: Terrain, row: Array) -> bool:
    return on.space.absent is not None and np.array_equal(row, np.broadcast_to(on.space.absent, row.shape))
