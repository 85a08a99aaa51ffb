"""Algorithms 2 and 3 of ``dro``, many runs at once: the twins of ``double_spider.run`` and ``recursive_spider.run``.

They make the runs on :class:`~.worst_case.RoughRecord`, where all records but the target are alike: what a record
contributes is computed for three kinds (another one, the target on D, the target on D'), and along the first axis
alone, as all else is zero. Runs in which something is released without noise are made by the reference. Lines are those
of the reference's files, and so are the numbers, bit for bit (``tests/audit/lockstep/test_abreast.py``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.abreast import Abreast, AbreastTape, Taken, means_of, norms_of, stay_together
from dpassay.reference.neighbours import Pair
from dpassay.reference.types import Array, Indices

from . import double_spider, recursive_spider
from .objective import LARGEST, CompositionalObjective, DualObjective
from .worst_case import TARGET, RoughRecord


@dataclass(frozen=True, eq=False)
class Point:
    """A point of each run: x, shape (runs, d), the other variable, shape (runs,), and what the records say there.

    Args:
        losses: of each kind of record, shape (runs, kinds).
        slopes: first entry of the gradient of the loss, likewise.
    """

    x: Array
    other: Array
    losses: Array
    slopes: Array

    def with_other(self, other: Array) -> Point:
        """The same x."""
        return Point(self.x, other, self.losses, self.slopes)


class RoughPair:
    """Both neighbours' records by kind: 0 another one, 1 the target on D, 2 the target on D'."""

    def __init__(self, here: Any, there: Any, target: int):
        rough = isinstance(here, RoughRecord) and isinstance(there, RoughRecord)
        stay_together(rough and target == TARGET and here.d > 1, "other records than a rough one among equal ones")
        self._record, self.n, self.d = here, here.n, here.d
        self._signs = np.array([here.others, here.sign, there.sign])

    def at(self, x: Array, other: Array) -> Point:
        """Losses and slopes at a point of each run: ``RoughRecord.losses`` and ``loss_gradients``."""
        waves = np.array([self._record._wave(value) for value in x[:, 0].tolist()])
        amplitude = self._record.amplitude
        losses = amplitude * (1.0 + self._signs * waves[:, :1])
        return Point(x, other, losses, amplitude * self._signs * waves[:, 1:])

    def mean(self, tape: AbreastTape, label: str, size: int, rows: Array, column: bool = False) -> tuple[Array, Taken]:
        """Mean over a batch of what each kind contributes, shape (runs, worlds, 1) or with zeros up to (.., d).

        Args:
            rows: of each kind, shape (runs, kinds).
            column: it is the first one of d columns, so that records are added up one by one.
        """
        taken = tape.records(label, self.n, size, other=TARGET + 1)
        kinds = np.concatenate([self._kinds(taken.here, 1), self._kinds(taken.there, 2)], axis=1)
        if not column:
            return means_of(rows[..., None], kinds), taken
        means = means_of(np.stack([rows, rows], axis=2), kinds)
        found = np.zeros((*means.shape[:2], self.d))
        found[..., 0] = means[..., 0]
        return found, taken

    @staticmethod
    def _kinds(records: Indices, target: int) -> Indices:
        return np.where(records == TARGET, target, 0)


def clipped(rows: Array, bound: Array) -> Array:
    """``clip_rows`` of rows with one entry that is not zero, shape (runs, kinds), at a bound of each run."""
    return np.asarray(rows * (bound[:, None] / np.maximum(np.sqrt(rows * rows), bound[:, None])))


def shortened(points: Array, bound: Array) -> Array:
    """``clip`` over the last axis of points, shape (runs, worlds, d)."""
    norms = norms_of(points)
    factors = np.where(norms <= bound[:, None], 1.0, bound[:, None] / np.maximum(norms, bound[:, None]))
    return np.asarray(points * factors[..., None])


# Algorithm 2 ---------------------------------------------------------------------------------------------------------


def double(pair: Pair[DualObjective], schedule: double_spider.Schedule, tape: AbreastTape) -> None:
    """Algorithm 2."""
    s, problem = schedule, pair.here
    records = RoughPair(pair.here.data, pair.there.data, pair.target)
    x = np.tile(np.zeros(records.d) if s.start_x is None else s.start_x, (tape.runs, 1))
    g, v = np.zeros(tape.runs), np.zeros_like(x)
    now = before = records.at(x, np.full(tape.runs, s.start_eta))

    def slopes(at: Point) -> Array:
        with np.errstate(over="ignore"):
            found = problem.divergence.conjugate_derivative(
                (at.losses - problem.dual_scale * at.other[:, None]) / problem.weight
            )
        return np.minimum(found, LARGEST)

    def in_eta(at: Point) -> Array:
        return problem.dual_scale * (1.0 - slopes(at))

    def in_x(at: Point) -> Array:
        return slopes(at) * at.slopes

    def released(block: str, gradients: Callable[[Point], Array], at: Point, last: Point | None) -> Array:
        size, clip = s.refresh_batch, np.full(tape.runs, s.eta_clip if block == "eta" else s.x_clip)
        kind, rows = "refresh", gradients(at)
        if last is not None:  # lines 6 and 12
            kind, size, rows = "difference", s.batch, rows - gradients(last)
            rule = s.eta_threshold if block == "eta" else s.x_threshold
            moves = rule.per_x * norms_of(at.x - last.x), rule.per_eta * np.abs(at.other - last.other)
            clip = np.minimum(rule.cap, 2.0 * np.maximum(*moves))
        stay_together(bool(np.all((clip > 0) & (clip < np.inf))), "nothing moves, or no clip")
        each = s.clip_mode == "each"
        label = f"{block}/{kind}"
        mean, taken = records.mean(tape, f"{label} batch", size, clipped(rows, clip) if each else rows, block == "x")
        mean, std = mean if each else shortened(mean, clip), s.noise.std(label, 2.0 / size) * clip
        return tape.gaussian(label, mean, std=std, sensitivity=2.0 * clip / size, taken=taken)

    for t in range(s.steps):  # line 2
        refresh = t % s.phase == 0  # lines 3, 9
        change = released("eta", in_eta, now, None if refresh else before)[:, 0]  # line 4, line 6
        g = change if refresh else g + change
        eta_next = now.other - s.eta_step * g  # line 8
        ahead = now.with_other(eta_next)
        move = released("x", in_x, ahead, None if refresh else before.with_other(now.other))  # line 10, line 12
        v = move if refresh else v + move
        length = norms_of(v)
        rate = np.minimum(s.x_step, s.move_cap / np.where(length > 0, length, 1.0))  # Theorem 7
        rate = np.where(length > 0, rate, s.x_step)
        before, now = now, records.at(now.x - rate[:, None] * v, eta_next)  # line 14


# Algorithm 3 ---------------------------------------------------------------------------------------------------------


class Inner:
    """The inner function of Algorithm 3 at a point, by kind of record."""

    def __init__(self, at: Point):
        self.at = at
        with np.errstate(over="ignore"):
            self.values = np.exp(at.losses / at.other[:, None])
        capped = np.minimum(self.values, LARGEST)
        self.x = capped / at.other[:, None] * at.slopes
        squares = np.array([value**2 for value in at.other.tolist()])  # as the reference's float has it
        self.temperature = -capped * at.losses / squares[:, None]

    def gradients(self, block: str) -> Array:
        """In x (the first entry), or in the temperature."""
        return self.x if block == "x" else self.temperature


def recursive(pair: Pair[CompositionalObjective], schedule: recursive_spider.Schedule, tape: AbreastTape) -> None:
    """Algorithm 3."""
    s, problem, lines = schedule, pair.here, schedule.lines
    records = RoughPair(pair.here.data, pair.there.data, pair.target)
    x = np.tile(np.zeros(records.d) if s.start_x is None else s.start_x, (tape.runs, 1))
    now = before = Inner(records.at(x, np.full(tape.runs, max(s.start_temperature, problem.floor))))
    v, u, value = np.zeros_like(x), np.zeros(tape.runs), np.ones(tape.runs)
    first = 0 if lines.line_4 == "t mod q = 0" else 1
    keep = 1.0 if lines.lines_13_14_sum == "added" else 0.0

    def refreshed(block: str) -> Array:  # lines 5 to 8
        size, clip, rows, spread = s.refresh_batch, s.refresh_clip, now.gradients(block), 2.0 * s.refresh_clip
        if block == "temperature":
            rows, spread = np.minimum(rows, 0.0), clip
        label, rows = f"{block}/refresh", clipped(rows, np.full(tape.runs, clip))
        mean, taken = records.mean(tape, f"{label} batch", size, rows, block == "x")
        return tape.gaussian(label, mean, std=s.noise.std(label, spread / size), sensitivity=spread / size, taken=taken)

    def difference(block: str) -> Array:  # lines 10 to 14
        size, label = s.batch, f"{block}/difference"
        x_move, lambda_move = norms_of(now.at.x - before.at.x), np.abs(now.at.other - before.at.other)
        w_move = np.hypot(x_move, lambda_move)
        own = x_move if block == "x" else lambda_move
        bound = np.minimum(s.clip, s.smoothness * w_move)
        moves = {"own move": own, "no move": np.ones(tape.runs), "move of w": w_move}[lines.lines_11_12]
        threshold = np.minimum(s.clip, s.smoothness * moves)
        clip = np.full(tape.runs, s.clip) if lines.lines_13_14_clip == "C" else bound
        stay_together(bool(np.all((clip > 0) & (threshold > 0))), "nothing moves")
        rows = clipped(now.gradients(block) - before.gradients(block), clip)
        mean, taken = records.mean(tape, f"{label} batch", size, rows, block == "x")
        std = s.noise.std(label, 2.0 / size) * threshold
        claimed = 2.0 * (np.full(tape.runs, s.clip) if lines.lines_11_12 == "no move" else bound) / size
        return tape.gaussian(label, mean, std=std, sensitivity=claimed, taken=taken)

    def value_change() -> Array:  # line 16
        found = np.clip(now.values, 1.0, s.value_clip)
        other = found
        if lines.line_16 == "g(w_t) and g(w_{t-1})":
            other = np.clip(before.values, 1.0, s.value_clip)
        mean, taken = records.mean(tape, "value batch", s.value_batch, found - (1.0 - s.momentum) * other)
        std, claimed = s.noise.std("value", s.value_sensitivity), s.value_sensitivity
        return tape.gaussian("value", mean, std=std, sensitivity=claimed, taken=taken)[:, 0]

    for t in range(1, s.steps + 1):  # line 2
        if (t - first) % s.phase == 0:  # line 4
            v, u = refreshed("x"), refreshed("temperature")[:, 0]
        else:
            v = keep * v + difference("x")  # line 13
            u = keep * u + difference("temperature")[:, 0]  # line 14
        value = (1.0 - s.momentum) * value + value_change()  # line 16
        floored, at = np.maximum(value, 1.0), now.at
        slope = at.other / floored
        z_x, z_lambda = slope[:, None] * v, slope * u + np.log(floored) + problem.radius  # line 18
        lowered = np.minimum(np.maximum(at.other - s.step * z_lambda, problem.floor), s.largest_temperature)
        before, now = now, Inner(records.at(at.x - s.step * z_x, lowered))  # line 17


DOUBLE, RECURSIVE = Abreast(double_spider.run, double), Abreast(recursive_spider.run, recursive)
