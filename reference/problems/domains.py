"""Closed convex domains with an exact Euclidean projection: everywhere, balls, boxes."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from dpassay.reference.arrays import Array, norm
from dpassay.reference.errors import require


class Domain(Protocol):
    """A closed convex set: Euclidean projection, and the largest norm of a point in it (inf when unbounded)."""

    @property
    def largest_norm(self) -> float:
        """Largest Euclidean norm of a point of the set."""

    def project(self, point: Array) -> Array:
        """Nearest point of the set to `point` of shape (d,)."""


@dataclass(frozen=True)
class Everywhere:
    """All of R^d."""

    largest_norm: float = float("inf")

    def project(self, point: Array) -> Array:
        """Return `point` itself."""
        return point


@dataclass(frozen=True)
class Ball:
    """The Euclidean ball of the given radius around the origin."""

    radius: float

    def __post_init__(self) -> None:
        require(self.radius > 0, "radius", self.radius, "a ball needs a positive radius")

    @property
    def largest_norm(self) -> float:
        """The radius."""
        return self.radius

    def project(self, point: Array) -> Array:
        """Scale `point` back onto the ball when it is outside."""
        length = norm(point)
        return point if length <= self.radius else point * (self.radius / length)


@dataclass(frozen=True)
class Box:
    """The box [lower, upper]^dimension."""

    lower: float
    upper: float
    dimension: int

    def __post_init__(self) -> None:
        require(self.lower < self.upper, "lower", self.lower, f"must lie below upper = {self.upper!r}")

    @property
    def largest_norm(self) -> float:
        """Norm of the farthest corner."""
        return float(np.sqrt(self.dimension) * max(abs(self.lower), abs(self.upper)))

    def project(self, point: Array) -> Array:
        """Clip every coordinate."""
        return np.asarray(np.clip(point, self.lower, self.upper), dtype=np.float64)


def uniform_ball(rng: np.random.Generator, d: int, radius: float) -> Array:
    """A point drawn uniformly from the ball of the given radius in R^d, shape (d,)."""
    direction = rng.standard_normal(d)
    scale = radius * rng.random() ** (1 / d) / np.linalg.norm(direction)
    return np.asarray(scale * direction)
