"""Which of the hidden coins of one run are worth guessing when all guesses weigh the same.

Where about one coin is found out in expectation, or more, guesses of different weights cost more of the level than they
show: what one coin can do is paid for at the largest weight. The more guesses, the less one coin does; the fewer,
the likelier each is right.
"""

from __future__ import annotations

import numpy as np
from scipy.special import expit, ndtri

from dpassay.reference.types import Array

from .found_out import CELL, FoundOut

SMALLEST = 1e-15  # level for which a normal quantile is asked
MILLS, TURNS = 1.9, 3


def promise_alike(size: Array, odds: Array, allowed: FoundOut) -> tuple[float, float]:
    """(epsilon, log odds): what the likeliest guesses would refute, and below which log odds no guess is made.

    Args:
        size: canaries of each block.
        odds: log odds of a right guess in each block.
        allowed: the levels, and what one coin that is found out may cost.
    """
    order = np.argsort(-odds, kind="stable")
    made, wrong = np.cumsum(size[order]), np.cumsum((size * expit(-odds))[order])
    errors, epsilon = np.full(made.size, -ndtri(allowed.level)), np.zeros(made.size)
    for _ in range(TURNS):  # the levels depend on epsilon
        middle = wrong + errors**2 / 2
        spread = errors * np.sqrt(wrong * (made - wrong) / made + errors**2 / 4)
        rate = np.minimum((middle + spread) / (made + errors**2), 1 - 1e-12)  # of wrong guesses at most
        epsilon = np.log1p(-rate) - np.log(rate)
        cells, where = np.unique(np.floor(np.maximum(epsilon, 0.0) / CELL) * CELL, return_inverse=True)
        left = np.maximum([allowed.left(one) for one in cells], SMALLEST)[where]
        paid = np.maximum([allowed.price(one) for one in cells], SMALLEST)[where]
        cheap = np.exp(-epsilon) / made / paid**2 - MILLS  # S (1 - S) / density is about 1 / sqrt(errors^2 + MILLS)
        errors = np.sqrt(np.maximum(ndtri(left) ** 2, cheap))
    best = int(np.argmax(epsilon))
    return float(epsilon[best]), float(np.nextafter(odds[order[best]], -np.inf))
