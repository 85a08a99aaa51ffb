"""Drawing outputs from a mechanism: `mechanism(dataset, rng) -> array | number | string | dict | None`.

If it also has `many(dataset, rng, size)`, that is used to draw a whole sample at once. Programs: `programs.py`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpassay.audit.foreign import foreign_code
from dpassay.reference.errors import require

from .programs import CommandLine, KeptAlive

__all__ = ["CommandLine", "KeptAlive", "Mechanism", "draw"]

Mechanism = Callable[[Any, np.random.Generator], Any]


def draw(mechanism: Mechanism, dataset: Any, size: int, rng: np.random.Generator) -> Any:
    """`size` independent outputs on `dataset`, in whatever form the mechanism gives them."""
    many = getattr(mechanism, "many", None)
    with foreign_code("mechanism", getattr(mechanism, "__qualname__", type(mechanism).__qualname__)):
        if many is None:
            return [mechanism(dataset, rng) for _ in range(size)]
        found = many(dataset, rng, size)
        require(len(found) == size, "many", len(found), f"must give {size} outputs")
        return found
