"""Many runs abreast: an algorithm over arrays with one entry a run, for audits that would need hours one by one.

The reference stays the function that reads like the pseudocode. Beside it an algorithm may have a twin that makes many
runs at once, on both neighbours, with whatever they have in common computed once: what was released, and what follows
from it, is the same in every world, so points have shape (runs, d); only what reads records has a world for each
neighbour and each place of the target record, shape (runs, worlds, ...).

The twin gives the reference's numbers bit for bit, or it raises :class:`NotAbreast` and the runs are made one by one;
it may also leave single runs that go their own way.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, Protocol

import numpy as np

from .neighbours import Pair
from .types import Array, Bools, Indices


class NotAbreast(Exception):
    """These runs do not stay together, or show something that only single runs can tell; the text says what."""


@dataclass(frozen=True, eq=False)
class Taken:
    """The records that a step of every run reads.

    Args:
        here: (runs, worlds, size), in the worlds of D; a first axis of length 1 means: the same in all runs.
        there: the same in the worlds of D'.
        draw: number of the draw; None: all records, nothing is drawn.
    """

    here: Indices
    there: Indices
    draw: int | None


class AbreastTape(Protocol):
    """What a twin asks for: the tape's calls, for all runs and all worlds."""

    @property
    def runs(self) -> int:
        """How many runs go abreast: those that neither ended nor left."""

    def records(self, label: str, n: int, size: int, other: int | None = None) -> Taken:
        """``draw_records`` of every run: a batch without replacement, or all records for ``size = n``.

        ``other``: a record that may stand for every other one, as all of them but the target are alike.
        """

    def gaussian(
        self, label: str, query: Array, *, std: float | Array, sensitivity: float | Array | None, taken: Taken
    ) -> Array:
        """``Tape.gaussian`` of every run: query of shape (runs, worlds, d), released values of shape (runs, d).

        ``std`` and ``sensitivity`` are those of all runs, or one for each, shape (runs,); ``std`` may also be one for
        each neighbour, shape (runs, 2).
        """

    def inner(self, count: int) -> Array:
        """Standard normal numbers behind ``Tape.noise``, shape (runs, count): the same in all worlds of a run."""

    def leave(self, which: Bools) -> None:
        """These of the runs are made by the reference, from their start; arrays that follow are without them."""

    def end(self, which: Bools, label: str, early: Bools) -> None:
        """These of the runs end; ``early`` are those in which one neighbour goes on, with the call ``label``."""


class Twin(Protocol):
    """Many runs at once, the schedule bound in."""

    def __call__(self, pair: Pair[Any], *, tape: AbreastTape) -> None:
        """Make the runs of ``tape``."""


@dataclass(frozen=True)
class Abreast:
    """``run(pair, schedule, tape)`` makes the runs that ``of(problem, schedule, tape)`` makes one by one."""

    of: Callable[..., Any]
    run: Callable[..., None]

    def of_schedule(self, run: Callable[..., Any], schedule: Any) -> Twin | None:
        """The twin of ``run`` under this schedule; None where it stands for another function (a planted bug, say)."""
        return partial(self.run, schedule=schedule) if run is self.of else None


def stay_together(condition: bool, why: str) -> None:
    """Raise :class:`NotAbreast` unless ``condition`` holds."""
    if not condition:
        raise NotAbreast(why)


def norms_of(points: Array) -> Array:
    """2-norms over the last axis, the numbers of ``norms.norm`` bit for bit (the same inner products)."""
    return np.asarray(np.sqrt(np.matmul(points[..., None, :], points[..., :, None])[..., 0, 0]))


def means_of(rows: Array, kinds: Indices) -> Array:
    """Means over records of which only the kind matters, the numbers of ``norms.mean_of`` bit for bit.

    Args:
        rows: (runs, kinds, d), what a record of each kind contributes.
        kinds: (runs or 1, worlds, records), which kind each record is.

    Returns:
        Shape (runs, worlds, d).
    """
    runs = np.arange(len(rows))
    if rows.shape[2] == 1:  # one column: NumPy adds up in pairs, along the records
        picked = rows[runs[:, None, None], kinds, 0]
        return np.asarray(np.add.reduce(picked, axis=2) / kinds.shape[2])[..., None]
    # several columns: row by row, whatever else there is
    picked = rows[runs[None, :, None], np.moveaxis(kinds, 2, 0)]
    return np.asarray(np.add.reduce(picked, axis=0) / kinds.shape[2])
