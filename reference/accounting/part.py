"""What one release costs, as data."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

import numpy as np

from .sampled import Sampling


@dataclass(frozen=True)
class Part:
    """One cost: ``gaussian`` (``size`` = mu), ``sampled`` (mu of the un-sampled release), ``laplace`` or ``pure``.

    For ``laplace`` the size is sensitivity over scale of one scalar release, for ``pure`` it is the epsilon of the
    un-sampled releases (``rate`` below 1: they see the record with this probability). ``above-threshold`` is pure, and
    cheaper than its epsilon: ``share`` is the part of it that is sensitivity over query noise, ``queries`` their
    number (0: any), each of which moves by ``falls`` times what the one before it may.
    """

    kind: Literal["gaussian", "sampled", "laplace", "pure", "above-threshold"]
    size: float
    rate: float = 1.0
    sampling: Sampling = "without-replacement"
    share: float = 0.0
    queries: int = 0
    falls: float = 1.0

    @property
    def pure_epsilon(self) -> float:
        """The largest loss of a part that has one; of a ``pure`` one amplified by sampling (exact)."""
        if self.rate == 1:
            return self.size
        if self.size <= 1:
            return clean(math.log1p(self.rate * math.expm1(self.size)))
        return clean(float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + self.size)))


def clean(size: float) -> float:
    """Equal up to rounding is equal, so that repeated releases are composed in one go (rounded up, to 13 digits).

    Three quarters of a digit are added, and their number changes at 0.79, 7.9, ...: with a half, or at a power of ten,
    a size like 0.3 would go one way or the other by its last bit.
    """
    if size <= 0:
        return 0.0
    digits = 13 - math.ceil(math.log10(size) + 0.1)
    return round(float(size) + 0.75 * 10.0**-digits, digits)
