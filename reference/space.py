"""Where a claim must hold: rows, sizes, neighbours and schedules of a search; and where a run begins. Data only."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .accounting.sampled import Relation
from .arrays import Array
from .errors import require

Sizes = Mapping[str, int]


def _the_rows(rows: Array, sizes: Sizes) -> Any:
    return rows


def the_numbers(rows: Array, sizes: Sizes) -> Any:
    """Rows of one number as a vector."""
    return rows[:, 0]


def _always(sizes: Sizes) -> bool:
    return True


@dataclass(frozen=True)
class Rows:
    """What one record may be.

    Args:
        width: numbers of one record, or the name of the size that says how many (``"d"``).
        bound: largest 2-norm of a record; None: any finite numbers (an algorithm that clips must stand them).
        box: smallest and largest value of every coordinate, in place of ``bound``.
        labels: values of one more column, if records carry a label.
    """

    width: int | str = "d"
    bound: float | None = 1.0
    box: tuple[float, float] | None = None
    labels: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        require(self.bound is None or self.bound > 0, "bound", self.bound, "must be positive")
        require(self.box is None or self.box[0] < self.box[1], "box", self.box, "must be (smallest, largest)")

    def columns(self, sizes: Sizes) -> int:
        """Columns of the matrix of rows, the label included."""
        width = sizes[self.width] if isinstance(self.width, str) else self.width
        return width + bool(self.labels)


@dataclass(frozen=True, eq=False)
class Space:
    """Where a claim must hold: all data sets, sizes and neighbours, as far as they are searched.

    Args:
        rows: what one record may be.
        sizes: the values to try for every size that a problem or a schedule needs; ``"n"`` is always among them.
            Small ones find what large ones find; awkward ones (a batch of 1, one step, n that is no multiple) more.
        problem: makes the problem of a matrix of rows, shape (n, columns), and sizes.
        schedule: makes the schedule for sizes; public, so it never sees rows. None: the run takes no schedule.
        fits: which combinations of sizes make sense.
        landmarks: from a schedule, per label: the norms (or values) of a release near which the algorithm decides.
        relation: ``replace-one``; ``add-remove``: one of two neighbours lacks a record; ``zero-out``: a row that says
            nothing stands in its place, and n is public.
        absent: that row, shape (columns,). Under ``add-remove`` without one, a record that is not there (NaN in every
            column) is left out of what ``problem`` gets.

    Raises:
        BadInput: no size ``n``, a size without positive values, or zero-out without ``absent``.

    Example:
        >>> from dpassay.reference import Space
        >>> space = Space.matrix(n=(2, 5), d=(1, 3), radius=2.0)
        >>> space.sizes["n"], space.rows.bound, space.relation
        ((2, 5), 2.0, 'replace-one')

    Source: the project's own (``docs/glossary.md``, "space").
    """

    rows: Rows = field(default_factory=Rows)
    sizes: Mapping[str, Sequence[int]] = field(default_factory=lambda: {"n": (1, 2, 3, 5, 8), "d": (1, 2, 3)})
    problem: Callable[[Array, Sizes], Any] = _the_rows
    schedule: Callable[[Sizes], Any] | None = None
    fits: Callable[[Sizes], bool] = _always
    landmarks: Callable[[Any], Mapping[str, Sequence[float]]] | None = None
    relation: Relation = "replace-one"
    absent: Array | None = None

    def __post_init__(self) -> None:
        require("n" in self.sizes, "sizes", sorted(self.sizes), "must hold n, the number of records")
        for name, values in self.sizes.items():
            require(len(values) > 0 and min(values) >= 1, f"sizes[{name}]", values, "needs positive values")
        require(self.relation != "zero-out" or self.absent is not None, "absent", None, "zero-out needs the row")

    @property
    def removes(self) -> bool:
        """Is a record that is not there left out, so that nobody knows n?"""
        return self.relation == "add-remove" and self.absent is None

    def data(self, rows: Array, sizes: Sizes) -> Any:
        """The problem of these rows, as far as they are there, which one must be; shape (n, columns)."""
        present = rows[~np.isnan(rows).all(axis=1)] if self.removes else rows
        require(len(present) > 0 or len(rows) == 0, "rows", 0, "one record has to be there")
        return self.problem(present, sizes)

    @classmethod
    def matrix(
        cls, n: Sequence[int] = (1, 2, 3, 5, 8), d: Sequence[int] = (1, 2, 3), radius: float | None = 1.0
    ) -> Space:
        """A matrix of rows with 2-norm at most ``radius`` (None: of any length); the problem is it, shape (n, d)."""
        return cls(Rows("d", radius), {"n": n, "d": d})

    @classmethod
    def numbers(cls, n: Sequence[int] = (1, 2, 3, 5, 8), radius: float | None = None) -> Space:
        """Data that is a vector of numbers of size at most ``radius`` (None: of any), shape (n,), one a record."""
        return cls(Rows(1, radius), {"n": n}, the_numbers)


def by_sizes(make: Callable[..., Any], *first: Any) -> Callable[[Sizes], Any]:
    """``make(*first, sizes)``, made once for the same sizes: a schedule whose noise takes long to find."""
    return partial(_made, make, first)


def _made(make: Callable[..., Any], first: tuple[Any, ...], sizes: Sizes) -> Any:
    return _kept(make, first, tuple(sizes.items()))


@lru_cache(maxsize=4096)
def _kept(make: Callable[..., Any], first: tuple[Any, ...], sizes: tuple[tuple[str, int], ...]) -> Any:
    return make(*first, dict(sizes))


def begin_at(start: ArrayLike | None, own: Array, field: str = "start") -> Array:
    """The start that a schedule gives, or the problem's own.

    A start has the shape of ``own``, where a run begins without one: a shorter one would be stretched to it.
    """
    if start is None:
        return own
    found = np.array(start, dtype=float)
    require(found.shape == own.shape, field, found.shape, f"must have the shape {own.shape} of a point")
    require(bool(np.isfinite(found).all()), field, found, "must be finite")
    return found
