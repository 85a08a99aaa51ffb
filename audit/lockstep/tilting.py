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
from typing import Any

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
    weights: dict[bytes, Array]  # of the states, by their own: a new batch has those of the one before

    def __new__(cls, tilts: Iterable[Tilt]) -> Tilts:
        """A tuple of tilts with its columns."""
        made = super().__new__(cls, tilts)
        made.shifts, made.odds = (np.array([[getattr(tilt, name)] for tilt in made]) for name in ("shift", "odds"))
        made.weights = {}
        return made


_KEPT = 64  # weights
_HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)


def proposal(here: Sequence[Law], there: Sequence[Law], states: Group, tilts: Tilts) -> Proposal:
    """The best proposal that is known for these laws: one release, ready to be sampled under any of the tilts.

    ``sample(rng, tilt)`` draws a value under the tilt with this number; ``logs(value)`` are all log densities there: by
    side (D, D') and state, and by tilt.

    Args:
        here, there: the laws of the hidden states on D and on D'.
    """
    if all(law.is_normal for law in (*here, *there)):
        return _Gaussians(here, there, states, tilts)
    tilted = [here[0].tilted(there[0], tilt.shift) for tilt in tilts] if len(here) == 1 else []
    known = [law for law in tilted if law is not None]
    return _AnyLaws(here, there, _tilted_weights(states, tilts), known if len(known) == len(tilted) else ())


def _tilted_weights(states: Group, tilts: Tilts) -> Array:
    """Log weights of the states under each tilt, which favours those with the target; shape (tilts, states)."""
    key = states.logs[0].tobytes()
    if key not in tilts.weights:
        if len(tilts.weights) >= _KEPT:
            tilts.weights.clear()
        raised = states.logs[0] + tilts.odds * states.has_target
        tilts.weights[key] = np.asarray(raised - np.logaddexp.reduce(raised, axis=1, keepdims=True))
    return tilts.weights[key]


def _choose(rng: np.random.Generator, log_weights: Array) -> int:
    if len(log_weights) == 1:
        return 0
    steps = np.exp(log_weights).cumsum()
    return min(int(steps.searchsorted(rng.random(), side="right")), len(log_weights) - 1)


class _Gaussians:
    """Gaussians: every state's mean is moved away from the average mean on D'."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], states: Group, tilts: Tilts):
        laws, self._count = (*here, *there), len(here)
        self._shape, self._tilts = query_of(here[0]).shape, tilts
        self._queries = np.array([law.query for law in laws]).reshape(len(laws), -1)
        self._stds = np.array([law.scale for law in laws])
        self._log_weights = _tilted_weights(states, tilts)
        self._away = self._queries[: self._count] - np.exp(states.logs[1]) @ self._queries[self._count :]

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        state = _choose(rng, self._log_weights[tilt])
        centre = self._queries[state] + self._tilts[tilt].shift * self._away[state]
        value = centre + self._stds[state] * rng.standard_normal(centre.size)
        return as_released(value.reshape(self._shape))

    def logs(self, value: Any) -> tuple[Array, Array]:
        flat, shift, here = np.asarray(value, dtype=float).ravel(), self._tilts.shifts, slice(self._count)
        gaps, twice = flat - self._queries, 2 * (self._stds * self._stds)
        logs = -flat.size * (np.log(self._stds) + _HALF_LOG_TWO_PI) - np.vecdot(gaps, gaps) / twice
        gained = 2 * shift * np.vecdot(gaps[here], self._away) - shift**2 * np.vecdot(self._away, self._away)
        moved = self._log_weights + (logs[here] + gained / twice[here])
        return logs.reshape(2, -1), np.asarray(np.logaddexp.reduce(moved, axis=1))


class _AnyLaws:
    """One law that knows its tilted forms (Laplace, finite outcomes); else only the odds of the states are tilted."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], log_weights: Array, tilted: Sequence[Law] = ()):
        self._here, self._there, self._log_weights, self._tilted = here, there, log_weights, tilted

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        law = self._tilted[tilt] if self._tilted else self._here[_choose(rng, self._log_weights[tilt])]
        return law.sample(rng)

    def logs(self, value: Any) -> tuple[Array, Array]:
        sides = np.array([[law.log_density(value) for law in laws] for laws in (self._here, self._there)])
        if self._tilted:
            return sides, np.array([law.log_density(value) for law in self._tilted])
        with np.errstate(invalid="ignore"):  # a query of NaN has densities of NaN: who reads them says so
            return sides, np.asarray(np.logaddexp.reduce(self._log_weights + sides[0], axis=1))


Proposal = _Gaussians | _AnyLaws
