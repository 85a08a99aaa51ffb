"""Mechanisms whose epsilon is known exactly, with exact losses under any tilt: what the likelihood audit is tested on.

`SampledGaussianSampler` draws the losses of compositions in bulk, by their closed form (``benchmarks/likelihood.py``
uses it too). `FiniteSampler` is any mechanism with finitely many outcomes. A continuous mechanism whose output is
rounded to a grid is one too (rounding is post-processing, so its epsilon is that of the rounded law, computed from the
same cells). Equal outcomes can be merged, so a million runs cost as much as there are outcomes.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtr

from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.lockstep.tilting import Tilt
from dpassay.reference.arrays import Array

_CAP = 50.0  # losses beyond this are tilted as if they were this, as for the finite outcomes of `tilting.py`


# -- compositions of Gaussian releases ----------------------------------------------------------------------
class SampledGaussianSampler:
    """``steps`` of (1-q) N(0,1) + q N(mu,1) against N(0,1): what lockstep does, in bulk.

    With the target (D) the tilt raises its odds and moves its mean; without it (``back``) there is one state, moved
    away from the average mean of D'.
    """

    def __init__(self, rate: float, mu: float, steps: int, back: bool = False):
        self._rate, self._mu, self._steps, self._back = rate, mu, steps, back
        self.has_hidden = rate < 1

    def swapped(self) -> SampledGaussianSampler:
        back = self.has_hidden and not self._back  # of the full batch both directions have one law
        return SampledGaussianSampler(self._rate, self._mu, self._steps, back)

    def _mixture(self, x: Array, weight: float, mean: float) -> Array:
        with np.errstate(divide="ignore"):
            logs = np.log1p(-weight), np.log(weight)
        return np.asarray(np.logaddexp(logs[0] - x**2 / 2, logs[1] - (x - mean) ** 2 / 2))

    def sample(self, tilts, shares, count, seed, looks=(), enough=None) -> Losses:
        rng = np.random.default_rng(list(seed))
        q, mu, shape = self._rate, self._mu, (count, self._steps)
        chosen = rng.choice(len(tilts), size=count, p=shares)
        shifts = np.array([tilt.shift for tilt in tilts])
        raised = q * np.exp([tilt.odds for tilt in tilts])
        odds = raised / (1 - q + raised)  # of having the target, under each tilt
        noise = rng.standard_normal(shape)
        if self._back:
            means, odds = -shifts * q * mu, np.ones(len(tilts))
            x = means[chosen, None] + noise
        else:
            means = mu * (1 + shifts)
            x = noise + (rng.random(shape) < odds[chosen, None]) * means[chosen, None]
        with_record, without = self._mixture(x, q, mu), -(x**2) / 2
        here, there = (without, with_record) if self._back else (with_record, without)
        proposals = [self._mixture(x, *law) for law in zip(odds.tolist(), means, strict=True)]
        weights = np.stack([(here - one).sum(axis=1) for one in proposals], axis=1)
        losses = (here - there).sum(axis=1)
        parts = (Losses(losses[:look], weights[:look]) for look in looks)
        return next((part for part in parts if enough(part)), Losses(losses, weights))


def gaussian(mu: float) -> SampledGaussianSampler:
    """A composition of Gaussian releases with total GDP parameter ``mu``: one release of the full batch.

    The loss of such a run is ``N(mu^2/2, mu^2)``; under ``Tilt(shift)`` its mean moves by ``shift mu^2``.
    """
    return SampledGaussianSampler(1.0, mu, 1)


# -- finitely many outcomes ---------------------------------------------------------------------------------
def _one_way(here: Array, there: Array, delta: float) -> float:
    """The smallest epsilon >= 0 with ``sum (here - exp(epsilon) there)_+ <= delta``, exactly.

    On {L > epsilon} delta is linear in exp(epsilon): add outcomes, largest loss first, until it crosses.
    """
    loss = _losses(here, there)
    order = np.argsort(-loss, kind="stable")
    p, q, loss = np.cumsum(here[order]), np.cumsum(there[order]), loss[order]
    if not p[-1] > delta:
        return 0.0
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        at = np.log((p - delta) / q)  # where the line of the first k outcomes crosses; the largest is the answer
    return float(max(0.0, np.max(np.where(p > delta, at, 0.0))))


def _losses(here: Array, there: Array) -> Array:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.where(here > 0, np.log(here) - np.log(there), -np.inf))


class FiniteSampler:
    """A mechanism with outcome probabilities ``here`` on D and ``there`` on D'.

    ``proposal`` is the law drawn from under a tilt, by default ``here exp(shift min(L, 50)) / Z``, ``back`` the other
    direction's; ``has_hidden`` says whether the tilts' odds mean anything.
    """

    def __init__(self, here: Array, there: Array, proposal=None, back=None, has_hidden: bool = False):
        self._here, self._there, self.has_hidden = here / here.sum(), there / there.sum(), has_hidden
        self._proposal, self._back = proposal or self._exponential, back
        self._loss = _losses(self._here, self._there)

    def _exponential(self, tilt: Tilt) -> Array:
        raised = np.log(self._here, where=self._here > 0, out=np.full(self._here.shape, -np.inf))
        raised = raised + tilt.shift * np.where(self._here > 0, np.minimum(self._loss, _CAP), 0.0)
        raised = np.exp(raised - raised.max())
        return np.asarray(raised / raised.sum())

    def swapped(self) -> FiniteSampler:
        """The other direction."""
        forth = self._proposal if self._proposal != self._exponential else None
        return FiniteSampler(self._there, self._here, self._back, forth, self.has_hidden)

    def epsilon(self, delta: float) -> float:
        """The exact epsilon at ``delta``, the larger of both directions."""
        return max(_one_way(self._here, self._there, delta), _one_way(self._there, self._here, delta))

    def _laws(self, tilts: Sequence[Tilt]) -> tuple[Array, Array]:
        """Probabilities under each tilt (tilts, outcomes), and ``log dP_D / dR_c`` (outcomes, tilts)."""
        laws = np.array([self._proposal(tilt) for tilt in tilts])
        with np.errstate(divide="ignore", invalid="ignore"):
            weights = np.where(self._here > 0, np.log(self._here) - np.log(laws), -np.inf)
        return laws, weights.T

    def table(self, tilts: Sequence[Tilt], shares: Array) -> tuple[Losses, Array]:
        """One row an outcome, and the probabilities of the outcomes when tilts are drawn with these shares."""
        laws, weights = self._laws(tilts)
        return Losses(self._loss, weights), np.asarray(np.asarray(shares) @ laws)

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        rows, counts = self.merged(tilts, shares, count, seed)
        every = np.repeat(np.arange(counts.size), counts.astype(int))
        return Losses(rows.loss[every], rows.log_weights[every])

    def merged(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> tuple[Losses, Array]:
        """A sample with equal outcomes merged: one row an outcome that occurred, and its count."""
        rng = np.random.default_rng(list(seed))
        laws, weights = self._laws(tilts)
        of_tilts = rng.multinomial(count, shares)
        counts = sum(rng.multinomial(size, law) for size, law in zip(of_tilts, laws, strict=True))
        seen = np.flatnonzero(counts)
        return Losses(self._loss[seen], weights[seen]), np.asarray(counts)[seen].astype(float)


# -- mechanisms with finitely many outcomes ---------------------------------------------------------------------
def response(epsilon: float) -> tuple[Array, Array]:
    """Randomised response: the truth with probability ``e^epsilon / (1 + e^epsilon)``."""
    right = 1 / (1 + math.exp(-epsilon))
    return np.array([right, 1 - right]), np.array([1 - right, right])


def branches(shares: Sequence[float], laws: Sequence[tuple[Array, Array]]) -> tuple[Array, Array]:
    """One of several mechanisms, drawn with these probabilities, and which one it was is part of the output."""
    here = np.concatenate([share * law[0] for share, law in zip(shares, laws, strict=True)])
    there = np.concatenate([share * law[1] for share, law in zip(shares, laws, strict=True)])
    return here, there


def revealing() -> tuple[Array, Array]:
    """The data set itself."""
    return np.array([1.0, 0.0]), np.array([0.0, 1.0])


# -- rounded mechanisms ---------------------------------------------------------------------------------------
def gaussian_cells(edges: Array, mean: float) -> Array:
    """Probabilities of the cells of N(mean, 1) between the edges and beyond them, accurate in both tails."""
    z = np.concatenate([[-np.inf], edges - mean, [np.inf]])
    low, high = z[:-1], z[1:]
    return np.asarray(np.where(low > 0, ndtr(-low) - ndtr(-high), ndtr(high) - ndtr(low)))


def rounded_gaussian(mu: float, cells: int = 2000) -> FiniteSampler:
    """N(mu, 1) against N(0, 1), rounded; the tilt is the shift of `gaussian`. An edge lies where L = 0."""
    edges = mu / 2 + np.linspace(-11, 11, cells - 1 + cells % 2)
    here, there = gaussian_cells(edges, mu), gaussian_cells(edges, 0.0)
    proposals = (
        lambda tilt: gaussian_cells(edges, mu * (1 + tilt.shift)),
        lambda tilt: gaussian_cells(edges, -mu * tilt.shift),
    )
    return FiniteSampler(here, there, *proposals)


def rounded_sampled_gaussian(rate: float, mu: float, cells: int = 2000) -> FiniteSampler:
    """(1 - q) N(0, 1) + q N(mu, 1) against N(0, 1), rounded; shift and odds as in `SampledGaussianSampler`."""
    edges = np.linspace(-9, 9 + 2 * mu, cells - 1)

    def mixed(weight: float, mean: float) -> Array:
        return np.asarray((1 - weight) * gaussian_cells(edges, 0.0) + weight * gaussian_cells(edges, mean))

    @lru_cache(maxsize=256)
    def forth(tilt: Tilt) -> Array:
        raised = rate * math.exp(tilt.odds)
        return mixed(raised / (1 - rate + raised), mu * (1 + tilt.shift))

    @lru_cache(maxsize=256)
    def back(tilt: Tilt) -> Array:
        return gaussian_cells(edges, -tilt.shift * rate * mu)

    return FiniteSampler(mixed(rate, mu), gaussian_cells(edges, 0.0), forth, back, has_hidden=True)
