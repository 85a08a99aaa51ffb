"""The nodes of the tree mechanism as printed (adaptive_batch, Algorithm 1): NODE(t).

As printed, NODE(t) stops short when t = Sigma is a power of two: its first step is 2^(ceil(log Sigma) - 1), so the
nodes of t = Sigma cover 1..Sigma - 1 only and the last value is released bare. ``blocks.tree.TreeSum`` releases them.
"""

from math import log as ln
from math import sqrt

from dpassay.reference.errors import require

Interval = tuple[int, int]


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


def tree_theorem_std(sensitivity: float, length: int, epsilon: float, delta: float) -> float:
    """sigma of Theorem 2.2: 4 s sqrt(log Sigma log(1/delta)) / epsilon; Lemma 3.13 drops the sqrt(log Sigma)."""
    require(length >= 2, "length", length, "log Sigma must be positive")
    return 4 * sensitivity * sqrt(ln(length) * ln(1 / delta)) / epsilon
