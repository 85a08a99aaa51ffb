"""What the baselines ask of a problem, and how the problems of the papers answer.

Minimisation: per-record gradients. Minimax: queries, because how one record bounds a gradient in x or y differs (a dual
variable per record, weights that follow the released y): each query comes with its replace-one sensitivity.
"""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Protocol

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.blocks.clipping import clip_rows
from dpassay.reference.problems.interfaces import MinimaxProblem, Seen, Sized


class Game(Protocol):
    """A finite sum over records, minimised over x and maximised over y, seen through bounded queries."""

    @property
    def n(self) -> int:
        """Number of records."""

    def begin(self) -> tuple[Array, Array]:
        """x_0 and y_0 where the schedule gives none."""

    def query_x(
        self, x: Array, y: Array, indices: Indices, clip: float, before: tuple[Array, Array] | None
    ) -> tuple[Array, float]:
        """Mean over these records of clipped gradients in x, shape (d,), or of differences to the point ``before``.

        Returns:
            The mean, and how far replacing one record can move it (2-norm).
        """

    def query_y(self, x: Array, y: Array, indices: Indices, clip: float) -> tuple[Array, float]:
        """The same for the gradient in y."""

    def ascend(self, y: Array, gradient: Array, step: float) -> Array:
        """A projected step along a released gradient (the public part of the objective in y may be added)."""


@dataclass(frozen=True, eq=False)
class Clipped(Seen):
    """A minimax problem with per-record gradients in x and y: each is clipped, so that a mean moves by 2 C / b."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n",)

    problem: MinimaxProblem

    def begin(self) -> tuple[Array, Array]:
        """Zero."""
        return np.zeros(self.problem.d), np.zeros(self.problem.d_y)

    def query_x(
        self, x: Array, y: Array, indices: Indices, clip: float, before: tuple[Array, Array] | None
    ) -> tuple[Array, float]:
        """Mean of clipped rows; a difference is taken in x and in y."""
        rows = self.problem.gradients_x(x, y, indices)
        if before is not None:
            rows = rows - self.problem.gradients_x(*before, indices)
        return clip_rows(rows, clip).mean(axis=0), 2 * clip / len(indices)

    def query_y(self, x: Array, y: Array, indices: Indices, clip: float) -> tuple[Array, float]:
        """Mean of clipped rows."""
        rows = self.problem.gradients_y(x, y, indices)
        return clip_rows(rows, clip).mean(axis=0), 2 * clip / len(indices)

    def ascend(self, y: Array, gradient: Array, step: float) -> Array:
        """Projected on the domain of y."""
        return self.problem.project(y + step * gradient)


class Explicit(Sized, Protocol):
    """A problem whose objective in x alone has per-record gradients."""

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Per-record gradients, shape (len(indices), d)."""


@dataclass(frozen=True, eq=False)
class Primal(Seen):
    """The explicit objective of such a problem, as a finite sum."""

    problem: Explicit

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Per-record gradients, shape (len(indices), d)."""
        return self.problem.value_gradients(w, indices)


def schedule_of(file: Any, known: Mapping[str, Any]) -> Any:
    """The schedule of a baseline's file, with those of the known numbers that are its fields."""
    return file.Schedule(**{field.name: known[field.name] for field in fields(file.Schedule) if field.name in known})


@dataclass(frozen=True, eq=False)
class Path:
    """The returned x, shape (d,), and the iterates x_0, x_1, ... as rows."""

    x: Array
    iterates: Array
