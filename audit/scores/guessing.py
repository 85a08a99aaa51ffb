"""Guesses about the canaries of one run: the most extreme scores, a number of them fixed beforehand.

How many and at which end is decided before a coin is looked at, each choice with a part of the level: some times the
root of the number of canaries suits most laws, all of them a law that says as much of each, a few at one end canaries
that are known for certain. A number that a pilot chooses shows no more on the known laws (`docs/statistics.md`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.audit.evidence.label_bets import tops
from dpassay.reference.arrays import Array, Bools

ENDS = ("both ends", "high end", "low end")
ROOT = 3.2  # guesses per root of the number of canaries
MANY = 5.0  # guesses, times coins found out over the level: fewer say little


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


@dataclass(frozen=True)
class Guessing:
    """Which share of the canaries is guessed, from which end of the scores, with which part of the level."""

    share: float
    end: str
    level: float

    def guess(self, canaries: Canaries, rng: np.random.Generator) -> tuple[int, int]:
        """(guesses, right ones); the extreme scores are guessed to be 'in' at the high end, 'out' at the low one."""
        count = int(np.clip(round(self.share * canaries.count), 2, canaries.count))
        right, made = 0, 0
        for end, high, low in (
            (ENDS[1], canaries.high, canaries.low),
            (ENDS[2], -canaries.low[::-1], -canaries.high[::-1]),
        ):
            if self.end in (end, ENDS[0]):
                at = count // 2 if self.end == ENDS[0] else count
                right, made = right + int(tops(high, low, np.array([at]), rng)[0]), made + at
        return made, right


def usual_share(canaries: int, delta: float, alpha: float) -> float:
    """The share of the canaries that suits most laws."""
    return min(1.0, max(ROOT / math.sqrt(canaries), MANY * delta / alpha))


def plans(share: float, level: float = 1.0) -> list[Guessing]:
    """The numbers of guesses that share `level`: most of it has `share`, the rest all canaries, and few at one end.

    Where so many coins may be found out that fewer guesses say little, all canaries have all of it.
    """
    if share > 0.5:
        return [Guessing(1.0, ENDS[0], level)]
    few = [Guessing(0.5 * share, end, 0.15 * level) for end in ENDS[1:]]
    return [Guessing(share, ENDS[0], 0.65 * level), Guessing(1.0, ENDS[0], 0.05 * level), *few]
