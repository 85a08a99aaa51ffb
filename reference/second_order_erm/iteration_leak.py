"""What the printed bound on the steps costs: exact delta of T = ceil((f(w0) + |z| - f_low) / MIN_DEC), eq. (6).

T can be read off the run: it is its length when no step returns early, and the noise level of every release. The
noise |z| is one-sided, so on the neighbour with the larger f(w0) small T are impossible, and no epsilon covers them.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, exp

import numpy as np
from scipy.special import erf, ndtr

from dpassay.reference.types import Array


def worst_case_delta(sigma_f: float) -> float:
    """Delta at epsilon = infinity when f(w0) moves by Delta_f across an edge of the ceiling: 2 Phi(1/sigma_f) - 1."""
    return float(2 * ndtr(1 / sigma_f) - 1)


@dataclass(frozen=True)
class StepBound:
    """The law of T for one data set: f(w0), std = Delta_f sigma_f of z, MIN_DEC, and the lower bound on f."""

    value: float
    std: float
    minimum_decrease: float
    lower_bound: float = 0.0

    @property
    def least(self) -> int:
        """Smallest T that has positive probability (z = 0 has none)."""
        return max(1, ceil((self.value - self.lower_bound) / self.minimum_decrease))

    def cdf(self, steps: Array | float) -> Array:
        """P(T <= steps) = P(|z| <= steps MIN_DEC + f_low - f(w0)) = 2 Phi(. / std) - 1."""
        room = np.asarray(steps) * self.minimum_decrease + self.lower_bound - self.value
        return np.asarray(erf(np.maximum(room, 0.0) / (np.sqrt(2.0) * self.std)))  # a half-normal is below room


def pair_delta_infinity(low: StepBound, high: StepBound) -> float:
    """P(T(D) is impossible on D') for f(w0; D) < f(w0; D'): the exact delta at epsilon = infinity, in closed form."""
    return float(low.cdf(high.least - 1))


def pair_delta(one: StepBound, other: StepBound, epsilon: float) -> float:
    """Exact delta(epsilon) of T alone, the larger of the two directions: sum over T of (p - exp(epsilon) p')_+."""
    last = ceil((max(one.value, other.value) + 40 * one.std - one.lower_bound) / one.minimum_decrease) + 1
    steps = np.arange(0, last + 1, dtype=np.float64)
    p, q = np.diff(one.cdf(steps)), np.diff(other.cdf(steps))
    forward, backward = np.maximum(p - exp(epsilon) * q, 0).sum(), np.maximum(q - exp(epsilon) * p, 0).sum()
    return float(max(forward, backward))
