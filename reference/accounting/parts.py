"""What costs add up to: closed form for Gaussians, grids for the rest, Rényi divergences where a grid is too coarse.

Each release has its curve delta(epsilon), rounded up, and of it a law on a grid; the laws are composed. Where chords
cost a hundredth of epsilon (tiny losses, millions of them), divergences of order a, which add up, say less: they give
``epsilon = R(a) + log(1 - 1/a) - log(delta a) / (a - 1)`` for every a > 1 (Canonne, Kamath and Steinke 2020,
Proposition 12). A bounded loss costs at most what randomised response does, and at most a s^2 / 2 (Bun and Steinke
2016, Proposition 3.3); a sampled release at most what it costs unsampled.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from dpassay.reference.arrays import Array

from .above_threshold import above_threshold_delta, response_delta
from .compose import Composed, Masses, TooLong, connected
from .gdp import A_LITTLE_DOWN, UP, gdp_delta, gdp_deltas, gdp_epsilon
from .sampled import Relation, Sampling, sampled_curve

STEP = 1e-3  # of the usual grid; pessimistic whatever the value, 1e-4 changes the third digit
_FINE = 8  # points of a grid for a usual loss: then the chords cost a thousandth of epsilon
_FINEST = STEP * 2**-40  # losses below are rounded up to it
_USUAL_POINTS, _POINTS = 2**17, 2**20  # of a grid, about; and at most
_SHARE = 1e-9  # of delta may be lost at the ends of a grid
_USUAL, _LEAST = 1e-20, 1e-315  # what is lost there at first, and the least that can be asked for
_REST = 1e-12  # delta that is spent on what is composed with a very large loss
_ORDERS = np.concatenate([1 + np.geomspace(1e-3, 1, 60)[:-1], np.geomspace(2, 1e7, 400)])
_PER_NAT = 1.8e-15  # eight roundings of a sum of exponentials
_UP = 1 + 1e-9  # more than the roundings of a sum and of what is divided by a - 1 >= 1e-3
_TRIED = 64  # points that are tried at once for the end of a grid


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
    return part.kind == "sampled" and part.sampling == "poisson" and relation != "replace-one"


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


def mu_of(parts: Iterable[tuple[Part, int]]) -> float | None:
    """The GDP parameter of all parts together, rounded up; None where one is not Gaussian."""
    squares = []
    for part, count in parts:
        if part.kind != "gaussian":
            return None
        squares.append(count * part.size * part.size)
    return math.sqrt(math.fsum(squares)) * (1 + 1e-15)


@lru_cache(maxsize=8192)  # a search meets the same sizes again and again, and so do the rows of a paper
def epsilon_of(parts: tuple[tuple[Part, int], ...], relation: Relation, delta: float) -> float:
    """The smallest epsilon that the parts together have at ``delta``."""
    alone = mu_of(parts)
    if alone is not None:
        return gdp_epsilon(alone, delta)
    pure, large, rest = _split(parts)
    if large:  # the guarantees of both add up
        return pure + gdp_epsilon(large, delta / 2) + epsilon_of(rest, relation, delta / 2)
    if pure:
        return pure + epsilon_of(rest, relation, delta)
    bounded, mu = _unsampled(parts)
    # simple composition is the better bound where delta is far below what a grid can show
    quick = min(bounded + gdp_epsilon(mu, delta), renyi_epsilon(parts, delta))
    try:
        return min(quick, max(one.epsilon(delta) for one in composed(parts, relation, delta * _SHARE)))
    except TooLong:
        return quick


def delta_of(parts: tuple[tuple[Part, int], ...], relation: Relation, epsilon: float) -> float:
    """The smallest delta that the parts together have at ``epsilon``."""
    alone = mu_of(parts)
    if alone is not None:
        return gdp_delta(epsilon, alone)
    pure, large, rest = _split(parts)
    if pure or large:
        left = epsilon - pure - (epsilon_of(rest, relation, _REST) if large else 0.0)
        if not left >= 0:
            return 1.0
        return min(1.0, gdp_delta(left, large) + _REST) if large else delta_of(rest, relation, left)
    bounded, mu = _unsampled(parts)
    quick = gdp_delta(epsilon - bounded, mu) if epsilon >= bounded else 1.0
    return min(quick, renyi_delta(parts, epsilon), _on_a_grid(parts, relation, epsilon))


def _on_a_grid(parts: tuple[tuple[Part, int], ...], relation: Relation, epsilon: float) -> float:
    """On grids that end where 1e-20 is left; where this shows, on longer ones."""
    try:
        found = max(one.delta(epsilon) for one in composed(parts, relation, _USUAL))
        if found > _USUAL / _SHARE:
            return found
        return min(found, max(one.delta(epsilon) for one in composed(parts, relation, 0.0)))
    except TooLong:
        return 1.0


def _unsampled(parts: Iterable[tuple[Part, int]]) -> tuple[float, float]:
    """Losses that are bounded, added up; and the mu of the Gaussians as if nothing was sampled, which costs more."""
    bounded, squares = [], []
    for part, count in parts:
        if part.kind in ("gaussian", "sampled"):
            squares.append(count * part.size * part.size)
        else:
            bounded.append(count * _worst(part))
    return math.fsum(bounded) * (1 + 1e-15), math.sqrt(math.fsum(squares)) * (1 + 1e-15)


def _split(parts: tuple[tuple[Part, int], ...]) -> tuple[float, float, tuple[tuple[Part, int], ...]]:
    """Parts whose losses are too large for a grid: the sum of the pure ones, the mu of the Gaussians; and the rest."""
    pure = math.fsum(_worst(part) * count for part, count in parts if off_grid(part) and part.kind != "gaussian")
    mu = mu_of((part, count) for part, count in parts if off_grid(part) and part.kind == "gaussian")
    return pure, mu or 0.0, tuple((part, count) for part, count in parts if not off_grid(part))


def _worst(part: Part) -> float:
    return part.pure_epsilon if part.kind == "pure" else part.size


def off_grid(part: Part) -> bool:
    """Its loss is too large for a grid: it is added up by simple composition."""
    return _worst(part) > {"gaussian": 40.0, "sampled": math.inf}.get(part.kind, 700.0)


@lru_cache(maxsize=64)
def composed(parts: tuple[tuple[Part, int], ...], relation: Relation, least: float) -> tuple[Composed, ...]:
    """The parts together: one law, or one for each direction; what is lost at the ends of the grids is ``least``."""
    share = max(least / sum(count for _, count in parts), _LEAST)
    ways = (False, True) if any(one_sided(part, relation) for part, _ in parts) else (False,)
    step = step_of(parts, relation, share)
    return tuple(
        Composed([(masses(part, relation, step, share, way), count) for part, count in parts], step) for way in ways
    )


def step_of(parts: tuple[tuple[Part, int], ...], relation: Relation, least: float) -> float:
    """The grid: ``STEP``; finer where many losses are small beside it, coarser where they reach far."""
    sizes = [(_typical(part), count) for part, count in parts]
    square, plain = (math.fsum(count * size**power for size, count in sizes) for power in (2, 1))
    reach = max(end_of(part, relation, least) for part, _ in parts)
    spread = math.sqrt(square) * 12 + square / 2
    far, usual, step = max(reach, spread), square / plain, STEP
    while _FINE * step > usual and _POINTS * step > 2 * far and step > _FINEST:
        step /= 2
    while (_USUAL_POINTS * step < far and 2 * _FINE * step < usual) or _POINTS * step < far:
        step *= 2
    return step


def _typical(part: Part) -> float:
    """About the standard deviation of its loss."""
    if part.kind == "sampled":
        return min(part.size, part.rate * math.sqrt(math.expm1(min(part.size, 20.0) ** 2)))
    return _worst(part)


def _divergence(part: Part, order: float) -> float:
    """Rényi divergence of one release, rounded up."""
    if part.kind in ("gaussian", "sampled"):
        return order * part.size**2 / 2 * _UP
    size = part.pure_epsilon
    if order * size < 1e-3:  # below, the differences of exponentials lose their digits
        return min(size, order * size**2 / 2) * _UP
    # log((e^(a s) + e^((1 - a) s)) / (1 + e^s)) / (a - 1)
    start = -float(np.logaddexp(0.0, size))
    log_sum = float(np.logaddexp(start + order * size, start + (1 - order) * size)) + _PER_NAT * (1 + order * size)
    return min(size, log_sum / (order - 1)) * _UP


def _total(parts: Iterable[tuple[Part, int]], order: float) -> float:
    return math.fsum(count * _divergence(part, order) for part, count in parts)


def renyi_epsilon(parts: Sequence[tuple[Part, int]], delta: float) -> float:
    """The smallest epsilon at ``delta`` that the orders show; not below zero."""
    found = (
        _total(parts, a) + math.log1p(-1 / a) - (math.log(delta) + math.log(a)) / (a - 1) for a in map(float, _ORDERS)
    )
    return max(0.0, min(found)) * _UP


def renyi_delta(parts: Sequence[tuple[Part, int]], epsilon: float) -> float:
    """The smallest delta at ``epsilon`` that the orders show; at most 1."""
    found = (
        (a - 1) * (_total(parts, a) * _UP - epsilon + math.log1p(-1 / a)) - math.log(a) for a in map(float, _ORDERS)
    )
    return min(1.0, math.exp(min(0.0, min(found))) * _UP)
