"""Which records a draw takes: the one place where batches are chosen."""

from __future__ import annotations

import numpy as np

from dpassay.reference.types import Indices

from .transcript import Draw


class RecordDrawer:
    """Chooses records for draws; remembers the order in which fresh batches use the data up."""

    def __init__(self, rng: np.random.Generator):
        self._rng = rng
        self._order: Indices | None = None
        self._next = 0

    def indices(self, draw: Draw) -> Indices:
        """The records of one draw."""
        if draw.kind == "without-replacement":
            return self._rng.choice(draw.n, size=draw.size, replace=False)
        if draw.kind == "poisson":
            return np.flatnonzero(self._rng.random(draw.n) < draw.rate)
        assert draw.size is not None
        if self._order is None:
            self._order = self._rng.permutation(draw.n) if draw.hidden else np.arange(draw.n)
        chosen = self._order[self._next : self._next + draw.size]
        self._next += draw.size
        return chosen
