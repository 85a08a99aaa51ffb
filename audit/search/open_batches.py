"""The target in every batch that is drawn in the open.

Where batches come by index, everybody knows which record is in which; a bug that shows for the records of one batch (a
release that forgets to declare it, a mean over what is not zero) needs the target there, and the run in the phase where
that batch matters. Chance hardly brings the two together. So examples that went far are run again, with the same
values, and the target in each batch in turn; then with the other records silent, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import NamedTuple

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Script
from dpassay.reference.space import Space
from dpassay.reference.transcript import Draw, Release, Transcript
from dpassay.reference.types import Array

from .ground import Data

MOST = 90  # runs
_BATCHES = 12  # of one example
_Feature = tuple[str, str, bool]
Tried = Callable[[Data, Script, int], ScriptedRun | None]  # runs an example


class _Far(NamedTuple):
    """An example, where its batches begin, and what it reached."""

    data: Data
    script: Script
    seed: int
    begins: tuple[int, ...]
    reached: frozenset[_Feature]


class OpenBatches:
    """Remembers the examples that draw batches in the open, and runs those that went the furthest again."""

    def __init__(self, space: Space):
        self._space = space
        self._examples: list[_Far] = []
        self._calm: list[_Far] = []

    def note(self, run: ScriptedRun, data: Data, script: Script, seed: int) -> None:
        """An example was run."""
        self._note(self._examples, run, data, script, seed)

    def _note(self, among: list[_Far], run: ScriptedRun, data: Data, script: Script, seed: int) -> None:
        begins = _begins(run.transcript)
        if len(begins) > 1:
            among.append(_Far(data, script, seed, begins, _reached(run.transcript)))

    def note_calm(self, run: ScriptedRun, data: Data, script: Script) -> None:
        """An example by design was run: it comes before others that reach as much."""
        self._note(self._calm, run, data, script, 0)

    @property
    def any(self) -> bool:
        """Does any example draw its batches in the open?"""
        return bool(self._examples)

    def go(self, tried: Tried, most: int = MOST) -> None:
        """Run the examples that together reach the most, by ``most`` runs at most."""
        chosen = list(self._chosen(most // 2))
        for silent in (False, True):
            for one in chosen:
                for place in one.begins[-_BATCHES:]:
                    if most <= 0:
                        return
                    most -= 1
                    with suppress(Exception):  # rows that make no problem
                        tried(self._with_target(one.data, place, silent), one.script, one.seed)

    def _chosen(self, most: int) -> Iterator[_Far]:
        """Each adds the most to what those before it reached, those within the landmarks first."""
        known: set[_Feature] = set()
        left = list(self._examples)
        while left and most > 0:
            among = [one for one in self._calm if one.reached - known] or left
            best = max(among, key=lambda one: len(one.reached - known))
            if best.reached <= known:
                if not known:
                    return
                known = set()  # all there is has been reached: once more, by others
                continue
            known |= best.reached
            (left if among is left else self._calm).remove(best)
            most -= min(len(best.begins), _BATCHES)
            yield best

    def _with_target(self, data: Data, place: int, silent: bool) -> Data:
        """The target changes places with the record there; the others perhaps fall silent."""
        assert data.rows is not None
        rows = data.rows.copy()
        here = rows[data.target].copy()
        if silent:
            rows[:] = _nothing(self._space, rows)
        else:
            rows[data.target] = rows[place]
        rows[place] = here
        return Data(data.sizes, rows, data.there, place)


def _nothing(space: Space, rows: Array) -> Array:
    """Zero, or as near to it as a box allows; labels stay."""
    width = rows.shape[1] - bool(space.rows.labels)
    found = rows.copy()
    found[:, :width] = 0.0 if space.rows.box is None else np.clip(0.0, *space.rows.box)
    return found


def _begins(transcript: Transcript) -> tuple[int, ...]:
    """The first record of each batch by index; nothing if a batch is secret."""
    draws = transcript.draws
    if any(draw.hidden or draw.kind != "fresh" for draw in draws):
        return ()
    ends = np.cumsum([draw.size or 0 for draw in draws])
    return tuple(int(end) - (draw.size or 0) for end, draw in zip(ends, draws, strict=True) if draw.size)


def _reached(transcript: Transcript) -> frozenset[_Feature]:
    """Each label that could be moved, the batch drawn last before it, and whether that held several records."""
    last, found = ("", False), set()
    for event in transcript.events:
        if isinstance(event, Draw):
            last = event.label, (event.size or 0) > 1
        elif isinstance(event, Release) and event.sensitivity:
            found.add((event.label, *last))
    return frozenset(found)
