"""What Theorem B.5 misses: the gradient and the Hessian of one iteration see the same batch (Section 3.3).

Eq. (29) adds the costs of two sampled releases as if each had a batch of its own. One draw protects both, so a record
that is in the batch shows twice: with noise multiplier sigma and fraction s = m/n, where all other records are opposed,
an iteration is the pair (1 - s) N(0, 1) + s N(mu, 1) against N(0, 1) with mu = sqrt(2)/sigma. Eq. (27) is loose enough
to cover that where epsilon is small; at delta = 1e-5 it no longer is at epsilon 2 (T = 4, s = 1/50) and above.

`OneWay` moves the gradient and the Hessian by (nearly) all that their bounds allow, and f(w0) not at all: T of eq. (6)
is then the same for both data sets, and what is shown is the shared batch alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import inf

import numpy as np

from dpassay.reference.case import Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems.erm import Constants
from dpassay.reference.types import Array, Indices

from . import opt_b
from .common import Accuracy

KNOWN = "one batch serves the gradient and the Hessian (Section 3.3); eq. (29) adds their costs as if each had its own"
EPSILON, RECORDS = 5.0, 50  # batches of one record
SLOPE, SLOW, FAST = 10.0, 0.01, 100.0


@dataclass(frozen=True)
class OneWay:
    """Mean of l(w; s) = top + s u(w) over signs (n,), u(w) = g sin(a w)/a + g (1 - cos(b w))/b^2 on the line.

    g = 10, a = 1/100, b = 100. At w = 0: u = 0, u' = u'' = g, the suprema of both but for one in a hundred.
    """

    signs: Array

    @property
    def n(self) -> int:
        """Number of records."""
        return len(self.signs)

    @property
    def d(self) -> int:
        """One parameter, so that the sqrt(d) of eq. (4) is one."""
        return 1

    def replace(self, index: int, sign: float) -> OneWay:
        """The replace-one neighbour in which record `index` has this sign."""
        signs = self.signs.copy()
        signs[index] = sign
        return replace(self, signs=signs)

    def value(self, w: Array, indices: Indices | None = None) -> float:
        """Mean loss."""
        x = float(w[0])
        u = SLOPE * np.sin(SLOW * x) / SLOW + SLOPE * (1 - np.cos(FAST * x)) / FAST**2
        return self._top + self._mean_sign(indices) * float(u)

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean gradient, shape (1,)."""
        return self._mean_sign(indices) * SLOPE * (np.cos(SLOW * w) + np.sin(FAST * w) / FAST)

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean Hessian, shape (1, 1)."""
        bend = np.cos(FAST * w) - SLOW * np.sin(SLOW * w)
        return np.asarray(self._mean_sign(indices) * SLOPE * bend).reshape(1, 1)

    def constants(self, radius: float = inf) -> Constants:
        """Bounds of Assumption 2."""
        reach = min(self._top, SLOPE * (1 + 1 / FAST) * radius)  # |u| on |w| <= radius
        bound, third = SLOPE * (1 + 1 / FAST), SLOPE * (FAST + SLOW**2)
        return Constants(self._top + reach, bound, SLOPE * (1 + SLOW), SLOPE * (1 + SLOW), third, radius)

    def value_sensitivity(self, w: Array) -> float:
        """2 |u(w)| / n."""
        return 2 * abs(self.value(w) - self._top) / self.n

    def gradient_sensitivity(self) -> float:
        """2 sup |u'| / n."""
        return 2 * SLOPE * (1 + 1 / FAST) / self.n

    def hessian_sensitivity(self) -> float:
        """2 sup |u''| / n."""
        return 2 * SLOPE * (1 + SLOW) / self.n

    def value_bound(self, w: Array) -> float:
        """Every record has the sign that costs more."""
        return self._top + min(self._top, SLOPE * (1 + 1 / FAST) * abs(float(w[0])))

    @property
    def _top(self) -> float:
        return SLOPE / SLOW + 2 * SLOPE / FAST**2

    def _mean_sign(self, indices: Indices | None) -> float:
        return float((self.signs if indices is None else self.signs[indices]).mean())


def build(delta: float, epsilon: float = EPSILON, records: int = RECORDS) -> Instance:
    """OPT-B as printed, noise by eq. (30), one iteration that releases a gradient and a Hessian."""
    there = OneWay(-np.ones(records))
    pair = Pair(
        there.replace(0, 1.0), there, 0, "record 0 is the sign +1 or -1, all others are -1; f(w0) does not move"
    )
    accuracy = Accuracy(gradient=1e9, curvature=1e6)  # MIN_DEC so large that T = 1
    schedule = opt_b.printed(there, np.zeros(1), accuracy, epsilon, delta, batch_size=1)
    facts: dict[str, float | int | str] = {"n": records, "batch": 1, "T": 1, "sigma": schedule.budget.sigma(1)}
    return Instance(opt_b.run, schedule, pair, facts=facts)
