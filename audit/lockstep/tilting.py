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
from functools import lru_cache
from typing import Any, NamedTuple, Protocol

import numpy as np

from dpassay.reference.arrays import Array, Bools
from dpassay.reference.laws.law import Law, as_released, query_of


@dataclass(frozen=True)
class Tilt:
    """``shift`` in units of the difference of the queries, ``odds`` the log-odds added to having the target."""

    shift: float = 0.0
    odds: float = 0.0


PLAIN = Tilt()


class Tilts(tuple[Tilt, ...]):
    """Tilts, and their numbers as columns of shape (tilts, 1): made once for all releases of all runs.

    ``twice`` and ``squares`` are those of the shifts, ``pairs`` both as numbers; ``known`` keeps the weights of states
    that come again at every draw.
    """

    twice: Array
    squares: Array
    odds: Array
    pairs: list[tuple[float, float]]
    known: dict[bytes, Array]

    def __new__(cls, tilts: Iterable[Tilt]) -> Tilts:
        """A tuple of tilts with its columns."""
        made = super().__new__(cls, tilts)
        shifts = np.array([[tilt.shift] for tilt in made])
        made.twice, made.squares = 2 * shifts, shifts**2
        made.pairs = list(zip(made.twice.ravel().tolist(), made.squares.ravel().tolist(), strict=True))
        made.odds, made.known = np.array([[tilt.odds] for tilt in made]), {}
        return made

    @classmethod
    def of(cls, tilts: Sequence[Tilt]) -> Tilts:
        """These tilts, as they are if they are ready."""
        return tilts if isinstance(tilts, Tilts) else cls(tilts)


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
    tilts = Tilts.of(tilts)
    if all(law.is_normal for law in (*states.here, *states.there)):
        return OneGaussian(states, tilts) if len(states.here) == 1 else ManyGaussians(states, tilts)
    if len(states.here) == 1:
        tilted = [states.here[0].tilted(states.there[0], tilt.shift) for tilt in tilts]
        known = [law for law in tilted if law is not None]
        if len(known) == len(tilts):
            return _TiltedProposal(states, known)
    return _MixtureProposal(states, tilts)


def _tilted_weights(states: States, tilts: Tilts) -> Array:
    """Log weights of the states under each tilt, shape (tilts, states)."""
    key = states.log_here.tobytes() + states.has_target.tobytes()
    found = tilts.known.get(key)
    if found is None:
        raised = states.log_here + tilts.odds * states.has_target
        found = np.asarray(raised - np.logaddexp.reduce(raised, axis=1, keepdims=True))
        if len(tilts.known) < _KEPT:
            tilts.known[key] = found
    return found


def _choose(rng: np.random.Generator, log_weights: Array) -> int:
    if len(log_weights) == 1:
        return 0
    steps = np.cumsum(np.exp(log_weights))
    return min(int(np.searchsorted(steps, rng.random(), side="right")), len(log_weights) - 1)


_KEPT = 64  # weights under tilts


@lru_cache(maxsize=1024)
def log_scale(std: float) -> float:
    """Log of the factor before the exponential in a normal density of one number."""
    return float(np.log(std) + 0.5 * math.log(2 * math.pi))


def _queries(laws: Sequence[Law]) -> Array:
    """One row for each law."""
    return np.array([law.query for law in laws]).reshape(len(laws), query_of(laws[0]).size)


def _scales(laws: Sequence[Law]) -> tuple[Array | float, Array | float]:
    """Twice the variance and the log scale of each law; one number where they have the same noise."""
    if all(law.scale == laws[0].scale for law in laws):
        return 2 * (laws[0].scale * laws[0].scale), log_scale(laws[0].scale)
    return np.array([2 * (law.scale * law.scale) for law in laws]), np.array([log_scale(law.scale) for law in laws])


def _factors(value: Array, here: Array, away: Array, there: Array) -> tuple[Array, Array]:
    """What is multiplied: value - here with itself and with `away`, then `away` and value - there with themselves.

    Returns:
        Both factors, shape (4, states, coordinates); value has one row for all states.
    """
    made = np.empty((4, 2, *here.shape))
    gap = np.subtract(value, here, out=made[0, 0])
    made[0, 1] = made[1, 0] = gap
    made[1, 1] = away
    made[2] = away
    made[3] = value - there
    return made[:, 0], made[:, 1]


class OneGaussian:
    """One Gaussian on each side: the numbers of `ManyGaussians` bit for bit, without the sums over one state.

    Its log weights must be 0: where nothing is hidden the one state is certain.
    """

    def __init__(self, states: States, tilts: Tilts):
        law, other = states.here[0], states.there[0]
        query = query_of(law)
        self._shape, self._std, self._std_there, self._tilts = query.shape, law.scale, other.scale, tilts
        self._here, self._there = query.reshape(1, query.size), query_of(other).reshape(1, query.size)
        self._away = self._here - self._there

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        """See :class:`Proposal`."""
        centre = (self._here + self._tilts[tilt].shift * self._away)[0]
        value = centre + self._std * rng.standard_normal(centre.size)
        return as_released(value.reshape(self._shape))

    def logs(self, value: Any) -> Logs:
        """See :class:`Proposal`."""
        flat = np.asarray(value, dtype=float).ravel()
        one, other = _factors(flat, self._here, self._away, self._there)
        squares, cross, length, squares_there = np.einsum("ksp,ksp->ks", one, other).ravel().tolist()
        twice = 2 * (self._std * self._std)
        here = -flat.size * log_scale(self._std) - squares / twice
        there = -flat.size * log_scale(self._std_there) - squares_there / (2 * (self._std_there * self._std_there))
        moved = [here + (shift * cross - square * length) / twice for shift, square in self._tilts.pairs]
        return Logs(np.array([here]), np.array([there]), np.array(moved))


class ManyGaussians:
    """Gaussians: every state's mean is moved away from the average mean on D'."""

    def __init__(self, states: States, tilts: Tilts):
        laws, others = states.here, states.there
        self._shape, self._tilts = query_of(laws[0]).shape, tilts
        self._here, self._there = _queries(laws), _queries(others)
        self._stds = [law.scale for law in laws]
        self._twice, self._log_scales = self._twice_there, self._log_scales_there = _scales(laws)
        if any(one.scale != other.scale for one, other in zip(laws, others, strict=True)):
            self._twice_there, self._log_scales_there = _scales(others)
        self._log_weights = _tilted_weights(states, tilts)
        self._away = self._here - np.exp(states.log_there) @ self._there

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        """See :class:`Proposal`."""
        state = _choose(rng, self._log_weights[tilt])
        centre = self._here[state] + self._tilts[tilt].shift * self._away[state]
        value = centre + self._stds[state] * rng.standard_normal(centre.size)
        return as_released(value.reshape(self._shape))

    def logs(self, value: Any) -> Logs:
        """See :class:`Proposal`."""
        flat = np.asarray(value, dtype=float).ravel()
        one, other = _factors(flat, self._here, self._away, self._there)
        squares, cross, length, squares_there = np.einsum("ksp,ksp->ks", one, other)
        here = -flat.size * self._log_scales - squares / self._twice
        there = -flat.size * self._log_scales_there - squares_there / self._twice_there
        moved = here + (self._tilts.twice * cross - self._tilts.squares * length) / self._twice
        return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + moved, axis=1)))


class _TiltedProposal:
    """One law that knows its tilted form (Laplace, finite outcomes)."""

    def __init__(self, states: States, tilted: Sequence[Law]):
        self._here, self._there, self._tilted = states.here[0], states.there[0], tilted

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._tilted[tilt].sample(rng)

    def logs(self, value: Any) -> Logs:
        here, there = self._here.log_density(value), self._there.log_density(value)
        return Logs(np.array([here]), np.array([there]), np.array([law.log_density(value) for law in self._tilted]))


class _MixtureProposal:
    """Any other laws, in any states: only the odds of the states are tilted."""

    def __init__(self, states: States, tilts: Tilts):
        self._states, self._log_weights = states, _tilted_weights(states, tilts)

    def sample(self, rng: np.random.Generator, tilt: int) -> Any:
        return self._states.here[_choose(rng, self._log_weights[tilt])].sample(rng)

    def logs(self, value: Any) -> Logs:
        here = np.array([law.log_density(value) for law in self._states.here])
        there = np.array([law.log_density(value) for law in self._states.there])
        with np.errstate(invalid="ignore"):  # a query of NaN has densities of NaN: who reads them says so
            return Logs(here, there, np.asarray(np.logaddexp.reduce(self._log_weights + here, axis=1)))
