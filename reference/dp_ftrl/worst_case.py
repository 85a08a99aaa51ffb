"""The pair that shows all that the tree of DP-FTRL costs: the first record enters the most nodes."""

from __future__ import annotations

import numpy as np

from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses


def one_record(n: int, d: int, clip: float, target: int = 0) -> Pair[LinearLosses]:
    """On D the target has a gradient of length ``clip``, on D' it is taken out; all others have gradient zero."""
    absent = LinearLosses(np.zeros((n, d)))
    row = np.zeros(d)
    row[0] = clip
    return Pair(absent.replace(target, row), absent, target, f"record {target}: a gradient of length L, or no gradient")
