"""Where a run begins."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from .errors import require
from .types import Array


def begin_at(start: ArrayLike | None, own: Array, field: str = "start") -> Array:
    """The start that a schedule gives, or the problem's own.

    Args:
        own: where a run begins without one; a start has its shape, as a shorter one would be stretched to it.

    Raises:
        BadInput: it has another shape, or is not finite.
    """
    if start is None:
        return own
    found = np.array(start, dtype=float)
    require(found.shape == own.shape, field, found.shape, f"must have the shape {own.shape} of a point")
    require(bool(np.isfinite(found).all()), field, found, "must be finite")
    return found
