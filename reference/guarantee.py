"""A privacy guarantee as data: a curve delta(epsilon), for which neighbours it is meant, and where it is stated.

The curve is a finite list of (epsilon, delta(epsilon)) pairs, epsilon of either sign. Every pair is implied by the
guarantee, so a sound test of any of them is a sound test of the guarantee. A negative epsilon is the reverse direction:
Q(S) - e^epsilon P(S) <= delta(epsilon) with delta(-e) = 1 - e^-e + e^-e delta(e), which follows by taking complements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy

from .accounting.gdp import gdp_deltas
from .accounting.sampled import Relation
from .arrays import Array
from .errors import BadInput, require

LARGEST = 700.0  # epsilon; beyond it exp overflows, and its pairs say next to nothing


@dataclass(frozen=True)
class Guarantee:
    """What is claimed or proved of a mechanism, for one relation of neighbours.

    Args:
        name: the guarantee in words, such as ``(1, 1e-05)-DP``.
        epsilons: of any sign, increasing.
        deltas: one for each epsilon, in [0, 1].
        relation: for which neighbours; None: for whatever pair it is held against.
        source: where it is stated, or what proved it; may be empty.

    Raises:
        BadInput: arrays that do not fit, or a delta outside [0, 1].

    Example:
        >>> from dpassay.reference import Guarantee
        >>> claim = Guarantee.approx_dp(1.0, 1e-5, "add-remove")
        >>> str(claim), claim.epsilon(1e-5), claim.delta(2.0)
        ('(1, 1e-05)-DP, add-remove', 1.0, 1e-05)
        >>> round(Guarantee.gdp(0.5).delta(1.0), 4)
        0.0069

    Source: Dwork and Roth 2014, Definition 2.4, for one pair; Dong, Roth and Su 2022, Proposition 2.12, for the curve
    as a trade-off function.
    """

    name: str
    epsilons: Array
    deltas: Array
    relation: Relation | None = None
    source: str = ""

    def __post_init__(self) -> None:
        if self.epsilons.shape != self.deltas.shape or self.epsilons.ndim != 1:
            raise BadInput("deltas", self.deltas.shape, f"must have the shape {self.epsilons.shape}")
        require(bool(np.all((self.deltas >= 0) & (self.deltas <= 1))), "deltas", self.deltas, "must lie in [0, 1]")

    def __str__(self) -> str:
        relation = f", {self.relation}" if self.relation else ""
        return f"{self.name}{relation}" + (f" ({self.source})" if self.source else "")

    @staticmethod
    def approx_dp(epsilon: float, delta: float = 0.0, relation: Relation | None = None, source: str = "") -> Guarantee:
        """(epsilon, delta)-DP: the claimed pair, its mirror image and epsilon = 0 carry the whole claim."""
        if epsilon < 0 or not 0 <= delta <= 1:
            raise BadInput("epsilon, delta", (epsilon, delta), "need epsilon >= 0 and delta in [0, 1]")
        top = min(epsilon, LARGEST)
        grid = np.unique(np.append(np.linspace(0.0, top, 5), top))

        def delta_of(value: Array) -> Array:  # the extremal mechanism's
            less = np.expm1(value - epsilon) * scipy.special.expit(epsilon)  # (1 + e^value) / (1 + e^epsilon) - 1
            return np.asarray(delta - (1 - delta) * less)  # 1 - (1 - delta) (1 + less) would round a tiny delta away

        return mirrored(f"({epsilon:g}, {delta:g})-DP", grid, delta_of, relation, source)

    @staticmethod
    def gdp(mu: float, relation: Relation | None = None, source: str = "") -> Guarantee:
        """mu-Gaussian DP (Dong, Roth and Su 2022): 81 tangents of its trade-off curve, out to delta about 1e-12."""
        require(mu >= 0, "mu", mu, "must not be negative")
        grid = np.linspace(0.0, min(max(mu * (mu / 2 + 7), 1e-9), LARGEST), 81)
        return mirrored(f"{mu:g}-GDP", grid, lambda eps: gdp_deltas(eps, mu) if mu else 0 * eps, relation, source)

    @property
    def forward(self) -> tuple[Array, Array]:
        """The pairs with epsilon >= 0: epsilons and deltas."""
        there = self.epsilons >= 0
        return self.epsilons[there], self.deltas[there]

    @property
    def outermost(self) -> tuple[float, float]:
        """The pair with the largest epsilon: of (epsilon, delta)-DP the claim itself."""
        return float(self.epsilons[-1]), float(self.deltas[-1])

    def epsilon(self, delta: float) -> float | None:
        """The smallest epsilon >= 0 of the pairs with at most this delta; None where they do not go down that far."""
        epsilons, deltas = self.forward
        allowed = epsilons[deltas <= delta]
        return float(allowed.min()) if allowed.size else None

    def delta(self, epsilon: float) -> float:
        """The smallest delta of the pairs with at most this epsilon; 1 where there is none."""
        allowed = self.deltas[self.epsilons <= epsilon]
        return float(allowed.min()) if allowed.size else 1.0

    def trade_off(self, false_positive: Array) -> Array:
        """The trade-off function f(alpha) = max over the pairs of 1 - delta - e^epsilon alpha, at least 0."""
        alpha = np.asarray(false_positive, dtype=float)
        highest = np.zeros_like(alpha)
        for delta, slope in zip(self.deltas, np.exp(self.epsilons), strict=True):  # one by one: there may be thousands
            np.maximum(highest, 1 - delta - slope * alpha, out=highest)
        return highest


approx_dp, gdp = Guarantee.approx_dp, Guarantee.gdp


def mirrored(
    name: str, epsilons: Array, delta_of: Callable[[Array], Any], relation: Relation | None = None, source: str = ""
) -> Guarantee:
    """The guarantee with delta(epsilon) at these ``epsilons`` >= 0 (increasing), in both directions."""
    forward = np.clip(np.asarray(delta_of(epsilons), dtype=float), 0.0, 1.0)
    backward = np.clip(-np.expm1(-epsilons) + np.exp(-epsilons) * forward, 0.0, 1.0)
    positive = epsilons > 0
    return Guarantee(
        name,
        np.concatenate([-epsilons[positive][::-1], epsilons]),
        np.concatenate([backward[positive][::-1], forward]),
        relation,
        source,
    )


def from_pld(pld: Any, name: str = "PLD", relation: Relation | None = None) -> Guarantee:
    """Any dp-accounting PLD (pessimistic, hence sound): its delta at 81 epsilons out to delta 1e-12."""
    top = float(pld.get_epsilon_for_delta(1e-12))
    if not np.isfinite(top):
        top = float(pld.get_epsilon_for_delta(min(1.0, 2 * float(pld.get_delta_for_epsilon(50.0)) + 1e-12)))
    grid = np.linspace(0.0, min(max(top, 1e-9), LARGEST), 81)
    return mirrored(name, grid, lambda eps: pld.get_delta_for_epsilon(list(map(float, eps))), relation)


def from_pairs(pairs: Sequence[tuple[float, float]], name: str = "claimed pairs") -> Guarantee:
    """A claim given as several (epsilon, delta) pairs with epsilon >= 0, each holding in both directions.

    Nothing is claimed between the pairs, or beyond them. In place of a pair above `LARGEST` stands the one that it
    implies there.
    """
    require(all(e >= 0 and 0 <= d <= 1 for e, d in pairs), "pairs", pairs, "need epsilon >= 0 and delta in [0, 1]")
    ordered = sorted((min(e, LARGEST), d if e <= LARGEST else 1 - (1 - d) * math.exp(LARGEST - e)) for e, d in pairs)
    deltas = np.array([d for _, d in ordered])
    return mirrored(name, np.array([e for e, _ in ordered], dtype=float), lambda _: deltas)
