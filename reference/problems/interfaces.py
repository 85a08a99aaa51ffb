"""What an algorithm may ask of a problem, and a problem that answers with zeros: all that a dry run needs."""

from dataclasses import dataclass, fields, replace
from functools import cache
from typing import Any, ClassVar, Protocol, Self

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require, require_at_least


class Sized(Protocol):
    """How many records there are, and how many numbers x has: both are public."""

    @property
    def n(self) -> int:
        """Number of records."""

    @property
    def d(self) -> int:
        """Number of parameters."""


class Seen:
    """A problem that is made of another one, its first field, and has the sizes of that."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d")

    @property
    def n(self) -> int:
        """Number of records."""
        return int(next(iter(vars(self).values())).n)

    @property
    def d(self) -> int:
        """Number of parameters, of x."""
        return int(next(iter(vars(self).values())).d)

    @property
    def d_y(self) -> int:
        """Numbers of y, where there is one; 0 for minimisation."""
        return int(next(iter(vars(self).values())).d_y)


class OfRecords:
    """A problem, a dataclass, whose first field holds its records, one along the first axis."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d")

    @property
    def n(self) -> int:
        """Number of records."""
        kind: Any = type(self)
        return len(getattr(self, _first(kind)))

    def replace(self, index: int, *record: Any) -> Self:
        """The replace-one neighbour in which record ``index`` is this one: an entry for each field in ``RECORDS``."""
        require(0 <= index < self.n, "index", index, f"expected 0 <= index < {self.n}")
        one: Any = self
        held = {name: getattr(one, name).copy() for name in one.RECORDS}
        for values, entry in zip(held.values(), record, strict=True):
            values[index] = entry
        changed: Self = replace(one, **held)
        return changed


@cache
def _first(kind: Any) -> str:
    return fields(kind)[0].name


class PerSample(Sized, Protocol):
    """A finite sum over records with per-record gradients."""

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Gradients of the losses of these records at ``w``, shape (len(indices), d)."""


class MinimisationProblem(PerSample, Protocol):
    """A finite sum over records, minimised over x in R^d."""

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample Hessians, shape (len(indices), d, d)."""

    def value(self, x: Array) -> float:
        """Empirical mean of the losses."""


class MinimaxProblem(Sized, Protocol):
    """A finite sum over records, minimised over x and maximised over y in a convex set."""

    @property
    def d_y(self) -> int:
        """Dimension d2 of y."""

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample partial gradients in x, shape (len(indices), d1)."""

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample partial gradients in y, shape (len(indices), d2)."""

    def project(self, y: Array) -> Array:
        """Euclidean projection on the domain of y."""


@dataclass(frozen=True)
class Flat:
    """``n`` records, ``x`` in R^d, ``y`` in R^(d_y); all Hessians are ``curvature`` times the identity."""

    n: int
    d: int = 1
    d_y: int = 1
    curvature: float = 0.0

    def __post_init__(self) -> None:
        require_at_least(1, self, "n", "d", "d_y")

    def value(self, x: Array, indices: Indices | None = None) -> float:
        """Zero."""
        return 0.0

    def gradient(self, x: Array, indices: Indices | None = None) -> Array:
        """Zeros, shape (d,)."""
        return np.zeros(self.d)

    def hessian(self, x: Array, indices: Indices | None = None) -> Array:
        """``curvature`` times the identity, shape (d, d)."""
        return self.curvature * np.eye(self.d)

    def gradients(self, x: Array, *rest: Array | Indices) -> Array:
        """Zeros, shape (len(indices), d), for the indices at the end of ``rest``, after y where there is one."""
        return np.zeros((len(rest[-1]), self.d))

    gradients_x = value_gradients = gradients

    def hessians(self, x: Array, indices: Indices) -> Array:
        """The same for all records, shape (len(indices), d, d)."""
        return np.tile(self.curvature * np.eye(self.d), (len(indices), 1, 1))

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Zeros, shape (len(indices), d_y)."""
        return np.zeros((len(indices), self.d_y))

    def value_sensitivity(self, x: Array) -> float:
        """Zero."""
        return 0.0

    def gradient_sensitivity(self) -> float:
        """Zero."""
        return 0.0

    def project(self, y: Array) -> Array:
        """No constraint."""
        return y
