"""From the largest movement that examples have shown, uphill: changes of the rows, the sizes and the first value.

A change that moves the query further is kept. The label whose largest movement is the least share of what it declares
has the next turn; tries without success put it back. To add a change, write a function and put it into :data:`MOVES`:
it takes an example and returns another one of the same space, or None where it does not apply.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from dpassay.audit.lockstep.outcome import ScriptedRun
from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.arrays import Array
from dpassay.reference.space import Space
from dpassay.reference.transcript import Release

from .ground import AllOf, Data, Landmarks
from .runner import Runner
from .smaller import resized
from .strategies import is_absent, width_of

SEPARATION = ""  # no label: how far all queries are moved in units of the noise, or the loss; it has no known top
_REACHED = 0.999  # a declared sensitivity that is used up to this share needs no climbing
_FRUITLESS = 0.1  # share by which a try without success puts a label back
_EVERY = 5  # of so many turns one is the separation's


class Example(NamedTuple):
    """Data with rows, the released values, and a seed."""

    data: Data
    script: Script
    seed: int = 0

    def with_data(self, **changes: object) -> Example:
        """Other rows, see :meth:`Data.changed`."""
        return self._replace(data=self.data.changed(**changes))  # type: ignore[arg-type]


class Uphill:
    """Remembers the example that moved each label the furthest, and goes on from there.

    Args:
        peaks: by label (and for the separation) the example that moved it the furthest.
        labels: all that were released, each with its last release.
        before: is asked before each example whether there may be another: it raises if not.
    """

    def __init__(self, runner: Runner, ground: AllOf, before: Callable[[], None]):
        self._runner, self._ground, self._before = runner, ground, before
        self.peaks: dict[str, Example] = {}
        self.labels: dict[str, Release] = {}
        self._shares: dict[str, float] = {}

    def note(self, run: ScriptedRun, one: Example) -> list[str]:
        """An example was run; the labels that it moved further than any before."""
        self.labels |= {release.label: release for release in run.transcript.releases}
        as_long = run.too_long if self._runner.early else run.complete  # as all that are compared
        whole = run.separation if as_long and not run.raised else 0.0
        further = []
        for label, share in {**run.shares, SEPARATION: whole}.items():
            known = self._shares.get(label, -1.0)
            if share >= known:  # on a plateau any way is good
                self.peaks[label], self._shares[label] = one, share
                further += [label] if share > known else []
        return further

    def marks(self, data: Data) -> Landmarks:
        """Where the schedule of these data decides; nowhere if they make no problem."""
        with suppress(Exception):
            return self._ground.setting(data).landmarks
        return {}

    def again(self, one: Example) -> tuple[ScriptedRun | None, list[str]]:
        """Run an example and remember it; no run for rows that make no problem."""
        self._before()
        with suppress(Exception):
            setting = self._ground.setting(one.data)
            run = self._runner.tried(setting, one.data, one.seed, one.script)
            return run, self.note(run, one)
        return None, []

    def climb(self, runs: int, rng: Rng) -> None:
        """Spend ``runs`` on the labels below their sensitivity, the lowest first, and on the separation."""
        fruitless: Counter[str] = Counter()
        for turn in range(runs):
            label = self._next(fruitless, turn)
            if label is None:
                return
            fruitless[label] += 1
            _, further = self.again(self._changed(self.peaks[label], rng))
            for one in further:
                fruitless[one] = 0

    def _changed(self, one: Example, rng: Rng) -> Example:
        """The example after a move, the first that applies."""
        while True:
            new = MOVES[int(rng.integers(len(MOVES)))](one, self._ground, rng)
            if new is not None:
                return new

    def _next(self, fruitless: Counter[str], turn: int) -> str | None:
        """Whose turn it is; None if all labels are at their sensitivity and nothing is separated."""
        below = [label for label, share in self._shares.items() if label != SEPARATION and share < _REACHED]
        if self._shares.get(SEPARATION, 0.0) > 0 and (turn % _EVERY == 0 or not below):
            return SEPARATION
        return min(below, key=lambda label: self._shares[label] + _FRUITLESS * fruitless[label], default=None)


_CODED = 0.2
SHRINK = 1 - 2.0**-50  # a row at the bound must not be longer than it by a rounding
_ANGLES = (0.05, 0.2, 0.4, 0.6, np.pi / 4)  # radians between a row and the direction in which the two differ
Rng = np.random.Generator


Move = Callable[[Example, AllOf, Rng], Example | None]


def one_row(one: Example, on: AllOf, rng: Rng) -> Example:
    """The row of one side moves a little, or far."""
    _, here, there = one.data.parts
    if on.space.relation != "replace-one":  # the other side is "not there" and stays so
        side = int(is_absent(on.space, here))
    else:
        side = int(rng.integers(2))
    return one.with_data(**{("here", "there")[side]: moved(on.space, (here, there)[side], rng)})


def both_rows(one: Example, on: AllOf, rng: Rng) -> Example | None:
    """Both move; half of the time to opposite ends."""
    if on.space.relation != "replace-one":
        return None
    _, here, there = one.data.parts
    here, width = moved(on.space, here, rng), width_of(on.space, here)
    if on.space.rows.box is None and rng.random() < 0.5:
        return one.with_data(here=here, there=np.append(-here[:width], there[width:]))
    return one.with_data(here=here, there=moved(on.space, there, rng))


def mirrored(one: Example, on: AllOf, rng: Rng) -> Example | None:
    """Two rows of one length and label: c + e on D and c - e on D', c across e, at another angle or in another plane.

    Where what a row does depends on its part along c (a margin) and shows along e, this is the shape of the worst pair.
    Half of the time a first value leads far away along c, the first axis: at the start, two such rows may do little.
    """
    _, here, there = one.data.parts
    width = width_of(on.space, here)
    if on.space.relation != "replace-one" or on.space.rows.box is not None or width < 2:
        return None
    apart, common = here[:width] - there[:width], here[:width] + there[:width]
    among = [label for label, choice in one.script.values.items() if choice.how != "index"]
    if among and rng.random() < 0.5:
        label = among[int(rng.integers(len(among)))]
        first = {**one.script.exceptions.get(label, {}), 0: Choice("huge", along="axis")}
        one = one._replace(script=replace(one.script, exceptions={**one.script.exceptions, label: first}))
        apart, common = np.eye(width)[-1], np.eye(width)[0]
    elif rng.random() < 0.5 or not np.any(common):
        apart, common = np.eye(width)[rng.permutation(width)[:2]] * rng.choice((-1.0, 1.0), size=(2, 1))
    size = on.space.rows.bound or max(float(np.linalg.norm(here[:width])), float(np.linalg.norm(there[:width])), 1.0)
    apart, angle = _unit(apart, rng), float(rng.choice(_ANGLES))
    common = _unit(common - (common @ apart) * apart, rng)
    common = _unit(common - (common @ apart) * apart, rng) * rng.choice((-1.0, 1.0))
    sides = [size * SHRINK * (sign * np.cos(angle) * apart + np.sin(angle) * common) for sign in (1.0, -1.0)]
    return one.with_data(here=np.append(sides[0], here[width:]), there=np.append(sides[1], here[width:]))


def sizes(one: Example, on: AllOf, rng: Rng) -> Example | None:
    """Other sizes, mostly one of them; the rows as far as they fit."""
    now = one.data.sizes
    near = [new for new in on.combinations if sum(new[name] != value for name, value in now.items()) == 1]
    among = near if near and rng.random() < 0.7 else [new for new in on.combinations if dict(new) != dict(now)]
    if not among:
        return None
    chosen = among[int(rng.integers(len(among)))]
    return one._replace(data=resized(on.space, one.data, chosen, one.data.target))


MOVES: tuple[Move, ...] = (one_row, both_rows, mirrored, mirrored, sizes)


def moved(space: Space, row: Array, rng: Rng) -> Array:
    """A row nearby, at the bound or as long as before; in a box, one coordinate at an end of it.

    Of rows of any length one coordinate may become a small whole number, as a category has for its code.
    """
    found, allowed, width = row.copy(), space.rows, width_of(space, row)
    if width == 0:
        return found
    if allowed.box is not None:
        found[int(rng.integers(width))] = allowed.box[int(rng.integers(2))]
        return found
    if allowed.bound is None and rng.random() < _CODED:
        found[int(rng.integers(width))] = rng.integers(4)
        return found
    features = found[:width] + rng.choice((0.05, 0.3, 1.0)) * (allowed.bound or 1.0) * rng.standard_normal(width)
    length, before = float(np.linalg.norm(features)), float(np.linalg.norm(row[:width]))
    size = allowed.bound if allowed.bound is not None else before * rng.choice((0.5, 1.0, 2.0)) or 1.0
    found[:width] = features * (size / max(length, 1e-300) * SHRINK)
    return found


def _unit(vector: Array, rng: Rng) -> Array:
    """Of length one; any direction for the zero vector."""
    length = float(np.linalg.norm(vector))
    if length <= 1e-300:
        vector = rng.standard_normal(vector.size)
        length = float(np.linalg.norm(vector))
    return np.asarray(vector / length)
