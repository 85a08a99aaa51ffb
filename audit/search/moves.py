"""Changes of an example on the way uphill: of a row, of both, of the others, of the sizes, of the target, of a value.

Each takes an example and returns another one of the same space.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.lockstep.script import ALONG, Choice, Script
from dpassay.reference.space import Sizes, Space
from dpassay.reference.types import Array

from .ground import Data, Landmarks
from .smaller import resized

SHRINK = 1 - 2.0**-50  # a row at the bound must not be longer than it by a rounding
_ANGLES = (0.05, 0.2, 0.4, 0.6, 0.8)  # radians between a row and the direction in which the two differ
_LONGER = (0.1, 0.5, 2.0, 10.0)  # times as long, where no bound says how long
Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Example:
    """What is changed."""

    data: Data
    script: Script

    @property
    def parts(self) -> tuple[Array, Array, Array, int]:
        """A copy of the rows, both rows of the target, and its place."""
        data = self.data
        assert data.rows is not None and data.there is not None
        return data.rows.copy(), data.rows[data.target].copy(), data.there.copy(), data.target

    def with_pair(self, here: Array, there: Array) -> Example:
        """Other rows of the target."""
        rows, _, _, target = self.parts
        rows[target] = here
        return replace(self, data=Data(self.data.sizes, rows, there, target))

    def with_rows(self, rows: Array, target: int | None = None) -> Example:
        """Other rows, the target perhaps elsewhere."""
        _, _, there, before = self.parts
        return replace(self, data=Data(self.data.sizes, rows, there, before if target is None else target))


@dataclass(frozen=True, eq=False)
class Terrain:
    """Where the way leads uphill.

    Args:
        marks: the landmarks of the schedule for these data.
        vectors: labels of releases of more than one number.
    """

    space: Space
    combinations: Sequence[Sizes]
    marks: Callable[[Data], Landmarks]
    vectors: Set[str]


Move = Callable[[Example, Terrain, Rng], Example]


def one_row(one: Example, on: Terrain, rng: Rng) -> Example:
    """The row of one side moves a little, or far."""
    _, here, there, _ = one.parts
    if on.space.relation == "add-remove":  # the other side is "not there" and stays so
        gone = on.space.absent is not None and np.array_equal(here, np.broadcast_to(on.space.absent, here.shape))
        side = int(gone)
    else:
        side = int(rng.integers(2))
    pair = [here, there]
    pair[side] = moved(on.space, pair[side], rng)
    return one.with_pair(*pair)


def both_rows(one: Example, on: Terrain, rng: Rng) -> Example:
    """Both move; half of the time to opposite ends."""
    if on.space.relation == "add-remove":
        return one_row(one, on, rng)
    _, here, there, _ = one.parts
    here = moved(on.space, here, rng)
    there = opposite(on.space, here, there) if rng.random() < 0.5 else moved(on.space, there, rng)
    return one.with_pair(here, there)


def mirror(one: Example, on: Terrain, rng: Rng) -> Example:
    """D' has the row of D with one coordinate turned round."""
    if on.space.relation == "add-remove":
        return one_row(one, on, rng)
    _, here, _, _ = one.parts
    there, width = here.copy(), len(here) - bool(on.space.rows.labels)
    if width and on.space.rows.box is None:
        there[int(rng.integers(width))] *= -1
    return one.with_pair(here, there)


def tilt(one: Example, on: Terrain, rng: Rng) -> Example:
    """Two rows of one length and label: c + e on D and c - e on D', c across e, at another angle or in another plane.

    Where what a row does depends on its part along c (a margin) and shows along e, this is the shape of the worst pair.
    """
    if on.space.relation == "add-remove":
        return one_row(one, on, rng)
    _, here, there, _ = one.parts
    width = len(here) - bool(on.space.rows.labels)
    if on.space.rows.box is not None or width < 2:
        return one_row(one, on, rng)
    size = on.space.rows.bound or max(float(np.linalg.norm(here[:width])), float(np.linalg.norm(there[:width])), 1.0)
    apart = _unit(here[:width] - there[:width], rng)
    common = here[:width] + there[:width]
    if rng.random() < 0.5 or not np.any(common):
        plane = rng.permutation(width)[:2] if rng.random() < 0.7 else None
        apart, common = (np.eye(width)[plane] * rng.choice((-1.0, 1.0), size=(2, 1))) if plane is not None else (
            apart, rng.standard_normal(width))  # fmt: skip
    common = _unit(common - (common @ apart) * apart, rng)
    common = _unit(common - (common @ apart) * apart, rng) * rng.choice((-1.0, 1.0))
    angle = float(rng.choice(_ANGLES))
    parts = np.cos(angle) * apart, np.sin(angle) * common
    sides = [size * SHRINK * (sign * parts[0] + parts[1]) for sign in (1.0, -1.0)]
    return one.with_pair(*(np.concatenate([side, here[width:]]) for side in sides))


def across(one: Example, on: Terrain, rng: Rng) -> Example:
    """Two rows along two axes: neither shows in what the other does."""
    if on.space.relation == "add-remove":
        return one_row(one, on, rng)
    _, here, there, _ = one.parts
    width = len(here) - bool(on.space.rows.labels)
    if on.space.rows.box is not None or width < 2:
        return both_rows(one, on, rng)
    size, axes = on.space.rows.bound or float(np.linalg.norm(here[:width])) or 1.0, rng.permutation(width)[:2]
    here[:width], there[:width] = np.eye(width)[axes] * size * rng.choice((-1.0, 1.0), size=(2, 1))
    return one.with_pair(here, there)


def all_others(one: Example, on: Terrain, rng: Rng) -> Example:
    """All other records alike: near one of them, or the opposite of what the target's two rows share."""
    rows, here, there, target = one.parts
    others = np.arange(len(rows)) != target
    width = len(here) - bool(on.space.rows.labels)
    chosen = moved(on.space, rows[int(rng.integers(len(rows)))], rng)
    common = here[:width] + there[:width]
    if on.space.rows.box is None and on.space.rows.bound is not None and rng.random() < 0.3 and np.any(common):
        chosen[:width] = -_unit(common, rng) * on.space.rows.bound * SHRINK
    rows[others] = chosen
    return one.with_rows(rows)


def one_other(one: Example, on: Terrain, rng: Rng) -> Example:
    """Another record moves, or becomes a copy of one of the target's rows, longer or shorter where lengths are free."""
    rows, here, there, target = one.parts
    if len(rows) < 2:
        return both_rows(one, on, rng)
    place = _another(len(rows), target, rng)
    if rng.random() < 0.5:
        rows[place] = moved(on.space, rows[place], rng)
        return one.with_rows(rows)
    width = len(here) - bool(on.space.rows.labels)
    rows[place] = here if rng.random() < 0.5 else there
    if on.space.rows.box is None and on.space.rows.bound is None:
        rows[place, :width] *= rng.choice(_LONGER)
    return one.with_rows(rows)


def place(one: Example, on: Terrain, rng: Rng) -> Example:
    """The target changes places with another record."""
    rows, here, _, target = one.parts
    if len(rows) < 2:
        return one_row(one, on, rng)
    new = _another(len(rows), target, rng)
    rows[target], rows[new] = rows[new].copy(), here
    return one.with_rows(rows, new)


def sizes(one: Example, on: Terrain, rng: Rng) -> Example:
    """Other sizes, mostly one of them; the rows as far as they fit."""
    now = one.data.sizes
    near = [new for new in on.combinations if sum(new[name] != value for name, value in now.items()) == 1]
    among = near if near and rng.random() < 0.7 else [new for new in on.combinations if dict(new) != dict(now)]
    if not among:
        return one_row(one, on, rng)
    return replace(one, data=resized(on.space, one.data, among[int(rng.integers(len(among)))], one.data.target))


def value(one: Example, on: Terrain, rng: Rng) -> Example:
    """A norm half or twice as large, or in another direction; of another label a value of another kind."""
    script = one.script
    chosen = [label for label, choice in script.values.items() if choice.how != "index"]
    if not chosen:
        return one_row(one, on, rng)
    label = chosen[int(rng.integers(len(chosen)))]
    choice = script.values[label]
    along = tuple(ALONG)[int(rng.integers(len(ALONG)))]
    size = choice.size * float(rng.choice((0.5, 0.9, 1.1, 2.0)))
    if choice.how not in ("norm", "huge"):
        kinds = (Choice("query"), Choice("zero"), Choice("drawn"), Choice("huge", along=along))
        other = kinds[int(rng.integers(len(kinds)))]
    else:
        other = replace(choice, along=along) if rng.random() < 0.5 else replace(choice, size=size)
    return replace(one, script=replace(script, values={**script.values, label: other}))


def first_value(one: Example, on: Terrain, rng: Rng) -> Example:
    """The first value under a label leads far away, and those after it stay; or it is as the others again."""
    script = one.script
    chosen = [label for label, choice in script.values.items() if choice.how != "index"]
    if not chosen:
        return one_row(one, on, rng)
    label = chosen[int(rng.integers(len(chosen)))]
    exceptions = {name: dict(found) for name, found in script.exceptions.items()}
    if label in exceptions and rng.random() < 0.3:
        del exceptions[label]
    else:
        along = tuple(ALONG)[int(rng.integers(len(ALONG)))]
        exceptions.setdefault(label, {})[0] = Choice("huge", along=along)
    return replace(one, script=replace(script, exceptions=exceptions))


MOVES: tuple[Move, ...] = (
    *(one_row, both_rows, both_rows, both_rows, mirror, tilt, across, all_others, one_other),
    *(place, sizes, value, first_value),
)


# rows ----------------------------------------------------------------------------------------------------------------


def moved(space: Space, row: Array, rng: Rng) -> Array:
    """A row nearby, at the bound or as long as before; in a box, one coordinate at an end of it."""
    found, allowed = row.copy(), space.rows
    width = len(row) - bool(allowed.labels)
    if width == 0:
        return found
    if allowed.box is not None:
        found[int(rng.integers(width))] = allowed.box[int(rng.integers(2))]
        return found
    features = found[:width] + rng.choice((0.05, 0.3, 1.0)) * (allowed.bound or 1.0) * rng.standard_normal(width)
    length, before = float(np.linalg.norm(features)), float(np.linalg.norm(row[:width]))
    size = allowed.bound if allowed.bound is not None else before * rng.choice((0.5, 1.0, 2.0)) or 1.0
    found[:width] = features * (size / max(length, 1e-300) * SHRINK)
    return found


def opposite(space: Space, here: Array, there: Array) -> Array:
    """The features of ``here`` turned round, with the label of ``there``; in a box, ``there`` as it is."""
    width = len(here) - bool(space.rows.labels)
    return there if space.rows.box is not None else np.append(-here[:width], there[width:])


def _another(count: int, target: int, rng: Rng) -> int:
    """The place of a record that is not the target."""
    found = int(rng.integers(count - 1))
    return found + (found >= target)


def _unit(vector: Array, rng: Rng) -> Array:
    """Of length one; any direction for the zero vector."""
    length = float(np.linalg.norm(vector))
    if length <= 1e-300:
        vector = rng.standard_normal(vector.size)
        length = float(np.linalg.norm(vector))
    return np.asarray(vector / length)
