"""Where the likelihood audit gets its samples: privacy losses with the weights of the law they were drawn from."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol

import numpy as np

from dpassay.audit.lockstep.abreast import RunsAbreast, abreast
from dpassay.audit.lockstep.outcome import LockstepRun, Movement
from dpassay.audit.lockstep.run import Needs, lockstep, needs
from dpassay.audit.lockstep.tilting import Tilt, Tilts
from dpassay.reference.abreast import NotAbreast, Twin
from dpassay.reference.equality import same
from dpassay.reference.findings import Finding, Kind, merge
from dpassay.reference.neighbours import Pair, Run
from dpassay.reference.types import Array, Indices

_ABREAST = 512  # runs that are made at once
_FEW = 8  # runs that are as well made one by one
_BLOCK = 4096  # runs for which memory is taken at a time: a billion that are asked for may never be reached


@dataclass(eq=False)
class Losses:
    """Exact privacy losses of runs, with ``log_weights[i, c] = log dP_D / dR_c`` for every tilt ``c``.

    A run that did not reach its end on all sides counts as loss ``-inf``: it can then never raise a bound, which keeps
    the bound valid (the event "complete and loss above epsilon" is one event of the mechanism).
    """

    loss: Array
    log_weights: Array
    findings: list[Finding] = field(default_factory=list)
    inexact: str = ""
    movements: dict[str, Movement] = field(default_factory=dict)
    checked: int = 0
    shares: Array | None = None  # of the tilts, where these are the runs of an audit that count

    def log_weight(self, log_shares: Array) -> Array:
        """Log weights against the mixture with these log shares (balance heuristic)."""
        return np.asarray(-np.logaddexp.reduce(log_shares - self.log_weights, axis=1))


class Sampler(Protocol):
    """Draws losses of a mechanism on a pair. The same seed gives the same losses."""

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        """``count`` independent runs, each under tilt ``c`` with probability ``shares[c]``."""

    def swapped(self) -> Sampler:
        """The other direction: D and D' change places."""

    @property
    def has_hidden(self) -> bool:
        """Whether secret batches make the participation of the target worth tilting."""


class LockstepSampler:
    """Runs an algorithm in lockstep on both sides of a pair.

    The check world (is the mixture over participation exact?) runs in the first ``checks`` runs of every call. With a
    ``twin`` many runs are made at once, if its first run, its first run that does not come to an end on all sides, and
    every run that is the first to show something are what they are by themselves bit for bit, and as long as the runs
    stay together; else they are made one by one, with the same numbers.
    """

    def __init__(
        self,
        run: Run[Any],
        pair: Pair[Any],
        *,
        what: Needs | None = None,
        checks: int = 25,
        twin: Twin | None = None,
    ):
        self._run, self._pair, self._checks = run, pair, checks
        self._what = what or needs(run, pair.here)
        self._twin, self._compared = twin, False

    @property
    def has_hidden(self) -> bool:
        """Secret batches?"""
        return self._what.sampled or self._what.fresh > 0

    def swapped(self) -> LockstepSampler:
        """The other direction."""
        swapped = self._pair.swapped()
        return LockstepSampler(self._run, swapped, what=self._what, checks=self._checks, twin=self._twin)

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        """See :class:`Sampler`."""
        losses = Losses(np.zeros(0), np.zeros((0, len(tilts))), checked=min(count, self._checks))
        rng, kept = np.random.default_rng([*seed, 0]), [(losses.loss, losses.log_weights)]
        for start in range(0, count, _BLOCK):
            size = min(_BLOCK, count - start)
            chosen = rng.choice(len(tilts), size=size, p=shares)  # the same numbers as all at once
            kept.append(self._block(losses, tilts, chosen, seed, start))
        losses.loss = np.concatenate([loss for loss, _ in kept])
        losses.log_weights = np.concatenate([weights for _, weights in kept])
        return losses

    def _block(
        self, losses: Losses, tilts: Sequence[Tilt], chosen: Indices, seed: Sequence[int], start: int
    ) -> tuple[Array, Array]:
        """Loss and log weights of some runs; what else they show goes into ``losses``."""
        loss, log_weights, tilts = np.full(len(chosen), -np.inf), np.zeros((len(chosen), len(tilts))), Tilts.of(tilts)
        checked = min(len(chosen), max(0, self._checks - start))
        for first, last in pairwise([0, *range(checked, len(chosen), _ABREAST), len(chosen)]):
            numbers = range(start + first, start + last)
            told: dict[int, list[Finding]] = {}
            made = self._together(losses, seed, numbers, tilts, chosen[first:last], first < checked, told)
            left: Iterable[int] = range(first, last)
            if made is not None:
                loss[first:last] = np.where(made.complete, made.loss, -np.inf)
                log_weights[first:last] = made.log_weights
                _merge_movements(losses, made.movements)
                left = (first + np.flatnonzero(made.alone)).tolist()
            for i in left:
                result = self._alone([*seed, 1, start + i], tilts, int(chosen[i]), i < checked)
                if result.complete:
                    loss[i] = result.loss
                log_weights[i] = result.log_weights
                losses.inexact = losses.inexact or result.inexact
                told[i - first] = result.findings
                _merge_movements(losses, result.movements)
            for _, findings in sorted(told.items()):
                merge(losses.findings, findings)
        return loss, log_weights

    def _alone(self, seed: Sequence[int], tilts: Tilts, tilt: int, check: bool) -> LockstepRun:
        return lockstep(self._run, self._pair, seed, tilts=tilts, tilt=tilt, check=check, what=self._what)

    def _together(
        self,
        losses: Losses,
        seed: Sequence[int],
        numbers: range,
        tilts: Tilts,
        chosen: Indices,
        check: bool,
        told: dict[int, list[Finding]],
    ) -> RunsAbreast | None:
        """These runs at once; None if they must be made one by one, and then so are all that follow.

        What they show goes into ``told`` in the words of the first run that shows it; no later run adds to that.
        """
        if self._twin is None or len(numbers) < _FEW:
            return None
        seeds = [[*seed, 1, number] for number in numbers]
        try:
            made = abreast(self._twin, self._pair, seeds, tilts, chosen, check=check, what=self._what)
        except NotAbreast:
            self._twin = None if not check else self._twin  # runs without a check world may stay together
            return None
        news = {run for key, run in made.shown.items() if key not in _keys(losses.findings)}
        kinds = (made.complete, ~made.complete) if not self._compared else ()
        firsts = {run for kind in kinds for run in np.flatnonzero(kind & ~made.alone)[:1].tolist()}
        alone = {run: self._alone(seeds[run], tilts, int(chosen[run]), check) for run in sorted(news | firsts)}
        found = [finding for one in alone.values() for finding in one.findings]
        as_shown = _keys(found) <= made.shown.keys() <= _keys([*losses.findings, *found])
        if not as_shown or not all(_equal(one, made, run) for run, one in alone.items()):
            self._twin = None
            return None
        self._compared = self._compared or bool(alone)
        told |= {run: one.findings for run, one in alone.items()}
        return made


def _equal(alone: LockstepRun, made: RunsAbreast, run: int) -> bool:
    """Bit for bit; who is told the secrets must not see more."""
    if alone.inexact or alone.complete != made.complete[run] or any(one.given_secrets for one in alone.findings):
        return False
    same_loss = not alone.complete or same(alone.loss, float(made.loss[run]))
    return same_loss and same(alone.log_weights, made.log_weights[run])


def _keys(findings: Sequence[Finding]) -> set[tuple[Kind, str]]:
    return {(one.kind, one.label) for one in findings}


def _merge_movements(losses: Losses, movements: dict[str, Movement]) -> None:
    for label, movement in movements.items():
        losses.movements[label] = losses.movements.get(label, Movement()).with_other(movement)


class GaussianSampler:
    """Closed-form stand-in for a composition of Gaussian releases with total GDP parameter ``mu`` (for benchmarks).

    The loss of such a run is ``N(mu^2/2, mu^2)``; under ``Tilt(shift)`` its mean moves by ``shift mu^2``.
    """

    has_hidden = False

    def __init__(self, mu: float):
        self._mu = mu

    def swapped(self) -> GaussianSampler:
        """Symmetric."""
        return self

    def sample(self, tilts: Sequence[Tilt], shares: Array, count: int, seed: Sequence[int]) -> Losses:
        """See :class:`Sampler`."""
        rng = np.random.default_rng(list(seed))
        shifts = np.array([tilt.shift for tilt in tilts])
        chosen = rng.choice(len(tilts), size=count, p=shares)
        loss = self._mu**2 * (0.5 + shifts[chosen]) + self._mu * rng.standard_normal(count)
        centred = loss - self._mu**2 / 2
        return Losses(loss, -shifts * centred[:, None] + 0.5 * shifts**2 * self._mu**2)
