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
Each = Callable[[int], None]  # is told how many outputs were drawn, or found, since it was told last


def nobody(count: int) -> None:
    """Is told, and does nothing."""


def draw(mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator, each: Each = nobody) -> Any:
    """`size` independent outputs on `dataset`, in whatever form the mechanism gives them.

    Args:
        each: is called about a hundred times.
    """
    many = getattr(mechanism, "many", None)
    with foreign_code("mechanism", getattr(mechanism, "__qualname__", type(mechanism).__qualname__)):
        if many is not None:
            found = many(dataset, rng, size)
            require(len(found) == size, "many", len(found), f"must give {size} outputs")
            each(size)
            return found
        one_by_one: list[Any] = []
        while len(one_by_one) < size:
            count = min(max(1, size // 100), size - len(one_by_one))
            one_by_one += [mechanism(dataset, rng) for _ in range(count)]
            each(count)
        return one_by_one
