"""DP-RGDA (minimax_sosp, Algorithms 2 and 3), many runs at once: the twin of ``dp_rgda.run`` on signed landscapes.

It makes the runs that never leave the descent (no escape phase starts), with a fixed noise scale;
for anything else it says so, and the reference makes the runs. On :class:`TugOfWar` a record is its sign: what a
record contributes is computed once for each sign, for all records, neighbours and places of the target. Lines are those
of ``dp_rgda.py``, and so are the numbers, bit for bit (``tests/audit/lockstep/test_abreast.py``).
"""

from __future__ import annotations

import numpy as np

from dpassay.reference.abreast import Abreast, AbreastTape, Taken, means_of, norms_of, stay_together
from dpassay.reference.neighbours import Pair
from dpassay.reference.types import Array, Indices

from . import dp_rgda
from .dp_rgda import Schedule, Status
from .worst_case import TugOfWar


class SignedPair:
    """Both neighbours: their records by kind, and the gradients of each kind of record."""

    def __init__(self, pair: Pair[TugOfWar]):
        game = self._game = pair.here
        self._signs, kinds = np.unique(np.stack([pair.here.signs, pair.there.signs]), return_inverse=True)
        self._here, self._there = kinds.reshape(2, game.n)
        self.n, self.d, self.d_y, self.radius = game.n, game.d, game.d_y, game.radius
        others = np.delete(np.arange(game.n), pair.target)
        alike = len(np.unique([self._here[others], self._there[others]])) == 1
        self.other = int(others[0]) if alike else None  # stands for all records but the target

    def kinds(self, taken: Taken) -> Indices:
        """The kind of each record, shape (runs or 1, worlds, records): the worlds of D, then those of D'."""
        return np.concatenate([self._here[taken.here], self._there[taken.there]], axis=1)

    def gradients_x(self, x: Array, y: Array) -> Array:
        """``TugOfWar.gradients_x`` of each kind, shape (runs, kinds, d)."""
        pull = self._game.curvature * x
        pull[:, 0] += self._game.slope + self._game.coupling * y[:, 0]
        return np.asarray(self._signs[None, :, None] * pull[:, None, :])

    def gradients_y(self, x: Array, y: Array) -> Array:
        """``TugOfWar.gradients_y`` of each kind, shape (runs, kinds, d + 1)."""
        game = self._game
        pull = np.concatenate([game.coupling * x[:, :1], game.curvature * x], axis=1)
        pull[:, 1] += game.dual_slope - game.dual_curvature * y[:, 0]
        rows: Array = self._signs[None, :, None] * pull[:, None, :]
        rows[:, :, 0] -= game.concavity * y[:, :1]
        return rows

    def project(self, y: Array) -> Array:
        """On Y."""
        point = np.zeros_like(y)
        point[:, 0] = np.clip(y[:, 0], -self.radius, self.radius)
        return point


def clipped(rows: Array, bound: float) -> Array:
    """``clip_rows`` over the last axis."""
    return np.asarray(rows * (bound / np.maximum(np.sqrt(np.add.reduce(rows * rows, axis=-1)), bound))[..., None])


def shortened(points: Array, bound: float) -> Array:
    """``clip`` over the last axis."""
    norms = norms_of(points)
    return np.asarray(points * np.where(norms <= bound, 1.0, bound / np.maximum(norms, bound))[..., None])


def inner_updater(game: SignedPair, s: Schedule, tape: AbreastTape, status: Status, t: int) -> Status:
    """Algorithm 3 at outer step t; the status holds all runs, one a row."""
    x, y, v, u = status.x, status.y, status.v, status.u
    x_before, y_before = status.x_previous, y  # line 3
    refreshed = t % s.period == 0  # line 4
    if refreshed:  # lines 5 to 8
        taken = tape.records("refresh/samples", game.n, s.refresh_batch, game.other)
        v, u = _released(game, s, tape, "refresh", taken, game.gradients_x(x, y), game.gradients_y(x, y))
    best: tuple[Array, Array, Array, Array] | None = None
    for k in range(s.inner_steps):  # line 12
        if not (s.restart_at_refresh and refreshed and k == 0):
            taken = tape.records("step/samples", game.n, s.step_batch, game.other)  # line 13
            rows_v = game.gradients_x(x, y) - game.gradients_x(x_before, y_before)
            rows_u = game.gradients_y(x, y) - game.gradients_y(x_before, y_before)
            change_v, change_u = _released(game, s, tape, "step", taken, rows_v, rows_u)
            v, u = v + change_v, u + change_u  # lines 14, 15
        y_next = game.project(y + s.ascent_step * u)  # line 16
        mapping = norms_of(y - y_next) / s.ascent_step  # (28)
        if best is None:
            best = (mapping, y, v, u)
        else:  # line 18
            smaller = mapping < best[0]
            y_best, v_best, u_best = (
                np.where(smaller[:, None], one, other) for one, other in zip((y, v, u), best[1:], strict=True)
            )
            best = np.where(smaller, mapping, best[0]), y_best, v_best, u_best
        x_before, y_before, y = x, y, y_next
    assert best is not None
    return Status(x, x, *best[1:])


def _released(
    game: SignedPair, s: Schedule, tape: AbreastTape, group: str, taken: Taken, rows_v: Array, rows_u: Array
) -> tuple[Array, Array]:
    """Noisy clipped means in both sequences: lines 7 and 8, or 14 and 15."""
    bound, claim = (
        (s.clip_refresh, s.refresh_sensitivity) if group == "refresh" else (s.clip_step, s.step_sensitivity(0.0))
    )
    kinds, std = game.kinds(taken), s.noise.std(group, claim)
    if s.clip_mode == "each":
        mean_v, mean_u = (means_of(clipped(rows, bound), kinds) for rows in (rows_v, rows_u))
    else:
        mean_v, mean_u = (shortened(means_of(rows, kinds), bound) for rows in (rows_v, rows_u))
    v = tape.gaussian(f"{group}/v", mean_v, std=std, sensitivity=claim, taken=taken)
    u = tape.gaussian(f"{group}/u", mean_u, std=std, sensitivity=claim, taken=taken)
    return v, u


def run(pair: Pair[TugOfWar], schedule: Schedule, tape: AbreastTape) -> None:
    """Algorithm 2, as long as it descends."""
    s = schedule
    stay_together(s.smoothness is None, "noise that follows the move")
    stay_together(0 < min(s.clip_refresh, s.clip_step) <= max(s.clip_refresh, s.clip_step) < np.inf, "no clip")
    game = SignedPair(pair)
    start = s.start if s.start is not None else (np.zeros(game.d), np.zeros(game.d_y))
    x, y = (np.tile(point, (tape.runs, 1)) for point in start)
    status = Status(x, x, y, np.zeros_like(x), np.zeros_like(y))
    for t in range(s.steps):  # line 2
        found = inner_updater(game, s, tape, status, t)  # line 3
        norm = norms_of(found.v)
        stay_together(bool(np.all(norm >= s.tolerance)), "an escape phase starts")  # lines 4, 5
        x_next = found.x - (s.descent_step / norm)[:, None] * found.v  # line 6
        status = Status(x_next, found.x, found.y, found.v, found.u)


ABREAST = Abreast(dp_rgda.run, run)
