"""Signs that move the gradient and the Hessian by (nearly) all that their bounds allow, and f(w0) not at all.

One parameter, so that the sqrt(d) of `second_order_erm`, eq. (4), is one. What a run on two of these data sets shows
is not the number of steps, which is the same for both, but the gradients and Hessians alone.
"""

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array, Indices, Records

from .erm import Constants
from .waves import Signs

SLOPE, SLOW, FAST = 10.0, 0.01, 100.0


@dataclass(frozen=True)
class OneWay(Signs):
    """Mean of l(w; s) = top + s u(w) over signs (n,), u(w) = g sin(a w)/a + g (1 - cos(b w))/b^2 on the line.

    g = 10, a = 1/100, b = 100. At w = 0: u = 0, u' = u'' = g, the suprema of both but for one in a hundred.
    """

    RECORDS: ClassVar[Records] = {"signs": (-1.0, 1.0)}
    d: ClassVar[int] = 1  # so that the sqrt(d) of eq. (4) is one

    def gradient(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean gradient, shape (1,)."""
        return self._mean_sign(indices) * SLOPE * (np.cos(SLOW * w) + np.sin(FAST * w) / FAST)

    def hessian(self, w: Array, indices: Indices | None = None) -> Array:
        """Mean Hessian, shape (1, 1)."""
        bend = np.cos(FAST * w) - SLOW * np.sin(SLOW * w)
        return np.asarray(self._mean_sign(indices) * SLOPE * bend).reshape(1, 1)

    def constants(self, radius: float = inf) -> Constants:
        """Bounds of Assumption 2."""
        reach = min(self.top, SLOPE * (1 + 1 / FAST) * radius)  # |u| on |w| <= radius
        bound, third = SLOPE * (1 + 1 / FAST), SLOPE * (FAST + SLOW**2)
        return Constants(self.top + reach, bound, SLOPE * (1 + SLOW), SLOPE * (1 + SLOW), third, radius)

    def gradient_sensitivity(self) -> float:
        """2 sup |u'| / n."""
        return 2 * SLOPE * (1 + 1 / FAST) / self.n

    def hessian_sensitivity(self) -> float:
        """2 sup |u''| / n."""
        return 2 * SLOPE * (1 + SLOW) / self.n

    def value_bound(self, w: Array) -> float:
        """Every record has the sign that costs more."""
        return self.top + min(self.top, SLOPE * (1 + 1 / FAST) * abs(float(w[0])))

    @property
    def top(self) -> float:
        """Supremum of |u|."""
        return SLOPE / SLOW + 2 * SLOPE / FAST**2

    def _wave(self, w: Array) -> float:
        x = float(w[0])
        return float(SLOPE * np.sin(SLOW * x) / SLOW + SLOPE * (1 - np.cos(FAST * x)) / FAST**2)
