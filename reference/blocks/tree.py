"""The binary tree mechanism: private prefix sums, each record in at most ``1 + log2(horizon)`` noisy nodes.

Releasing prefix ``t`` as printed in adaptive_batch, Algorithm 1 (sum of the noises of NODE(t)) is the same as releasing
the noisy sums of the nodes of NODE(t), each once, and adding them up. Going from prefix ``t - 1`` to ``t``, exactly
one new node is needed: the one of length ``lowest set bit of t`` that ends at ``t``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.errors import require
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

if TYPE_CHECKING:
    from dpassay.reference.tape import Tape


def nodes(t: int) -> list[tuple[int, int]]:
    """NODE(t): the dyadic intervals ``(first, last)`` that make up ``1..t``, longest first (Algorithm 1, lines 8-16).

    For every t: as printed it stops short at t = Sigma = 2^m (``adaptive_batch/tree.py`` has that reading).

    >>> nodes(6)
    [(1, 4), (5, 6)]
    """
    require(t >= 0, "t", t, "must not be negative")
    found, start = [], 0
    for bit in range(t.bit_length() - 1, -1, -1):
        if t >> bit & 1:
            found.append((start + 1, start + (1 << bit)))
            start += 1 << bit
    return found


class TreeSum:
    """Noisy prefix sums of the values given to :meth:`add`, by one node release per step.

    Args:
        tape: where the nodes are released.
        label: label of every node's release; the node's interval is appended.
        std: noise standard deviation of each node.
    """

    def __init__(self, tape: Tape, label: str, *, std: float):
        self._tape, self._label, self._std = tape, label, std
        self._values: list[tuple[Array, float, tuple[Batch, ...]]] = []
        self._released: dict[tuple[int, int], Array] = {}

    def add(self, value: ArrayLike, *, sensitivity: float, batch: Batch | None = None) -> Array:
        """Add one value (whose own sensitivity is ``sensitivity``) and return the noisy sum of all so far."""
        self._values.append((np.asarray(value, float), sensitivity, () if batch is None else (batch,)))
        t = len(self._values)
        intervals = nodes(t)
        first, last = intervals[-1]
        members = self._values[first - 1 : last]
        # With fresh batches a record sits in one member only; otherwise it can move every member of the node.
        draws = self._tape.transcript.draws
        once = all(batches and draws[batches[0].draw].kind == "fresh" for _, _, batches in members)
        self._released[first, last] = self._tape.gaussian(
            f"{self._label}/({first},{last})",
            np.sum([value for value, _, _ in members], axis=0),
            std=self._std,
            sensitivity=(max if once else sum)([sensitivity for _, sensitivity, _ in members]),
            batch=tuple(one for _, _, batches in members for one in batches) or None,
        )
        total: Array = np.sum([self._released[interval] for interval in intervals], axis=0)
        return total
