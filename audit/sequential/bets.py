"""Bets on fresh outputs by what past outputs taught: e-values, which may be averaged and multiplied.

Each score bets on the one event that promised most in the past, at stakes that its past rates ask for. That needs no
learning inside the block, so that small blocks count in full.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from dpassay.audit.blackbox.detect import REPEATED
from dpassay.audit.blackbox.learner import Candidate
from dpassay.audit.evidence.events import Event
from dpassay.reference.arrays import Array
from dpassay.reference.guarantee import LARGEST

FRACTIONS = np.array([0.15, 0.4, 1.0])  # of the best stake: past rates promise more than fresh outputs keep
MOST_STAKED = 0.95  # of what one pair of outputs can lose
STAKES = 60  # tried
REPEATS_SHARE = 0.35  # of the stake is on outputs that repeat exactly; learned scores share the rest
DEALT = 0.15  # of the stake, dealt anew in each round


@dataclass(frozen=True)
class EventBet:
    """Stakes on 'this event happens more often on D' than the claim allows', fixed by past outputs.

    A pair of outputs, one a side, gains 1{on D'} - e^epsilon 1{on D} - delta, whose mean is at most 0 under the claim.
    """

    event: Event
    stakes: Array
    growth: float  # of the log wealth, expected for a pair of outputs; 0 where nothing is expected

    @staticmethod
    def of_past(event: Event, p: Array, q: Array) -> EventBet:
        """Stakes that would have been best for the rates of past scores, drawn to the claim by their errors."""
        slope = float(np.exp(min(event.epsilon, LARGEST)))
        rate_p, rate_q = event.rate(p), event.rate(q)
        error = np.sqrt(rate_q * (1 - rate_q) / q.size + slope**2 * rate_p * (1 - rate_p) / p.size)
        excess = rate_q - slope * rate_p - event.delta
        kept = max(0.0, 1 - 0.5 * error / excess) if excess > 0 else 0.0
        limit = MOST_STAKED / (slope + event.delta)
        tried = np.geomspace(1e-4, 1.0, STAKES) * limit
        less = min(max(rate_q - (1 - kept) * max(excess, 0.0), 0.0), 1.0)
        masses = np.outer([1 - less, less], [1 - rate_p, rate_p]).ravel()
        expected = np.log1p(tried[:, None] * _gains(event)) @ masses
        best = int(expected.argmax())
        if expected[best] <= 0:  # nothing is promised: a small stake all the same
            return EventBet(event, 0.02 * limit * FRACTIONS, 0.0)
        return EventBet(event, tried[best] * FRACTIONS, float(expected[best]))

    def log_wealth(self, p: Array, q: Array) -> float:
        """Of equal parts on each stake, on the scores of fresh outputs, paired in order as far as both sides go."""
        pairs = min(p.size, q.size)
        in_p, in_q = self.event.inside(p[:pairs]), self.event.inside(q[:pairs])
        counts = np.bincount(2 * in_q + in_p, minlength=4)
        logs = np.log1p(self.stakes[:, None] * _gains(self.event))
        return float(logsumexp(logs @ counts) - np.log(self.stakes.size))


def _gains(event: Event) -> Array:
    """Of a pair in which the event is on neither side, on D, on D', and on both."""
    slope = float(np.exp(min(event.epsilon, LARGEST)))
    return np.array([0.0, -slope, 1.0, 1.0 - slope]) - event.delta


@dataclass(frozen=True)
class Bettor:
    """A candidate with the stakes on its event."""

    candidate: Candidate
    bet: EventBet

    @property
    def name(self) -> str:
        """Stays the same from round to round, so that what won may be trusted with more."""
        return self.candidate.name

    def log_wealth(self, p: Array, q: Array) -> float:
        """On fresh tables of D and of D'."""
        return self.bet.log_wealth(self.candidate.score(p), self.candidate.score(q))


def bettors(candidates: Sequence[Candidate], held: tuple[Array, Array]) -> list[Bettor]:
    """All candidates, with stakes that the rates of `held` ask for: past outputs that no score was fitted on."""
    return [Bettor(one, EventBet.of_past(one.event, one.score(held[0]), one.score(held[1]))) for one in candidates]


def shares(all_of_them: Sequence[Bettor], size: int, won: Mapping[str, float]) -> dict[str, float]:
    """Of the stake, for each score and for repeated outputs, by name; they add up to 1.

    Most of it is where it has grown: wealth is left with what won it, so that choosing is paid for once and not in each
    round. A part is dealt anew (fixed share, Herbster and Warmuth 1998), by the growth that is expected in a round of
    `size` outputs a side.

    Args:
        won: log wealth of each in earlier rounds, less that of all together.
    """
    growth = np.array([one.bet.growth for one in all_of_them]) * size
    fastest = np.exp(growth - logsumexp(growth))
    parts = (1 - REPEATS_SHARE) * (1 / len(all_of_them) + fastest) / 2
    dealt = {REPEATED: REPEATS_SHARE, **{one.name: float(part) for one, part in zip(all_of_them, parts, strict=True)}}
    logs = np.array([np.log(share) + won.get(name, 0.0) for name, share in dealt.items()])
    kept = np.exp(logs - logsumexp(logs))
    new = np.array(list(dealt.values()))
    return dict(zip(dealt, ((1 - DEALT) * kept + DEALT * new / new.sum()).tolist(), strict=True))
