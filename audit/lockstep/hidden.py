"""What the past of a run says about where the target record was: a filter over hidden states.

A sampled batch has two states (target out, target in), independent of other batches. Fresh batches have one state for
each batch so far and one for "in none of them"; the target can be in one only.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpassay.reference.arrays import Array, Bools
from dpassay.reference.errors import require
from dpassay.reference.transcript import Draw

from .worlds import Place


@dataclass(eq=False)
class Group:
    """The hidden states of one release: positions of their worlds, log weights on both sides."""

    worlds: list[int]
    log_here: Array
    log_there: Array
    has_target: Bools


@lru_cache
def prior(rate: float) -> Array:
    """Log probabilities of being out of a batch and in it."""
    with np.errstate(divide="ignore"):
        return np.array([np.log1p(-rate), math.log(rate)])


class HiddenStates:
    """What the past says about where the target was: one filter per sampled draw, or one for all fresh draws."""

    def __init__(self, where: list[Place]):
        self._pool = all(place.role == "at" for place in where)
        self._count = len(where)
        self._sampled: dict[int, Group] = {}
        self._fresh = 0
        self._position: dict[int, int] = {}  # of the world that has the target in this fresh draw
        self.last: Group | None = None
        self._beyond_first = np.arange(self._count) > 0
        if self._pool:  # world 0: the target is in no batch so far; world k + 1: it is in fresh batch k
            start = np.full(self._count, -np.inf)
            start[0] = 0.0
            self.last = Group(list(range(self._count)), start, start.copy(), self._beyond_first)

    def full(self) -> Group:
        """No hidden state: the last world (target in every batch) speaks for all."""
        return Group([self._count - 1], np.zeros(1), np.zeros(1), np.array([True]))

    def drawn(self, draw: Draw) -> int:
        """Take note of a draw; return its number among the fresh ones."""
        if not draw.hidden:
            return -1
        why = "of a kind that the probing run did not draw: give `what` yourself"
        require(self._pool == (draw.kind == "fresh") and self._count > 1, "batch", draw.label, why)
        if draw.kind == "fresh":
            assert self.last is not None
            k = self._fresh
            require(k + 1 < self._count, "fresh batches", k + 1, "more than in the probing run: give `what` yourself")
            with np.errstate(divide="ignore"):
                for weights in (self.last.log_here, self.last.log_there):
                    weights[k + 1] = weights[0] + math.log(draw.rate)
                    weights[0] += np.log1p(-draw.rate)
            self._fresh += 1
            self._position[draw.number] = k + 1
            return k
        start = prior(draw.rate)
        self.last = Group([0, 1], start.copy(), start.copy(), self._beyond_first)
        self._sampled[draw.number] = self.last
        return -1

    def group(self, draws: tuple[int, ...]) -> Group | None:
        """The hidden states of a release that depends on these draws; None where they cannot be expressed."""
        if not draws:
            return self.full()
        if self._pool:
            return self.last
        return self._sampled.get(draws[0]) if len(draws) == 1 else None

    def holding(self, draws: tuple[int, ...]) -> Bools:
        """Of all worlds: do these draws have the target?"""
        if not self._pool:
            return self._beyond_first
        held = [self._position[number] for number in draws]
        return np.isin(np.arange(self._count), held)

    def update(self, group: Group, gained_here: Array, gained_there: Array) -> None:
        """Bayes: the weights after a released value."""
        if len(group.worlds) > 1:
            group.log_here += gained_here
            # -inf: a state in which the value could not come out on D'
            group.log_there += np.where(np.isfinite(gained_there), gained_there, -np.inf)

    def check_world(self, draws: tuple[int, ...], having: Mapping[int, bool]) -> int:
        """The world whose queries the check world's must equal; ``having``: does it have the target in a draw?"""
        if not draws:
            return self._count - 1
        if self._pool:
            return max((self._position[number] for number, has in having.items() if has), default=0)
        return int(having.get(draws[0], True))
