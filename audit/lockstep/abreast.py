"""Many lockstep runs abreast: every release of all runs and worlds at once, with the numbers of ``hub.py`` bit for bit.

Each run keeps its own random streams and asks them for the same numbers in the same order as a run by itself. What is
done here is the common case alone: Gaussian noise of one scale, on all records or on one batch without replacement,
queries that move by no more than they declare. Anything else raises :class:`NotAbreast`, and the runs are made one by
one: no finding is ever made, or missed, here.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.reference.abreast import Taken, Twin, norms_of, stay_together
from dpassay.reference.neighbours import Pair
from dpassay.reference.transcript import Draw
from dpassay.reference.types import Array, Bools, Indices

from .hidden import prior
from .outcome import Movement
from .run import Needs, places
from .streams import CHECK, RECORDS, VALUES, Streams
from .tilting import Tilts, log_scale
from .worlds import Place, Records

_EXACT = 1e-9  # as in law.py: queries that agree to this fraction of the noise are the same


class RunsAbreast:
    """The tape of all runs, and what they showed.

    Args:
        target: number of the record in which the neighbours differ.
        where: the worlds, of one run as of all: those of D, those of D', and perhaps the check world.
        seeds: names each run.
        chosen: the tilt under which each run is drawn.
    """

    def __init__(
        self, target: int, where: Sequence[Place], seeds: Sequence[Sequence[int]], tilts: Tilts, chosen: Indices
    ):
        stay_together(where[0].role in ("full", "out"), "fresh batches")
        self.runs, self._where, self._tilts = len(seeds), list(where), tilts
        self._check = where[-1].role == "check"
        self._states = (len(where) - self._check) // 2
        streams = [Streams(seed) for seed in seeds]
        self._values = [stream[VALUES] for stream in streams]
        self._records = [Records(target, stream[RECORDS], stream[CHECK]) for stream in streams] if self._hidden else []
        self._shifts = np.array([tilts[tilt].shift for tilt in chosen])
        self._chosen, self._every = chosen, np.arange(self.runs)
        self._draws: list[Draw] = []
        self._latest = -1  # the draw whose filter is kept
        self._log_here = self._log_there = np.zeros((self.runs, 1))
        self._check_in: Indices = np.zeros(self.runs, dtype=np.int64)  # of the check worlds: is the target drawn?
        self.loss, self.log_weights = np.zeros(self.runs), np.zeros((self.runs, len(tilts)))
        self.movements: dict[str, Movement] = {}

    @property
    def _hidden(self) -> bool:
        return self._states == 2

    # -- draws ----------------------------------------------------------------------------------------------
    def records(self, label: str, n: int, size: int) -> Taken:
        """See :class:`AbreastTape`."""
        if size == n:
            stay_together(not self._hidden, "some steps read all records, others a batch")
            everything = np.arange(n).reshape(1, 1, n)
            return Taken(everything, everything, None)
        stay_together(self._hidden, "a batch that the probing run did not draw")
        draw = Draw(len(self._draws), label, "without-replacement", n, size, size / n)
        self._draws.append(draw)
        self._latest = draw.number
        start = prior(draw.rate)
        self._log_here, self._log_there = np.tile(start, (self.runs, 1)), np.tile(start, (self.runs, 1))
        found = np.empty((self.runs, 3 if self._check else 2, size), dtype=np.int64)
        for run, records in enumerate(self._records):
            drawn = records.indices(draw, self._where, -1)
            found[run, 0], found[run, 1] = drawn[0], drawn[1]
            if self._check:
                found[run, 2] = drawn[-1]
                self._check_in[run] = records.check_has_target[draw.number]
        return Taken(found, found[:, :2], draw.number)

    # -- releases -------------------------------------------------------------------------------------------
    def gaussian(self, label: str, query: Array, *, std: float, sensitivity: float | None, taken: Taken) -> Array:
        """See :class:`AbreastTape`."""
        stay_together(0 < std < np.inf and bool(np.isfinite(query).all()), "a release without noise")
        stay_together(taken.draw == (self._latest if self._hidden else None), "an earlier batch is read again")
        query = np.broadcast_to(query, (self.runs, *query.shape[1:]))
        here, there = self._sides(query, std, label, sensitivity)
        away = here - np.matmul(np.exp(self._log_there)[:, None, :], there)
        weights = self._tilted()
        value = self._drawn(here, away, weights, std)
        self._count(value, (here, away, there), weights, std)
        return value

    def _sides(self, query: Array, std: float, label: str, sensitivity: float | None) -> tuple[Array, Array]:
        """The queries on D and on D', shape (runs, states, d), once it is seen that no finding is due."""
        if self._check:
            own, order = query[:, self._states], [*range(self._states), *range(self._states + 1, query.shape[1])]
            query = query[:, order]
            reference = query[self._every, self._check_in] if self._hidden else query[:, 0]
            tolerance = _EXACT * std + 1e-12 * np.max(np.abs(own), axis=1, initial=0.0, keepdims=True)
            stay_together(bool(np.all(np.abs(own - reference) <= tolerance)), "a check world disagrees")
        here, there = query[:, : self._states], query[:, self._states :]
        if self._hidden and self._draws[self._latest].rate < 1:
            stay_together(np.array_equal(here[:, 0], there[:, 0]), "a query depends on a record outside its batch")
        largest = float(norms_of(here - there).max())
        moved = self.movements.setdefault(label, Movement())
        if largest >= moved.moved:
            moved.moved, moved.claimed = largest, sensitivity
        limit = np.inf if sensitivity is None else sensitivity * (1 + 1e-9) + 1e-12
        stay_together(largest <= limit, "a query moves by more than it declares")
        return np.ascontiguousarray(here), np.ascontiguousarray(there)

    def _tilted(self) -> Array:
        """Log weights of the states, shape (runs, tilts, states): ``_tilted_weights`` of every run."""
        has_target: Bools = np.arange(self._states) > 0 if self._hidden else np.array([True])
        raised = self._log_here[:, None, :] + self._tilts.odds * has_target
        return np.asarray(raised - _summed(raised)[..., None])

    def _drawn(self, here: Array, away: Array, weights: Array, std: float) -> Array:
        """One value for each run, from its own stream."""
        size, state = here.shape[2], np.zeros(self.runs, dtype=np.int64)
        noise = np.empty((self.runs, size))
        if self._hidden:
            out = np.exp(weights[self._every, self._chosen])[:, 0].tolist()
            for run, rng in enumerate(self._values):
                state[run] = rng.random() >= out[run]
                rng.standard_normal(out=noise[run])
        else:
            for run, rng in enumerate(self._values):
                rng.standard_normal(out=noise[run])
        picked, move = here[self._every, state], away[self._every, state]
        return np.asarray(picked + self._shifts[:, None] * move + std * noise)

    def _count(self, value: Array, sides: tuple[Array, Array, Array], weights: Array, std: float) -> None:
        """Loss, weights and filter: ``ManyGaussians.logs`` and ``Hub._count`` of every run."""
        here, away, there = sides
        gap, gap_there = value[:, None, :] - here, value[:, None, :] - there
        factors = np.array([gap, gap, away, gap_there]), np.array([gap, away, away, gap_there])
        squares, cross, length, squares_there = np.einsum("krsp,krsp->krs", *factors)
        twice, base = 2 * (std * std), -value.shape[1] * log_scale(std)
        log_here, log_there = base - squares / twice, base - squares_there / twice
        shifted = self._tilts.twice * cross[:, None, :] - self._tilts.squares * length[:, None, :]
        proposals = _summed(weights + (log_here[:, None, :] + shifted / twice))
        mean_here, mean_there = _summed(self._log_here + log_here), _summed(self._log_there + log_there)
        stay_together(bool(np.isfinite(mean_here).all() and np.isfinite(mean_there).all()), "a loss without end")
        self.loss += mean_here - mean_there
        self.log_weights += mean_here[:, None] - proposals
        if self._hidden:
            self._log_here += log_here - mean_here[:, None]
            gained = log_there - mean_there[:, None]
            self._log_there += np.where(np.isfinite(gained), gained, -np.inf)


def _summed(logs: Array) -> Array:
    """Log of the sum over the last axis, of one state or two."""
    return logs[..., 0] if logs.shape[-1] == 1 else np.asarray(np.logaddexp(logs[..., 0], logs[..., 1]))


def abreast(
    twin: Twin,
    pair: Pair[Any],
    seeds: Sequence[Sequence[int]],
    tilts: Tilts,
    chosen: Indices,
    *,
    check: bool,
    what: Needs,
) -> RunsAbreast:
    """These runs in lockstep, all at once.

    Raises:
        NotAbreast: they must be made one by one.
    """
    stay_together(not what.inner, "inner randomness")
    made = RunsAbreast(pair.target, places(what, check), seeds, tilts, chosen)
    with np.errstate(over="raise", invalid="raise", divide="ignore"):
        try:
            twin(pair, tape=made)
        except FloatingPointError as error:
            stay_together(False, str(error))
    return made
