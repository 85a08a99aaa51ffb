"""Which records an estimate uses: a secret batch, or all of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from dpassay.reference.arrays import Indices
from dpassay.reference.errors import require
from dpassay.reference.transcript import Batch

if TYPE_CHECKING:
    from dpassay.reference.tape import Tape


def draw_records(tape: Tape, label: str, n: int, size: int) -> tuple[Indices, Batch | None]:
    """A secret batch without replacement; ``size = n`` is the full data set and no draw at all."""
    require(1 <= size <= n, label, size, f"must lie in 1..n = {n}")
    if size == n:
        return np.arange(n), None
    batch = tape.batch(label, n, size)
    return batch.indices, batch
