"""The pair that shows all that the tree of DP-FTRL costs: the first record enters the most nodes."""

from __future__ import annotations

import numpy as np

from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.linear import LinearLosses


def first_record(n: int, d: int, clip: float) -> Pair[LinearLosses]:
    """On D record 0 has a gradient of length ``clip``, on D' it is taken out; all others have gradient zero."""
    absent = LinearLosses(np.zeros((n, d)))
    row = np.zeros(d)
    row[0] = clip
    return Pair(absent.replace(0, row), absent, 0, "record 0: a gradient of length L, or no gradient")
