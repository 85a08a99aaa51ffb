"""Closed forms for Gaussian releases: GDP and zCDP, and the noise that a budget needs.

Any adaptive composition of Gaussian releases with ``sum (sensitivity / std)^2 = mu^2`` is exactly mu-GDP, so
``delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)`` (Dong, Roth and Su 2022, Cor. 2.13).
"""

from __future__ import annotations

import math
from collections.abc import Callable

from scipy.special import log_ndtr, ndtr

from dpassay.reference.errors import require, require_budget


def _root(function: Callable[[float], float], high: float, xtol: float) -> float:
    """Where ``function`` is zero in [0, high]."""
    from scipy.optimize import brentq  # here: it takes longer to load than a tape takes to run

    return float(brentq(function, 0.0, high, xtol=xtol, rtol=1e-13))


def gdp_delta(epsilon: float, mu: float) -> float:
    """The smallest delta of a mu-GDP mechanism at ``epsilon``."""
    require(mu >= 0, "mu", mu, "must not be negative")
    if mu == 0:
        return max(0.0, -math.expm1(min(epsilon, 700.0)))
    upper = float(ndtr(mu / 2 - epsilon / mu))
    return max(0.0, upper - math.exp(min(700.0, epsilon + float(log_ndtr(-mu / 2 - epsilon / mu)))))


def gdp_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon (at least 0) of a mu-GDP mechanism at ``delta``; ``inf`` for infinite mu."""
    require(0 < delta < 1, "delta", delta, "must lie in (0, 1)")
    if mu == math.inf:
        return math.inf
    if gdp_delta(0.0, mu) <= delta:
        return 0.0
    high = mu**2 / 2 + mu * math.sqrt(-2 * math.log(delta)) + 1.0  # Gaussian tail bound
    if mu > 1e6:  # a rounding of epsilon / mu moves delta; the tail bound is within 1e-6 of epsilon
        return high
    return _root(lambda epsilon: gdp_delta(epsilon, mu) - delta, high, 1e-13)


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose mu-GDP mechanisms are (epsilon, delta)-DP."""
    require_budget(epsilon, delta)
    high = 1.0
    while gdp_delta(epsilon, high) < delta:
        high *= 2
    return _root(lambda mu: gdp_delta(epsilon, mu) - delta, high, 1e-15)


def gaussian_std(epsilon: float, delta: float, sensitivity: float, releases: int = 1) -> float:
    """The least noise std for ``releases`` full-batch Gaussian releases within (epsilon, delta), exactly."""
    require(sensitivity >= 0, "sensitivity", sensitivity, "must not be negative")
    require(releases >= 1, "releases", releases, "must be at least 1")
    return sensitivity * math.sqrt(releases) / gdp_mu(epsilon, delta)


def zcdp_epsilon(rho: float, delta: float) -> float:
    """Epsilon of a rho-zCDP mechanism by the usual conversion, ``rho + 2 sqrt(rho log(1/delta))`` (not tight)."""
    require(rho >= 0, "rho", rho, "must not be negative")
    return rho + 2 * math.sqrt(-rho * math.log(delta))


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The rho whose conversion gives (epsilon, delta): ``(sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))^2``."""
    require_budget(epsilon, delta)
    log_term = -math.log(delta)
    return (math.sqrt(epsilon + log_term) - math.sqrt(log_term)) ** 2
