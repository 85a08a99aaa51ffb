"""Sampling a release so that revealing values are common, with the exact density of what was sampled.

For a hidden state ``s`` (target in or out of a secret batch) a release follows ``law_s`` on D and ``law'_s`` on D',
with weights ``w_s`` and ``w'_s`` given the past. A :class:`Tilt` draws instead from a law shifted away from D' by
``shift`` times the difference of the queries, with the odds of states that have the target raised by ``exp(odds)``. For
one Gaussian this is the exponential tilt ``p exp(shift L) / Z`` exactly; it is also what is done for Laplace and for
finite outcomes. Whatever the tilt, the density of the proposal is known, so the weights are exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import Law, as_released
from dpassay.reference.types import Array, Bools

_CAP = 50.0  # privacy losses beyond this are tilted as if they were this (a support hole has an infinite one)


@dataclass(frozen=True)
class Tilt:
    """``shift`` in units of the difference of the queries, ``odds`` the log-odds added to having the target."""

    shift: float = 0.0
    odds: float = 0.0


PLAIN = Tilt()


class Logs(NamedTuple):
    """Log densities of one value: per state on D, per state on D', per tilt of the proposal."""

    here: Array
    there: Array
    proposals: Array


class Proposal(Protocol):
    """One release, ready to be sampled under any of the tilts."""

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        """Draw a value under the tilt with this number."""

    def logs(self, value: Any) -> Logs:
        """All log densities at a value."""


@dataclass(frozen=True, eq=False)
class States:
    """Laws and log weights of the hidden states of one release; ``has_target`` marks those the tilt favours."""

    here: Sequence[Law]
    there: Sequence[Law]
    log_here: Array
    log_there: Array
    has_target: Bools


def proposal(states: States, tilts: Sequence[Tilt]) -> Proposal:
    """The best proposal that is known for these laws."""
    kinds = {type(law) for law in (*states.here, *states.there)}
    if kinds == {Gaussian} and all(law.std > 0 for law in (*states.here, *states.there)):  # type: ignore[attr-defined]
        return _GaussianProposal(states, tilts)
    if len(states.here) == 1 and kinds == {Laplace}:
        return _LaplaceProposal(states, tilts)
    if len(states.here) == 1 and kinds <= {Categorical, AboveThreshold}:
        return _FiniteProposal(states, tilts)
    return _MixtureProposal(states, tilts)


def _tilted_weights(states: States, tilts: Sequence[Tilt]) -> Array:
    """Log weights of the states under each tilt, shape (tilts, states)."""
    raised = states.log_here + np.array([[tilt.odds] for tilt in tilts]) * states.has_target
    return np.asarray(raised - np.logaddexp.reduce(raised, axis=1, keepdims=True))


def _choose(rng: np.random.Generator, log_weights: Array) -> int:
    if len(log_weights) == 1:
        return 0
    steps = np.cumsum(np.exp(log_weights))
    return min(int(np.searchsorted(steps, rng.random(), side="right")), len(log_weights) - 1)


class _GaussianProposal:
    """Gaussians: every state's mean is moved away from the average mean on D'."""

    def __init__(self, states: States, tilts: Sequence[Tilt]):
        laws, others = states.here, states.there
        self._shape = laws[0].query.shape  # type: ignore[attr-defined]
        self._here = np.array([law.query.ravel() for law in laws])  # type: ignore[attr-defined]
        self._there = np.array([law.query.ravel() for law in others])  # type: ignore[attr-defined]
        self._stds = np.array([law.std for law in laws])  # type: ignore[attr-defined]
        self._stds_there = np.array([law.std for law in others])  # type: ignore[attr-defined]
        self._shifts = np.array([tilt.shift for tilt in tilts])
        self._log_weights = _tilted_weights(states, tilts)
        self._away = self._here - np.exp(states.log_there) @ self._there

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        state = _choose(rng, self._log_weights[tilt])
        centre = self._here[state] + self._shifts[tilt] * self._away[state]
        value = centre + self._stds[state] * rng.standard_normal(centre.size)
        return as_released(value.reshape(self._shape))

    def logs(self, value: Any) -> Logs:
        flat = np.asarray(value, dtype=float).ravel()
        gap, gap_there = flat - self._here, flat - self._there
        squares = np.einsum("sp,sp->s", gap, gap)
        cross = np.einsum("sp,sp->s", gap, self._away)
        length = np.einsum("sp,sp->s", self._away, self._away)
        size = flat.size
        constant = -size * (np.log(self._stds) + 0.5 * math.log(2 * math.pi))
        here = constant - squares / (2 * self._stds**2)
        there = -size * (np.log(self._stds_there) + 0.5 * math.log(2 * math.pi)) - np.einsum(
            "sp,sp->s", gap_there, gap_there
        ) / (2 * self._stds_there**2)
        a = self._shifts[:, None]
        moved = here + (2 * a * cross - a**2 * length) / (2 * self._stds**2)
        return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + moved, axis=1)))


class _LaplaceProposal:
    """One Laplace law: the density ``p exp(shift L) / Z`` is exponential on three pieces of each coordinate."""

    def __init__(self, states: States, tilts: Sequence[Tilt]):
        self._law, self._other = states.here[0], states.there[0]
        self._tilts = tilts

    def _pieces(self, shift: float) -> tuple[Array, Array, float, Array]:
        """Gap to D' in scales, log masses of the pieces (coordinates, 3), decay of the middle, log Z."""
        law, other = self._law, self._other
        gap = np.abs(other.query - law.query).ravel() / law.scale  # type: ignore[attr-defined]
        rate = 1 + 2 * shift
        with np.errstate(divide="ignore"):
            middle = shift * gap + np.log(-np.expm1(-rate * gap)) - math.log(rate)
        masses = np.stack([shift * gap, middle, -(1 + shift) * gap], axis=1)
        return gap, masses, rate, np.asarray(np.logaddexp.reduce(masses, axis=1))

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        law, other = self._law, self._other
        gap, masses, rate, log_z = self._pieces(self._tilts[tilt].shift)
        u = rng.random(len(gap))
        edges = np.cumsum(np.exp(masses - log_z[:, None]), axis=1)
        piece = (u[:, None] > edges[:, :2]).sum(axis=1)
        tail = rng.exponential(size=len(gap))
        inner = -np.log1p(rng.random(len(gap)) * np.expm1(-rate * gap)) / rate
        x = np.choose(piece, [-tail, inner, gap + tail])  # towards D' is positive, in scales
        towards = np.where(other.query >= law.query, 1.0, -1.0).ravel()  # type: ignore[attr-defined]
        flat = law.query.ravel() + law.scale * towards * x  # type: ignore[attr-defined]
        return as_released(flat.reshape(law.query.shape))  # type: ignore[attr-defined]

    def logs(self, value: Any) -> Logs:
        here, there = self._law.log_density(value), self._other.log_density(value)
        same_scale = Laplace(self._other.query, self._law.scale)  # type: ignore[attr-defined]
        loss = here - same_scale.log_density(value)
        proposals = []
        for tilt in self._tilts:
            _, _, _, log_z = self._pieces(tilt.shift)
            proposals.append(here + tilt.shift * loss - float(np.sum(log_z - math.log(2.0))))
        return Logs(np.array([here]), np.array([there]), np.array(proposals))


class _FiniteProposal:
    """Finitely many outcomes: ``p exp(shift min(L, cap)) / Z`` by enumeration."""

    def __init__(self, states: States, tilts: Sequence[Tilt]):
        here, there = (_outcomes(law) for law in (states.here[0], states.there[0]))
        self._here, self._there = here, there
        others = np.array([there.log_density(value) for value in here.support])
        with np.errstate(invalid="ignore"):
            loss = np.minimum(here.log_probabilities - others, _CAP)
        loss = np.where(np.isfinite(here.log_probabilities), loss, 0.0)
        tilted = here.log_probabilities + np.array([[tilt.shift] for tilt in tilts]) * loss
        self._proposals = tilted - np.logaddexp.reduce(tilted, axis=1, keepdims=True)

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._here.support[_choose(rng, self._proposals[tilt])]

    def logs(self, value: Any) -> Logs:
        index = self._here.support.index(value)
        here = self._here.log_probabilities[index]
        return Logs(np.array([here]), np.array([self._there.log_density(value)]), self._proposals[:, index])


class _MixtureProposal:
    """Any other laws, in any states: only the odds of the states are tilted."""

    def __init__(self, states: States, tilts: Sequence[Tilt]):
        self._states, self._log_weights = states, _tilted_weights(states, tilts)

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._states.here[_choose(rng, self._log_weights[tilt])].sample(rng)

    def logs(self, value: Any) -> Logs:
        here = np.array([law.log_density(value) for law in self._states.here])
        there = np.array([law.log_density(value) for law in self._states.there])
        return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + here, axis=1)))


def _outcomes(law: Law) -> Categorical:
    if isinstance(law, AboveThreshold):
        return law.outcomes()
    assert isinstance(law, Categorical)
    return law
