"""Releases accounted by their Rényi divergences: an upper bound that costs nothing, however many there are.

A grid (``parts.py``) is tighter as a rule, and takes minutes for a million releases. Divergences of order a add up, and
give ``epsilon = R(a) + log(1 - 1/a) - log(delta a) / (a - 1)`` for every a > 1 (Canonne, Kamath and Steinke 2020,
Proposition 12). A pure release costs at most what randomised response does, and at most a s^2 / 2 (Bun and Steinke
2016, Proposition 3.3); a Laplace release as in Mironov 2017, Table II; a sampled one at most what it costs unsampled.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np

from .curves import Part

_ORDERS = np.concatenate([1 + np.geomspace(1e-3, 1, 60)[:-1], np.geomspace(2, 1e7, 400)])
_PER_NAT = 1.8e-15  # eight roundings of a sum of exponentials
_UP = 1 + 1e-9  # more than the roundings of a sum and of what is divided by a - 1 >= 1e-3


def _divergence(part: Part, order: float) -> float:
    """Rényi divergence of one release, rounded up."""
    if part.kind in ("gaussian", "sampled"):
        return order * part.size**2 / 2 * _UP
    size = part.pure_epsilon
    if order * size < 1e-3:  # below, the differences of exponentials lose their digits
        return min(size, order * size**2 / 2) * _UP
    if part.kind == "laplace":
        # log(a / (2a - 1) e^((a - 1) s) + (a - 1) / (2a - 1) e^(-a s)) / (a - 1)
        first = math.log(order / (2 * order - 1)) + (order - 1) * size
        second = math.log((order - 1) / (2 * order - 1)) - order * size
    else:
        # log((e^(a s) + e^((1 - a) s)) / (1 + e^s)) / (a - 1)
        start = -float(np.logaddexp(0.0, size))
        first, second = start + order * size, start + (1 - order) * size
    log_sum = float(np.logaddexp(first, second)) + _PER_NAT * (1 + order * size)
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
