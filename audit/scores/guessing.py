"""How many of the canaries of one run are guessed, and at which end of the scores: learned on a pilot.

The pilot's coins give a smooth curve, log odds of 'in' by the rank of the score (`outward.py`), and the curve says how
many guesses would be right for each number of them and each end. Counting the pilot's right guesses one number at a
time and taking the best picks noise: at 100,000 canaries and a true epsilon of 1 this cost a fifth of the bound.
Whatever is picked, the bound holds: the coins of the others are fair given those of the pilot.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from dpassay.reference.types import Array, Bools, Indices

from .outward import fitted_log_odds
from .ranked import blocks_of
from .reading import tops

SHARES = tuple(math.exp2(-k / 2) for k in range(25))  # of the canaries that are guessed: 1 to 1 / 4096
ENDS = ("both ends", "high end", "low end")
PILOT_CASES = 8  # guesses must be made, or a share is not looked at
STIFFNESS = 100.0  # of the curve: with 4, as outwards, the bound is 1 to 5 % smaller
CAUTION = 3.0  # standard errors; with 1 the bound of Gaussian canaries is 2 to 14 % smaller
SURE = 3.5  # standard errors: what the pilot says for certain


@dataclass(frozen=True)
class Canaries:
    """Scores of the canaries that were in and that were out, each sorted."""

    high: Array
    low: Array

    @staticmethod
    def of(scores: Array, coins: Bools) -> Canaries:
        """Sort both sides."""
        return Canaries(np.sort(scores[coins]), np.sort(scores[~coins]))

    @property
    def count(self) -> int:
        """Of both sides."""
        return int(self.high.size + self.low.size)

    def turned(self) -> Canaries:
        """With the low scores speaking for 'in'."""
        return Canaries(-self.low[::-1], -self.high[::-1])


@dataclass(frozen=True)
class Guessing:
    """Which share of the canaries is guessed, from which end of the scores."""

    share: float
    end: str = ENDS[0]

    def guess(self, canaries: Canaries, rng: np.random.Generator) -> tuple[int, int]:
        """(guesses, right ones); the extreme scores are guessed to be 'in' at the high end, 'out' at the low one."""
        made, right = guesses_at(canaries, [self.share], self.end, rng)
        return int(made[0]), int(right[0])


def guesses_at(
    canaries: Canaries, shares: Sequence[float], end: str, rng: np.random.Generator
) -> tuple[Indices, Indices]:
    """(guesses, right ones) for each of the increasing shares."""
    counts = np.clip(np.round(np.asarray(shares) * canaries.count).astype(np.int64), 2, canaries.count)
    if end != ENDS[0]:
        side = canaries if end == ENDS[1] else canaries.turned()
        return counts, tops(side.high, side.low, counts, rng)
    half = counts // 2
    right = [tops(side.high, side.low, half, rng) for side in (canaries, canaries.turned())]
    return 2 * half, right[0] + right[1]


Promise = Callable[[int, int, float], float]  # guesses, right ones -> epsilon, if above the last


def rates_of(pilot: Canaries, rng: np.random.Generator) -> Callable[[float, str], float]:
    """Share of right guesses by share of the canaries and end, as the smooth curve of the pilot has it."""
    blocks = blocks_of(pilot.low, pilot.high, rng)
    right = expit(fitted_log_odds(blocks, STIFFNESS))  # of guessing 'in', by block from the high end
    counts = {
        ENDS[1]: (blocks.size, blocks.size * right),
        ENDS[2]: (blocks.size[::-1], (blocks.size * (1 - right))[::-1]),
    }
    sums = {end: [np.append(0.0, np.cumsum(one)) / pilot.count for one in both] for end, both in counts.items()}

    def rate(share: float, end: str) -> float:
        if end == ENDS[0]:
            return 0.5 * (rate(share / 2, ENDS[1]) + rate(share / 2, ENDS[2]))
        made, right = sums[end]
        return float(np.interp(share, made, right) / share)

    return rate


def _cautious(made: Indices, right: Indices) -> Array:
    """Share of right guesses of the pilot, less some standard errors, and less more of them; shape (2, shares)."""
    rate = (right + 0.5) / (made + 1.0)
    return np.asarray(rate - np.array([[CAUTION], [SURE]]) * np.sqrt(rate * (1 - rate) / made))


def best_guessing(
    pilot: Canaries,
    count: int,
    usual: Guessing,
    promise: Promise,
    rng: np.random.Generator,
    offered: Sequence[float] = SHARES,
) -> tuple[Guessing, bool]:
    """The share and end that promise most for `count` canaries, and whether the pilot's own count is sure of more.

    A step (some canaries are known for certain, the others not at all) is no smooth curve: where the pilot's own count
    says more than the curve, even less some standard errors, it is believed.
    """
    best, most, smooth, step = usual, 0.0, rates_of(pilot, rng), False
    shares = sorted(one for one in offered if one * count >= PILOT_CASES)
    counted = {end: _cautious(*guesses_at(pilot, shares, end, rng)) for end in ENDS}
    for place, share in enumerate(shares):
        guesses = int(share * count)
        for end in ENDS:
            rate, (likely, sure) = smooth(share, end), counted[end][:, place]
            shown = promise(guesses, round(max(rate, float(likely)) * guesses), most)
            if shown > most:
                best, most, step = Guessing(share, end), shown, bool(sure > rate)
    return best, step
