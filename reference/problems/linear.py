"""The worst case of clipped gradient methods: every record has a constant gradient."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import require

from .interfaces import OfRecords


@dataclass(frozen=True, eq=False)
class LinearLosses(OfRecords):
    """Losses ``l(w; x) = <x, w>``: record ``i`` always has the gradient ``rows[i]``, shape (n, d)."""

    RECORDS: ClassVar[Records] = {"rows": None}

    rows: Array

    def __post_init__(self) -> None:
        require(self.rows.ndim == 2, "rows", self.rows.shape, "must have shape (n, d)")
        require(bool(np.all(np.isfinite(self.rows))), "rows", "not finite", "NaN or infinity in the data")

    @property
    def d(self) -> int:
        """Number of parameters."""
        return int(self.rows.shape[1])

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Gradient of each of these records, shape (len(indices), d)."""
        return self.rows[indices]
