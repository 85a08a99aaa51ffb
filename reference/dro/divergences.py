"""Divergence generators psi and their conjugates psi* (paper ``dro``, Definition 8 and Table 1).

Every divergence is an immutable description with vectorised callables. ``conjugate`` follows from ``generator`` over
t >= 0 (Definition 8 with psi(t) = +inf for t < 0), ``printed_conjugate`` is what Table 1 prints; the two differ for
the chi-square and for the KL-regularised CVaR rows, and the tests show where.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

Function = Callable[[Array], Array]


@dataclass(frozen=True)
class Divergence:
    """One row of Table 1, mended.

    Args:
        name: short name, ``chi_square``, ``kl``, ``kl_cvar(0.2)``, ``cressie_read(2)``.
        generator: psi on the non-negative reals (+inf outside ``generator_range``).
        conjugate: psi*(u) = sup_t (t u - psi(t)).
        conjugate_derivative: the maximiser t*(u), which is also the unnormalised worst-case weight of a sample.
        generator_range: interval of t on which psi is finite.
        conjugate_limit: psi* is finite below this u (+inf: everywhere).
        printed_conjugate: the formula of Table 1, or None where the table has no such row.
        constants: what the formulas written of it name: alpha, k.
    """

    name: str
    generator: Function
    conjugate: Function
    conjugate_derivative: Function
    generator_range: tuple[float, float] = (0.0, math.inf)
    conjugate_limit: float = math.inf
    printed_conjugate: Function | None = None
    constants: Mapping[str, float] = field(default_factory=dict, compare=False)


def chi_square() -> Divergence:
    """psi(t) = (t - 1)^2 / 2; its conjugate is ((u + 1)_+^2 - 1) / 2, 1-smooth.

    Table 1 prints -1 + (u + 2)^2 / 4: the conjugate of (t - 1)^2, twice the printed psi, and without the positive part
    that t >= 0 asks for, so it grows again below u = -2.
    """
    return Divergence(
        "chi_square",
        generator=lambda t: 0.5 * (t - 1.0) ** 2,
        conjugate=lambda u: 0.5 * (np.maximum(u + 1.0, 0.0) ** 2 - 1.0),
        conjugate_derivative=lambda u: np.maximum(u + 1.0, 0.0),
        printed_conjugate=lambda u: -1.0 + 0.25 * (u + 2.0) ** 2,
    )


def kl() -> Divergence:
    """psi(t) = t log t - t + 1, conjugate e^u - 1; smooth only where u is bounded above (M = e^high)."""
    return Divergence("kl", generator=_entropy, conjugate=np.expm1, conjugate_derivative=np.exp)


def kl_cvar(alpha: float) -> Divergence:
    """KL-regularised CVaR: psi(t) = t log t - t + 1 on [0, 1/alpha].

    The conjugate is e^u - 1 up to u = -log(alpha) and its tangent there beyond, 1/alpha-smooth. Table 1 prints the
    minimum of the two branches, which is the tangent everywhere because e^u is convex: wrong for u < -log(alpha).
    """
    require(0 < alpha < 1, "alpha", alpha, "must lie in (0, 1)")
    kink = -math.log(alpha)

    def conjugate(u: Array) -> Array:
        below = np.exp(np.minimum(u, kink))
        return below + np.maximum(u - kink, 0.0) / alpha - 1.0

    def printed(u: Array) -> Array:
        tangent = (1.0 + u + math.log(alpha)) / alpha
        return np.minimum(np.exp(np.minimum(u, 700.0)), tangent) - 1.0

    return Divergence(
        f"kl_cvar({alpha:g})",
        generator=lambda t: np.where(t <= 1.0 / alpha, _entropy(t), np.inf),
        conjugate=conjugate,
        conjugate_derivative=lambda u: np.exp(np.minimum(u, kink)),
        generator_range=(0.0, 1.0 / alpha),
        printed_conjugate=printed,
        constants={"alpha": alpha},
    )


def cressie_read(k: float) -> Divergence:
    """psi(t) = (t^k - k t + k - 1) / (k (k - 1)); conjugate (((k - 1) u + 1)_+^{k/(k-1)} - 1) / k.

    Finite for every u when k > 1; for k < 1 only for u < 1/(1 - k) (at that point too when k < 0), where Table 1's
    formula keeps printing a finite value for k < 0. Globally smooth only at k = 2 (M = 1), not for every real k as the
    caption of Table 1 says.
    """
    require(k not in (0.0, 1.0) and math.isfinite(k), "k", k, "must be a real number other than 0 and 1")
    power, slope = k / (k - 1.0), 1.0 / (k - 1.0)
    limit = math.inf if k > 1 else 1.0 / (1.0 - k)

    def base(u: Array) -> Array:
        return np.maximum((k - 1.0) * u + 1.0, 0.0)

    def generator(t: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray((np.power(t, k) - k * t + k - 1.0) / (k * (k - 1.0)))

    def conjugate(u: Array) -> Array:
        inside = np.where(u < limit, base(u), 1.0)
        return np.where(u < limit, (inside**power - 1.0) / k, np.inf)

    def derivative(u: Array) -> Array:
        inside = np.where(u < limit, base(u), 1.0)
        return np.where(u < limit, inside**slope, np.inf)

    def printed(u: Array) -> Array:
        with np.errstate(divide="ignore"):
            return np.asarray((base(u) ** power - 1.0) / k)

    return Divergence(
        f"cressie_read({k:g})", generator, conjugate, derivative,
        conjugate_limit=limit,
        printed_conjugate=printed,
        constants={"k": k},
    )  # fmt: skip


def _entropy(t: Array) -> Array:
    return np.asarray(np.where(t > 0, t * np.log(np.where(t > 0, t, 1.0)), 0.0) - t + 1.0)
