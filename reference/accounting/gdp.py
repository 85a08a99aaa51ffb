"""Closed forms for Gaussian releases: GDP and zCDP.

Any adaptive composition of Gaussian releases with ``sum (sensitivity / std)^2 = mu^2`` is exactly mu-GDP, so
``delta(epsilon) = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)`` (Dong, Roth and Su 2022, Cor. 2.13).

Every number here errs to its safe side only: a delta or an epsilon that a mechanism has is rounded up, a mu or a rho
that a budget allows is rounded down, by what floating point may lose on the way.
"""

import math
from collections.abc import Callable
from functools import cache

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require, require_budget

# what floating point may lose on the way, as factors that a number is multiplied by to err to its safe side
ULP = 2.0**-52
A_LITTLE_UP, A_LITTLE_DOWN = 1 + 9e-16, 1 - 4.4e-16  # four roundings of a number near one
UP, DOWN = 1 + 1.8e-15, 1 - 1.8e-15  # eight of them: more than a sum or two, a product and two functions of SciPy lose
_FAR = 28.0  # exp(-x^2) is no number any more
_TINIEST = 1e-320  # below the smallest number with all its digits
_NEAR = 0.5  # below, two values of erfcx are too close to be subtracted
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(10)  # over [0, 0.5] exact to the last digit or two
_STEPS = 200  # of a root-finding that halves or doubles


def gdp_delta(epsilon: float, mu: float) -> float:
    """The smallest delta of a mu-GDP mechanism at ``epsilon`` of any sign, rounded up; at most 1."""
    require(mu >= 0, "mu", mu, "must not be negative")
    if mu == 0 or mu == math.inf or epsilon == math.inf:
        return 1.0 if mu == math.inf and epsilon != math.inf else max(0.0, -math.expm1(min(epsilon, 700.0)))
    if epsilon < 0:  # delta(-epsilon) = 1 - e^-epsilon (1 - delta(epsilon)), which would lose digits
        return min(1.0, (math.exp(epsilon) * gdp_delta(-epsilon, mu) - math.expm1(epsilon)) * UP)
    return float(gdp_deltas(np.array([epsilon]), mu)[0])


def gdp_deltas(epsilons: Array, mu: float) -> Array:
    """:func:`gdp_delta` at many epsilons of at least zero, for finite positive mu.

    It is ``exp(-x^2) (erfcx(x) - erfcx(x + h)) / 2`` with ``x = (epsilon / mu - mu / 2) / sqrt(2)`` and
    ``h = mu / sqrt(2)``: nothing overflows, and where the difference is small it is integrated: ``-erfcx'(t) =
    2 / sqrt(pi) - 2 t erfcx(t)``, which falls in t.
    """
    half, ratio = mu / 2, epsilons / mu
    x, h = (ratio - half) / math.sqrt(2), mu / math.sqrt(2)
    near = np.minimum(x, _FAR)  # x is at least -h / 2
    peak = 0.5 * np.exp(-near * near)
    lost, more = 64 + 8 * np.abs(near) * (ratio + half), np.full_like(near, _TINIEST)
    if h <= _NEAR:
        t = near[..., None] + h / 2 * (_NODES + 1)
        found = peak * (h / 2 * ((2 / math.sqrt(math.pi) - 2 * t * scipy.special.erfcx(t)) @ _WEIGHTS))
        lost += 16 + 8 * near * near
    else:
        ahead, behind = np.maximum(near, 0.0), scipy.special.erfcx(near + h)
        found = np.where(
            near >= 0,
            peak * (scipy.special.erfcx(ahead) - behind),
            scipy.special.ndtr(-near * math.sqrt(2)) - peak * behind,
        )
        lost, more = lost + 16 * ahead / _NEAR, np.where(near < 0, 64 * ULP, _TINIEST)
    rounded = np.clip(found * (1 + lost * ULP) + more, 0.0, 1.0)
    return np.asarray(np.where(x > _FAR, _TINIEST, rounded))


def gdp_epsilon(mu: float, delta: float) -> float:
    """The smallest epsilon (at least 0) of a mu-GDP mechanism at ``delta``, rounded up; ``inf`` for infinite mu."""
    require(0 < delta < 1, "delta", delta, "must lie in (0, 1)")
    require(mu >= 0, "mu", mu, "must not be negative")
    if mu == math.inf:
        return math.inf
    if gdp_delta(0.0, mu) <= delta:
        return 0.0
    high = (mu * mu / 2 + mu * math.sqrt(-2 * math.log(delta)) + 1.0) * UP  # Gaussian tail bound
    if mu > 1e6:  # a rounding of epsilon / mu moves delta; the tail bound is within 1e-6 of epsilon
        return high
    found = root(lambda epsilon: gdp_delta(epsilon, mu) - delta, 0.0, high)
    return nudged(found, lambda epsilon: gdp_delta(epsilon, mu) <= delta, 1)


def gdp_mu(epsilon: float, delta: float) -> float:
    """The largest mu whose mu-GDP mechanisms are (epsilon, delta)-DP, rounded down."""
    require_budget(epsilon, delta)
    low = high = 1.0
    while gdp_delta(epsilon, high) <= delta:
        low, high = high, high * 2
    while gdp_delta(epsilon, low) > delta:
        low, high = low / 2, low
    found = math.exp(root(lambda log: gdp_delta(epsilon, math.exp(log)) - delta, math.log(low), math.log(high)))
    return nudged(found, lambda mu: gdp_delta(epsilon, mu) <= delta, -1)


def root(function: Callable[[float], float], low: float, high: float) -> float:
    """Where ``function`` is zero."""
    from scipy.optimize import brentq  # here: it takes longer to load than a tape takes to run

    values = cache(function)  # a value may be a sum over many losses, and the ends are asked for more than once
    if values(low) == 0 or values(high) == 0 or (values(low) > 0) == (values(high) > 0):
        return low if abs(values(low)) < abs(values(high)) else high
    return float(brentq(values, low, high, xtol=1e-300, rtol=4 * ULP, maxiter=2000))


def nudged(value: float, good: Callable[[float], bool], direction: int) -> float:
    """The first of ``value``, a few roundings further, twice as many further, ... that is good."""
    for step in range(_STEPS):
        if good(value):
            return value
        value *= 1 + direction * 4 * ULP * 2.0 ** min(step, 40)
    raise ArithmeticError(f"no value near {value:.6g} was found that is good")  # one that is not would be no bound


def zcdp_rho(epsilon: float, delta: float) -> float:
    """The rho whose usual conversion, ``rho + 2 sqrt(rho log(1/delta))``, gives (epsilon, delta), rounded down.

    ``(sqrt(epsilon + log(1/delta)) - sqrt(log(1/delta)))^2``, as a quotient: the roots are too close to be subtracted.
    """
    require_budget(epsilon, delta)
    log_term = -math.log(delta)
    return (epsilon / (math.sqrt(epsilon + log_term) + math.sqrt(log_term))) ** 2 * DOWN
