"""Worst-case neighbours for DP-RGDA: records are signs z, and every query moves as far as its sensitivity allows.

    F(x, (t, s); z) = z (g x_1 + L |x|^2 / 2 + a x_1 t + L <x, s> + h s_1 - c t s_1) - mu t^2 / 2 - m |s|^2 / 2

on x in R^d and y = (t, s) in Y = {|t| <= r, s = 0}; strongly concave in y for m > c^2 / mu (m acts off Y only).
The coordinates s, which Y pins at zero, let two records disagree about the direction in which the gradient in y turns
when y moves; on a line they could not. A move of x or of t changes every gradient, in x and in y.
One record changes its sign. The others are either half +1 and half -1 (`balanced`: means stay small, so that no clip of
a mean acts) or all -1 (`identical`: a sampled batch matters only through the changed record).
"""

from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import require
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.interfaces import OfRecords

Others = Literal["balanced", "identical"]


@dataclass(frozen=True, eq=False)
class TugOfWar(OfRecords):
    """Signs (n,) and the constants of the module's F; x has d entries, y one more."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d", "d_y")

    RECORDS: ClassVar[Records] = {"signs": (-1.0, 1.0)}

    signs: Array
    slope: float  # g
    curvature: float  # L
    dual_slope: float = 0.0  # h
    coupling: float = 0.0  # a
    dual_curvature: float = 0.0  # c
    concavity: float = 0.01  # mu
    radius: float = float("inf")  # r
    d: int = 1
    gradient_bound: float = float("inf")

    @property
    def d_y(self) -> int:
        """d + 1: t, then s."""
        return self.d + 1

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """z ((g + a t) e_1 + L x), on Y."""
        pull = self.curvature * x
        pull[0] += self.slope + self.coupling * y[0]
        return np.asarray(self.signs[indices][:, None] * pull)

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """z (a x_1, L x + (h - c t) e_1) - mu (t, 0), on Y."""
        pull = np.concatenate([[self.coupling * x[0]], self.curvature * x])
        pull[1] += self.dual_slope - self.dual_curvature * y[0]
        shared = np.concatenate([[self.concavity * y[0]], np.zeros(self.d)])
        return np.asarray(self.signs[indices][:, None] * pull - shared)

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Gradients of the explicit objective F(x, 0), for the methods that know no y."""
        return self.gradients_x(x, np.zeros(1), indices)

    def project(self, y: Array) -> Array:
        """On Y."""
        point = np.zeros_like(y)
        point[0] = np.clip(y[0], -self.radius, self.radius)
        return point


def sign_flip(n: int, others: Others, landscape: TugOfWar) -> Pair[TugOfWar]:
    """The pair of `landscape` (its own signs are ignored) in which record 0 is +1 here and -1 there."""
    require(n >= 2, "n", n, "must be at least 2")
    signs = -np.ones(n)
    if others == "balanced":
        require(n % 2 == 1, "n", n, "balanced others need an odd number of records")
        signs[1::2] = 1.0
    there = replace(landscape, signs=signs)
    return Pair(there.replace(0, 1.0), there, 0, f"one sign of {n} flipped, others {others}, d = {landscape.d}")


def steep(d: int = 1) -> TugOfWar:
    """Every clip of a row acts, at a refresh and however short the move."""
    return TugOfWar(
        signs=np.zeros(0),
        slope=1e4,
        curvature=1e9,
        dual_slope=1e4,
        coupling=1e9,
        dual_curvature=1e9,
        concavity=1.0,
        d=d,
    )


def within_clips(step: float, smoothness: float, outer_steps: int, d: int = 1) -> TugOfWar:
    """No clip acts in runs of Algorithm 2 from zero with eta = `step`: sensitivities 2 C / S hold, and are attained.

    All gradients have norm at most 1 on what can be reached, and no move of x (length `step`) or of t (across its
    interval) changes one by more than C_u = `smoothness` * `step`; the latter does so if lambda is so large that t
    jumps from end to end.
    """
    coupling = 0.1 * smoothness
    return TugOfWar(
        signs=np.zeros(0),
        slope=(room := 1.0 - smoothness * step * (outer_steps + 2)),
        curvature=0.99 * smoothness,
        dual_slope=room,
        coupling=coupling,
        dual_curvature=0.99 * coupling,
        concavity=0.1 * coupling,
        radius=step * smoothness / (2 * coupling),
        d=d,
    )
