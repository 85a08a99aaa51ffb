"""Reading labelled scores from the most extreme one inwards: how many of the first d belong to which side.

The bettors of `labels.py` and `one_run.py` need the counts at some depths only, so both samples are sorted and counted;
the order inside a group of tied scores is drawn at random, as if every label stood on its own card.
"""

from __future__ import annotations

import numpy as np
from scipy.special import logsumexp

from dpassay.reference.types import Array, Indices

_DEPTHS = 250
_BLOCK = 16  # steps of the ladder at a time
_FOR_ROUNDING, _EACH = 1e-9, 2e-15  # of log wealth: more than a sum of logarithms loses, and each label read


def depths(longest: int) -> Indices:
    """About `_DEPTHS` log-spaced depths 1, 2, 3, ... up to `longest`; empty for 0."""
    if longest < 1:
        return np.zeros(0, dtype=np.int64)
    return np.unique(np.geomspace(1, longest, _DEPTHS).astype(np.int64))


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


def tally(high: Array, low: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """Right and wrong guesses when the largest scores are guessed to be of `high`, at log-spaced depths."""
    at = depths(high.size + low.size)
    hits = tops(high, low, at, rng).astype(float)
    return hits, at - hits


def tally_both_ends(
    high: Array, low: Array, rng: np.random.Generator, smallest: tuple[Array, Array] | None = None
) -> tuple[Array, Array]:
    """The same, reading from both ends in turn: the largest are guessed to be of `high`, the smallest of `low`.

    `smallest`: if not all may be read, those of `high` and of `low` that may be at the low end; `high` and `low` are
    then those at the high end.
    """
    far_high, far_low = smallest or (high, low)
    half = depths(min(high.size + low.size, far_high.size + far_low.size) if smallest else (high.size + low.size) // 2)
    hits = (tops(high, low, half, rng) + tops(-far_low[::-1], -far_high[::-1], half, rng)).astype(float)
    return hits, 2 * half - hits


def log_wealths(tallies: list[tuple[Array, Array]], hit: Array, miss: Array, shares: Array | None = None) -> Array:
    """Log wealth against each step of an epsilon ladder, shape (steps,).

    Args:
        tallies: (hits, misses) of each reading order; the wealths of the orders are averaged, and may be taken at any
            depth.
        hit: log factor of a right guess, shape (steps, targets); the wealths of the targets are averaged.
        miss: log factor of a wrong guess, shape (targets,); it may be ``-inf``.
        shares: of the stake on each target, shape (targets,), fixed before reading; equal by default.
    """
    stakes = np.log(np.full(miss.size, 1 / miss.size) if shares is None else shares)
    best = []
    for hits, misses in tallies:
        costs = np.where(misses[:, None] > 0, misses[:, None] * np.maximum(miss, -1e9), 0.0)
        logs = hits[None, :, None] * hit[:, None, :] + costs[None] + stakes
        best.append(logsumexp(logs, axis=2).max(axis=1) if hits.size else np.zeros(len(hit)))
    return np.asarray(np.max(best, axis=0) - np.log(len(tallies)))


def refuted_steps(
    tallies: list[tuple[Array, Array]],
    hit: Array,
    miss: Array,
    needed: Array,
    shares: Array | None = None,
    beyond: int = 0,
) -> int:
    """How many steps of an epsilon ladder are refuted in a row, from the first (fixed-sequence testing).

    ``needed`` is the log wealth that refutes each step, shape (steps,); the others as in `log_wealths`. 0 if step
    ``beyond`` is not refuted: who only wants more than that need not know how much less it is.
    """
    read = max(float(np.sum(hits[-1:] + misses[-1:])) for hits, misses in tallies)
    needed = needed + _FOR_ROUNDING + _EACH * read
    if beyond:
        one = slice(min(beyond, needed.size - 1), min(beyond, needed.size - 1) + 1)
        if bool(np.any(log_wealths(tallies, hit[one], miss, shares) < needed[one])):
            return 0
    for first in range(0, needed.size, _BLOCK):
        rows = slice(first, first + _BLOCK)
        short = np.flatnonzero(log_wealths(tallies, hit[rows], miss, shares) < needed[rows])
        if short.size:
            return first + int(short[0])
    return int(needed.size)
