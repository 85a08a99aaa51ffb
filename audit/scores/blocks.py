"""Marks by which a file of scores is known again, so that the same runs are not counted twice.

Two marks are kept for each side: of the values in their order (with their count, so that a longer file that begins with
them is recognised too), and of the sorted values (so that another order or file format makes no difference). A mark is
only set where chance cannot make two honest files alike: a file of ten zeros looks like any other.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection

import numpy as np
from scipy.special import gammaln

from dpassay.reference.arrays import Array

NATS = 25.0  # two honest files coincide with probability exp(-NATS) = 1.4e-11 at most, or they get no mark


def marks(scores: Array) -> tuple[str, ...]:
    """The marks of one side, none when its scores say too little to be known again."""
    _, counts = np.unique(scores, return_counts=True)
    in_order = -float((counts * np.log(counts / scores.size)).sum())  # -log of the chance to draw the same again
    ways = float(gammaln(scores.size + 1) - gammaln(counts + 1).sum())
    found = [f"{scores.size} in order: {_digest(scores)}"] if in_order >= NATS else []
    return (*found, f"sorted: {_digest(np.sort(scores))}") if in_order - ways >= NATS else tuple(found)


def seen_before(scores: Array, kept: Collection[str]) -> bool:
    """Is one of the kept marks a mark of these scores, or of their beginning?"""
    if set(marks(scores)) & set(kept):
        return True
    lengths = {int(mark.split()[0]) for mark in kept if " in order: " in mark}
    starts = (f"{size} in order: {_digest(scores[:size])}" for size in lengths if size < scores.size)
    return any(start in kept for start in starts)


def _digest(scores: Array) -> str:
    """SHA-256 of the values as little-endian doubles; -0.0 counts as 0.0."""
    return hashlib.sha256((scores + 0.0).astype("<f8").tobytes()).hexdigest()[:32]
