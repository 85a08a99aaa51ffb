"""Where the likelihood audit gets its samples: privacy losses with the weights of the law they were drawn from."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.audit.lockstep.outcome import Movement
from dpassay.audit.lockstep.run import Needs, lockstep, needs
from dpassay.audit.lockstep.tilting import Tilt, Tilts
from dpassay.audit.phases import step, time_is_up
from dpassay.reference.arrays import Array
from dpassay.reference.findings import Finding, merge
from dpassay.reference.neighbours import Pair, Run

_BLOCK = 4096  # runs whose tilts are drawn at a time: a billion that are asked for may never be reached


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
    shares: Array | None = None  # of the tilts, where these are the runs of an audit that count

    def note(self, findings: Sequence[Finding], inexact: str, movements: Mapping[str, Movement] = {}) -> None:
        """What other runs show beside their losses."""
        merge(self.findings, findings)
        self.inexact = self.inexact or inexact
        for label, movement in movements.items():
            known = self.movements.get(label)
            self.movements[label] = movement if known is None else known.with_other(movement)

    def log_weight(self, log_shares: Array) -> Array:
        """Log weights against the mixture with these log shares (balance heuristic)."""
        return np.asarray(-np.logaddexp.reduce(log_shares - self.log_weights, axis=1))


class LockstepSampler:
    """Runs an algorithm in lockstep on both sides of a pair.

    The check world (is the mixture over participation exact?) runs in the first ``checks`` runs of every call, and in
    a quarter of a few.
    """

    def __init__(self, run: Run[Any], pair: Pair[Any], *, what: Needs | None = None, checks: int = 25):
        self._run, self._pair, self._checks = run, pair, checks
        self._what = what or needs(run, pair.here)

    @property
    def has_hidden(self) -> bool:
        """Do secret batches make the participation of the target worth tilting?"""
        return self._what.sampled or self._what.fresh > 0

    def swapped(self) -> LockstepSampler:
        """The other direction: D and D' change places."""
        return LockstepSampler(self._run, self._pair.swapped(), what=self._what, checks=self._checks)

    def sample(
        self,
        tilts: Sequence[Tilt],
        shares: Array,
        count: int,
        seed: Sequence[int],
        looks: Collection[int] = (),
        enough: Callable[[Losses], bool] = lambda _: False,
    ) -> Losses:
        """``count`` independent runs, each under tilt ``c`` with probability ``shares[c]``; fewer if time is up.

        After as many runs as ``looks`` has, it also ends where those so far are ``enough``.
        """
        tilts, rng = Tilts(tilts), np.random.default_rng([*seed, 0])
        checks = min(self._checks, (count + 3) // 4)
        losses = Losses(np.zeros(0), np.zeros((0, len(tilts))))
        loss, log_weights, chosen = list[float](), list[Array](), list[int]()

        def so_far() -> Losses:
            losses.loss, losses.log_weights = np.array(loss), np.array(log_weights).reshape(len(loss), len(tilts))
            return losses

        for number in range(count):
            if number in looks and enough(so_far()):
                break
            if number == len(chosen):  # the same numbers as all at once
                chosen += rng.choice(len(tilts), size=min(_BLOCK, count - number), p=shares).tolist()
            seeds, tilt, check = [*seed, 1, number], chosen[number], number < checks
            result = lockstep(self._run, self._pair, seeds, tilts=tilts, tilt=tilt, check=check, what=self._what)
            loss.append(result.loss if result.complete else -math.inf)
            log_weights.append(result.log_weights)
            losses.note(result.findings, result.inexact, result.movements)
            step()
            if time_is_up():
                break
        return so_far()
