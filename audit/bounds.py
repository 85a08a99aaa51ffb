"""Confidence bounds for the mean of independent [0, 1] variables, made for means that are tiny.

Betting (Waudby-Smith and Ramdas 2024) is valid for every distribution on [0, 1] and every n. Its capital
prod(1 - c + c x / m0) depends on x / m0 only, so nothing is lost when the mean is 1e-5. Clopper and Pearson 1934 is for
0 and 1 alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import betainc, betaincc, betainccinv, betaincinv

from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array, Bools

_SURELY = 1 - 1e-11  # of the level: the tails themselves are right to two parts in 1e13
_LEAST_LEVEL = 1e-260  # below, SciPy's tails are not what they say (at 1e-290 by a factor of 1e15)
_FOR_ROUNDING, _EACH = 1e-9, 1e-12  # of log wealth: more than a sum of logarithms loses, and each of its terms
_CHUNK = 4_000_000  # cells per block of the capital computation, 32 MB


def _samples(x: ArrayLike) -> Array:
    """Check a sample: non-empty, in [0, 1], no NaN."""
    values = np.asarray(x, dtype=float)
    if values.shape[:1] in ((), (0,)):
        raise BadInput("x", values.shape, "needs at least one observation")
    if not bool(np.all((values >= 0) & (values <= 1))):
        raise BadInput("x", f"range [{np.min(values)}, {np.max(values)}]", "must lie in [0, 1]")
    return values


def _check_alpha(alpha: float) -> None:
    if not 0 < alpha < 1:
        raise BadInput("alpha", alpha, "must lie strictly between 0 and 1")


def default_bets(n: int) -> Array:
    """Shares of the capital staked: 0.1/sqrt(n) to 0.99 in steps of sqrt(2).

    The optimum c = 2.4 m0 / (std sqrt(n)) lies inside for every coefficient of variation that matters; the
    mixture pays about 1.5 nats for not knowing it.
    """
    low = 0.1 / np.sqrt(n)
    count = 1 + int(np.ceil(np.log(0.99 / low) / np.log(np.sqrt(2.0))))
    return np.geomspace(low, 0.99, count)


def _column_log_capital(x: Array, m0: Array, bets: Array) -> Array:
    """Log capital, shape (hypotheses, bets), of one sample against many m0; zeros of x are only counted."""
    positive = x[x > 0]
    zeros = x.size - positive.size
    with np.errstate(divide="ignore"):
        start = zeros * np.log1p(-bets) if zeros else np.zeros(bets.size)
        total = np.tile(start, (m0.size, 1))
        step = max(1, _CHUNK // (bets.size * max(1, m0.size)))
        for first in range(0, positive.size, step):
            ratio = positive[None, first : first + step] / m0[:, None]
            gain = bets[None, :, None] * (ratio[:, None, :] - 1.0)
            total += np.log1p(gain).sum(axis=2)
    return total


def betting_log_capital(x: ArrayLike, m0: ArrayLike, bets: ArrayLike | None = None) -> Array:
    """Log wealth against H0 'the mean of x is at most m0' after staking a mixture of constant shares.

    Args: x of shape (n,), tested against every m0 of shape (k,) or (), or of shape (n, k): one sample per m0.
    bets: shares c in (0, 1] fixed in advance (or chosen on other data), mixed with equal weights; by default
    `default_bets(n)`. Under H0 the wealth is a non-negative supermartingale starting at 1 (also when the
    means are conditional on the past), so P(wealth >= 1/alpha at any time) <= alpha.
    Returns an array of m0's shape.
    """
    values, null = _samples(x), np.asarray(m0, dtype=float)
    if not bool(np.all((null > 0) & (null <= 1))):
        raise BadInput("m0", m0, "must lie in (0, 1]")
    shares = default_bets(values.shape[0]) if bets is None else np.atleast_1d(np.asarray(bets, dtype=float))
    if not bool(np.all((shares > 0) & (shares <= 1))):
        raise BadInput("bets", bets, "must lie in (0, 1]")
    flat = np.atleast_1d(null)
    if values.ndim == 1:
        logs = _column_log_capital(values, flat, shares)
    else:
        pairs = zip(values.T, np.broadcast_to(flat, values.shape[1:]), strict=True)
        logs = np.concatenate([_column_log_capital(col, np.array([m]), shares) for col, m in pairs])
    wealth = np.logaddexp.reduce(logs, axis=1) - np.log(shares.size)
    return np.asarray(wealth if values.ndim > 1 else wealth.reshape(null.shape))


def needed_log_wealth(alpha: float, n: float) -> float:
    """Log of 1 / alpha, and more than rounding may add to the log wealth after n bets."""
    return -math.log(alpha) + _FOR_ROUNDING + _EACH * n


def betting_rejects(x: ArrayLike, m0: ArrayLike, alpha: float, bets: ArrayLike | None = None) -> Any:
    """True where 'mean of x <= m0' is rejected at level alpha; shapes as in `betting_log_capital`."""
    _check_alpha(alpha)
    rejected = betting_log_capital(x, m0, bets) >= needed_log_wealth(alpha, np.shape(x)[0])
    return bool(rejected) if rejected.ndim == 0 else rejected


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
