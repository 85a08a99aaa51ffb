"""Examples by design, where chance hardly brings things together.

A decision on something private shows where a run comes to it and the released values leave it open: just beyond one
landmark and not the next, or as the true queries say. So the largest sizes run with such values for all labels at once.
Where batches come by index, a bug that shows for the records of one batch needs the target there: examples that went
far are run again with the target in each batch in turn, then beside silent records.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from math import inf
from typing import NamedTuple

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.space import Sizes, Space
from dpassay.reference.transcript import Draw, Release, Transcript

from .ground import Data, Landmarks
from .moves import SHRINK
from .smaller import resized
from .strategies import width_of
from .uphill import Released

_BEYOND = 1.005  # of a landmark
_FALLS = 0.2  # from one entry of a row to the next: none is zero, and the first does most
_RUNS = 90  # with the target in another batch
_BATCHES = 12  # of one example


def largest(space: Space, data: Data, combinations: Sequence[Sizes], count: int) -> Iterator[Data]:
    """The data at the sizes with the most records, evenly spread."""
    most = max(sizes["n"] for sizes in combinations)
    among = [sizes for sizes in combinations if sizes["n"] == most]
    for sizes in among[:: -max(1, len(among) // count)][:count]:
        with suppress(Exception):  # rows that make no problem
            yield resized(space, data, sizes, 0)


def at_landmarks(labels: Mapping[str, Released], marks: Landmarks) -> Iterator[Script]:
    """Half as far out as the first landmark, then just beyond the first, the second, ..., with all labels at once."""
    distances = {label: sorted({abs(mark) for mark in marks.get(label, ())} - {0.0, inf}) for label in labels}
    for level in range(-1, max(map(len, distances.values()), default=0) or -1):
        values = {}
        for label, found in distances.items():
            if found:
                size = found[0] / 2 if level < 0 else _BEYOND * found[min(level, len(found) - 1)]
                values[label] = Choice("norm", size=size, along="axis")
        yield Script(values)


def one_by_one(labels: Mapping[str, Released], marks: Landmarks) -> Iterator[Script]:
    """Every value equal to its query; then just beyond its first landmark, vectors to either side along the first axis.

    Of finitely many outcomes it is the last one of all, or the first. Values that do not depend on the data stay what
    they are on the way to a data set far away, so that what parts the two ends parts neighbours too.
    """
    near = {
        label: min((abs(mark) for mark in found if 0 < abs(mark) < inf), default=0) for label, found in marks.items()
    }
    yield Script({label: Choice("index", index=-1) if one.finite else Choice("query") for label, one in labels.items()})
    for index in (-1, 0) if any(one.finite for one in labels.values()) else (-1,):
        for side in (1, -1):
            values = {}
            for label, one in labels.items():
                size = _BEYOND * near.get(label, 0) * (side if one.vector else 1)
                values[label] = Choice("norm", size=size, along="axis") if size else Choice("query")
                values[label] = Choice("index", index=index) if one.finite else values[label]
            yield Script(values)


def turned(space: Space, data: Data) -> Data:
    """The target's row turned round, where that is allowed: a row with all entries, so that all it does differs."""
    _, here, there = data.parts
    width = width_of(space, there)
    if space.rows.box is not None or space.relation == "add-remove" or not width:
        return data
    row = _FALLS ** np.arange(width)
    row *= (space.rows.bound or 1.0) * SHRINK / np.linalg.norm(row)
    return data.changed(here=np.append(row, here[width:]), there=np.append(-row, there[width:]))


class _Far(NamedTuple):
    """An example, where its batches begin, what it reached, and whether its values are by design."""

    data: Data
    script: Script
    seed: int
    begins: tuple[int, ...]
    reached: frozenset[tuple[str, str, bool]]
    calm: bool


class OpenBatches:
    """Remembers the examples that draw batches by index, and puts the target of those that went far into each batch."""

    def __init__(self, space: Space):
        self._space = space
        self.examples: list[_Far] = []

    def note(self, run: ScriptedRun, data: Data, script: Script, seed: int, calm: bool = False) -> None:
        """An example was run; a ``calm`` one comes before others that reach as much."""
        begins = _begins(run.transcript)
        if len(begins) > 1:
            self.examples.append(_Far(data, script, seed, begins, _reached(run.transcript), calm))

    def examples_with_target(self) -> Iterator[tuple[Data, Script, int]]:
        """The examples that together reach the most, with the target in each batch."""
        chosen = list(self._chosen(_RUNS // 2))
        every = [(one, place, silent) for silent in (False, True) for one in chosen for place in one.begins[-_BATCHES:]]
        for one, place, silent in every[:_RUNS]:
            yield self._with_target(one.data, place, silent), one.script, one.seed

    def _chosen(self, most: int) -> Iterator[_Far]:
        """Each adds the most to what those before it reached."""
        reached: set[tuple[str, str, bool]] = set()
        left = list(self.examples)
        while left and most > 0:
            gains = [(one.calm and not one.reached <= reached, len(one.reached - reached)) for one in left]
            best = gains.index(max(gains))
            if not gains[best][1]:
                if not reached:
                    return
                reached = set()  # all there is has been reached: once more, by others
                continue
            one = left.pop(best)
            reached |= one.reached
            most -= min(len(one.begins), _BATCHES)
            yield one

    def _with_target(self, data: Data, place: int, silent: bool) -> Data:
        """The target changes places with the record there; the others perhaps fall silent (labels stay)."""
        (rows, here, _), box = data.parts, self._space.rows.box
        if silent:
            rows[:, : width_of(self._space, here)] = 0.0 if box is None else np.clip(0.0, *box)
        else:
            rows[data.target] = rows[place]
        return data.changed(rows, here, target=place)


def _begins(transcript: Transcript) -> tuple[int, ...]:
    """The first record of each batch by index; nothing if a batch is secret."""
    draws = transcript.draws
    if any(draw.hidden or draw.kind != "fresh" for draw in draws):
        return ()
    ends = np.cumsum([draw.size or 0 for draw in draws])
    return tuple(int(end) - (draw.size or 0) for end, draw in zip(ends, draws, strict=True) if draw.size)


def _reached(transcript: Transcript) -> frozenset[tuple[str, str, bool]]:
    """Each label that could be moved, the batch drawn last before it, and whether that held several records."""
    last, found = ("", False), set()
    for event in transcript.events:
        if isinstance(event, Draw):
            last = event.label, (event.size or 0) > 1
        elif isinstance(event, Release) and event.sensitivity:
            found.add((event.label, *last))
    return frozenset(found)
