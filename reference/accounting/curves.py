"""The curve delta(epsilon) of one release of each kind, rounded up, and its law on a grid."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from dpassay.reference.arrays import Array

from .above_threshold import above_threshold_delta
from .compose import Masses, connected
from .gdp import A_LITTLE_DOWN, UP, gdp_deltas, gdp_epsilon
from .sampled import Relation, Sampling, sampled_curve


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


_TRIED = 64  # points that are tried at once for the end of a grid


def response_delta(epsilons: Array, pure: float) -> Array:
    """Randomised response, which dominates every pure release: ``(e^pure - e^eps)_+ / (1 + e^pure)``, rounded up."""
    return np.asarray(-np.expm1(-np.maximum(pure - epsilons, 0.0)) / (1 + math.exp(-pure)) * UP)


def laplace_delta(epsilons: Array, size: float) -> Array:
    """A Laplace release of sensitivity over scale ``size``: ``1 - exp((eps - size) / 2)``, rounded up."""
    return np.asarray(-np.expm1(-np.maximum(size - epsilons, 0.0) / 2) * UP)


def curve(part: Part, relation: Relation, epsilons: Array, backward: bool = False) -> Array:
    """delta of one release at epsilons of at least zero, rounded up; ``backward``: of D' against D."""
    epsilons = epsilons * A_LITTLE_DOWN  # a grid point may be rounded up
    if part.kind == "gaussian":
        return gdp_deltas(epsilons, part.size)
    if part.kind == "sampled":
        return sampled_curve(epsilons, part.rate, part.size, part.sampling, relation, backward)
    if part.kind == "laplace":
        return laplace_delta(epsilons, part.size)
    if part.kind == "above-threshold":
        return above_threshold_delta(epsilons, part.size, part.share, part.queries, part.falls)
    return response_delta(epsilons, part.pure_epsilon)


def one_sided(part: Part, relation: Relation) -> bool:
    """Do the two directions have different curves."""
    return part.kind == "sampled" and part.sampling == "poisson" and relation == "add-remove"


@lru_cache
def end_of(part: Part, relation: Relation, least: float) -> float:
    """An epsilon at which delta is ``least`` at most, and hardly more."""
    if part.kind not in ("gaussian", "sampled"):
        return part.pure_epsilon
    high = gdp_epsilon(part.size, least) if least > 1e-300 else part.size * (40 + part.size / 2)
    if part.kind == "gaussian":
        return high
    low = 0.0
    for _ in range(3):
        tried = np.linspace(low, high, _TRIED + 1)[1:]
        good = np.maximum(*(curve(part, relation, tried, backward) for backward in (False, True))) <= least
        place = int(np.argmax(good)) if bool(good.any()) else _TRIED - 1
        low, high = float(tried[place] - tried[0]) + low if place else low, float(tried[place])
    return high


@lru_cache(maxsize=64)
def masses(part: Part, relation: Relation, step: float, least: float, backward: bool) -> Masses:
    """The law of one release on the grid; more than ``least`` is not lost above its end."""
    points = math.ceil(end_of(part, relation, least) / step) + 1
    at = np.asarray(step * np.arange(points + 1), dtype=float)
    forth = curve(part, relation, at, backward)
    back = curve(part, relation, at, not backward) if one_sided(part, relation) else forth
    return connected(forth, back, step)
