"""Records that move value, gradient and Hessian by all that their bounds allow, at once and along a whole run.

A margin loss cannot do that: where its slope is largest its curvature vanishes. Here a record is a sign s in
{-1, +1} with the loss

    l(w; s) = c(w) + top + s u(w),   u(w) = beta + gamma sin(a w_1) / a + kappa (1 - cos(b w_2)) / b^2,

and a well c(w) = K (2 - cos(e w_1) - cos(e w_2)) / e^2 that all records share. At w = 0 the sign's gradient is gamma
e_1 and its Hessian kappa e_2 e_2': the suprema over R^d up to the factors sqrt(1 + (kappa / (b gamma))^2) and
sqrt(1 + (a gamma / kappa)^2). The well keeps iterates near w_1 = w_2 = 0, whatever they do in the other coordinates.
Values, gradients, Hessians and third derivatives are bounded on R^d and l >= 0 (`second_order_erm`, Assumption 2).
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from math import hypot, inf
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records
from dpassay.reference.errors import BadInput, require

from .erm import Constants
from .interfaces import OfRecords


@dataclass(frozen=True)
class Signs(OfRecords, ABC):
    """A risk whose records are signs, shape (n,): the mean of c(w) + top + s u(w), with c and u public."""

    signs: Array

    @property
    @abstractmethod
    def top(self) -> float:
        """Supremum of |u|: added to every loss, so that none is negative."""

    @abstractmethod
    def _wave(self, w: Array) -> float:
        """u."""

    def _shared(self, w: Array) -> float:
        """c."""
        return 0.0

    def value(self, w: Array, indices: Indices | None = None) -> float:
        """Mean loss."""
        return self._shared(w) + self.top + self._mean_sign(indices) * self._wave(w)

    def value_sensitivity(self, w: Array) -> float:
        """2 |u(w)| / n: u is public."""
        return 2 * abs(self._wave(w)) / self.n

    def _mean_sign(self, indices: Indices | None) -> float:
        return float((self.signs if indices is None else self.signs[indices]).mean())


@dataclass(frozen=True)
class WaveRisk(Signs):
    """Mean of l(w; s_i) over the signs, shape (n,), for w of shape (d,). Raises BadInput for other records."""

    RECORDS: ClassVar[Records] = {"signs": (-1.0, 1.0)}

    d: int
    offset: float = 0.1  # beta
    slope: float = 10.0  # gamma
    slope_frequency: float = 0.01  # a
    curvature: float = 1.0  # kappa
    curvature_frequency: float = 1.0  # b
    well: float = 1e4  # K
    well_frequency: float = 1e-5  # e

    def __post_init__(self) -> None:
        if self.signs.ndim != 1 or not np.isin(self.signs, (-1.0, 1.0)).all():
            raise BadInput("signs", np.unique(self.signs)[:4].tolist(), "expected a vector of -1 and 1")
        require(self.d >= 2, "d", self.d, "expected at least 2")

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean gradient, shape (d,)."""
        shared = self.well / self.well_frequency * np.sin(self.well_frequency * w[:2])
        share = self._mean_sign(indices)
        first = share * self.slope * np.cos(self.slope_frequency * w[0])
        second = share * self.curvature / self.curvature_frequency * np.sin(self.curvature_frequency * w[1])
        return np.concatenate([shared + np.stack([first, second]), np.zeros(self.d - 2)])

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean Hessian, shape (d, d), diagonal."""
        shared = self.well * np.cos(self.well_frequency * w[:2])
        share = self._mean_sign(indices)
        first = share * self.slope * self.slope_frequency * np.sin(self.slope_frequency * w[0])
        second = share * self.curvature * np.cos(self.curvature_frequency * w[1])
        return np.diag(np.concatenate([shared + np.stack([-first, second]), np.zeros(self.d - 2)]))

    @property
    def top(self) -> float:
        """Supremum of |u|: added to every loss, so that none is negative."""
        return abs(self.offset) + self.slope / self.slope_frequency + 2 * self.curvature / self.curvature_frequency**2

    def constants(self, radius: float = inf) -> Constants:
        """Constants of l; the well's value and slope are those on ||w|| <= radius."""
        e = self.well_frequency
        well_value = self.well * min(4 / e**2, radius**2 / 2)
        well_slope = self.well * min(2**0.5 / e, radius)
        hessian = self.well + max(self.slope * self.slope_frequency, self.curvature)
        return Constants(
            value=well_value + 2 * self.top,
            gradient=well_slope + self._wave_slope,
            hessian=hessian,
            smoothness=hessian,
            hessian_lipschitz=self.well * e
            + max(self.slope * self.slope_frequency**2, self.curvature * self.curvature_frequency),
            radius=radius,
        )

    def gradient_sensitivity(self) -> float:
        """2 sup ||grad u|| / n."""
        return 2 * self._wave_slope / self.n

    def hessian_sensitivity(self) -> float:
        """2 sup ||Hess u||_F / n."""
        return 2 * hypot(self.curvature, self.slope * self.slope_frequency) / self.n

    def value_bound(self, w: Array) -> float:
        """Every record has the sign that costs more."""
        return self._shared(w) + self.top + abs(self._wave(w))

    @property
    def _wave_slope(self) -> float:
        return hypot(self.slope, self.curvature / self.curvature_frequency)

    def _wave(self, w: Array) -> float:
        bend = 2 * np.sin(self.curvature_frequency * w[1] / 2) ** 2 / self.curvature_frequency**2
        return float(
            self.offset
            + self.slope * np.sin(self.slope_frequency * w[0]) / self.slope_frequency
            + self.curvature * bend
        )

    def _shared(self, w: Array) -> float:
        return float(2 * self.well * (np.sin(self.well_frequency * w[:2] / 2) ** 2).sum() / self.well_frequency**2)
