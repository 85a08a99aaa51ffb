"""The mirror of a saddle loss: x and y exchange roles, f'(x, y) = -f(y, x)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.types import Array, Indices

from .finite_sum import Loss


@dataclass(frozen=True)
class Swapped(Loss):
    """Strongly-convex-concave becomes convex-strongly-concave and back; L and ell stay."""

    FORMULAS: ClassVar[dict[str, str]] = {
        "loss": "f'(x, y; i) = -f(y, x; i), f the inner loss: x and y exchange roles",
    }

    inner: Loss

    def __post_init__(self) -> None:
        for name, value in (
            ("n", self.inner.n),
            ("d", self.inner.d_y),
            ("d_y", self.inner.d),
            ("lipschitz", self.inner.lipschitz),
            ("smoothness", self.inner.smoothness),
            ("strong_convexity", self.inner.strong_concavity),
            ("strong_concavity", self.inner.strong_convexity),
        ):
            object.__setattr__(self, name, value)

    def _there(self, z: Array) -> Array:
        return np.concatenate([z[self.d :], z[: self.d]])

    def rows(self, z: Array, indices: Indices) -> Array:
        """The inner operator with its blocks exchanged."""
        inner = self.inner.rows(self._there(z), indices)
        return np.hstack([inner[:, self.inner.d :], inner[:, : self.inner.d]])

    def values(self, z: Array, indices: Indices) -> Array:
        """-f(y, x)."""
        return -self.inner.values(self._there(z), indices)

    def subset(self, indices: Indices) -> Swapped:
        """Some of the records."""
        return Swapped(self.inner.subset(indices))

    def affine(self) -> tuple[Array, Array] | None:
        """The inner matrix with rows and columns exchanged."""
        inner = self.inner.affine()
        if inner is None:
            return None
        order = np.r_[self.inner.d : self.inner.d + self.d, 0 : self.inner.d]
        return inner[0][np.ix_(order, order)], inner[1][order]
