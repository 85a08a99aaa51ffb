"""A step at an end of the scores: some canaries of one run are known for certain, the others hardly.

No smooth curve through the coins that are revealed from the middle outwards foresees it. A pilot of some coins does, if
the step is long. For a short one a few more are told, about equally many for each doubling of the depth from either
end: a step of a hundred canaries shows nearly as many of them as one of a thousand. Which coins are told depends on the
scores and on draws of our own alone, and what they choose is which of the others are guessed: the bound holds whatever
they say.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, xlogy

from dpassay.reference.types import Array, Bools

from .guessing import ENDS, Canaries, Promise
from .outward import Plan, revealed_log_odds
from .ranked import Blocks

TOLD, MOST = 8.0, 0.15  # coins told, by e-fold of depth from either end; no larger share of them
FEWEST = 30_000  # canaries; of fewer, those that are told would be missed
LOOKED_AT = 40  # of the outermost coins told: a longer step shows in the pilot or in the curve
NATS = 5.0  # of evidence against the curve that a step needs: it could end at many places
DOUBT = 0.5  # guesses, right and wrong ones, that are added to those told


@dataclass(frozen=True)
class Step:
    """Guess 'in' for so many of the highest scores that are hidden, and 'out' for so many of the lowest."""

    high: int
    low: int
    rate: float = 0.5  # of right guesses, as the coins told have it

    @property
    def guesses(self) -> int:
        """At both ends."""
        return self.high + self.low

    @property
    def end(self) -> str:
        """Where they are made."""
        return ENDS[1] if self.high else ENDS[2]

    def right(self, used: Canaries) -> int:
        """How many of them are right."""
        pooled = np.sort(np.concatenate([used.high, used.low]))
        at_high = int((used.high >= pooled[-self.high]).sum()) if self.high else 0
        return at_high + (int((used.low <= pooled[self.low - 1]).sum()) if self.low else 0)


def tell(scores: Array, pilot: float, rng: np.random.Generator) -> tuple[Bools, Bools]:
    """Whose coins are in the pilot, this share of all, and whose are told, those of the pilot among them."""
    drawn = (rng.permutation(scores.size) + 0.5) / scores.size
    if scores.size < FEWEST:
        return drawn < pilot, drawn < pilot
    rank = np.empty(scores.size)
    rank[np.argsort(scores)] = np.arange(scores.size)  # no two scores are equal
    depth = np.minimum(rank, scores.size - 1 - rank) + 1
    return drawn < pilot, drawn < np.maximum(pilot, np.minimum(TOLD / depth, MOST))


def step_of(told: Canaries, used: Canaries, blocks: Blocks, plan: Plan, promise: Promise) -> Step | None:
    """The step that promises most, if the coins told speak for one, and it promises more than the plan.

    `blocks` are those of `used`; `promise` of so many guesses and right ones is 0 if it is not above the last number.
    """
    curve = expit(revealed_log_odds(blocks, plan))
    tops = _steps(told, used, blocks.size[: plan.top], curve[: plan.top])
    bottoms = _steps(told.turned(), used.turned(), blocks.size[plan.bottom :][::-1], 1 - curve[plan.bottom :][::-1])
    best, most = None, plan.epsilon
    steps = [Step(count, 0, rate) for count, rate in tops] + [Step(0, count, rate) for count, rate in bottoms]
    for step in steps:
        shown = promise(step.guesses, round(step.rate * step.guesses), most)
        if shown > most:
            best, most = step, shown
    return best


def _steps(told: Canaries, used: Canaries, size: Array, curve: Array) -> list[tuple[int, float]]:
    """How many of the highest hidden scores may be a step, and the rate of right guesses among those told.

    A step ends at a coin told that is right; `size` and `curve` (rates of 'in') are those of the hidden blocks.
    """
    ends = np.cumsum(size)
    scores = np.concatenate([told.high, told.low])
    order = np.argsort(-scores)
    right = (np.arange(scores.size) < told.high.size)[order]
    pooled = np.sort(np.concatenate([used.high, used.low]))
    above = pooled.size - np.searchsorted(pooled, scores[order])
    hidden = above < (ends[-1] if ends.size else 0)
    right, above = right[hidden][:LOOKED_AT], above[hidden][:LOOKED_AT]
    expected = np.clip(curve[np.searchsorted(ends, above, side="right")], 1e-3, 1 - 1e-3)
    made, hits = np.arange(1, right.size + 1), np.cumsum(right)
    rate = (hits + DOUBT) / (made + 2 * DOUBT)
    fit = xlogy(hits, rate) + xlogy(made - hits, 1 - rate)
    usual = np.cumsum(np.log(np.where(right, expected, 1 - expected)))
    good = right & (fit - usual >= NATS) & (rate > 0.5) & (above > 0)
    return [(int(count), float(one)) for count, one in zip(above[good], rate[good], strict=True)]
