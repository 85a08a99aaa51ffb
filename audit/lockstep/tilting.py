"""Sampling a release so that revealing values are common, with the exact density of what was sampled.

For a hidden state ``s`` (target in or out of a secret batch) a release follows ``law_s`` on D and ``law'_s`` on D',
with weights ``w_s`` and ``w'_s`` given the past. A :class:`Tilt` draws instead from a law shifted away from D' by
``shift`` times the difference of the queries, with the odds of states that have the target raised by ``exp(odds)``. For
one Gaussian this is the exponential tilt ``p exp(shift L) / Z``; so it is for Laplace and for finite outcomes.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
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
    """Tilts, and what follows from them for all releases of all runs; columns have the shape (tilts, 1)."""

    odds: Array
    doubled: Array  # shifts
    squares: Array  # of shifts
    weights: dict[bytes, Weights]  # by those of the states: a new batch has those of the one before

    def __new__(cls, tilts: Iterable[Tilt]) -> Tilts:
        """A tuple of tilts with its columns."""
        made = super().__new__(cls, tilts)
        shifts, made.odds = (np.array([[getattr(tilt, name)] for tilt in made]) for name in ("shift", "odds"))
        made.doubled, made.squares, made.weights = 2 * shifts, shifts**2, {}
        return made


# log weights of the states under each tilt, which favours those with the target, shape (tilts, states); for each tilt
# the sums of the weights up to each state; the weights of the states on D'
Weights = tuple[Array, list[list[float]], Array]
_KEPT = 64  # weights, and noises
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
    return _AnyLaws(here, there, _weights(states, tilts), known if len(known) == len(tilted) else ())


def _weights(states: Group, tilts: Tilts) -> Weights:
    key = states.logs.tobytes()
    if key not in tilts.weights:
        if len(tilts.weights) >= _KEPT:
            tilts.weights.clear()
        raised = states.logs[0] + tilts.odds * states.has_target
        logs = raised - np.logaddexp.reduce(raised, axis=1, keepdims=True)
        tilts.weights[key] = logs, np.exp(logs).cumsum(axis=1).tolist(), np.exp(states.logs[1])
    return tilts.weights[key]


def _choose(rng: np.random.Generator, steps: list[float]) -> int:
    return 0 if len(steps) == 1 else min(bisect_right(steps, rng.random()), len(steps) - 1)


@lru_cache(maxsize=_KEPT)
def _noise(size: int, *stds: float) -> tuple[Array, Array]:
    """Of Gaussian laws with so many coordinates: the largest log densities, and the variances twice."""
    scales = np.array(stds)
    return -size * (np.log(scales) + _HALF_LOG_TWO_PI), 2 * (scales * scales)


class _Gaussians:
    """Gaussians: every state's mean is moved away from the average mean on D'."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], states: Group, tilts: Tilts):
        self._laws, self._tilts, self._count = (*here, *there), tilts, len(here)
        self._queries = np.array([law.query for law in self._laws]).reshape(len(self._laws), -1)
        self._log_weights, self._steps, weights_there = _weights(states, tilts)
        self._away = self._queries[: self._count] - weights_there @ self._queries[self._count :]

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        state = _choose(rng, self._steps[tilt])
        law, centre = self._laws[state], self._queries[state] + self._tilts[tilt].shift * self._away[state]
        value = centre + law.scale * rng.standard_normal(centre.size)
        return as_released(value.reshape(query_of(law).shape))

    def logs(self, value: Any) -> tuple[Array, Array]:
        flat, away, here = np.asarray(value, dtype=float).ravel(), self._away, slice(self._count)
        largest, doubled = _noise(flat.size, *(law.scale for law in self._laws))
        gaps = flat - self._queries
        logs = largest - np.vecdot(gaps, gaps) / doubled
        gained = self._tilts.doubled * np.vecdot(gaps[here], away) - self._tilts.squares * np.vecdot(away, away)
        moved = self._log_weights + (logs[here] + gained / doubled[here])
        return logs.reshape(2, -1), np.asarray(np.logaddexp.reduce(moved, axis=1))


class _AnyLaws:
    """One law that knows its tilted forms (Laplace, finite outcomes); else only the odds of the states are tilted."""

    def __init__(self, here: Sequence[Law], there: Sequence[Law], weights: Weights, tilted: Sequence[Law] = ()):
        self._here, self._there, self._tilted = here, there, tilted
        self._log_weights, self._steps, _ = weights

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        law = self._tilted[tilt] if self._tilted else self._here[_choose(rng, self._steps[tilt])]
        return law.sample(rng)

    def logs(self, value: Any) -> tuple[Array, Array]:
        sides = np.array([[law.log_density(value) for law in laws] for laws in (self._here, self._there)])
        if self._tilted:
            return sides, np.array([law.log_density(value) for law in self._tilted])
        with np.errstate(invalid="ignore"):  # a query of NaN has densities of NaN: who reads them says so
            return sides, np.asarray(np.logaddexp.reduce(self._log_weights + sides[0], axis=1))


Proposal = _Gaussians | _AnyLaws
