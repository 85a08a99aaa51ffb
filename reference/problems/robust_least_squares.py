"""Distributionally robust least squares over groups: convex in x, linear in the group weights y."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array, Indices

from .checks import bounded_rows, bounded_values
from .domains import Ball, Box, Domain
from .finite_sum import Loss


@dataclass(frozen=True)
class GroupLeastSquares(Loss):
    """f(x, y; (w, b, g)) = y_g (<w, x> - b)^2 / 2 with ||w|| <= 1, |b| <= 1, ||x|| <= radius, y in [0, 1]^groups.

    min over x of max over y weighs up the groups that fit badly.  The residual is at most radius + 1, so
    L = (radius + 1) sqrt(1 + (radius + 1)^2 / 4) and ell = ||[[1, radius + 1], [radius + 1, 0]]||.
    """

    features: Array  # (n, d)
    targets: Array  # (n,)
    groups: Indices  # (n,), values 0 .. number_of_groups - 1
    number_of_groups: int
    radius: float

    def __post_init__(self) -> None:
        bounded_rows("features", self.features, 1.0)
        bounded_values("targets", self.targets, len(self.features), 1.0)
        allowed = f"one of 0..{self.number_of_groups - 1} for each record"
        if self.groups.shape != self.targets.shape:
            raise BadInput("groups.shape", self.groups.shape, allowed)
        outside = np.flatnonzero((self.groups < 0) | (self.groups >= self.number_of_groups))
        if len(outside):
            raise BadInput(f"groups[{outside[0]}]", int(self.groups[outside[0]]), allowed)
        residual = self.radius + 1
        for name, value in (
            ("n", len(self.features)),
            ("d", self.features.shape[1]),
            ("d_y", self.number_of_groups),
            ("lipschitz", float(residual * np.hypot(1, residual / 2))),
            ("smoothness", float(np.linalg.norm(np.array([[1.0, residual], [residual, 0.0]]), ord=2))),
        ):
            object.__setattr__(self, name, value)

    def rows(self, z: Array, indices: Indices) -> Array:
        """(y_g r w, -r^2/2 on coordinate g)."""
        w, g = self.features[indices], self.groups[indices]
        residual = w @ z[: self.d] - self.targets[indices]
        out = np.zeros((len(indices), len(z)))
        out[:, : self.d] = (z[self.d + g] * residual)[:, None] * w
        out[np.arange(len(indices)), self.d + g] = -0.5 * residual**2
        return out

    def values(self, z: Array, indices: Indices) -> Array:
        """y_g r^2 / 2."""
        residual = self.features[indices] @ z[: self.d] - self.targets[indices]
        return np.asarray(0.5 * z[self.d + self.groups[indices]] * residual**2)

    def subset(self, indices: Indices) -> GroupLeastSquares:
        """Some of the records."""
        return GroupLeastSquares(
            self.features[indices], self.targets[indices], self.groups[indices], self.number_of_groups, self.radius
        )

    @property
    def domains(self) -> tuple[Domain, Domain]:
        """Ball for x, box for the group weights."""
        return Ball(self.radius), Box(0.0, 1.0, self.number_of_groups)
