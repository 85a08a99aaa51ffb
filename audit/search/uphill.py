"""The largest movement of every label, and what drives it up once the examples are through.

First by halving: where a query is moved further between D and a data set far away than by any neighbour so far, some
record on the way between the two moves it. Then by climbing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from functools import partial

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Script
from dpassay.reference.types import Array

from .climb import REACHED, SEPARATION, Peak, Tried, climb
from .far import moving
from .ground import AllOf, Data, Landmarks, Setting
from .levels import Released
from .moves import Terrain
from .runner import Runner

_LOW, _LONGER = 0.97, 1.5  # the share of a label that is still low; with one of them the climb is so much longer
_FURTHER = 2.0  # times what neighbours have moved: by less, the record on the way is no news


class Uphill:
    """Remembers the example that moved each label the furthest, and goes on from there.

    Args:
        peaks: by label (and for the separation) the example that moved it the furthest.
        labels: all that were released.
    """

    def __init__(self, runner: Runner, ground: AllOf):
        self._runner, self._ground = runner, ground
        self.peaks: dict[str, Peak] = {}
        self.labels: dict[str, Released] = {}
        self._far: dict[str, tuple[Peak, Array]] = {}  # by label: an example whose D and far rows move it the furthest

    def note(self, run: ScriptedRun, data: Data, script: Script, seed: int) -> None:
        """An example was run."""
        for one in run.transcript.releases:
            self.labels[one.label] = Released(
                one.law.is_finite, isinstance(one.value, np.ndarray) and one.value.size > 1
            )
        for label, share in moved(run).items():
            if label not in self.peaks or share > self.peaks[label].share:
                self.peaks[label] = Peak(share, data, script, seed)

    def note_far(self, run: ScriptedRun, data: Data, script: Script, seed: int, far: Array) -> None:
        """An example's D was run beside a data set far away."""
        for label, share in run.shares.items():
            known = self._far.get(label)
            if known is None or _rank(share, far) > _rank(known[0].share, known[1]):
                self._far[label] = Peak(share, data, script, seed), far

    def go(self, runs: int, rng: np.random.Generator, before: Callable[[], None]) -> None:
        """Halve, by as many runs on top, then climb; ``before`` each example is asked whether there may be another.

        It takes ``_LONGER`` times as many runs where a label stays far below what it declares.
        """
        tried = partial(self._tried, before)
        self._halved(runs, tried)
        vectors = {label for label, one in self.labels.items() if one.vector}
        terrain = Terrain(self._ground.space, self._ground.combinations, self.marks, vectors)
        low = sum(0 < peak.share < _LOW for label, peak in self.peaks.items() if label != SEPARATION)
        climb(self.peaks, terrain, tried, round(runs * (_LONGER if low else 1)), rng)

    def _halved(self, most: int, tried: Tried) -> None:
        """The labels of the smallest share first, by ``most`` runs at most."""
        for label in sorted(self._far, key=self._share):
            peak, far = self._far[label]
            news = peak.share > _FURTHER * self._share(label) and self._share(label) < REACHED
            if not news or len(far).bit_length() > most:
                continue
            with suppress(Exception):  # rows that make no problem
                found, made = moving(self._ground, peak.data, far, peak.share, partial(self._movement, label, peak))
                tried(found, peak.script, peak.seed)
                most -= made

    def _share(self, label: str) -> float:
        return self.peaks[label].share if label in self.peaks else 0.0

    def _movement(self, label: str, peak: Peak, setting: Setting) -> float:
        return self._runner.scripted(setting, peak.seed, peak.script).shares.get(label, 0.0)

    def marks(self, data: Data) -> Landmarks:
        """Where the schedule of these data decides; nowhere if they make no problem."""
        with suppress(Exception):
            return self._ground.setting(data).landmarks
        return {}

    def again(self, before: Callable[[], None], data: Data, script: Script, seed: int) -> ScriptedRun | None:
        """Run an example, after ``before``, and remember it; None for rows that make no problem."""
        before()
        with suppress(Exception):
            run = self._runner.tried(self._ground.setting(data), data, seed, script, lambda: script)
            self.note(run, data, script, seed)
            return run
        return None

    def _tried(self, before: Callable[[], None], data: Data, script: Script, seed: int) -> Mapping[str, float]:
        run = self.again(before, data, script, seed)
        return moved(run) if run is not None else {}


def moved(run: ScriptedRun) -> dict[str, float]:
    """By label what is moved, and how far all of it is; a run that is cut short shows no separation."""
    return {**run.shares, SEPARATION: run.separation if run.complete and not run.raised else 0.0}


def _rank(share: float, far: Array) -> tuple[float, int]:
    """All that is declared, by few records: then one of them moves much, and is soon found."""
    return min(share, 1.0), -len(far)
