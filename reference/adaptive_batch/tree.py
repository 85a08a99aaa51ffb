"""Tree mechanism (adaptive_batch, Algorithm 1): the node set, NODE(t) as printed, and noisy prefix sums.

Releasing X_t = sum_{i<=t} M_i + TREE(t) gives away exactly the noisy sums of the nodes, each once, so every node is a
Gaussian release of its own. As printed, NODE(t) stops short when t = Sigma is a power of two: its first step is
2^(ceil(log Sigma) - 1), so the nodes of t = Sigma cover 1..Sigma - 1 only and the last value is released bare.
"""

from __future__ import annotations

from math import floor, log2

import numpy as np

from dpassay.reference.blocks.tree import nodes
from dpassay.reference.errors import require
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

Interval = tuple[int, int]


def node_set(length: int) -> set[Interval]:
    """The set T of Algorithm 1, line 2, for sequence length Sigma."""
    require(length >= 1, "length", length, "must be at least 1")
    found = set()
    for level in range(1, floor(log2(length)) + 1):  # 1 <= l <= log Sigma
        width = 2 ** (level - 1)
        for j in range(length // width):  # 0 <= j <= Sigma / 2^(l-1) - 1
            found.add((j * width + 1, (j + 1) * width))
    return found


def printed_nodes(t: int, length: int) -> list[Interval]:
    """NODE(t) of Algorithm 1, lines 8 to 16, with log to base two."""
    require(1 <= t <= length, "t", t, f"must lie in 1..Sigma = {length}")
    depth = (length - 1).bit_length()  # ceil(log Sigma)
    found, k = [], 0  # line 10
    for i in range(1, depth + 1):  # line 11
        if k >= t:
            break
        after = k + 2 ** (depth - i)  # line 12
        if after <= t:  # line 13
            found.append((k + 1, after))
            k = after  # line 14
    return found


def uncovered(t: int, length: int) -> Interval | None:
    """What NODE(t) leaves out of 1..t as printed: (t, t) when t = Sigma is a power of two, else None."""
    intervals = printed_nodes(t, length)
    last = intervals[-1][1] if intervals else 0
    return None if last == t else (last + 1, t)


Members = tuple[tuple[Batch, float], ...]


class PrintedTree:
    """Noisy prefix sums X_t = S_t + TREE(t) for prefix values S_t given by the caller, with the printed NODE(t).

    The caller gives S_t itself (not its increments), as Algorithm 3, line 8 does: after a refresh the estimate starts
    anew while TREE(t) goes on, so a node's sum is S_last - S_{first - 1}, whatever lies between. It moves with a
    record that is a member of one of the two and not of the other.

    Args:
        tape: where the nodes are released.
        length: Sigma; NODE(t) depends on it.
        std: sigma_tree; what no node covers is released with standard deviation 0.
    """

    def __init__(self, tape: Tape, label: str, *, length: int, std: float):
        self._tape, self._label, self._length, self._std = tape, label, length, std
        self._prefix: list[tuple[Array | float, Members]] = [(0.0, ())]
        self._released: dict[Interval, Array] = {}

    def next(self, prefix: Array, members: Members) -> Array:
        """Release X_t for the next t; `members` are the batches that S_t depends on, with their sensitivities."""
        self.skip(prefix, members)
        t = len(self._prefix) - 1
        intervals = printed_nodes(t, self._length)
        bare = uncovered(t, self._length)
        for interval in intervals:
            if interval not in self._released:
                self._released[interval] = self._release(interval, self._std)
        total: Array = np.sum([self._released[interval] for interval in intervals], axis=0) if intervals else 0 * prefix
        return total if bare is None else total + self._release(bare, 0.0)

    def skip(self, prefix: Array, members: Members) -> None:
        """Let t advance without a release of X_t."""
        self._prefix.append((prefix, members))

    def _release(self, interval: Interval, std: float) -> Array:
        first, last = interval
        (end, with_end), (start, with_start) = self._prefix[last], self._prefix[first - 1]
        moving = set(with_end) ^ set(with_start)
        released: Array = self._tape.gaussian(
            f"{self._label}/({first},{last})",
            end - start,
            std=std,
            sensitivity=max((claim for _, claim in moving), default=0.0),
            batch=tuple(batch for batch, _ in moving) or None,
        )
        return released


def tree_variance(t: int) -> int:
    """Variance of the repaired TREE(t) in units of sigma^2: the number of nodes, one for each set bit of t."""
    return len(nodes(t))
