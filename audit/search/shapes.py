"""Shapes that worst pairs have, which small changes hardly come upon.

Opposite rows; rows across each other; two rows that are mirror images, at an angle to what they share; and with these a
first released value that leads far away, and small ones after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from math import sqrt

import numpy as np

from dpassay.audit.lockstep.script import Choice, Script
from dpassay.reference.space import Sizes
from dpassay.reference.types import Array

from .moves import SHRINK, Example, Terrain, opposite
from .smaller import resized

_BEYOND = 0.01  # of a landmark
_TURNS = (0.2, -0.2, 0.6, -0.6)  # radians by which both rows are turned


def shapes(one: Example, on: Terrain) -> Iterator[Example]:
    """What worst pairs often look like, with the values of this example: tried before anything by chance."""
    if on.space.rows.box is not None or on.space.relation == "add-remove":
        return
    one = replace(one, data=resized(on.space, one.data, _widest(one.data.sizes, on.combinations), one.data.target))
    _, here, there, _ = one.parts
    width = len(here) - bool(on.space.rows.labels)
    if width == 0:
        return
    size = on.space.rows.bound or max(float(np.linalg.norm(here[:width])), float(np.linalg.norm(there[:width])), 1.0)
    axes = np.eye(width) * size

    def pair(rows: tuple[Array, Array], like: Example = one) -> Example:
        return like.with_pair(*(np.append(row, here[width:]) for row in rows))

    if np.any(here[:width]):
        yield one.with_pair(here, opposite(on.space, here, there))
    if width > 1:
        yield pair((axes[-1], axes[-2]))
        for sign in (1, -1):
            for label in sorted(on.vectors & set(one.script.values)):
                far = replace(one, script=_far_first(one, label, on, sign > 0))
                yield pair(_tilted(axes[-1], sign * axes[0], 0.04), far)
            yield from (pair(_tilted(axes[-1], sign * axes[0], angle)) for angle in (0.2, 0.5))
        longest = replace(one, data=resized(on.space, one.data, _longest(one.data.sizes, on.combinations), 0))
        for label in sorted(on.vectors & set(one.script.values)):
            far = replace(longest, script=_far_all_along(longest, label))
            yield from (pair(_tilted(axes[-1], sign * axes[0], 0.06), far) for sign in (1, -1))
    yield pair((axes[-1], -axes[-1]))
    if width > 1:
        for near in _nearby(one, on):
            for sign in (-1, 1):
                row = (axes[0] + sign * axes[width // 2]) / sqrt(2) * SHRINK
                yield pair((row, -row), near)
        yield from (one.with_pair(*(_turned(row, width, angle) for row in (here, there))) for angle in _TURNS)


def _nearby(one: Example, on: Terrain) -> Iterator[Example]:
    """These sizes, and those that differ in one that is no number of records or columns; the others silent."""
    now = one.data.sizes
    for sizes in on.combinations:
        kept = all(sizes[name] == now[name] for name in ("n", "d") if name in now)
        if kept and sum(sizes[name] != value for name, value in now.items()) <= 1:
            near = replace(one, data=resized(on.space, one.data, sizes, one.data.target))
            rows, here, _, target = near.parts
            rows[:, : len(here) - bool(on.space.rows.labels)] = 0.0
            rows[target] = here
            yield near.with_rows(rows)


def _widest(now: Sizes, combinations: Sequence[Sizes]) -> Sizes:
    """The largest d that goes with the other sizes."""
    alike = [new for new in combinations if all(new[name] == value for name, value in now.items() if name != "d")]
    return max(alike, key=lambda new: new.get("d", 0), default=now)


def _longest(now: Sizes, combinations: Sequence[Sizes]) -> Sizes:
    """The largest sizes of all, with the same d: where each step is short, many lead far away."""
    alike = [new for new in combinations if new.get("d") == now.get("d")]
    return max(alike, key=lambda new: sum(new.values()), default=now)


def _turned(row: Array, width: int, angle: float) -> Array:
    """A row turned in the plane of the first and the last axis."""
    found, plane = row.copy(), [0, width - 1]
    (first, last), (cosine, sine) = row[plane], (np.cos(angle), np.sin(angle))
    found[plane] = np.array([cosine * first - sine * last, sine * first + cosine * last]) * SHRINK
    return found


def _tilted(apart: Array, common: Array, angle: float) -> tuple[Array, Array]:
    along, aside = np.cos(angle) * apart * SHRINK, np.sin(angle) * common * SHRINK
    return aside + along, aside - along


def _far_all_along(one: Example, label: str) -> Script:
    """Every value of this label far along the first axis."""
    values = {**one.script.values, label: Choice("huge", along="axis")}
    return replace(one.script, values=values, exceptions={})


def _far_first(one: Example, first: str, on: Terrain, small: bool) -> Script:
    """The first value of one label far along the first axis; all that have a norm, and come later, along the last.

    ``small``: a single number is beyond its last landmark (then a run may be longer), and what was huge all along, or
    came by chance, just beyond it: beside a point far away that is a small step. What came by chance or opposite to the
    query may be of either sign; the negative one is tried, since the other leads to the same place more often.
    """
    script, marks = one.script, on.marks(one.data)
    values = dict(script.values)
    exceptions = {} if small else {label: dict(found) for label, found in script.exceptions.items()}
    exceptions.setdefault(first, {})[0] = Choice("huge", along="axis")
    for label, choice in script.values.items():
        last = max(marks.get(label, (0.0,)))
        size = last + _BEYOND * abs(last)
        if small and last and label not in on.vectors:
            values[label] = Choice("norm", size=size, along="axis")
        elif small and last and choice.how in ("huge", "drawn", "opposite", "repeat"):
            values[label] = Choice("norm", size=size if choice.how == "huge" else -size, along="last")
        elif choice.how in ("norm", "huge"):
            values[label] = replace(choice, along="last")
    return replace(script, values=values, exceptions=exceptions)
