"""A claimed privacy guarantee as data: a finite list of (epsilon, delta(epsilon)) pairs, epsilon of either sign.

Every pair is implied by the claim, so a sound test of any of them is a sound test of the claim. A negative
epsilon is the reverse direction: Q(S) - e^epsilon P(S) <= delta(epsilon) with
delta(-e) = 1 - e^-e + e^-e delta(e), which follows by taking complements.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import expit, log_ndtr, ndtr

from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array

LARGEST = 700.0  # epsilon; beyond it exp overflows, and its pairs say next to nothing


@dataclass(frozen=True)
class Curve:
    """`name`, and arrays `epsilons` (any sign, increasing) and `deltas` of equal length."""

    name: str
    epsilons: Array
    deltas: Array

    def __post_init__(self) -> None:
        if self.epsilons.shape != self.deltas.shape or self.epsilons.ndim != 1:
            raise BadInput("deltas", self.deltas.shape, f"must have the shape {self.epsilons.shape}")
        if not bool(np.all((self.deltas >= 0) & (self.deltas <= 1))):
            raise BadInput("deltas", self.deltas, "must lie in [0, 1]")

    def tradeoff(self, false_positive: Array) -> Array:
        """The trade-off function f(alpha) = max over the pairs of 1 - delta - e^epsilon alpha, at least 0."""
        lines = 1 - self.deltas[:, None] - np.exp(self.epsilons)[:, None] * np.ravel(false_positive)[None, :]
        return np.asarray(np.maximum(lines.max(axis=0), 0.0).reshape(np.shape(false_positive)))


def _mirrored(name: str, epsilons: Array, delta_of: Callable[[Array], Any]) -> Curve:
    """Extend delta(epsilon), epsilon >= 0, to both signs."""
    forward = np.clip(np.asarray(delta_of(epsilons), dtype=float), 0.0, 1.0)
    backward = np.clip(-np.expm1(-epsilons) + np.exp(-epsilons) * forward, 0.0, 1.0)
    positive = epsilons > 0
    return Curve(
        name,
        np.concatenate([-epsilons[positive][::-1], epsilons]),
        np.concatenate([backward[positive][::-1], forward]),
    )


def approx_dp(epsilon: float, delta: float = 0.0) -> Curve:
    """(epsilon, delta)-DP: the claimed pair, its mirror image and epsilon = 0 carry the whole claim."""
    if epsilon < 0 or not 0 <= delta <= 1:
        raise BadInput("epsilon, delta", (epsilon, delta), "need epsilon >= 0 and delta in [0, 1]")
    top = min(epsilon, LARGEST)
    grid = np.unique(np.append(np.linspace(0.0, top, 5), top))

    def delta_of(value: Array) -> Array:  # the extremal mechanism's
        less = np.expm1(value - epsilon) * expit(epsilon)  # (1 + e^value) / (1 + e^epsilon) - 1
        return np.asarray(delta - (1 - delta) * less)  # 1 - (1 - delta) (1 + less) would round a tiny delta away

    return _mirrored(f"({epsilon:g}, {delta:g})-DP", grid, delta_of)


def gaussian_delta(epsilon: Any, mu: float) -> Any:
    """delta(epsilon) of mu-GDP: Phi(-epsilon/mu + mu/2) - e^epsilon Phi(-epsilon/mu - mu/2)."""
    eps = np.asarray(epsilon, dtype=float)
    if mu == 0:
        return np.maximum(-np.expm1(eps), 0.0)
    return np.maximum(ndtr(-eps / mu + mu / 2) - np.exp(eps + log_ndtr(-eps / mu - mu / 2)), 0.0)


def gdp(mu: float) -> Curve:
    """mu-Gaussian DP (Dong, Roth and Su 2022): 81 tangents of its trade-off curve, out to delta about 1e-12."""
    if not mu >= 0:
        raise BadInput("mu", mu, "must be at least 0")
    grid = np.linspace(0.0, min(max(mu * (mu / 2 + 7), 1e-9), LARGEST), 81)
    return _mirrored(f"{mu:g}-GDP", grid, lambda eps: gaussian_delta(eps, mu))


def from_pld(pld: Any, name: str = "PLD") -> Curve:
    """Any dp-accounting PLD (pessimistic, hence sound): its delta at 81 epsilons out to delta 1e-12."""
    top = float(pld.get_epsilon_for_delta(1e-12))
    if not np.isfinite(top):
        top = float(pld.get_epsilon_for_delta(min(1.0, 2 * float(pld.get_delta_for_epsilon(50.0)) + 1e-12)))
    grid = np.linspace(0.0, min(max(top, 1e-9), LARGEST), 81)
    return _mirrored(name, grid, lambda eps: pld.get_delta_for_epsilon(list(map(float, eps))))


def from_pairs(pairs: Sequence[tuple[float, float]], name: str = "claimed pairs") -> Curve:
    """A claim given as several (epsilon, delta) pairs with epsilon >= 0, each holding in both directions.

    Nothing is claimed between the pairs, or beyond them. In place of a pair above `LARGEST` stands the one that it
    implies there.
    """
    if not all(e >= 0 and 0 <= d <= 1 for e, d in pairs):
        raise BadInput("pairs", pairs, "need epsilon >= 0 and delta in [0, 1]")
    ordered = sorted((min(e, LARGEST), d if e <= LARGEST else 1 - (1 - d) * math.exp(LARGEST - e)) for e, d in pairs)
    deltas = np.array([d for _, d in ordered])
    return _mirrored(name, np.array([e for e, _ in ordered], dtype=float), lambda _: deltas)
