"""Dominating pairs of one sampled Gaussian release: exact hockey-stick curves, rounded up.

``mu`` is sensitivity over noise std of the un-sampled release, for replace-one neighbours (the move from D to D').

* without replacement, replace-one: the batch has the target, or another record in its place. In either direction the
  curve is at most that of ``(1-q) N(0,1) + q N(mu,1)`` against ``N(0,1)`` (advanced joint convexity; Balle, Barthe
  and Gaboardi 2018). Neither direction dominates the other at all epsilon, and steps may mix them, so the pair that
  is composed is the upper envelope of both (see Lebeda et al. 2025 on what goes wrong otherwise).
* Poisson, replace-one: ``(1-q) N(0,1) + q N(mu/2,1)`` against ``(1-q) N(0,1) + q N(-mu/2,1)``.
* Poisson, add-remove: ``(1-q) N(0,1) + q N(mu/2,1)`` against ``N(0,1)``; one neighbour always has the record, so the
  two directions are composed apart.
"""

import math
from typing import Literal

import numpy as np
import scipy

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .gdp import A_LITTLE_UP, DOWN, ULP, UP, gdp_deltas

Relation = Literal["replace-one", "add-remove", "zero-out"]  # zero-out costs what add-remove does, with a public n
Sampling = Literal["without-replacement", "poisson"]
_REACH = 40.0  # standard deviations: beyond, tails are below 1e-300
_TINIEST = 1e-320


def _mixture_delta(epsilons: Array, q: float, up: float) -> Array:
    """Hockey-stick of ``(1-q) N(0) + q N(up)`` against ``(1-q) N(0) + q N(-up)`` at epsilons of at least zero.

    The loss is increasing in x, and epsilon where ``up x = epsilon/2 + arsinh((1-q)/q exp(up^2/2) sinh(epsilon/2))``. A
    cut that is a little off makes the value smaller: at most by what rounding moves the loss, times the mass beyond it.
    """
    down, reach = -up, _REACH + 2 * up
    with np.errstate(divide="ignore"):
        log_sine = epsilons / 2 + np.log(-np.expm1(-epsilons) / 2)
        inner = np.log1p(-q) - math.log(q) + up**2 / 2 + log_sine
    large = np.maximum(inner, 0.0)
    cut = (epsilons / 2 + np.where(inner > 0, large + np.log1p(np.hypot(1, np.exp(-large))),
                                   np.arcsinh(np.exp(np.minimum(inner, 0.0))))) / up  # fmt: skip
    never = cut > reach  # the largest loss there is stays below epsilon
    above_up, above_down, above = scipy.special.ndtr(up - cut), scipy.special.ndtr(down - cut), scipy.special.ndtr(-cut)
    with np.errstate(over="ignore", invalid="ignore"):
        slope = np.exp(epsilons)
        # (1-q)(1-e^eps) above + q (above_up - e^eps above_down): small epsilons keep their digits
        terms = (q - 1) * np.expm1(epsilons) * above, q * above_up, -q * slope * above_down
        size = np.sum(np.abs(terms), axis=0)
        exact = np.isfinite(size)
        found = np.where(exact, terms[0] + terms[1] + terms[2], terms[1])
    lost = 64 + 16 * (cut * cut + up * up + down * down + np.abs(epsilons) - math.log(q))
    rounded = found + lost * ULP * np.where(exact, size, terms[1]) + _TINIEST
    return np.where(never, _TINIEST, np.clip(rounded, 0.0, 1.0))


def _against_null(epsilons: Array, q: float, up: float) -> Array:
    """Hockey-stick of ``(1-q) N(0,1) + q N(up,1)`` against ``N(0,1)`` at epsilons of at least zero, rounded up.

    It is q times that of ``N(up,1)`` against ``N(0,1)`` at ``log(1 + (e^epsilon - 1) / q)``, which is rounded down.
    """
    large = epsilons - math.log(q) + np.log1p((q - 1) * np.exp(-np.maximum(epsilons, 1.0)))
    inner = np.where(epsilons < 1, np.log1p(np.expm1(np.minimum(epsilons, 1.0)) / q), large) * DOWN
    return np.asarray(q * gdp_deltas(np.maximum(inner, 0.0), up) * A_LITTLE_UP + _TINIEST)


def _null_against(epsilons: Array, q: float, up: float) -> Array:
    """The same the other way round: ``c`` times the curve at ``epsilon + log(q / c)``, ``c = q - (1-q)(e^eps - 1)``."""
    gone = (1 - q) / q * np.expm1(np.minimum(epsilons, 600.0)) * DOWN  # 1 - c / q, rounded down
    left = np.maximum(1 - gone, 0.0)
    inner = (epsilons - np.log1p(-np.minimum(gone, 1 - ULP))) * DOWN
    found = q * left * gdp_deltas(inner, up) * UP + _TINIEST
    return np.asarray(np.where(left > 0, found, 0.0))


def sampled_curve(
    epsilons: Array, q: float, mu: float, sampling: Sampling, relation: Relation, backward: bool = False
) -> Array:
    """delta at each epsilon of at least zero, rounded up; ``backward``: of D' against D, where that differs."""
    if sampling == "poisson" and relation == "replace-one":
        return _mixture_delta(epsilons, q, mu / 2)
    if sampling == "poisson":
        return (_null_against if backward else _against_null)(epsilons, q, mu / 2)
    require(relation == "replace-one", "relation", relation, f"fixed-size batches have no {relation} neighbours")
    return np.maximum(_against_null(epsilons, q, mu), _null_against(epsilons, q, mu))
