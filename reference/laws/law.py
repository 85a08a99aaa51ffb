"""Laws that a released value follows, given the data: what can be sampled, and the exact log density.

A law is what the tape records for a release. Two runs on neighbouring data make the *same call* when their laws
differ in the query alone; ``public_difference`` names the first thing other than the query that differs.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpassay.reference.types import Array


@dataclass(frozen=True)
class Difference:
    """What differs between two laws beside the query, which must be public.

    Args:
        name: of the part that differs.
        comparable: the two laws still give values of the same form, so that one value can answer both.
    """

    name: str
    here: object
    there: object
    comparable: bool

    def __str__(self) -> str:
        return f"{self.name}: {_shown(self.here)} against {_shown(self.there)}"


@runtime_checkable
class Law(Protocol):
    """A distribution on released values."""

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""

    def log_density(self, value: Any) -> float:
        """Natural log of the density (or probability) at ``value``; ``-inf`` off the support."""

    def public_difference(self, other: Law) -> Difference | None:
        """The first difference from ``other`` that is not the query, or None."""


def as_released(value: Array) -> Any:
    """A scalar query is released as a float, anything else as an array of its shape."""
    return float(value) if value.ndim == 0 else value


def other_law(one: Law, other: Law) -> Difference:
    """Two laws of different types."""
    return Difference("law", type(one).__name__, type(other).__name__, comparable=False)


def noise_difference(one: Any, other: Law, scale: str) -> Difference | None:
    """Type, shape and the noise scale called ``scale`` are public."""
    if not isinstance(other, type(one)):
        return other_law(one, other)
    if one.query.shape != other.query.shape:
        return Difference("shape", one.query.shape, other.query.shape, comparable=False)
    return scale_difference(scale, getattr(one, scale), getattr(other, scale))


def scale_difference(name: str, here: float, there: float) -> Difference | None:
    """A public number that is not the same on both sides."""
    return None if here == there else Difference(name, here, there, comparable=True)


def _shown(value: object) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
