"""What one release costs, as data, and what such costs add up to: closed form for Gaussians, grids for the rest."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from dpassay.reference.types import Array

from .above_threshold import above_threshold_pld, costs_its_epsilon
from .gdp import gdp_delta, gdp_epsilon
from .libraries import privacy_loss_distribution
from .renyi import renyi_delta, renyi_epsilon
from .sampled import Relation, Sampling, pure_pld, sampled_pld

STEP = 1e-3  # grid of the privacy loss distributions; pessimistic whatever the value, 1e-4 changes the third digit
_MOST = 20_000  # equal releases that are composed on a grid; more of them are accounted by their Rényi divergences
_REST = 1e-12  # delta that is spent on what is composed with a very large loss


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
        """Of a ``pure`` part, amplified by sampling (exact)."""
        if self.rate == 1:
            return self.size
        return clean(float(np.logaddexp(math.log1p(-self.rate), math.log(self.rate) + self.size)))


def mu_of(parts: Iterable[tuple[Part, int]]) -> float | None:
    """The GDP parameter of all parts together; None where one is not Gaussian."""
    squares = []
    for part, count in parts:
        if part.kind != "gaussian":
            return None
        squares.append(count * part.size**2)
    return math.sqrt(math.fsum(squares))


@lru_cache(maxsize=8192)  # a search meets the same sizes again and again, and so do the rows of a paper
def epsilon_of(parts: tuple[tuple[Part, int], ...], relation: Relation, delta: float) -> float:
    """The smallest epsilon that the parts together have at ``delta``."""
    mu = mu_of(parts)
    if mu is not None:
        return gdp_epsilon(mu, delta)
    pure, large, rest = _split(parts)
    if large:  # the guarantees of both add up
        return pure + gdp_epsilon(large, delta / 2) + epsilon_of(rest, relation, delta / 2)
    if pure:
        return pure + epsilon_of(rest, relation, delta)
    quick = min(_plain_epsilon(parts, delta), renyi_epsilon(parts, delta))
    if _too_many(parts):
        return quick
    return min(quick, float(_composed(parts, relation).get_epsilon_for_delta(delta)))


def delta_of(parts: tuple[tuple[Part, int], ...], relation: Relation, epsilon: float) -> float:
    """The smallest delta that the parts together have at ``epsilon``."""
    mu = mu_of(parts)
    if mu is not None:
        return gdp_delta(epsilon, mu)
    pure, large, rest = _split(parts)
    if pure or large:
        left = epsilon - pure - (epsilon_of(rest, relation, _REST) if large else 0.0)
        if not left >= 0:
            return 1.0
        return min(1.0, gdp_delta(left, large) + _REST) if large else delta_of(rest, relation, left)
    quick = min(_plain_delta(parts, epsilon), renyi_delta(parts, epsilon))
    if _too_many(parts):
        return quick
    return min(quick, float(_composed(parts, relation).get_delta_for_epsilon(epsilon)))


def deltas_of(parts: tuple[tuple[Part, int], ...], relation: Relation, epsilons: Sequence[float] | Array) -> Array:
    """:func:`delta_of` at many epsilons; what needs a grid is composed once."""
    if mu_of(parts) is not None or any(off_grid(part) for part, _ in parts):
        return np.array([delta_of(parts, relation, float(epsilon)) for epsilon in epsilons])
    points = [float(epsilon) for epsilon in epsilons]
    quick = np.array([min(_plain_delta(parts, one), renyi_delta(parts, one)) for one in points])
    if _too_many(parts):
        return quick
    total = _composed(parts, relation)
    return np.asarray(np.minimum(quick, [float(total.get_delta_for_epsilon(one)) for one in points]))


def _too_many(parts: Iterable[tuple[Part, int]]) -> bool:
    return any(count > _MOST for part, count in parts if part.kind in ("pure", "laplace", "above-threshold"))


def _unsampled(parts: Iterable[tuple[Part, int]]) -> tuple[float, float]:
    """Losses that are bounded, added up; and the mu of the Gaussians as if nothing was sampled, which costs more."""
    bounded, squares = [], []
    for part, count in parts:
        if part.kind in ("gaussian", "sampled"):
            squares.append(count * part.size**2)
        else:
            bounded.append(count * _worst(part))
    return math.fsum(bounded) * (1 + 1e-15), math.sqrt(math.fsum(squares)) * (1 + 1e-15)


def _plain_epsilon(parts: Iterable[tuple[Part, int]], delta: float) -> float:
    """By simple composition: the better bound where delta is far below what a grid can show."""
    bounded, mu = _unsampled(parts)
    return bounded + gdp_epsilon(mu, delta)


def _plain_delta(parts: Iterable[tuple[Part, int]], epsilon: float) -> float:
    bounded, mu = _unsampled(parts)
    return gdp_delta(epsilon - bounded, mu) if epsilon >= bounded else 1.0


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


def _composed(parts: tuple[tuple[Part, int], ...], relation: Relation) -> Any:
    total = privacy_loss_distribution.identity(STEP)
    with np.errstate(over="ignore"):  # dp-accounting's tail bound tries orders whose moments overflow to inf: harmless
        for part, count in parts:
            total = total.compose(pld_of(part, relation).self_compose(count) if count > 1 else pld_of(part, relation))
    return total


@lru_cache(maxsize=64)
def pld_of(part: Part, relation: Relation) -> Any:
    """The privacy loss distribution of one part, pessimistic on the grid."""
    if part.kind == "sampled":
        return sampled_pld(part.rate, part.size, part.sampling, relation, STEP)
    if part.kind == "gaussian":
        return privacy_loss_distribution.from_gaussian_mechanism(1 / part.size, value_discretization_interval=STEP)
    if part.kind == "laplace":
        return privacy_loss_distribution.from_laplace_mechanism(1 / part.size, value_discretization_interval=STEP)
    if part.kind == "above-threshold" and not costs_its_epsilon(part.size, part.share):
        return above_threshold_pld(part.size, part.share, STEP, part.queries, part.falls)
    return pure_pld(part.pure_epsilon, STEP)


def clean(size: float) -> float:
    """Equal up to rounding is equal, so that repeated releases are composed in one go (rounded up)."""
    digits = 12 - math.ceil(math.log10(size)) if size > 0 else 12
    return round(size + 10.0**-digits / 2, digits)
