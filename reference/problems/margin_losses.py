"""Losses of the margin m = y <x, w> plus a regulariser of w, with their derivatives and the bounds on them.

Paper `second_order_erm`: loss A is Section 4, loss B is Appendix E.3. Loss B is printed as the sigmoid of the margin
under the name "logistic loss" (and with a stray gradient sign on its left side), so both readings are here.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import inf, sqrt

import numpy as np
import scipy

from dpassay.reference.arrays import Array, within

Curve = Callable[[Array], Array]


@dataclass(frozen=True)
class Link:
    """A function phi of the margin: value, two derivatives, and the suprema of |phi'|, |phi''|, |phi'''|."""

    name: str
    value: Curve
    slope: Curve
    curvature: Curve
    slope_bound: float
    curvature_bound: float
    third_bound: float
    convex: bool


@dataclass(frozen=True)
class Regulariser:
    """A sum over coordinates weight * r(w_i), the same for all records (so it cancels in every sensitivity).

    The four bounds are suprema of |r|, |r'|, |r''|, |r'''| for weight 1 on |w_i| <= radius, as functions of the radius.
    """

    name: str
    weight: float  # lambda
    value: Curve
    slope: Curve
    curvature: Curve
    bounds: Callable[[float], tuple[float, float, float, float]]
    separable: bool  # True: bounds hold per coordinate; False: for the whole vector in the 2-norm


@dataclass(frozen=True)
class Loss:
    """l(w; x, y) = link(y <x, w>) + regulariser(w)."""

    name: str
    link: Link
    regulariser: Regulariser


# |sigmoid''| is largest where sigmoid = 1/2 +- 1/sqrt(12); |sigmoid'''| at 0
_SIGMOID_SLOPE, _SIGMOID_CURVATURE, _SIGMOID_THIRD = 1 / 4, 1 / (6 * sqrt(3)), 1 / 8


def _sigmoid_slope(m: Array) -> Array:
    found = np.asarray(scipy.special.expit(m) * scipy.special.expit(-m))
    return within(found, 0.0, _SIGMOID_SLOPE, "the sigmoid's slope lies in [0, 1/4]")


LOGISTIC = Link(
    name="logistic",
    value=lambda m: np.logaddexp(0.0, -m),
    slope=lambda m: np.asarray(-scipy.special.expit(-m)),
    curvature=_sigmoid_slope,
    slope_bound=1.0,
    curvature_bound=_SIGMOID_SLOPE,
    third_bound=_SIGMOID_CURVATURE,
    convex=True,
)

SIGMOID = Link(
    name="sigmoid",
    value=lambda m: np.asarray(scipy.special.expit(m)),
    slope=_sigmoid_slope,
    curvature=lambda m: within(
        np.asarray(_sigmoid_slope(m) * (1 - 2 * scipy.special.expit(m))),
        -_SIGMOID_CURVATURE,
        _SIGMOID_CURVATURE,
        "the sigmoid's second derivative is at most 1 / (6 sqrt(3))",
    ),
    slope_bound=_SIGMOID_SLOPE,
    curvature_bound=_SIGMOID_CURVATURE,
    third_bound=_SIGMOID_THIRD,
    convex=False,
)


def _saturating_bounds(radius: float) -> tuple[float, float, float, float]:
    del radius  # bounded on the whole line
    u = 1 - 2 / sqrt(5)  # square of the point where |r'''| peaks: 5 u^2 - 10 u + 1 = 0
    third = 24 * sqrt(u) * (1 - u) / (1 + u) ** 4
    return 1.0, 9 / (8 * sqrt(3)), 2.0, third


def saturating(weight: float) -> Regulariser:
    """Return the non-convex regulariser weight * sum_i w_i^2 / (1 + w_i^2) of Section 4."""
    return Regulariser(
        name="saturating",
        weight=weight,
        value=lambda w: w**2 / (1 + w**2),
        slope=lambda w: 2 * w / (1 + w**2) ** 2,
        curvature=lambda w: 2 * (1 - 3 * w**2) / (1 + w**2) ** 3,
        bounds=_saturating_bounds,
        separable=True,
    )


def ridge(weight: float) -> Regulariser:
    """Return weight/2 * ||w||^2: value and gradient are unbounded on R^d, so its bounds need a ball."""
    return Regulariser(
        name="ridge",
        weight=weight,
        value=lambda w: w**2 / 2,
        slope=lambda w: w,
        curvature=np.ones_like,
        bounds=lambda radius: (radius**2 / 2, radius, 1.0, 0.0) if radius < inf else (inf, inf, 1.0, 0.0),
        separable=False,
    )


LOSS_A = Loss("loss_a", LOGISTIC, saturating(1e-3))  # Section 4
LOSSES: dict[str, Loss] = {
    "loss_a": LOSS_A,
    "loss_b_printed": Loss("loss_b_printed", SIGMOID, ridge(1e-3)),  # falls when a record is misclassified
    "loss_b_named": Loss("loss_b_named", LOGISTIC, ridge(1e-3)),  # "the logistic loss", Appendix E.3
}
