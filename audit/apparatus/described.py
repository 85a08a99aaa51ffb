"""Laws by their distribution functions, written anew with `scipy.stats`: what samplers and densities must follow."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Categorical, Selection
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import (
    BoundedLaplace,
    DiscreteGaussian,
    FoldedGeometric,
    FoldedLaplace,
    Geometric,
    Number,
    NumberBetween,
    TruncatedGeometric,
    TruncatedLaplace,
)

Function = Callable[[Array], Array]
_IMAGES = np.arange(-60, 61)  # of a folded value
_FAR = 1e4  # scales of the noise: six more than these lose four digits of a density's difference quotient
_LEVELS = (np.arange(20_000) + 0.5) / 20_000


@dataclass(frozen=True)
class Described:
    """The distribution function of a law, and how its values become numbers.

    Args:
        below: probability of values up to a number, for each coordinate.
        whole: values are whole numbers, so that the one before is one less.
        scale: of a continuous law, for the step of a derivative; 0: there is no density to compare.
        law: the one that is sampled: with queries near the threshold, where the law of a row has some that say nothing.
        number: of a value; None: the value is a number, or an array of numbers.
        continuous: no value comes twice.
        draws: how many are made, coordinates counted.
    """

    below: Function
    law: Law
    whole: bool = False
    scale: float = 0.0
    number: Callable[[Any], float] | None = None
    continuous: bool = False
    draws: int = 20_000

    def numbers(self, value: Any) -> Array:
        """All coordinates of one value, shape (coordinates,)."""
        return np.atleast_1d(np.asarray(value if self.number is None else self.number(value), dtype=float)).ravel()


def described(law: Law) -> Described | None:
    """The description of a law; None for one that somebody else wrote, or one without noise."""
    make = _TABLE.get(type(law))
    return None if make is None or law.is_bare else make(_near(law))


def _near(law: Law) -> Law:
    """The same noise on a query that is not so far from zero that rounding eats it: a row's data may be anywhere."""
    far = np.max(np.abs(law.query), initial=0.0) if isinstance(law, Gaussian | Laplace | Number) else 0.0
    return law.changed(1.0, _FAR * law.scale / far) if far > _FAR * law.scale else law


def _array(noise: Any) -> Callable[[Any], Described]:
    def make(law: Any) -> Described:
        query = law.query.ravel()
        return Described(lambda x: noise.cdf(x, query, law.scale), law, scale=law.scale, continuous=True)

    return make


def _laplace(x: Array, law: Any) -> Array:
    return np.asarray(scipy.stats.laplace.cdf(x, law.at, law.scale))


def _geometric(x: Array, law: Any) -> Array:
    with np.errstate(over="ignore"):
        return np.asarray(scipy.stats.dlaplace.cdf(np.clip(np.floor(x) - law.at, -1e9, 1e9), 1 / law.scale))


def _number(below: Callable[[Array, Any], Array], **how: Any) -> Callable[[Any], Described]:
    def make(law: Any) -> Described:
        return Described(lambda x: below(x, law), law, whole=law.whole, scale=0.0 if law.whole else law.scale, **how)

    return make


def _given_inside(x: Array, law: BoundedLaplace) -> Array:
    low, high = (_laplace(np.array(end), law) for end in (law.lower, law.upper))
    return np.asarray((_laplace(np.clip(x, law.lower, law.upper), law) - low) / (high - low))


def _clamped(noisy: Callable[[Array, Any], Array]) -> Callable[[Array, NumberBetween], Array]:
    def below(x: Array, law: NumberBetween) -> Array:
        return np.where(x < law.lower, 0.0, np.where(x >= law.upper, 1.0, noisy(x, law)))

    return below


def _folded(noisy: Callable[[Array, Any], Array]) -> Callable[[Array, NumberBetween], Array]:
    def below(x: Array, law: NumberBetween) -> Array:
        """The probability of all images of what lies below ``x``: intervals around the lower end, or its images."""
        before = 1.0 if law.whole else 0.0
        inside = np.clip(x, law.lower - before, law.upper)
        if math.isinf(law.lower):
            beyond = 1 - noisy(2 * law.upper - inside - before, law)
            return np.where(x >= law.upper, 1.0, noisy(inside, law) + beyond)
        period = 2 * (law.upper - law.lower)
        shifts = _IMAGES * period if math.isfinite(period) else np.zeros(1)
        ends = inside[..., None] + shifts, 2 * law.lower - inside[..., None] + shifts - before
        found = np.sum(np.maximum(noisy(ends[0], law) - noisy(ends[1], law), 0), axis=-1)
        return np.where(x >= law.upper, 1.0, np.where(x < law.lower, 0.0, found))

    return below


def _whole_gaussian(law: Any) -> Described:
    reach = math.ceil(40 * law.scale) + 1
    support = np.arange(-reach, reach + 1)
    sums = np.cumsum(scipy.stats.norm.pdf(support, 0, law.scale))

    def below(x: Array) -> Array:
        place = np.floor(x - law.at).astype(int) + reach
        return np.where(place < 0, 0.0, sums[np.clip(place, 0, 2 * reach)] / sums[-1])

    return Described(below, law, whole=True)


def _listed(probabilities: Array, law: Law, number: Callable[[Any], float]) -> Described:
    sums = np.concatenate([[0.0], np.cumsum(probabilities) / np.sum(probabilities)])
    return Described(lambda x: sums[np.clip(np.floor(x).astype(int) + 1, 0, len(sums) - 1)], law, True, number=number)


def _categorical(law: Any) -> Described:
    return _listed(np.exp(law.log_probabilities), law, law.support.index)


def selected(mechanism: str, utilities: Array, rate: float) -> Array:
    """Textbook probabilities of the exponential mechanism, or of permute-and-flip."""
    flips = np.exp(rate * (utilities - np.max(utilities)))
    if mechanism == "exponential":
        return np.asarray(flips / flips.sum())
    stays = 1 - _LEVELS[:, None] * flips
    return np.array([flips[r] * np.mean(np.prod(np.delete(stays, r, axis=1), axis=1)) for r in range(len(flips))])


def _intervals(law: Any) -> Described:
    sums = np.concatenate([[0.0], np.cumsum(np.exp(law.rate * law.utilities) * np.diff(law.edges))])
    return Described(lambda x: np.interp(x, law.edges, sums / sums[-1]), law, scale=float(np.ptp(law.edges)))


def above_threshold_law(law: Any) -> AboveThreshold:
    """The same noise, with four queries that decide."""
    queries = [law.threshold + one * law.query_scale for one in (-1.5, 0.0, -3.0, 1.0)]
    return AboveThreshold(queries, law.threshold, law.threshold_scale, law.query_scale)


def _above_threshold(law: Any) -> Described:
    near = above_threshold_law(law)
    level = scipy.stats.laplace.ppf(_LEVELS, near.threshold, near.threshold_scale)[:, None]
    stays = scipy.stats.laplace.cdf(level, near.all_queries(), near.query_scale)
    so_far = np.cumprod(np.concatenate([np.ones_like(level), stays], axis=1), axis=1)
    probabilities = np.append(np.mean(so_far[:, :-1] * (1 - stays), axis=0), np.mean(so_far[:, -1]))
    return _listed(probabilities, near, lambda value: 4 if value is None else value)


def _bingham(law: Any) -> Described:
    """In the plane of the first two coordinates, by the angle."""
    plane = replace(law, query=law.query[:2, :2])
    angles = np.linspace(0, 2 * np.pi, 8193)
    points = np.stack([np.cos(angles), np.sin(angles)])
    heights = np.exp(law.rate * (np.sum(points * (plane.query @ points), axis=0) - np.linalg.eigvalsh(plane.query)[-1]))
    sums = scipy.integrate.cumulative_trapezoid(heights, angles, initial=0)
    return Described(
        lambda x: np.interp(x, angles, sums / sums[-1]),
        plane,
        number=lambda v: float(np.arctan2(v[1], v[0]) % (2 * np.pi)),
        continuous=True,
        draws=2_000,  # each takes a millisecond
    )


_TABLE: dict[type[Law], Callable[[Any], Described]] = {
    Gaussian: _array(scipy.stats.norm),
    Laplace: _array(scipy.stats.laplace),
    BoundedLaplace: _number(_given_inside),
    TruncatedLaplace: _number(_clamped(_laplace)),
    FoldedLaplace: _number(_folded(_laplace)),
    Geometric: _number(_geometric),
    TruncatedGeometric: _number(_clamped(_geometric)),
    FoldedGeometric: _number(_folded(_geometric)),
    DiscreteGaussian: _whole_gaussian,
    Categorical: _categorical,
    Selection: _categorical,
    Intervals: _intervals,
    AboveThreshold: _above_threshold,
    Bingham: _bingham,
}
