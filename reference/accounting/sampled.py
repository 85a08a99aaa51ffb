"""Dominating pairs of one sampled Gaussian release: exact hockey-stick curves, and dp-accounting PLDs.

``mu`` is sensitivity over noise std of the un-sampled release, for replace-one neighbours (the move from D to D').

* without replacement, replace-one: the batch has the target, or another record in its place. In either direction the
  curve is at most that of ``(1-q) N(0,1) + q N(mu,1)`` against ``N(0,1)`` (advanced joint convexity; Balle, Barthe
  and Gaboardi 2018). Neither direction dominates the other at all epsilon, and steps may mix them, so the pair that
  is composed is the upper envelope of both (see Lebeda et al. 2025 on what goes wrong otherwise).
* Poisson, replace-one: ``(1-q) N(0,1) + q N(mu/2,1)`` against ``(1-q) N(0,1) + q N(-mu/2,1)``.
* Poisson, add-remove: ``(1-q) N(0,1) + q N(mu/2,1)`` against ``N(0,1)``; one neighbour always has the record, so
  dp-accounting composes the two directions apart.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.special import ndtr

from dpassay.reference.errors import require
from dpassay.reference.types import Array

from .libraries import pld_pmf, privacy_loss_distribution

Relation = Literal["replace-one", "add-remove"]
Sampling = Literal["without-replacement", "poisson"]
_REACH = 40.0  # standard deviations: beyond, tails are below 1e-300


def _mixture_delta(epsilons: Array, q: float, up: float, down: float) -> Array:
    """Hockey-stick of ``(1-q) N(0) + q N(up)`` against ``(1-q) N(0) + q N(down)``, ``up > down``; L is increasing."""

    def loss(x: Array) -> Array:
        with np.errstate(divide="ignore"):
            rest = math.log1p(-q) if q < 1 else -math.inf
            top = np.logaddexp(rest, math.log(q) + up * x - up**2 / 2)
            bottom = np.logaddexp(rest, math.log(q) + down * x - down**2 / 2)
        return np.asarray(top - bottom)

    reach = _REACH + abs(up) + abs(down)
    never = loss(np.full_like(epsilons, reach)) < epsilons  # the largest loss there is stays below epsilon
    low, high = np.full_like(epsilons, -reach), np.full_like(epsilons, reach)
    for _ in range(80):
        middle = (low + high) / 2
        below = loss(middle) < epsilons
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    cut = (low + high) / 2
    above_up, above_down, above = ndtr(up - cut), ndtr(down - cut), ndtr(-cut)
    p = (1 - q) * above + q * above_up
    r = (1 - q) * above + q * above_down
    return np.where(never, 0.0, np.clip(p - np.exp(epsilons) * r, np.maximum(0.0, -np.expm1(epsilons)), 1.0))


def sampled_delta(
    epsilons: Array,
    q: float,
    mu: float,
    sampling: Sampling = "without-replacement",
    relation: Relation = "replace-one",
) -> Array:
    """delta at each epsilon (any sign) of the dominating pair of one sampled Gaussian release."""
    epsilons = np.asarray(epsilons, dtype=float)
    require(0 < q <= 1, "sampling rate", q, "must lie in (0, 1]")
    if sampling == "poisson" and relation == "replace-one":
        return _mixture_delta(epsilons, q, mu / 2, -mu / 2)
    if sampling == "without-replacement" and relation == "add-remove":
        require(False, "relation", relation, "fixed-size batches have no add-remove neighbours; use replace-one")
    up = mu if sampling == "without-replacement" else mu / 2
    forward = _against_null(epsilons, q, up)
    backward = -np.expm1(epsilons) + np.exp(epsilons) * _against_null(-epsilons, q, up)  # H_a(Q,P) from H_1/a(P,Q)
    return np.maximum(forward, np.clip(backward, 0.0, 1.0))


def _against_null(epsilons: Array, q: float, up: float) -> Array:
    """Hockey-stick of ``(1-q) N(0,1) + q N(up,1)`` against ``N(0,1)``, in closed form."""
    with np.errstate(divide="ignore", invalid="ignore"):
        cut = (np.log((np.expm1(epsilons) + q) / q) + up**2 / 2) / up
    cut = np.where(np.expm1(epsilons) + q <= 0, -np.inf, cut)
    tail = ndtr(-cut)
    return np.asarray(np.maximum((1 - q) * tail + q * ndtr(up - cut) - np.exp(epsilons) * tail, 0.0))


@lru_cache(maxsize=64)
def sampled_pld(q: float, mu: float, sampling: Sampling, relation: Relation, step: float) -> Any:
    """The (pessimistic) privacy loss distribution of one sampled Gaussian release."""
    if sampling == "poisson" and relation == "add-remove":
        return privacy_loss_distribution.from_gaussian_mechanism(
            2 / mu, value_discretization_interval=step, sampling_prob=q
        )
    top = 1.0  # grow the grid until nothing but 1e-16 is left above it
    while sampled_delta(np.array([top]), q, mu, sampling, relation)[0] > 1e-16 and top < 700:
        top *= 1.3
    # D and D' swap roles, so the curve is symmetric: losses below -top have mass under 1e-16 as well
    grid = np.arange(-math.ceil(top / step), math.ceil(top / step) + 1, dtype=np.int64)
    deltas = sampled_delta((grid * step).astype(float), q, mu, sampling, relation)
    deltas = np.minimum.accumulate(np.clip(deltas, 0.0, 1.0))
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots(step, grid, deltas)
    )


@lru_cache(maxsize=256)
def pure_pld(epsilon: float, step: float) -> Any:
    """The privacy loss distribution of randomised response, which dominates every epsilon-DP release.

    Pessimistic, by connecting the dots: losses far below one grid step (many line searches) are not rounded up to it.
    """
    grid = np.arange(-math.ceil(epsilon / step), math.ceil(epsilon / step) + 1, dtype=np.int64)
    at = np.clip(grid * step, -epsilon, None)
    inside = np.maximum(0.0, (math.exp(epsilon) - np.exp(at)) / (1 + math.exp(epsilon)))
    deltas = np.where(grid * step <= -epsilon, -np.expm1(grid * step), inside)
    return privacy_loss_distribution.PrivacyLossDistribution(
        pld_pmf.create_pmf_pessimistic_connect_dots(step, grid, deltas)
    )
