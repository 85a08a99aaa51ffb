"""Bilinear games with linear terms, and how far neighbours can move their saddle points."""

from __future__ import annotations

from copy import copy
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import BadInput, require

from .finite_sum import Loss, bounded_rows


@dataclass(frozen=True)
class BilinearLoss(Loss):
    """f = <x, B_xi y> + <p_xi, x> - <q_xi, y> - (concavity/2) ||y||^2 on ||x|| <= x_bound, ||y|| <= y_bound."""

    matrices: Array  # (n, d_x, d_y)
    linear: Array  # (n, d_x + d_y): rows (p, q)
    x_bound: float
    y_bound: float
    matrix_bound: float | None = None  # public bound on ||B_xi||; the largest of these records when None
    linear_bound: float | None = None  # public bound on ||(p_xi, q_xi)||; the largest of these records when None
    shared_coupling: bool = False  # B is public and the same for all: part of G in Lemma 4.5, so not part of L
    concavity: float = 0.0  # the loss's own mu_y; public, counted in L unless the coupling is shared

    def __post_init__(self) -> None:
        n, d_x, d_y = self.matrices.shape
        require(self.linear.shape == (n, d_x + d_y), "linear.shape", self.linear.shape, f"expected {(n, d_x + d_y)}")
        bounded_rows("linear", self.linear, np.inf if self.linear_bound is None else self.linear_bound)
        bounded_rows("matrices", self.matrices.reshape(n, -1), np.inf)
        if self.shared_coupling and np.ptp(self.matrices, axis=0).any():
            raise BadInput("shared_coupling", True, "the records have different matrices")
        largest = float(np.linalg.norm(self.matrices, ord=2, axis=(1, 2)).max())
        longest = float(np.linalg.norm(self.linear, axis=1).max())
        smoothness = largest if self.matrix_bound is None else self.matrix_bound
        constant = longest if self.linear_bound is None else self.linear_bound
        if largest > smoothness * (1 + 1e-12):
            raise BadInput("matrices", largest, f"largest norm is above the bound {smoothness!r}")
        lipschitz = constant
        if (smoothness or self.concavity) and not self.shared_coupling:
            lipschitz += smoothness * float(np.hypot(self.x_bound, self.y_bound)) + self.concavity * self.y_bound
        self._constants(
            d=d_x,
            d_y=d_y,
            smoothness=smoothness + self.concavity,
            lipschitz=lipschitz,
            strong_concavity=self.concavity,
        )

    @property
    def RECORDS(self) -> Records:  # noqa: N802 - a constant of the other problems
        """What a record holds; a coupling that all share is public."""
        return {"linear": "linear_bound", **({} if self.shared_coupling else {"matrices": None})}

    def rows(self, z: Array, indices: Indices) -> Array:
        """(B y + p, -B^T x + q + concavity y)."""
        x, y = z[: self.d], z[self.d :]
        b = self.matrices[indices]
        return np.hstack([b @ y, self.concavity * y - np.einsum("ijk,j->ik", b, x)]) + self.linear[indices]

    def values(self, z: Array, indices: Indices) -> Array:
        """<x, B y> + <p, x> - <q, y> - (concavity/2) ||y||^2."""
        x, y = z[: self.d], z[self.d :]
        bilinear = np.einsum("j,ijk,k->i", x, self.matrices[indices], y)
        linear = self.linear[indices] @ np.concatenate([x, -y])
        return np.asarray(bilinear + linear - 0.5 * self.concavity * (y @ y))

    def subset(self, indices: Indices) -> BilinearLoss:
        """Some of the records; the public bounds stay, and need no second check."""
        part = copy(self)
        part.__dict__.pop("_mean", None)
        values = {"matrices": self.matrices[indices], "linear": self.linear[indices], "n": len(indices)}
        longest = float(np.linalg.norm(self.linear, axis=1).max()) if self.linear_bound is None else self.linear_bound
        bounds = {"matrix_bound": self.smoothness - self.concavity, "linear_bound": longest}
        for name, value in {**values, **bounds}.items():
            object.__setattr__(part, name, value)
        return part

    def mean_operator(self, z: Array) -> Array:
        """A z + b."""
        matrix, offset = self.affine()
        return matrix @ z + offset

    def affine(self) -> tuple[Array, Array]:
        """[[0, B], [-B^T, concavity I]] and (p, q), averaged."""
        return self._mean

    @cached_property
    def _mean(self) -> tuple[Array, Array]:
        d_x, d_y = self.d, self.d_y
        matrix = np.zeros((d_x + d_y, d_x + d_y))
        matrix[:d_x, d_x:] = self.matrices.mean(axis=0)
        matrix[d_x:, :d_x] = -matrix[:d_x, d_x:].T
        matrix[d_x:, d_x:] = self.concavity * np.eye(d_y)
        return matrix, self.linear.mean(axis=0)


def sharp_stability(lipschitz: float, n: int, mu_own: float, mu_other: float) -> float:
    """Largest distance of one block of the saddle points of neighbours; attained by `worst_case.for_algorithm3_apart`.

    Monotonicity of everything but the regulariser, tested between the two saddle points, gives for their differences
    mu_own |x|^2 + mu_other |y|^2 <= (2L/n) sqrt(|x|^2 + |y|^2).  On this curve, at angle t, |x| is at most
    (2L/n) cos t / (mu_other + (mu_own - mu_other) cos^2 t): largest at cos t = 1 when mu_own <= 2 mu_other, giving
    2L/(n mu_own), else at cos^2 t = mu_other/(mu_own - mu_other), giving L/(n sqrt(mu_other (mu_own - mu_other))).
    The paper's bound (Lemma 4.5) is 2L/(n sqrt(mu_own min)).
    """
    unit = 2 * lipschitz / n
    if mu_own <= 2 * mu_other:
        return unit / mu_own
    return unit / (2 * float(np.sqrt(mu_other * (mu_own - mu_other))))
