"""Sampling a release so that revealing values are common, with the exact density of what was sampled.

For a hidden state ``s`` (target in or out of a secret batch) a release follows ``law_s`` on D and ``law'_s`` on D',
with weights ``w_s`` and ``w'_s`` given the past. A :class:`Tilt` draws instead from a law shifted away from D' by
``shift`` times the difference of the queries, with the odds of states that have the target raised by ``exp(odds)``. For
one Gaussian this is the exponential tilt ``p exp(shift L) / Z`` exactly; it is also what is done for Laplace and for
finite outcomes. Whatever the tilt, the density of the proposal is known, so the weights are exact.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.laws.law import Law, as_released, query_of

from .records import Group


@dataclass(frozen=True)
class Tilt:
    """``shift`` in units of the difference of the queries, ``odds`` the log-odds added to having the target."""

    shift: float = 0.0
    odds: float = 0.0


PLAIN = Tilt()


class Tilts(tuple[Tilt, ...]):
    """Tilts, with their shifts and odds as columns of shape (tilts, 1): made once for all releases of all runs."""

    shifts: Array
    odds: Array

    def __new__(cls, tilts: Iterable[Tilt]) -> Tilts:
        """A tuple of tilts with its columns."""
        made = super().__new__(cls, tilts)
        made.shifts, made.odds = (np.array([[getattr(tilt, name)] for tilt in made]) for name in ("shift", "odds"))
        return made


_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


class Logs(NamedTuple):
    """Log densities of one value: per state on D, per state on D', per tilt of the proposal."""

    here: Array
    there: Array
    proposals: Array


def proposal(here: Sequence[Law], there: Sequence[Law], states: Group, tilts: Tilts) -> Proposal:
    """The best proposal that is known for these laws: one release, ready to be sampled under any of the tilts.

    ``sample(rng, tilt)`` draws a value under the tilt with this number; ``logs(value)`` are all log densities there.

    Args:
        here, there: the laws of the hidden states on D and on D'.
    """
    if all(law.is_normal for law in (*here, *there)):
        return _Gaussians(here, there, states, tilts)
    if len(here) == 1:
        tilted = [here[0].tilted(there[0], tilt.shift) for tilt in tilts]
        known = [law for law in tilted if law is not None]
        if len(known) == len(tilts):
            return _TiltedProposal(here[0], there[0], known)
    return _MixtureProposal(here, there, _tilted_weights(states, tilts))


def _tilted_weights(states: Group, tilts: Tilts) -> Array:
    """Log weights of the states under each tilt, which favours those with the target; shape (tilts, states)."""
    if len(states.log_here) == 1:  # it is certain
        return np.zeros((len(tilts), 1))
    raised = states.log_here + tilts.odds * states.has_target
    return np.asarray(raised - np.logaddexp.reduce(raised, axis=1, keepdims=True))


def _choose(rng: np.random.Generator, log_weights: Array) -> int:
    if len(log_weights) == 1:
        return 0
    steps = np.cumsum(np.exp(log_weights))
    return min(int(np.searchsorted(steps, rng.random(), side="right")), len(log_weights) - 1)


def _sums(one: Array, other: Array) -> Array:
    """Of products over the coordinates, for each state."""
    return np.asarray(np.einsum("sp,sp->s", one, other))


class _Gaussians:
    """Gaussians: every state's mean is moved away from the average mean on D'."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], states: Group, tilts: Tilts):
        self._shape, self._tilts, sides = query_of(here[0]).shape, tilts, (here, there)
        self._here, self._there = (np.array([law.query for law in laws]).reshape(len(laws), -1) for laws in sides)
        self._std, self._std_there = (np.array([law.scale for law in laws]) for laws in sides)
        self._log_weights = _tilted_weights(states, tilts)
        self._away = self._here - np.exp(states.log_there) @ self._there

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        state = _choose(rng, self._log_weights[tilt])
        centre = self._here[state] + self._tilts[tilt].shift * self._away[state]
        value = centre + self._std[state] * rng.standard_normal(centre.size)
        return as_released(value.reshape(self._shape))

    def logs(self, value: Any) -> Logs:
        flat, shift = np.asarray(value, dtype=float).ravel(), self._tilts.shifts
        gap, gap_there = flat - self._here, flat - self._there
        twice, twice_there = 2 * (self._std * self._std), 2 * (self._std_there * self._std_there)
        here = -flat.size * (np.log(self._std) + _HALF_LOG_TWO_PI) - _sums(gap, gap) / twice
        there = -flat.size * (np.log(self._std_there) + _HALF_LOG_TWO_PI) - _sums(gap_there, gap_there) / twice_there
        moved = here + (2 * shift * _sums(gap, self._away) - shift**2 * _sums(self._away, self._away)) / twice
        return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + moved, axis=1)))


class _TiltedProposal:
    """One law that knows its tilted form (Laplace, finite outcomes)."""

    def __init__(self, here: Law, there: Law, tilted: Sequence[Law]):
        self._here, self._there, self._tilted = here, there, tilted

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._tilted[tilt].sample(rng)

    def logs(self, value: Any) -> Logs:
        here, there = self._here.log_density(value), self._there.log_density(value)
        return Logs(np.array([here]), np.array([there]), np.array([law.log_density(value) for law in self._tilted]))


class _MixtureProposal:
    """Any other laws, in any states: only the odds of the states are tilted."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], log_weights: Array):
        self._here, self._there, self._log_weights = here, there, log_weights

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._here[_choose(rng, self._log_weights[tilt])].sample(rng)

    def logs(self, value: Any) -> Logs:
        here, there = (np.array([law.log_density(value) for law in laws]) for laws in (self._here, self._there))
        with np.errstate(invalid="ignore"):  # a query of NaN has densities of NaN: who reads them says so
            return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + here, axis=1)))


Proposal = _Gaussians | _TiltedProposal | _MixtureProposal
