"""Confidence bounds of a rate (Clopper and Pearson 1934), made for rates that are tiny, and how much wealth refutes.

Betting (Waudby-Smith and Ramdas 2024) is valid for every distribution on [0, 1] and every n; bettors are where they bet
(``likelihood``, ``evidence``).
"""

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpassay.reference.arrays import Array, Bools

_SURELY = 1 - 1e-11  # of the level: the tails themselves are right to two parts in 1e13
_LEAST_LEVEL = 1e-260  # below, SciPy's tails are not what they say (at 1e-290 by a factor of 1e15)
_FOR_ROUNDING, _EACH = 1e-9, 1e-12  # of log wealth: more than a sum of logarithms loses, and each of its terms


def needed_log_wealth(alpha: float, n: float) -> float:
    """Log of 1 / alpha, and more than rounding may add to the log wealth after n bets."""
    return -math.log(alpha) + _FOR_ROUNDING + _EACH * n


def halved(holds: Callable[[float], bool], low: float, high: float, steps: int) -> tuple[float, float]:
    """An interval after so many halvings, each towards the place where `holds` ends; taken to hold at its lower end."""
    for _ in range(steps):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def clopper_pearson_lower(count: ArrayLike, n: ArrayLike, alpha: ArrayLike) -> Any:
    """Exact one-sided lower bound of a Bernoulli rate from `count` successes of n, rounded down; broadcasts."""
    k, total, level = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (count, n, alpha)))
    some = np.maximum(k, 1e-300)
    with np.errstate(invalid="ignore"):
        bound = np.asarray(betaincinv(some, total - k + 1, level), dtype=np.float64)
    trivial = np.isnan(bound) | (k <= 0) | (level < _LEAST_LEVEL)  # no answer at a tiny level: 0 is sound
    bound = np.where(trivial, 0.0, bound)
    return _checked(bound, lambda rate: betainc(some, total - k + 1, rate) <= _SURELY * level, 0.0)[()]


def clopper_pearson_upper(count: ArrayLike, n: ArrayLike, alpha: ArrayLike) -> Any:
    """Exact one-sided upper bound of a Bernoulli rate from `count` successes of n, rounded up; broadcasts."""
    k, total, level = np.broadcast_arrays(*(np.asarray(a, dtype=float) for a in (count, n, alpha)))
    rest = np.maximum(total - k, 1e-300)
    with np.errstate(invalid="ignore"):
        inverse = betainccinv(k + 1, rest, level)  # one minus a lower bound would lose the digits of a small rate
    trivial = np.isnan(inverse) | (k >= total) | (level < _LEAST_LEVEL)
    bound = np.where(trivial, 1.0, np.asarray(inverse, dtype=np.float64))
    return _checked(bound, lambda rate: betaincc(k + 1, rest, rate) <= _SURELY * level, 1.0)[()]


def _checked(bound: Array, good: Callable[[Array], Bools], end: float) -> Array:
    """Each bound moved towards ``end`` until it is good: by some roundings, twice as many, ..., then half of the way.

    The inverse is off by some roundings, and at levels near 1e-300 it may be no inverse at all. Each step goes further,
    so the last one ends at ``end``.
    """
    share = 2.0**-51
    while bool(np.any(bad := ~good(bound) & (bound != end))):
        up = np.where(bound < 0.5, bound * (1 + share), 1 - (1 - bound) * (1 - share))
        further = np.nextafter(bound * (1 - share) if end == 0 else up, end)
        bound, share = np.where(bad, further, bound), min(0.5, 2 * share)
    return bound
