"""OPT-B and 2OPT-B, many runs at once: the twins of ``opt_b.run`` and ``two_opt_b.run``.

They make the runs in which every noisy gradient is long; a run that comes to a Hessian is left to the reference. The
neighbours may part: as printed their numbers of steps differ, hence their noise, the time of phase two and the end.
Lines are those of the reference's files, and so are the numbers, bit for bit
(``tests/audit/lockstep/test_abreast.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import cast

import numpy as np

from dpassay.reference.abreast import Abreast, AbreastTape, Taken, norms_of, stay_together
from dpassay.reference.neighbours import Pair
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import BLOCK_ROWS, ErmProblem
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array, Bools, Indices

from . import opt_b, two_opt_b

_CHUNK = 64  # runs whose batches are read at a time: they fit into a cache


@dataclass(frozen=True)
class Phase:
    """A descent of OPT-B.

    Args:
        schedule: the schedule, by the point at which the phase starts.
        decrease: what each step is counted on.
        noise: of a schedule and a number of steps.
    """

    schedule: Callable[[Array], opt_b.Schedule]
    decrease: float
    noise: Callable[[opt_b.Schedule, int], Multipliers]


@dataclass(frozen=True)
class Handed:
    """The tape of eq. (6): noise whose standard normal number is known."""

    number: float

    def noise(self, label: str, std: float) -> float:
        """``Tape.noise``."""
        return std * self.number


class Descents:
    """All runs, on both neighbours: points, phases, ends of phases and noise, shapes (runs, ..) and (runs, 2)."""

    def __init__(self, pair: Pair[ErmProblem], phases: list[Phase], start: Array, tape: AbreastTape):
        self._sides, self._phases, self._tape = (pair.here, pair.there), phases, tape
        self.w = np.tile(start, (tape.runs, 1))
        first = phases[0].schedule(start)
        noisy = first.reading == "printed" and not isinstance(first.noise, Multipliers)
        self._normal = tape.inner(len(phases)) if noisy else np.zeros((tape.runs, len(phases)))
        self._phase = np.zeros((tape.runs, 2), dtype=np.int64)
        self.ends, self.std = np.zeros((tape.runs, 2), dtype=np.int64), np.zeros((tape.runs, 2))
        self._enter(np.ones((tape.runs, 2), dtype=bool))

    def _enter(self, which: Bools) -> None:
        for run, side in np.argwhere(which).tolist():
            phase, number = self._phases[self._phase[run, side]], self._normal[run, self._phase[run, side]]
            s = phase.schedule(self.w[run])
            T = opt_b.iteration_bound(self._sides[side], s, cast(Tape, Handed(number)), phase.decrease)  # eq. (6)
            self.ends[run, side] += T
            self.std[run, side] = phase.noise(s, T).std("gradient", s.sensitivity.gradient)

    def go_on(self, step: int) -> None:
        """After so many steps: who is at the end of a phase begins the next one, or ends."""
        begins = (self.ends == step) & (self._phase < len(self._phases) - 1)
        self._phase[begins] += 1
        self._enter(begins)
        over = self.ends == step
        if np.any(over):
            self._tape.end(over.any(axis=1), "batch", ~over.all(axis=1))
            self.keep(~over.any(axis=1))

    def keep(self, which: Bools) -> None:
        """The others are no longer abreast."""
        self.w, self._normal, self._phase = self.w[which], self._normal[which], self._phase[which]
        self.ends, self.std = self.ends[which], self.std[which]


def gradients(problem: ErmProblem, w: Array, records: Indices) -> Array:
    """``ErmProblem.gradient`` of each run, shape (runs, d), at w, shape (runs, d), of records, shape (runs, batch)."""
    slope, regulariser, sums = problem.loss.link.slope, problem.loss.regulariser, np.empty_like(w)
    for first in range(0, len(w), _CHUNK):
        some = slice(first, first + _CHUNK)
        x, y = problem.features[records[some]], problem.labels[records[some]]
        margins = np.matmul(x, w[some, :, None])[..., 0]
        sums[some] = np.matmul((y * slope(y * margins))[:, None, :], x)[:, 0]
    return np.asarray((sums + 0.0) / records.shape[1] + regulariser.weight * regulariser.slope(w))


def queries(pair: Pair[ErmProblem], w: Array, taken: Taken) -> Array:
    """Of all worlds, shape (runs, worlds, d); where the target is in no batch, D' reads the same records as D."""
    here = [gradients(pair.here, w, taken.here[:, world]) for world in range(taken.here.shape[1])]
    there = []
    for world in range(taken.there.shape[1]):
        records = taken.there[:, world]
        alike = np.array_equal(records, taken.here[:, world]) and not np.any(records == pair.target)
        there.append(here[world] if alike else gradients(pair.there, w, records))
    return np.stack([*here, *there], axis=1)


def _descend(pair: Pair[ErmProblem], s: opt_b.Schedule, phases: list[Phase], tape: AbreastTape) -> None:
    """``opt_b.descend``, phase after phase."""
    one, other = pair.here, pair.there
    stay_together(isinstance(one, ErmProblem) and isinstance(other, ErmProblem), "another problem")
    stay_together(s.batch < one.n and s.batch <= BLOCK_ROWS, "a batch of all records, or of blocks")
    elsewhere = np.delete(np.arange(one.n), pair.target)
    features = np.array_equal(one.features[elsewhere], other.features[elsewhere])
    labels = np.array_equal(one.labels[elsewhere], other.labels[elsewhere])
    stay_together(features and labels and one.loss == other.loss, "neighbours that differ elsewhere")
    runs, step = Descents(pair, phases, s.start, tape), 0
    while tape.runs:
        taken = tape.records("batch", one.n, s.batch)  # S_k
        query, claim = queries(pair, runs.w, taken), s.sensitivity.gradient
        g = tape.gaussian("gradient", query, std=runs.std, sensitivity=claim, taken=taken)
        long = norms_of(g) > s.accuracy.gradient
        if not np.all(long):
            tape.leave(~long)
            runs.keep(long)
        runs.w, step = runs.w - g[long] / s.smoothness, step + 1  # eq. (7)
        runs.go_on(step)


def single(pair: Pair[ErmProblem], schedule: opt_b.Schedule, tape: AbreastTape) -> None:
    """OPT-B."""

    def noise(s: opt_b.Schedule, T: int) -> Multipliers:
        return s.noise if isinstance(s.noise, Multipliers) else s.noise.multipliers(T)

    _descend(pair, schedule, [Phase(lambda _: schedule, schedule.minimum_decrease, noise)], tape)


def double(pair: Pair[ErmProblem], schedule: two_opt_b.Schedule, tape: AbreastTape) -> None:
    """2OPT-B."""
    s = schedule

    def phase(share: float, hope: float) -> Phase:
        def noise(one: opt_b.Schedule, T: int) -> Multipliers:
            return s.multipliers(one, pair.here.n, T, share)

        return Phase(lambda w: s.phase(w, share), hope * s.base.minimum_decrease, noise)

    _descend(pair, s.base, [phase(s.share, s.hope), phase(1 - s.share, 1.0)], tape)


SINGLE, DOUBLE = Abreast(opt_b.run, single), Abreast(two_opt_b.run, double)
