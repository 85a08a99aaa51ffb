"""The random streams of a lockstep run, which records each world gets, and what the past says of where the target was.

All worlds get the same records, but for the target. Where it was is a filter over hidden states.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from dpassay.reference.arrays import Array, Bools, Indices
from dpassay.reference.errors import require
from dpassay.reference.transcript import Draw, RecordDrawer

from .script import Dictation
from .worlds import Place

VALUES, PUBLIC, RECORDS, CHECK, SCRIPTED = range(5)
_INNER = 7


class Streams(dict[int, np.random.Generator]):
    """Generators by number, those of the children that ``SeedSequence(seed).spawn`` gives.

    Each is made when it is first used, and most never are.
    """

    def __init__(self, seed: Sequence[int]):
        super().__init__()
        self._seed = list(seed)
        self._inner: dict[int, np.random.Generator] = {}

    def __missing__(self, number: int) -> np.random.Generator:
        """The stream with this number."""
        self[number] = np.random.default_rng(np.random.SeedSequence(self._seed, spawn_key=(number,)))
        return self[number]

    def inner(self, world: int, check: bool) -> np.random.Generator:
        """Inner randomness of a world: all start alike but that of the check world."""
        if world not in self._inner:
            self._inner[world] = np.random.default_rng([*self._seed, _INNER, int(check)])
        return self._inner[world]


class Records:
    """Chooses the records of every draw for all worlds at once: coupled, but for the target.

    The other records come from one sequence that all worlds share. A world that has the target in a batch has it in
    place of one of the others (fixed size) or beside them (Poisson). The check world draws by itself, and has the
    target in every second sampled batch, however rare it is: any participation is a fair test of the mixture.
    """

    def __init__(self, target: int, streams: Streams):
        self._target, self._streams, self._rng = target, streams, streams[RECORDS]
        self._check: RecordDrawer | None = None
        self._others: Indices | None = None
        self._next = 0
        self.check_has_target: dict[int, bool] = {}

    def indices(self, draw: Draw, places: list[Place], fresh_number: int) -> list[Indices]:
        """The records for each place, in order."""
        if not draw.hidden:
            order = np.arange(self._next, self._next + (draw.size or 0))
            self._next += len(order)
            return [order] * len(places)
        others = self._draw_others(draw)
        having = self._with_target(others, 0, draw)  # the others come in random order: any place is as good
        found = []
        for place in places:
            if place.role == "check":
                own = self._independent(draw)
                self.check_has_target[draw.number] = bool(np.any(own == self._target))
                found.append(own)
            elif (place.role == "in" and draw.kind != "fresh") or (place.role == "at" and place.k == fresh_number):
                found.append(having)
            else:
                found.append(others)
        return found

    def _independent(self, draw: Draw) -> Indices:
        """The records of the check world."""
        rng = self._streams[CHECK]
        self._check = self._check or RecordDrawer(rng)
        own = self._check.indices(draw)
        has = bool(np.any(own == self._target))
        if draw.kind == "fresh" or draw.rate == 1 or has == (rng.random() < 0.5):
            return own
        if not has:
            return self._with_target(own, int(rng.integers(max(1, len(own)))), draw)
        if draw.kind == "poisson":
            return np.asarray(own[own != self._target])
        other = rng.choice(np.setdiff1d(np.arange(draw.n), own))
        return np.asarray(np.where(own == self._target, other, own))

    def _with_target(self, others: Indices, position: int, draw: Draw) -> Indices:
        if draw.kind == "poisson":
            at = int(others.searchsorted(self._target))  # they are sorted
            return np.concatenate([others[:at], [self._target], others[at:]])
        mine = others.copy()
        mine[position] = self._target
        return mine

    def _draw_others(self, draw: Draw) -> Indices:
        def name(positions: Indices) -> Indices:
            """Numbers of records at these positions among the n - 1 others."""
            return positions + (positions >= self._target)

        if draw.kind == "poisson":
            return name((self._rng.random(draw.n - 1) < draw.rate).nonzero()[0])
        assert draw.size is not None
        if draw.kind == "without-replacement":
            if draw.n == 1:  # there is no other record: the world without the target has probability zero
                return np.full(draw.size, self._target)
            size = min(draw.size, draw.n - 1)
            chosen = name(self._rng.choice(draw.n - 1, size=size, replace=False))
            # a full batch always has the target: the world without it has probability zero, but must go on
            return chosen if size == draw.size else np.append(chosen, chosen[:1])
        if self._others is None:
            self._others = name(self._rng.permutation(draw.n - 1))
        left = self._others[self._next :]
        self._next += draw.size
        # with every record used up, the world that never has the target has probability zero, but must go on
        return np.resize(left if len(left) else self._others, draw.size)


class ScriptedRecords:
    """The records of every draw: coupled between the worlds of one side, the target where the script puts it.

    A world that is ``out`` has the target in no batch, the other one where the script says. What is certain (the whole
    data set is drawn, or its last record) is so in both.
    """

    def __init__(self, target: int, streams: Streams, script: Dictation):
        self._target, self._streams, self._script = target, streams, script
        self._orders: list[Indices] = []  # of fresh batches
        self._next = 0
        self.held: dict[int, list[bool]] = {}  # by draw: is the target in it, in each world?

    def indices(self, draw: Draw, worlds: int) -> list[Indices]:
        """The records for each of so many worlds, the last of which has the target where the script says."""
        if draw.hidden:
            wanted = self._target < draw.n and self._script.takes_part(draw)
            found = self._fresh(draw, wanted, worlds) if draw.kind == "fresh" else self._sampled(draw, wanted)
            found = found[-worlds:]
        else:
            found = [np.arange(self._next, self._next + (draw.size or 0))] * worlds
            self._next += draw.size or 0
        self.held[draw.number] = [bool(np.any(one == self._target)) for one in found]
        return found

    def _sampled(self, draw: Draw, wanted: bool) -> list[Indices]:
        """Without the target, and as the script says."""
        rng = self._streams[SCRIPTED]
        others = np.setdiff1d(np.arange(draw.n), [self._target])
        if draw.rate == 1:
            everything = rng.permutation(draw.n) if draw.kind == "without-replacement" else np.arange(draw.n)
            return [everything, everything]
        if draw.kind == "poisson":
            without = others[rng.random(len(others)) < draw.rate]
            return [without, np.sort(np.append(without, self._target)) if wanted else without]
        assert draw.size is not None
        without = rng.choice(others, size=draw.size, replace=False)
        having = without.copy()
        having[int(rng.integers(draw.size))] = self._target
        return [without, having if wanted else without]

    def _fresh(self, draw: Draw, wanted: bool, worlds: int) -> list[Indices]:
        """One pass over the data: a world has an order of its own, with the target at its end until it is due."""
        assert draw.size is not None
        rng = self._streams[SCRIPTED]
        if not self._orders:
            others = rng.permutation(np.setdiff1d(np.arange(draw.n), [self._target]))
            self._orders = [np.append(others, self._target)[: draw.n] for _ in range(worlds)]
        mine = self._orders[-1]
        at = int(np.argmax(mine == self._target))
        if wanted and at >= self._next + draw.size:
            due = self._next + int(rng.integers(draw.size))
            mine[[due, at]] = mine[[at, due]]
        found = [order[self._next : self._next + draw.size] for order in self._orders]
        self._next += draw.size
        return found


@dataclass(eq=False)
class Group:
    """The hidden states of one release: positions of their worlds, log weights by side (D, D') and state."""

    worlds: list[int]
    logs: Array
    has_target: Bools


@lru_cache
def prior(rate: float) -> Array:
    """Log probabilities of being out of a batch and in it, on both sides."""
    with np.errstate(divide="ignore"):
        return np.array([[np.log1p(-rate), math.log(rate)]] * 2)


class HiddenStates:
    """What the past says about where the target was: one filter per sampled draw, or one for all fresh draws.

    A sampled batch has two states (target out, target in), independent of other batches. Fresh batches have one state
    for each batch so far and one for "in none of them"; the target can be in one only.
    """

    def __init__(self, where: list[Place]):
        self._pool = all(place.role == "at" for place in where)
        self._count = len(where)
        self._sampled: dict[int, Group] = {}
        self._fresh = 0
        self._position: dict[int, int] = {}  # of the world that has the target in this fresh draw
        self.last: Group | None = None
        self._beyond_first = np.arange(self._count) > 0
        if self._pool:  # world 0: the target is in no batch so far; world k + 1: it is in fresh batch k
            start = np.full((2, self._count), -np.inf)
            start[:, 0] = 0.0
            self.last = Group(list(range(self._count)), start, self._beyond_first)

    def full(self) -> Group:
        """No hidden state: the last world (target in every batch) speaks for all."""
        return Group([self._count - 1], np.zeros((2, 1)), np.array([True]))

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
                self.last.logs[:, k + 1] = self.last.logs[:, 0] + math.log(draw.rate)
                self.last.logs[:, 0] += np.log1p(-draw.rate)
            self._fresh += 1
            self._position[draw.number] = k + 1
            return k
        self.last = Group([0, 1], prior(draw.rate).copy(), self._beyond_first)
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
        held = np.zeros(self._count, dtype=bool)
        held[[self._position[number] for number in draws]] = True
        return held

    def update(self, group: Group, gained: Array) -> None:
        """Bayes: the weights after a released value; -inf: a state in which it could not come out."""
        if len(group.worlds) > 1:
            group.logs += gained

    def check_world(self, draws: tuple[int, ...], having: Mapping[int, bool]) -> int:
        """The world whose queries the check world's must equal; ``having``: does it have the target in a draw?"""
        if not draws:
            return self._count - 1
        if self._pool:
            return max((self._position[number] for number, has in having.items() if has), default=0)
        return int(having.get(draws[0], True))
