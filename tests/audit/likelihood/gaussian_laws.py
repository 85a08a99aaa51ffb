"""Compositions whose losses are drawn in bulk, by their closed forms; ``benchmarks/likelihood.py`` uses them too."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.lockstep.tilting import Tilt
from dpassay.reference.arrays import Array


class GaussianSampler:
    """Closed-form stand-in for a composition of Gaussian releases with total GDP parameter ``mu``.

    The loss of such a run is ``N(mu^2/2, mu^2)``; under ``Tilt(shift)`` its mean moves by ``shift mu^2``.
    """

    has_hidden = False

    def __init__(self, mu: float):
        self._mu = mu

    def swapped(self) -> GaussianSampler:
        return self

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        rng = np.random.default_rng(list(seed))
        shifts = np.array([tilt.shift for tilt in tilts])
        chosen = rng.choice(len(tilts), size=count, p=shares)
        loss = self._mu**2 * (0.5 + shifts[chosen]) + self._mu * rng.standard_normal(count)
        centred = loss - self._mu**2 / 2
        return Losses(loss, -shifts * centred[:, None] + 0.5 * shifts**2 * self._mu**2)


class SampledGaussianSampler:
    """``steps`` of (1-q) N(0,1) + q N(mu,1) against N(0,1): what lockstep does, in bulk.

    With the target (D) the tilt raises its odds and moves its mean; without it (``back``) there is one state, moved
    away from the average mean of D'.
    """

    has_hidden = True

    def __init__(self, rate: float, mu: float, steps: int, back: bool = False):
        self._rate, self._mu, self._steps, self._back = rate, mu, steps, back

    def swapped(self) -> SampledGaussianSampler:
        return SampledGaussianSampler(self._rate, self._mu, self._steps, not self._back)

    def _mixture(self, x: Array, weight: float, mean: float) -> Array:
        return np.asarray(np.logaddexp(np.log1p(-weight) - x**2 / 2, np.log(weight) - (x - mean) ** 2 / 2))

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        rng = np.random.default_rng(list(seed))
        q, mu, shape = self._rate, self._mu, (count, self._steps)
        chosen = rng.choice(len(tilts), size=count, p=shares)
        shifts = np.array([tilt.shift for tilt in tilts])
        raised = q * np.exp([tilt.odds for tilt in tilts])
        odds = raised / (1 - q + raised)  # of having the target, under each tilt
        noise = rng.standard_normal(shape)
        if self._back:
            x = (-shifts * q * mu)[chosen, None] + noise
            here, there = -(x**2) / 2, self._mixture(x, q, mu)
        else:
            x = noise + (rng.random(shape) < odds[chosen, None]) * (mu * (1 + shifts))[chosen, None]
            here, there = self._mixture(x, q, mu), -(x**2) / 2
        weights = np.empty((count, len(tilts)))
        for c, shift in enumerate(shifts):
            if self._back:
                proposal = -((x + shift * q * mu) ** 2) / 2
            else:
                proposal = self._mixture(x, float(odds[c]), mu * (1 + shift))
            weights[:, c] = (here - proposal).sum(axis=1)
        return Losses((here - there).sum(axis=1), weights)
