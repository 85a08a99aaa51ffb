"""The binary tree mechanism: private prefix sums, each record in at most ``1 + log2(horizon)`` noisy nodes.

Releasing prefix ``t`` as printed in adaptive_batch, Algorithm 1 (sum of the noises of NODE(t)) is the same as releasing
the noisy sums of the nodes of NODE(t), each once, and adding them up. Going from prefix ``t - 1`` to ``t``, exactly
one new node is needed: the one of length ``lowest set bit of t`` that ends at ``t``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.transcript import Batch

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


class _Term(NamedTuple):
    value: Array
    sensitivity: float
    batch: Batch | None
    fresh: bool  # of a fresh batch: a record sits in one such term only


def _sum(terms: list[Array]) -> Array:
    total: Array = np.add.reduce(np.array(terms), axis=0)
    return total


class TreeSum:
    """Noisy prefix sums ``X_t = S_t + TREE(t)``: the nodes of ``NODE(t)`` are released once each, and added up.

    The sum of a node is ``S_last - S_(first - 1)``, which also holds where :meth:`restart` began the sum anew. What is
    in both prefixes is left out, not subtracted: its rounding would carry a record into nodes that do not hold it.

    Args:
        tape: where the nodes are released.
        label: label of every node's release; the node's interval is appended.
        std: noise standard deviation of each node.
        nodes: NODE(t). What it leaves out of ``1..t`` is released without noise.
    """

    def __init__(self, tape: Tape, label: str, *, std: float, nodes: Callable[[int], list[tuple[int, int]]] = nodes):
        self._tape, self._label, self._std, self._nodes = tape, label, std, nodes
        self._terms: list[_Term] = []
        self._starts = [0]  # S_t is the sum of the terms with these numbers: _starts[t], ..., t - 1
        self._released: dict[tuple[int, int], Array] = {}

    def __len__(self) -> int:
        """t: how many values there were."""
        return len(self._terms)

    def add(self, value: ArrayLike, *, sensitivity: float, batch: Batch | None = None) -> Array:
        """S_t = S_(t-1) + ``value`` (whose own sensitivity is ``sensitivity``); returns X_t."""
        self.extend(value, sensitivity=sensitivity, batch=batch)
        return self.noisy()

    def extend(self, value: ArrayLike, *, sensitivity: float, batch: Batch | None = None) -> None:
        """S_t = S_(t-1) + ``value``; nothing is released."""
        self._starts.append(self._starts[-1])
        self._terms.append(self._term(value, sensitivity, batch))

    def restart(self, value: ArrayLike, *, sensitivity: float, batch: Batch | None = None) -> None:
        """S_t = ``value``: the sum begins anew while the tree goes on; nothing is released."""
        self._starts.append(len(self._terms))
        self._terms.append(self._term(value, sensitivity, batch))

    def _term(self, value: ArrayLike, sensitivity: float, batch: Batch | None) -> _Term:
        fresh = batch is not None and self._tape.transcript.draw(batch.draw).kind == "fresh"
        return _Term(np.asarray(value, float), sensitivity, batch, fresh)

    def noisy(self) -> Array:
        """X_t, from nodes that are released when they are first needed."""
        t = len(self._terms)
        intervals = self._nodes(t)
        for first, last in intervals:
            if (first, last) not in self._released:
                self._released[first, last] = self._node(first, last, self._std)
        covered = intervals[-1][1] if intervals else 0
        bare = [] if covered == t else [self._node(covered + 1, t, 0.0)]
        return _sum([*(self._released[interval] for interval in intervals), *bare])

    def _node(self, first: int, last: int, std: float) -> Array:
        start = self._starts[last]
        added = self._terms[max(start, first - 1) : last]  # in S_last, not in S_(first - 1)
        removed = self._terms[self._starts[first - 1] : min(start, first - 1)]
        moving = [*removed, *added]
        query = _sum([term.value for term in added])
        if removed:
            query = query - _sum([term.value for term in removed])
        # With fresh batches a record sits in one term only; otherwise it can move every term of the node.
        once = all(term.fresh for term in moving)
        value: Array = self._tape.gaussian(
            f"{self._label}/({first},{last})",
            query,
            std=std,
            sensitivity=(max if once else sum)([term.sensitivity for term in moving] or [0.0]),
            batch=tuple(term.batch for term in moving if term.batch is not None) or None,
        )
        return value
