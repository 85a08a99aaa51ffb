"""What answers cost that share the noise of a threshold, once they are known: the sparse vector technique.

Shift the shared Laplace noise of one side by ``s``, at a cost of ``|s|`` over its scale. Then a round in which the
shifted level has moved away from its answer costs that distance over the scale of its own noise, and one in which it
has moved towards its answer costs nothing. The shift that costs least bounds the log ratio of the probabilities of all
answers so far. With queries that move by D either way and few answers above, it is D: all answers below are free, and
those above cost 2 D (dwork2014, Theorem 3.23; Lyu, Su and Li 2017, Theorem 2). No shift: each round costs D.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dpassay.reference.laws.law import Cost, Law

from .answers import NoisyAnswer

Move = tuple[float, float]  # the query of a round moves by something from the first to the second


@dataclass(frozen=True)
class Round:
    """Is ``query + shared * z + noise > 0``?

    Args:
        query: what the data move.
        shared: factor of the shared noise z.
        own: scale of the noise of this round alone; 0: none.
        answer: the one given.
        laplace: all its noise is Laplace.
    """

    query: float
    shared: float
    own: float
    answer: bool
    laplace: bool


@dataclass(frozen=True, eq=False)
class SharedAnswer(NoisyAnswer):
    """The answer of the last round, given those of the rounds before it.

    Args:
        rounds: all that share a noise variable so far, this one last; its own answer counts for nothing.
    """

    rounds: tuple[Round, ...] = ()

    def cost(self, sensitivity: float) -> Cost | None:
        """Of the answer that costs more."""
        found = [self.cost_of(value, sensitivity) for value in (False, True)]
        return max((one for one in found if one is not None), key=lambda one: one.size, default=None)

    def cost_of(self, value: Any, sensitivity: float) -> Cost | None:
        """What the answers so far cost, less what they cost before this one; each query moves by ``sensitivity``."""
        most = [(-sensitivity, sensitivity)] * len(self.rounds)
        return self._increment(bool(value), [most])

    def between(self, other: Law, value: Any) -> float | None:
        """Likewise, for the movements between these two laws alone; None where nothing is known."""
        if not isinstance(other, SharedAnswer) or len(other.rounds) != len(self.rounds):
            return None
        moved = [there.query - here.query for here, there in zip(self.rounds, other.rounds, strict=True)]
        found = self._increment(bool(value), [[(one, one) for one in moved], [(-one, -one) for one in moved]])
        return None if found is None else found.size

    def _increment(self, value: bool, ways: Sequence[Sequence[Move]]) -> Cost | None:
        """Of the total over the worst of the ways that the queries may move."""
        if not all(one.laplace and one.own > 0 and one.shared == self.rounds[0].shared for one in self.rounds):
            return None
        answers = [one.answer for one in self.rounds[:-1]] + [value]
        now, before = (max(self._total(some, moves) for moves in ways) for some in (answers, answers[:-1]))
        return Cost("pure", max(0.0, now - before))

    def _total(self, answers: Sequence[bool], moves: Sequence[Move]) -> float:
        """Convex in the shift of the level, and linear between the ends of the movements: one of them costs least."""
        if not answers:
            return 0.0
        shifts = {0.0, *(-end for move in moves for end in move)}
        return min(abs(shift / self.rounds[0].shared) + self._away(answers, moves, shift) for shift in shifts)

    def _away(self, answers: Sequence[bool], moves: Sequence[Move], shift: float) -> float:
        rounds = zip(self.rounds, answers, moves, strict=False)
        away = [(max(0.0, -(low + shift) if answer else high + shift)) / one.own for one, answer, (low, high) in rounds]
        return math.fsum(away)
