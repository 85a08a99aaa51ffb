"""Bets on the sides of labelled scores: the house limit, how many labels there are, and what the wealth refutes.

Give each score a fair coin for its side. Under (epsilon, delta)-DP in both directions the pair (P, Q) is a
post-processing of: with probability delta the coin itself, else randomised response (Kairouz, Oh and Viswanath 2017,
Theorem 3.2). So given ANY scores and all other labels, a label that is not corrupted is guessed with probability at
most e^eps / (1 + e^eps). Reading labels one by one is then a betting game with a known house limit; its wealth may be
taken at any depth (Ville), and N labels, each corrupted with probability delta and worth at most a factor g when
corrupted, cost N log(1 + delta (g - 1)) with g <= 1 + e^-eps.

The bettors need the counts at some depths only, so both samples are sorted and counted; the order inside a group of
tied scores is drawn at random, as if every label stood on its own card.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_expit

from dpassay.reference.arrays import Array, Indices

TARGETS = np.array([0.1, 0.3, 0.6, 1.0])  # where between the house limit and 1 the bettor believes the rate to be
LADDER = np.round(  # a step below a claim of 0.1 must not cost a tenth of it
    np.concatenate([np.arange(0.0, 0.2, 0.002), np.arange(0.2, 3.0, 0.02), np.arange(3.0, 40.0, 0.05)]), 3
)


def labelled(size_p: int, size_q: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many of P and of Q are labelled when coins that show Q with probability size_q / (size_p + size_q) are
    tossed until a side would run out.

    About the root of the sizes stays unused. That their number depends on the coins does not help the bettor: for small
    sizes all outcomes are enumerated in `tests/audit/evidence/test_exact_levels.py`.
    """
    coins = rng.random(size_p + size_q) < size_q / (size_p + size_q)
    of_q = np.cumsum(coins)
    of_p = np.arange(1, coins.size + 1) - of_q
    used = int(np.searchsorted((of_q > size_q) | (of_p > size_p), True))
    count = int(of_q[used - 1]) if used else 0
    return used - count, count


def without(values: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """A random part of `values`: all but `count` of them."""
    return np.delete(values, rng.choice(values.size, count, replace=False)) if count else values


def ladder_gains(ladder: Array, targets: Array) -> tuple[Array, Array]:
    """Log factors of a right guess, shape (steps, targets), and of a wrong one, shape (targets,)."""
    miss_limit = np.exp(log_expit(-ladder))[:, None]
    with np.errstate(divide="ignore"):
        return np.log1p(-miss_limit * (1 - targets)) - log_expit(ladder)[:, None], np.log(1 - targets)


def tops(high: Array, low: Array, at: Indices, rng: np.random.Generator) -> Indices:
    """How many of the `at[i]` largest scores of both samples together belong to `high`.

    Args:
        high, low: the two samples, each sorted upwards; infinities allowed.
        at: increasing depths, 0 or more, at most `high.size + low.size`.
        rng: draws the order inside ties.
    """
    if not bool(np.all(at > 0)):  # nothing read, nothing found
        found = np.zeros(at.size, dtype=np.int64)
        found[at > 0] = tops(high, low, at[at > 0], rng)
        return found
    pooled = np.sort(np.concatenate([high, low]))
    values = pooled[pooled.size - at]
    above_high = high.size - np.searchsorted(high, values, side="right")
    above_low = low.size - np.searchsorted(low, values, side="right")
    tied_high = high.size - above_high - np.searchsorted(high, values, side="left")
    tied_low = low.size - above_low - np.searchsorted(low, values, side="left")
    inside = at - above_high - above_low  # how many are read of the group of ties at the cut
    found = above_high + np.where(tied_low == 0, inside, np.where(tied_high == 0, 0, -1))
    taken, read, last = 0, 0, np.nan
    for i in np.flatnonzero((tied_high > 0) & (tied_low > 0)):
        if values[i] != last:
            taken, read, last = 0, 0, float(values[i])
        left = int(tied_high[i]) - taken
        taken += int(rng.hypergeometric(left, int(tied_low[i]) - (read - taken), int(inside[i]) - read))
        read = int(inside[i])
        found[i] = above_high[i] + taken
    return np.asarray(found, dtype=np.int64)
