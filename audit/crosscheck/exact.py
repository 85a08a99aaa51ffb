"""A gradient or Hessian computed anew, without noise, where the released one belongs: of the records just drawn, or of
all. No line of the reference computes it there, so that no exchange of names does.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpassay.reference.types import Array

OF_ONE = ("gradient", "hessian")  # means over records, of a problem
OF_EACH = ("gradients", "hessians")  # one entry a record
OF_TWO = ("gradients_x", "gradients_y")  # at a point in two blocks


def is_problem(value: Any) -> bool:
    """Does it compute gradients of records?"""
    named = (*OF_ONE, *OF_EACH, *OF_TWO, "operator", "rows")
    return hasattr(value, "n") and any(callable(getattr(value, name, None)) for name in named)


def exact(problem: Any, like: Any, points: Sequence[Any], records: Any = None) -> Array:
    """What a problem computes at a point, of the shape of what stands there.

    Args:
        points: the arguments.
        records: numbers of records; None: all.

    Raises:
        ValueError: nothing has this shape.
    """
    numbers = np.arange(problem.n) if records is None else np.asarray(records)
    for name in OF_TWO if len(points) == 2 else (*OF_ONE, *OF_EACH):
        method = getattr(problem, name, None)
        if method is None:
            continue
        found = np.asarray(method(*points, numbers), dtype=float)
        found = found if name in OF_ONE else found.mean(axis=0)
        if found.shape == np.shape(like):
            return found
    raise ValueError("nothing of this shape")
