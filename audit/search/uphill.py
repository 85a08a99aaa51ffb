"""From the largest movement that examples have shown, uphill: small changes of the rows, the sizes and the values.

Random examples rarely attain a sensitivity that needs two rows at an angle and a released value across them. A change
that moves the query further is kept, so that such a pair is reached in some steps. The label whose largest movement is
the smallest share of what it declares has the next turn; tries without success put it back.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Script

from .ground import AllOf, Data, Landmarks
from .moves import MOVES, Example, Move, Rng
from .runner import Runner

SEPARATION = ""  # no label: how far all queries are moved in units of the noise, or the loss; it has no known top
_REACHED = 0.999  # a declared sensitivity that is used up to this share needs no climbing
_FRUITLESS = 0.1  # share by which a try without success puts a label back
_EVERY = 5  # of so many turns one is the separation's
_LOW, _LONGER = 0.97, 1.5  # the share of a label that is still low; with one of them the climb is so much longer


@dataclass(frozen=True, eq=False)
class Peak:
    """The example that moved a label the furthest so far."""

    share: float
    data: Data
    script: Script
    seed: int


@dataclass(frozen=True)
class Released:
    """What is known of the releases under a label: have they finitely many outcomes, or more than one number?"""

    finite: bool
    vector: bool


class Uphill:
    """Remembers the example that moved each label the furthest, and goes on from there.

    Args:
        peaks: by label (and for the separation) the example that moved it the furthest.
        labels: all that were released.
        before: is asked before each example whether there may be another: it raises if not.
    """

    def __init__(self, runner: Runner, ground: AllOf, before: Callable[[], None]):
        self._runner, self._ground, self._before = runner, ground, before
        self.peaks: dict[str, Peak] = {}
        self.labels: dict[str, Released] = {}

    def note(self, run: ScriptedRun, data: Data, script: Script, seed: int) -> list[str]:
        """An example was run; the labels that it moved further than any before."""
        for one in run.transcript.releases:
            vector = isinstance(one.value, np.ndarray) and one.value.size > 1
            self.labels[one.label] = Released(one.law.is_finite, vector)
        further = []
        for label, share in _moved(run).items():
            known = self.peaks.get(label)
            if known is None or share >= known.share:  # on a plateau any way is good
                self.peaks[label] = Peak(share, data, script, seed)
                further += [label] if known is None or share > known.share else []
        return further

    def marks(self, data: Data) -> Landmarks:
        """Where the schedule of these data decides; nowhere if they make no problem."""
        with suppress(Exception):
            return self._ground.setting(data).landmarks
        return {}

    def again(self, data: Data, script: Script, seed: int) -> tuple[ScriptedRun | None, list[str]]:
        """Run an example and remember it; no run for rows that make no problem."""
        self._before()
        with suppress(Exception):
            run = self._runner.tried(self._ground.setting(data), data, seed, script, lambda: script)
            return run, self.note(run, data, script, seed)
        return None, []

    def climb(self, runs: int, rng: Rng) -> None:
        """Spend ``runs`` on the labels below their sensitivity, the lowest first, and on the separation.

        ``_LONGER`` times as many where a label stays far below what it declares.
        """
        low = any(0 < peak.share < _LOW for label, peak in self.peaks.items() if label != SEPARATION)
        fruitless: Counter[str] = Counter()
        lucky: dict[str, Move] = {}
        for turn in range(round(runs * (_LONGER if low else 1))):
            label = self._next(fruitless, turn)
            if label is None:
                return
            peak = self.peaks[label]
            move, new = next(self._changed(Example(peak.data, peak.script), lucky.get(label), rng))
            fruitless[label] += 1
            lucky.pop(label, None)
            _, further = self.again(new.data, new.script, peak.seed)
            for one in further:
                fruitless[one] = 0
            if label in further:
                lucky[label] = move

    def _changed(self, one: Example, lucky: Move | None, rng: Rng) -> Iterator[tuple[Move, Example]]:
        """The example after a move: half of the time the one that was good before."""
        while True:
            move = lucky if lucky is not None and rng.random() < 0.5 else MOVES[int(rng.integers(len(MOVES)))]
            new = move(one, self._ground, rng)
            if new is not None:
                yield move, new

    def _next(self, fruitless: Counter[str], turn: int) -> str | None:
        """Whose turn it is; None if all labels are at their sensitivity and nothing is separated."""
        below = [label for label, peak in self.peaks.items() if label != SEPARATION and peak.share < _REACHED]
        if SEPARATION in self.peaks and self.peaks[SEPARATION].share > 0 and (turn % _EVERY == 0 or not below):
            return SEPARATION
        return min(below, key=lambda label: self.peaks[label].share + _FRUITLESS * fruitless[label], default=None)


def _moved(run: ScriptedRun) -> dict[str, float]:
    """By label what is moved, and how far all of it is; a run that is cut short shows no separation."""
    return {**run.shares, SEPARATION: run.separation if run.complete and not run.raised else 0.0}
