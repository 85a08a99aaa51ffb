"""The curve delta(epsilon) of one release of each kind, rounded up, and its law on a grid."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from dpassay.reference.arrays import Array

from .above_threshold import above_threshold_delta
from .compose import Masses, connected
from .gdp import A_LITTLE_DOWN, UP, gdp_deltas, gdp_epsilon
from .part import Part
from .sampled import Relation, sampled_curve

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
