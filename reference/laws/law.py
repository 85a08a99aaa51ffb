"""Laws that a released value follows, given the data: what can be sampled, and the exact log density.

A law is what the tape records for a release. Two runs on neighbouring data make the *same call* when their laws
differ in the query alone; ``public_difference`` names the first thing other than the query that differs.
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from dpassay.reference.types import Array


@runtime_checkable
class Law(Protocol):
    """A distribution on released values."""

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""

    def log_density(self, value: Any) -> float:
        """Natural log of the density (or probability) at ``value``; ``-inf`` off the support."""

    def public_difference(self, other: Law) -> str | None:
        """The first difference from ``other`` that is not the query: its name and the two values, or None."""


def as_released(value: Array) -> Any:
    """A scalar query is released as a float, anything else as an array of its shape."""
    return float(value) if value.ndim == 0 else value


def noise_difference(one: Any, other: Law, scale: str) -> str | None:
    """Type, shape and the noise scale called ``scale`` are public."""
    if not isinstance(other, type(one)):
        return f"law: {type(one).__name__} against {type(other).__name__}"
    if one.query.shape != other.query.shape:
        return f"shape: {one.query.shape} against {other.query.shape}"
    return scale_difference(scale, getattr(one, scale), getattr(other, scale))


def scale_difference(name: str, here: float, there: float) -> str | None:
    """A public number that is not the same on both sides."""
    return None if here == there else f"{name}: {here:.6g} against {there:.6g}"
