"""Hypothesis strategies: data sets of a space, neighbouring rows, the target's position, and chosen released values.

Everything is drawn from short lists of simple things, simplest first, so that a failure shrinks to data that a person
can read: few records, zero rows, rows along an axis.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st

from dpassay.audit.lockstep.script import ALONG, DRAWN, Choice, Script
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.law import Law
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.transcript import Draw
from dpassay.reference.types import Array

_DRAWS = 16  # secret draws for which the target's participation is chosen one by one
_OCCURRENCES = 8  # releases under one label for which a value of their own may be chosen
_SHARES = (1.0, 1.0, 1.0, 0.5, 1e-6)  # lengths of a row, as shares of the bound
_LENGTHS = (1.0, 2.0, 0.5, 10.0, 1e-6, 1e3, 1e6)  # lengths where there is no bound
_ENTRIES = (0, 1, -1, 2, -2, 3, -3)  # of a random direction


class Neighbours(NamedTuple):
    """Rows of D, what stands on D' at the target's place, and that place."""

    rows: Array
    there: Array
    target: int


@st.composite
def neighbours(draw: Any, space: Space, sizes: Sizes) -> Neighbours:
    """Two neighbouring matrices of rows: the other records equal, opposite, silent, or each its own."""
    n, width = sizes["n"], space.rows.columns(sizes) - bool(space.rows.labels)
    row = rows(space.rows, width)
    here, there = draw(row), draw(row)
    relation = draw(st.sampled_from(("any", "opposite", "opposite", "zero", "relabelled", "mirrored")))
    if relation in ("opposite", "zero") and space.rows.box is None:
        factor = {"opposite": -1.0, "zero": 0.0}[relation]
        there = np.append(factor * here[:width], there[width:])
    elif relation == "mirrored" and space.rows.box is None:  # one coordinate turned round, the label kept
        there = here.copy()
        there[draw(st.integers(0, width - 1))] *= -1
    elif relation == "relabelled" and space.rows.labels:
        there = np.append(here[:width], there[width:])
    if np.array_equal(here, there):
        there = _another(space.rows, here, width)
    others = draw(st.lists(row, min_size=1, max_size=3)) if n > 1 else [here]
    matrix = np.array([others[i % len(others)] for i in range(n)])
    copies = draw(st.sampled_from(("own", "of the target", "opposite to the target")))
    if copies != "own" and space.rows.box is None:
        matrix[:, :width] = here[:width] if copies == "of the target" else -here[:width]
    target = draw(st.integers(0, n - 1))
    matrix[target] = here
    if space.absent is not None and space.relation == "add-remove":
        gone = np.array(np.broadcast_to(space.absent, here.shape), dtype=float)
        if draw(st.booleans()):
            matrix[target] = gone
        else:
            there = gone
    return Neighbours(matrix, there, target)


def _another(allowed: Rows, row: Array, width: int) -> Array:
    """A row that is not this one: opposite, or along the first axis where there is nothing to turn round."""
    other = row.copy()
    if allowed.box is not None:
        low, high = allowed.box
        other[:width] = high if row[0] < high else low
    elif np.any(row[:width]):
        other[:width] *= -1
    elif width:
        other[0] = allowed.bound or 1.0
    return other


@st.composite
def rows(draw: Any, allowed: Rows, width: int) -> Array:
    """One record: zero, along an axis, a diagonal or any simple direction; of no, tiny, some, or all allowed length."""
    label = [draw(st.sampled_from(allowed.labels))] if allowed.labels else []
    if allowed.box is not None:
        return np.array(draw(_in_box(allowed.box, width)) + label, dtype=float)
    kind = draw(st.sampled_from(("zero", "axis", "axis", "diagonal", "any")))
    features = np.zeros(width)
    if kind == "axis":
        features[draw(st.integers(0, width - 1))] = draw(st.sampled_from((1.0, -1.0)))
    elif kind == "diagonal":
        features[:] = draw(st.sampled_from((1.0, -1.0)))
    elif kind == "any":
        features[:] = draw(st.lists(st.sampled_from(_ENTRIES), min_size=width, max_size=width))
    length = float(np.linalg.norm(features))
    if length > 0:
        if allowed.bound is None:
            size = draw(st.sampled_from(_LENGTHS))
        else:
            size = draw(st.sampled_from(_SHARES)) * allowed.bound
        features *= size / length
        while allowed.bound is not None and np.linalg.norm(features) > allowed.bound:  # by a rounding
            features *= 1 - 2.0**-52
    return np.append(features, label)


def _in_box(box: tuple[float, float], width: int) -> st.SearchStrategy[list[float]]:
    low, high = box
    values = [low, high, (low + high) / 2, low + (high - low) / 8, *([0.0] if low < 0 < high else [])]
    mixed = st.lists(st.sampled_from(values), min_size=width, max_size=width)
    return st.one_of(st.sampled_from(values).map(lambda value: [value] * width), mixed)


class Drawing:
    """A dictation that is drawn from Hypothesis as the run asks for values; what was drawn is a :class:`Script`.

    One choice for all releases under a label, and up to two exceptions, so that a long run costs no more entropy than a
    short one.
    """

    def __init__(self, draw: Any, landmarks: Mapping[str, Sequence[float]]):
        self._draw, self._landmarks = draw, landmarks
        self._values: dict[str, Choice] = {}
        self._exceptions: dict[str, dict[int, Choice]] = {}
        self._participation: dict[int, bool] = {}
        self._beyond: bool | None = None

    def choice(self, label: str, occurrence: int, law: Law) -> Choice:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        if label not in self._values:
            options = choices(law, self._landmarks.get(label, ()))
            self._values[label] = self._draw(options)
            others = st.lists(st.tuples(st.integers(0, _OCCURRENCES - 1), options), max_size=2)
            self._exceptions[label] = dict(self._draw(others))
        return self._exceptions[label].get(occurrence, self._values[label])

    def takes_part(self, draw: Draw) -> bool:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        if draw.number >= _DRAWS:
            if self._beyond is None:
                self._beyond = not self._draw(st.booleans())
            return self._beyond
        if draw.number not in self._participation:
            self._participation[draw.number] = not self._draw(st.booleans())  # simplest: it takes part
        return self._participation[draw.number]

    def script(self) -> Script:
        """What was drawn."""
        count = max(self._participation, default=-1) + 1
        part = tuple(self._participation.get(number, True) for number in range(count))
        exceptions = {label: found for label, found in self._exceptions.items() if found}
        return Script(dict(self._values), exceptions, part, True if self._beyond is None else self._beyond)


class Same:
    """The same choice for every release; the target takes part in everything."""

    def __init__(self, choice: Choice):
        self._choice = choice
        self._labels: dict[str, Choice] = {}

    def choice(self, label: str, occurrence: int, law: Any) -> Choice:
        """See Dictation."""
        return self._labels.setdefault(label, self._choice)

    def takes_part(self, draw: Any) -> bool:
        """See Dictation."""
        return True

    def script(self) -> Script:
        """What was asked for, as data."""
        return Script(dict(self._labels))


def choices(law: Law, landmarks: Sequence[float]) -> st.SearchStrategy[Choice]:
    """Values worth trying for a release with this law: at and next to the landmarks, and in general."""
    if isinstance(law, Categorical | AboveThreshold):
        count = len(law.support) if isinstance(law, Categorical) else len(law.all_queries()) + 1
        return st.sampled_from([*(Choice("index", index=i) for i in (*range(min(count - 1, 12)), -1)), DRAWN])
    scale = getattr(law, "std", getattr(law, "scale", 0.0))
    if not scale > 0:
        return st.just(Choice("query"))
    general = [Choice("query"), Choice("zero"), DRAWN, Choice("opposite"), Choice("repeat"), DRAWN]
    general += [Choice("huge", along=along) for along in ALONG]
    near = [
        size
        for mark in landmarks
        for size in (float(mark), math.nextafter(mark, -math.inf), math.nextafter(mark, math.inf), mark / 2, 2 * mark)
        if abs(size) < math.inf
    ]
    sizes = _norms(scale * 10.0**power for power in (-3, -1, 0, 1, 3))
    return st.one_of(st.sampled_from(general), st.sampled_from(_norms(near) or sizes), st.sampled_from(sizes))


def _norms(sizes: Iterable[float]) -> list[Choice]:
    """Along each direction, and against the query."""
    found = [Choice("norm", size=size, along=along) for size in sizes for along in ALONG]
    return found + [Choice("norm", size=-one.size) for one in found if one.along == "query" and one.size > 0]
