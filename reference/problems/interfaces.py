"""What an algorithm may ask of a problem: per-sample derivatives, and diagnostics for the reader."""

from __future__ import annotations

from typing import Protocol, TypeAlias

from dpassay.reference.types import Array, Indices

Array: TypeAlias = Array
Indices: TypeAlias = Indices


class MinimisationProblem(Protocol):
    """A finite sum over records, minimised over x in R^d."""

    @property
    def n(self) -> int:
        """Number of records n."""

    @property
    def d(self) -> int:
        """Dimension d of x."""

    def gradients(self, x: Array, indices: Indices) -> Array:
        """Per-sample gradients, shape (len(indices), d)."""

    def hessians(self, x: Array, indices: Indices) -> Array:
        """Per-sample Hessians, shape (len(indices), d, d)."""

    def value(self, x: Array) -> float:
        """Empirical mean of the losses."""


class MinimaxProblem(Protocol):
    """A finite sum over records, minimised over x and maximised over y in a convex set."""

    @property
    def n(self) -> int:
        """Number of records n."""

    @property
    def d(self) -> int:
        """Dimension d1 of x."""

    @property
    def d_y(self) -> int:
        """Dimension d2 of y."""

    @property
    def gradient_bound(self) -> float:
        """Bound M on the norm of every per-sample partial gradient; infinity when there is none."""

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample partial gradients in x, shape (len(indices), d1)."""

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Per-sample partial gradients in y, shape (len(indices), d2)."""

    def project(self, y: Array) -> Array:
        """Euclidean projection on the domain of y."""
