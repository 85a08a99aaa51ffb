"""Points drawn from a ball: public perturbations."""

from __future__ import annotations

import numpy as np

from dpassay.reference.types import Array


def uniform_ball(rng: np.random.Generator, d: int, radius: float) -> Array:
    """A point drawn uniformly from the ball of the given radius in R^d, shape (d,)."""
    direction = rng.standard_normal(d)
    scale = radius * rng.random() ** (1 / d) / np.linalg.norm(direction)
    point: Array = scale * direction
    return point
