"""Many lockstep runs abreast: every release of all runs and worlds at once, with the numbers of ``hub.py`` bit for bit.

Each run keeps its own random streams and asks them for the same numbers in the same order as a run by itself. What is
done here is the common case alone: Gaussian noise, on all records or on one batch without replacement. A query that
moves by more than it declares, a noise scale that differs between D and D', an end that comes earlier on one side are
noted by kind and label: a single run has to show them first. Runs that go another way than the others are left to be
made by themselves. Anything else raises :class:`NotAbreast`, and the runs are made one by one: no finding is ever made,
or missed, here.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.reference.abreast import Taken, Twin, norms_of, stay_together
from dpassay.reference.findings import Kind
from dpassay.reference.laws.law import SMALLEST
from dpassay.reference.neighbours import Pair
from dpassay.reference.transcript import Draw
from dpassay.reference.types import Array, Bools, Indices

from .hidden import prior
from .outcome import WHOLE, Movement, shares_of
from .run import Needs, places
from .streams import CHECK, RECORDS, VALUES, Streams
from .tilting import Tilts
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
        self.together = np.arange(len(seeds))
        self._check = where[-1].role == "check"
        self._states = (len(where) - self._check) // 2
        self._streams = streams = [Streams(seed) for seed in seeds]
        self._values = [stream[VALUES] for stream in streams]
        self._records = [Records(target, stream[RECORDS], stream[CHECK]) for stream in streams] if self._hidden else []
        self.used_inner = False
        self._shifts = np.array([tilts[tilt].shift for tilt in chosen])
        self._chosen, self._every = chosen, np.arange(self.runs)
        self._target, self._draws = target, list[Draw]()
        self._latest = -1  # the draw whose filter is kept
        self._log_here = self._log_there = self._certain = np.zeros((self.runs, 1))
        self._check_in: Indices = np.zeros(self.runs, dtype=np.int64)  # of the check worlds: is the target drawn?
        self.loss, self.log_weights = np.zeros(self.runs), np.zeros((self.runs, len(tilts)))
        self.complete: Bools = np.ones(self.runs, dtype=bool)
        self.alone: Bools = np.zeros(self.runs, dtype=bool)  # to be made by themselves
        self._shown: dict[tuple[Kind, str], Bools] = {}
        self._moved: dict[str, tuple[Array, Array | None]] = {}
        self._often: dict[str, Indices] = {}  # releases, and those moved by all that they claim, of each run

    @property
    def _hidden(self) -> bool:
        return self._states == 2

    @property
    def movements(self) -> dict[str, Movement]:
        """By label the movement of the largest rank of all runs but those to be made alone, of equal ones the last."""
        found = {}
        for label, (moved, claimed) in self._moved.items():
            last = int(np.lexsort((moved, shares_of(moved, claimed), ~self.alone))[-1])
            if not self.alone[last] and moved[last] >= 0:
                releases, whole = self._often[label][:, ~self.alone].sum(axis=1).tolist()
                claim = None if claimed is None else float(claimed[last])
                found[label] = Movement(float(moved[last]), claim, releases=releases, whole=whole)
        return found

    @property
    def shown(self) -> dict[tuple[Kind, str], int]:
        """What a finding is due for, and the first run that shows it."""
        firsts = {key: np.flatnonzero(runs & ~self.alone) for key, runs in self._shown.items()}
        return {key: int(runs[0]) for key, runs in firsts.items() if len(runs)}

    def _show(self, kind: Kind, label: str, which: Bools) -> None:
        """``which``: of the runs that are together."""
        if np.any(which):
            shown = self._shown.setdefault((kind, label), np.zeros(len(self.loss), dtype=bool))
            shown[self.together[which]] = True

    # -- ways that part -------------------------------------------------------------------------------------
    def leave(self, which: Bools) -> None:
        """See :class:`AbreastTape`."""
        self.alone[self.together[which]] = True
        self._part(which)

    def end(self, which: Bools, label: str, early: Bools) -> None:
        """See :class:`AbreastTape`."""
        self._show(Kind.EARLY_END, label, which & early)
        self.complete[self.together[which & early]] = False
        self._part(which)

    def _part(self, which: Bools) -> None:
        stay = np.flatnonzero(~which)
        self.together, self.runs, self._every = self.together[stay], len(stay), np.arange(len(stay))
        self._values, self._streams = [self._values[k] for k in stay], [self._streams[k] for k in stay]
        self._records = [self._records[k] for k in stay] if self._hidden else []
        self._shifts, self._chosen, self._check_in = self._shifts[stay], self._chosen[stay], self._check_in[stay]
        self._certain, self._latest = self._certain[stay], -1  # a batch is read before runs part

    def inner(self, count: int) -> Array:
        """See :class:`AbreastTape`."""
        stay_together(not self._check, "a check world has inner randomness of its own")
        self.used_inner = True
        return np.array([stream.inner(0, False).standard_normal(count) for stream in self._streams])

    # -- draws ----------------------------------------------------------------------------------------------
    def records(self, label: str, n: int, size: int, other: int | None = None) -> Taken:
        """See :class:`AbreastTape`."""
        if size == n:
            everything = np.tile(np.arange(n), (1, self._states + self._check, 1))
            return Taken(everything, everything[:, : self._states], None)
        stay_together(self._hidden, "a batch that the probing run did not draw")
        draw = Draw(len(self._draws), label, "without-replacement", n, size, size / n)
        self._draws.append(draw)
        self._latest = draw.number
        start = prior(draw.rate)
        self._log_here, self._log_there = np.tile(start, (self.runs, 1)), np.tile(start, (self.runs, 1))
        if other is None or self._check:
            found = self._drawn_records(draw, other)
        else:
            found = np.full((1, 2, size), other)
            found[0, 1, 0] = self._target
        return Taken(found, found[:, :2], draw.number)

    def _drawn_records(self, draw: Draw, other: int | None) -> Indices:
        found = np.empty((self.runs, 3 if self._check else 2, draw.size or 0), dtype=np.int64)
        if other is not None:  # which of them are drawn does not matter, and nobody else asks that stream
            found[:, :2] = other
            found[:, 1, 0] = self._target
        for run, records in enumerate(self._records):
            if other is None:
                drawn = records.indices(draw, self._where, -1)
                found[run, 0], found[run, 1] = drawn[0], drawn[1]
            if self._check:
                found[run, 2] = drawn[-1] if other is None else records.checked(draw)
                self._check_in[run] = records.check_has_target[draw.number]
        return found

    # -- releases -------------------------------------------------------------------------------------------
    def gaussian(
        self, label: str, query: Array, *, std: float | Array, sensitivity: float | Array | None, taken: Taken
    ) -> Array:
        """See :class:`AbreastTape`."""
        noise = np.asarray(std, dtype=float)
        noise = np.broadcast_to(noise if noise.ndim == 2 else noise[..., None], (self.runs, 2))
        noisy = bool(np.all((noise >= SMALLEST) & (noise < np.inf)))
        stay_together(noisy and bool(np.isfinite(query).all()), "a release without noise")
        stay_together(taken.draw in (None, self._latest), "an earlier batch is read again")
        query = np.broadcast_to(query, (self.runs, *query.shape[1:]))
        self._show(Kind.NOISE_SCALE, label, noise[:, 0] != noise[:, 1])
        here, there = self._sides(query, noise[:, 0], taken.draw)
        self._move(label, here, there, sensitivity)
        hidden = taken.draw is not None
        logs = (self._log_here, self._log_there) if hidden else (self._certain, self._certain)
        away = here - np.matmul(np.exp(logs[1])[:, None, :], there)
        weights = self._tilted(logs[0])
        value = self._drawn(here, away, weights, noise[:, 0])
        gained = self._count(value, (here, away, there), weights, noise, logs)
        if hidden:
            self._log_here, self._log_there = logs[0] + gained[0], logs[1] + gained[1]
        return value

    def _sides(self, query: Array, std: Array, draw: int | None) -> tuple[Array, Array]:
        """The queries on D and on D', shape (runs, states, d), once it is seen that no finding is due."""
        last = self._states - 1
        if self._check:
            own, order = query[:, self._states], [*range(self._states), *range(self._states + 1, query.shape[1])]
            query = query[:, order]
            reference = query[:, last] if draw is None else query[self._every, self._check_in]
            tolerance = _EXACT * std[:, None] + 1e-12 * np.max(np.abs(own), axis=1, initial=0.0, keepdims=True)
            stay_together(bool(np.all(np.abs(own - reference) <= tolerance)), "a check world disagrees")
        here, there = query[:, : self._states], query[:, self._states :]
        if draw is None and self._hidden:  # the last world speaks for all: where the target was drawn may not matter
            for side in (here, there):
                stay_together(np.array_equal(side[:, 0], side[:, last]), "a query on all records depends on a batch")
            here, there = here[:, last:], there[:, last:]
        elif self._hidden and self._draws[self._latest].rate < 1:
            stay_together(np.array_equal(here[:, 0], there[:, 0]), "a query depends on a record outside its batch")
        return np.ascontiguousarray(here), np.ascontiguousarray(there)

    def _move(self, label: str, here: Array, there: Array, sensitivity: float | Array | None) -> None:
        """``Hub._movement`` of every run; that a query overshoots is noted by its label alone."""
        apart = norms_of(here - there)
        claimed = None if sensitivity is None else np.broadcast_to(np.asarray(sensitivity, float), (self.runs,))
        if claimed is not None:
            rounding = 1e-12 * np.maximum(*(np.max(np.abs(side), axis=2, initial=0.0) for side in (here, there)))
            over = apart > (claimed * (1 + 1e-9) + 1e-12)[:, None] + rounding
            self._show(Kind.SENSITIVITY_EXCEEDED, label, np.any(over, axis=1))
        largest, every = apart.max(axis=1), len(self.loss)
        fresh = np.full(every, -1.0), None if claimed is None else np.zeros(every)
        moved, claims = self._moved.setdefault(label, fresh)
        stay_together((claimed is None) == (claims is None), "a sensitivity is claimed at times")
        known = moved[self.together]
        share, before = shares_of(largest, claimed), shares_of(known, None if claims is None else claims[self.together])
        often = self._often.setdefault(label, np.zeros((2, every), dtype=np.int64))
        often[:, self.together] += np.array([share >= 0, share >= WHOLE])
        further = (share > before) | ((share == before) & (largest >= known))  # as `Movement.rank`
        moved[self.together[further]] = largest[further]
        if claims is not None and claimed is not None:
            claims[self.together[further]] = claimed[further]

    def _tilted(self, log_here: Array) -> Array:
        """Log weights of the states, shape (runs, tilts, states): ``_tilted_weights`` of every run."""
        has_target: Bools = np.arange(log_here.shape[1]) > 0 if log_here.shape[1] > 1 else np.array([True])
        raised = log_here[:, None, :] + self._tilts.odds * has_target
        return np.asarray(raised - _summed(raised)[..., None])

    def _drawn(self, here: Array, away: Array, weights: Array, std: Array) -> Array:
        """One value for each run, from its own stream."""
        size, state = here.shape[2], np.zeros(self.runs, dtype=np.int64)
        noise = np.empty((self.runs, size))
        if here.shape[1] > 1:
            out = np.exp(weights[self._every, self._chosen])[:, 0].tolist()
            for run, rng in enumerate(self._values):
                state[run] = rng.random() >= out[run]
                rng.standard_normal(out=noise[run])
        else:
            for run, rng in enumerate(self._values):
                rng.standard_normal(out=noise[run])
        picked, move = here[self._every, state], away[self._every, state]
        return np.asarray(picked + self._shifts[:, None] * move + std[:, None] * noise)

    def _count(
        self,
        value: Array,
        sides: tuple[Array, Array, Array],
        weights: Array,
        std: Array,
        logs: tuple[Array, Array],
    ) -> tuple[Array, Array]:
        """Loss and weights, and what the filter gains: ``ManyGaussians.logs`` and ``Hub._count`` of every run."""
        here, away, there = sides
        gap, gap_there = value[:, None, :] - here, value[:, None, :] - there
        factors = np.array([gap, gap, away, gap_there]), np.array([gap, away, away, gap_there])
        squares, cross, length, squares_there = np.einsum("krsp,krsp->krs", *factors)
        # of D and of D', shape (runs, 2, 1)
        twice, base = (2 * (std * std))[..., None], (-value.shape[1] * log_scales(std))[..., None]
        log_here, log_there = base[:, 0] - squares / twice[:, 0], base[:, 1] - squares_there / twice[:, 1]
        shifted = self._tilts.twice * cross[:, None, :] - self._tilts.squares * length[:, None, :]
        proposals = _summed(weights + (log_here[:, None, :] + shifted / twice[:, :1]))
        mean_here, mean_there = _summed(logs[0] + log_here), _summed(logs[1] + log_there)
        stay_together(bool(np.isfinite(mean_here).all() and np.isfinite(mean_there).all()), "a loss without end")
        self.loss[self.together] += mean_here - mean_there
        self.log_weights[self.together] += mean_here[:, None] - proposals
        gained = log_there - mean_there[:, None]
        return log_here - mean_here[:, None], np.where(np.isfinite(gained), gained, -np.inf)


def log_scales(stds: Array) -> Array:
    """``log_scale`` of each."""
    return np.asarray(np.log(stds) + 0.5 * math.log(2 * math.pi))


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
    made = RunsAbreast(pair.target, places(what, check), seeds, tilts, chosen)
    with np.errstate(over="raise", invalid="raise", divide="ignore"):
        try:
            twin(pair, tape=made)
        except FloatingPointError as error:
            stay_together(False, str(error))
    stay_together(made.used_inner == what.inner, "inner randomness")
    return made
