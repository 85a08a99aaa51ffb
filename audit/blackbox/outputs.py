"""Drawing outputs from a mechanism: `mechanism(dataset, rng) -> array | number | string | dict | None`.

If it also has `many(dataset, rng, size)`, that is used to draw a whole sample at once. Programs: `programs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.audit.inputs.foreign import foreign_code
from dpassay.reference.errors import require

Mechanism = Callable[[Any, np.random.Generator], Any]


def draw(
    mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator, each: Callable[[int], None] | None = None
) -> Any:
    """`size` independent outputs on `dataset`, in whatever form the mechanism gives them.

    Args:
        each: is told how many were drawn since it was told last, about a hundred times.
    """
    many = getattr(mechanism, "many", None)
    with foreign_code("mechanism", getattr(mechanism, "__qualname__", type(mechanism).__qualname__)):
        if many is None:
            return _one_by_one(mechanism, dataset, size, rng, each)
        found = many(dataset, rng, size)
        require(len(found) == size, "many", len(found), f"must give {size} outputs")
        if each is not None:
            each(size)
        return found


def _one_by_one(
    mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator, each: Callable[[int], None] | None
) -> list[Any]:
    found: list[Any] = []
    step = max(1, size // 100)
    while len(found) < size:
        count = min(step, size - len(found))
        found += [mechanism(dataset, rng) for _ in range(count)]
        if each is not None:
            each(count)
    return found
