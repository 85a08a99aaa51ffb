"""The random streams of one lockstep run: each is made when it is first used, and most never are."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

VALUES, PUBLIC, RECORDS, CHECK, SCRIPTED = range(5)
_INNER = 7


class Streams:
    """Generators by number, those of the children that ``SeedSequence(seed).spawn`` gives."""

    def __init__(self, seed: Sequence[int]):
        self._seed = list(seed)
        self._made: dict[tuple[str, int], np.random.Generator] = {}

    def __getitem__(self, number: int) -> np.random.Generator:
        """The stream with this number."""
        found = self._made.get(("spawned", number))
        if found is None:
            child = np.random.SeedSequence(self._seed, spawn_key=(number,))
            found = self._made["spawned", number] = np.random.default_rng(child)
        return found

    def inner(self, world: int, check: bool) -> np.random.Generator:
        """Inner randomness of a world: all start alike but that of the check world."""
        found = self._made.get(("inner", world))
        if found is None:
            found = self._made["inner", world] = np.random.default_rng([*self._seed, _INNER, int(check)])
        return found
