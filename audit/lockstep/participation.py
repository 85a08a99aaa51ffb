"""Where the target record is in the secret batches of a scripted run: nowhere in one world, as dictated elsewhere."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.reference.transcript import Draw
from dpassay.reference.types import Bools, Indices

from .hidden import Group
from .script import Dictation
from .streams import SCRIPTED, Streams
from .worlds import Place


class ScriptedRecords:
    """The records of every draw: coupled between the worlds, the target where the script puts it.

    The first of two worlds a side has the target in no batch, the other one where the script says. What is certain
    (the whole data set is drawn, or its last record) is so in both.
    """

    def __init__(self, target: int, streams: Streams, script: Dictation, worlds: int):
        self._target, self._streams, self._script, self._worlds = target, streams, script, worlds
        self._orders: list[Indices] | None = None
        self._next = 0
        self.held: dict[int, list[bool]] = {}
        self.check_has_target: dict[int, bool] = {}

    @property
    def _rng(self) -> np.random.Generator:
        return self._streams[SCRIPTED]

    def indices(self, draw: Draw, places: Sequence[Place], fresh_number: int) -> list[Indices]:
        """The records for each place, in order: the worlds of D, then those of D'."""
        if draw.hidden:
            wanted = self._target < draw.n and self._script.takes_part(draw)
            found = self._fresh(draw, wanted) if draw.kind == "fresh" else self._sampled(draw, wanted)
        else:
            found = [np.arange(self._next, self._next + (draw.size or 0))] * self._worlds
            self._next += draw.size or 0
        self.held[draw.number] = [bool(np.any(one == self._target)) for one in found]
        return [*found, *found]

    def _sides(self, without: Indices, having: Indices, wanted: bool) -> list[Indices]:
        scripted_one = having if wanted else without
        return [scripted_one] if self._worlds == 1 else [without, scripted_one]

    def _sampled(self, draw: Draw, wanted: bool) -> list[Indices]:
        others = np.setdiff1d(np.arange(draw.n), [self._target])
        if draw.kind == "poisson":
            chosen = others[self._rng.random(len(others)) < draw.rate]
            having = np.sort(np.append(chosen, self._target))
            certain = draw.rate == 1 and self._target < draw.n
            return self._sides(having if certain else chosen, having, wanted or certain)
        assert draw.size is not None
        if draw.size == draw.n:
            everything = self._rng.permutation(draw.n)
            return self._sides(everything, everything, wanted)
        without = self._rng.choice(others, size=draw.size, replace=False)
        having = without.copy()
        having[int(self._rng.integers(draw.size))] = self._target
        return self._sides(without, having, wanted)

    def _fresh(self, draw: Draw, wanted: bool) -> list[Indices]:
        """One pass over the data: a world has an order of its own, with the target at its end until it is due."""
        assert draw.size is not None
        if self._orders is None:
            others = self._rng.permutation(np.setdiff1d(np.arange(draw.n), [self._target]))
            self._orders = [np.append(others, self._target)[: draw.n] for _ in range(self._worlds)]
        mine = self._orders[-1]
        at = int(np.argmax(mine == self._target))
        if wanted and at >= self._next + draw.size:
            due = self._next + int(self._rng.integers(draw.size))
            mine[[due, at]] = mine[[at, due]]
        found = [order[self._next : self._next + draw.size] for order in self._orders]
        self._next += draw.size
        return found


class Participation:
    """Which worlds have the target in which draws (in place of a filter: here it is known)."""

    def __init__(self, records: ScriptedRecords):
        self._records = records
        self.last: Group | None = None

    def drawn(self, draw: Draw) -> int:
        """Nothing to prepare."""
        return -1

    def full(self) -> Group:
        """Of no meaning here."""
        return Group([-1], np.zeros(1), np.zeros(1), np.array([True]))

    def holding(self, draws: tuple[int, ...]) -> Bools:
        """Of the worlds of one side: do these draws have the target?"""
        held = self._records.held
        found: Bools = np.any([held[number] for number in draws], axis=0)
        return found
