"""Finite-sum minimisation and saddle problems as one object: a monotone operator, a quadratic regulariser, a domain.

A point is z = (x, y) in one vector; minimisation is the case without y.  The operator of record i is
(grad_x f(z; xi_i), -grad_y f(z; xi_i)); solutions are the zeros of the mean operator plus the normal cone.

Losses check their records: the constants L and ell hold only then, so nothing private starts without that.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from dpassay.reference.arrays import Array, Indices, settled
from dpassay.reference.errors import BadInput, require

from .domains import Domain, Everywhere
from .interfaces import Seen


def bounded_rows(name: str, rows: Array, bound: float) -> None:
    """Raise BadInput unless `rows` is a non-empty (n, d) matrix of finite rows of norm at most `bound`."""
    if rows.ndim != 2 or len(rows) == 0:
        raise BadInput(f"{name}.shape", rows.shape, "needs a non-empty matrix, one record per row")
    _refuse_first(name, np.linalg.norm(rows, axis=1), bound, "norm of the row")


def bounded_values(name: str, values: Array, size: int, bound: float) -> None:
    """Raise BadInput unless `values` holds `size` finite numbers of modulus at most `bound`."""
    require(values.shape == (size,), f"{name}.shape", values.shape, f"expected {(size,)}, one per record")
    _refuse_first(name, np.abs(values), bound, "modulus")


def plus_or_minus_one(name: str, labels: Array, size: int) -> None:
    """Raise BadInput unless `labels` holds `size` labels -1 or +1."""
    require(labels.shape == (size,), f"{name}.shape", labels.shape, f"expected {(size,)}, one per record")
    wrong = np.flatnonzero(~np.isin(labels, (-1.0, 1.0)))
    if len(wrong):
        raise BadInput(f"{name}[{wrong[0]}]", float(labels[wrong[0]]), "must be -1 or +1")


def _refuse_first(name: str, sizes: Array, bound: float, what: str) -> None:
    good = np.isfinite(sizes) & (sizes <= bound * (1 + 1e-12))  # one rounding of the norm
    if not settled(good.all()):
        wrong = np.flatnonzero(~good)
        raise BadInput(f"{name}[{wrong[0]}]", float(sizes[wrong[0]]), f"{what} must be finite and at most {bound!r}")


class Loss(ABC):
    """The data part f(x, y; xi_i), i = 0 .. n-1: L-Lipschitz, ell-smooth, convex in x and concave in y."""

    DERIVED: ClassVar[tuple[str, ...]] = (
        *("n", "d", "d_y", "lipschitz", "smoothness"),
        *("strong_convexity", "strong_concavity"),
    )  # what is computed from the fields

    n: int  # records
    d: int  # numbers of x
    d_y: int = 0  # numbers of y; 0: there is none
    lipschitz: float  # L, on the domain the loss was built for
    smoothness: float  # ell
    strong_convexity: float = 0.0  # mu_x of the data part alone
    strong_concavity: float = 0.0  # mu_y of the data part alone

    def _constants(self, **values: float) -> None:
        """Keep what a (frozen) loss computes from its fields; n and d are the shape of its first array if not said."""
        n, d = next(iter(vars(self).values())).shape[:2]
        for name, value in {"n": n, "d": d, **values}.items():
            object.__setattr__(self, name, value)

    @abstractmethod
    def rows(self, z: Array, indices: Indices) -> Array:
        """Operator of each record at z (d,): shape (len(indices), d)."""

    @abstractmethod
    def values(self, z: Array, indices: Indices) -> Array:
        """Value f(z; xi_i) of each record: shape (len(indices),)."""

    def subset(self, indices: Indices) -> Self:
        """The same loss on some of the records, constants unchanged."""
        one: Any = self  # every loss is a dataclass; RECORDS names its fields with an entry for each record
        part: Self = replace(one, **{name: getattr(self, name)[indices] for name in one.RECORDS})
        return part

    def mean_operator(self, z: Array) -> Array:
        """Operator of the whole data part, shape (d,)."""
        return np.asarray(self.rows(z, np.arange(self.n)).mean(axis=0))

    def affine(self) -> tuple[Array, Array] | None:
        """(A, b) with mean operator A z + b when the loss is quadratic, else None."""
        return None


@dataclass(frozen=True)
class Regulariser:
    """(x_weight/2) ||x - centre_x||^2 - (y_weight/2) ||y - centre_y||^2."""

    x_weight: float = 0.0  # mu_k in Algorithm 4
    y_weight: float = 0.0  # mu in Algorithm 4
    centre: Array | None = None  # (x_tilde_{k-1}, 0), shape (d,)


@dataclass(frozen=True)
class FiniteSum(Seen):
    """min over x, max over y of (1/n) sum_i f(x, y; xi_i) + regulariser, on domain_x times domain_y."""

    DERIVED: ClassVar[tuple[str, ...]] = (
        *("n", "d", "d_y", "strong_convexity", "strong_concavity"),
        *("modulus", "smoothness", "lipschitz"),
    )

    loss: Loss
    regulariser: Regulariser = field(default_factory=Regulariser)
    domain_x: Domain = field(default_factory=Everywhere)
    domain_y: Domain = field(default_factory=Everywhere)

    def __post_init__(self) -> None:
        moduli = (self.strong_convexity, self.strong_concavity)
        why = "a base solver is only certified on a strongly monotone problem; add a regulariser"
        require(moduli[0] > 0 and not (self.d_y and moduli[1] <= 0), "strong convexity", moduli, why)

    @property
    def strong_convexity(self) -> float:
        """mu_x of the regularised problem."""
        return self.loss.strong_convexity + self.regulariser.x_weight

    @property
    def strong_concavity(self) -> float:
        """mu_y of the regularised problem (nan without y)."""
        return self.loss.strong_concavity + self.regulariser.y_weight if self.d_y else float("nan")

    @property
    def modulus(self) -> float:
        """Smaller of mu_x and mu_y: mu in the paper."""
        return min(self.strong_convexity, self.strong_concavity) if self.d_y else self.strong_convexity

    @property
    def smoothness(self) -> float:
        """Lipschitz constant of every record's operator, regulariser included."""
        return self.loss.smoothness + max(self.regulariser.x_weight, self.regulariser.y_weight)

    @property
    def lipschitz(self) -> float:
        """Lipschitz constant L of every record's full f, regulariser included (inf on an unbounded domain)."""
        reg, (x, y) = self.regulariser, np.split(self.centre, [self.d])
        blocks = ((reg.x_weight, self.domain_x, x), (reg.y_weight, self.domain_y, y))
        steepest = [w * (domain.largest_norm + float(np.linalg.norm(c))) if w > 0 else 0.0 for w, domain, c in blocks]
        return self.loss.lipschitz + float(np.hypot(steepest[0], steepest[1]))

    @cached_property
    def centre(self) -> Array:
        """Centre of the regulariser, shape (d,); zero unless given."""
        given = self.regulariser.centre
        return np.zeros(self.d + self.d_y) if given is None else given

    @cached_property
    def weights(self) -> Array:
        """mu_x on the coordinates of x and mu_y on those of y, shape (d,): the metric of the certificate."""
        return self.by_block(self.strong_convexity, self.strong_concavity)

    @cached_property
    def regulariser_weights(self) -> Array:
        """The regulariser's own weight on each coordinate, shape (d,)."""
        return self.by_block(self.regulariser.x_weight, self.regulariser.y_weight)

    @property
    def relative_smoothness(self) -> float:
        """Lipschitz constant of the operator in the metric `weights`, where it is 1-strongly monotone: kappa.

        The regulariser adds at most 1 whatever its weights, so a large mu_k beside a small mu costs nothing.
        """
        return 1.0 + self.loss.smoothness / self.modulus

    def by_block(self, x_value: float, y_value: float) -> Array:
        """x_value on the coordinates of x, y_value on those of y."""
        return np.concatenate([np.full(self.d, x_value), np.full(self.d_y, y_value)])

    def project(self, z: Array) -> Array:
        """Projection on the domain, block by block."""
        d_x = self.d
        return np.concatenate([self.domain_x.project(z[:d_x]), self.domain_y.project(z[d_x:])])

    def operator(self, z: Array, indices: Indices | None = None) -> Array:
        """Mean operator over `indices` (all records when None), regulariser included."""
        of_data = self.loss.mean_operator(z) if indices is None else self.loss.rows(z, indices).mean(axis=0)
        return of_data + self.regulariser_weights * (z - self.centre)

    def value(self, z: Array) -> float:
        """Objective at z, regulariser included."""
        d_x = self.d
        gap = (z - self.centre) ** 2
        reg = 0.5 * self.regulariser.x_weight * gap[:d_x].sum()
        reg -= 0.5 * self.regulariser.y_weight * gap[d_x:].sum()
        return float(self.loss.values(z, np.arange(self.n)).mean() + reg)


@dataclass(frozen=True)
class Convex(Seen):
    """A convex(-concave) loss on its domain, without strong convexity: what the phased algorithms take."""

    DERIVED: ClassVar[tuple[str, ...]] = ("n", "d", "d_y")

    loss: Loss
    domain_x: Domain = field(default_factory=Everywhere)
    domain_y: Domain = field(default_factory=Everywhere)

    def phase(self, indices: Indices, regulariser: Regulariser) -> FiniteSum:
        """The regularised problem on some of the records."""
        return FiniteSum(self.loss.subset(indices), regulariser, self.domain_x, self.domain_y)
