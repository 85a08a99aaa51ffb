"""Hypothesis strategies: data sets of a space, neighbouring rows, the target's position, and chosen released values.

Everything is drawn from short lists of simple things, simplest first, so that a failure shrinks to data that a person
can read: few records, zero rows, rows along an axis.

A strategy that is made anew for each example costs more than the draw: those that do not depend on the example are made
once.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from dpassay.audit.lockstep.script import ALONG, DRAWN, Choice, Script
from dpassay.reference.arrays import Array
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.law import Law
from dpassay.reference.space import Rows, Sizes, Space
from dpassay.reference.transcript import Draw

_DRAWS = 16  # secret draws for which the target's participation is chosen one by one
_OCCURRENCES = 8  # releases under one label for which a value of their own may be chosen
_SHARES = (1.0, 1.0, 1.0, 0.5, 1e-6)  # lengths of a row, as shares of the bound
_AS_DRAWN = 0.0  # entries are whole numbers then, as labels and ranks are
_LENGTHS = (1.0, _AS_DRAWN, 2.0, 0.5, 10.0, 1e-6, 1e3, 1e6)  # lengths where there is no bound
_CLOSE = (0.995, 1.005)  # of a landmark: what is private may shift a decision by a little only
_ENTRIES = (0, 1, -1, 2, -2, 3, -3)  # of a random direction

_RELATION = st.sampled_from(("any", "opposite", "opposite", "zero", "relabelled", "mirrored"))
_COPIES = st.sampled_from(("own", "of the target", "opposite to the target"))
_KIND = st.sampled_from(("zero", "axis", "axis", "diagonal", "any"))
_SIGN = st.sampled_from((1.0, -1.0))
_LENGTH, _SHARE = st.sampled_from(_LENGTHS), st.sampled_from(_SHARES)
_ENTRY, _BOOLEAN = st.sampled_from(_ENTRIES), st.booleans()


Neighbours = tuple[Array, Array, int]  # rows of D, what stands on D' at the target's place, and that place


def neighbours(space: Space, sizes: Sizes) -> st.SearchStrategy[Neighbours]:
    """Two neighbouring matrices of rows: the other records equal, opposite, silent, or each its own."""
    n, width = sizes["n"], space.rows.columns(sizes) - bool(space.rows.labels)
    row, box = rows(space.rows, width), space.rows.box
    several = st.lists(row, min_size=1, max_size=3)

    @st.composite
    def both(draw: Any) -> Neighbours:
        here, there = draw(row), draw(row)
        relation = draw(_RELATION)
        if relation in ("opposite", "zero") and box is None:
            factor = {"opposite": -1.0, "zero": 0.0}[relation]
            there = np.append(factor * here[:width], there[width:])
        elif relation == "mirrored" and box is None:  # one coordinate turned round, the label kept
            there = here.copy()
            there[draw(st.integers(0, width - 1))] *= -1
        elif relation == "relabelled" and space.rows.labels:
            there = np.append(here[:width], there[width:])
        if np.array_equal(here, there):
            there = _another(space.rows, here, width)
        others = draw(several) if n > 1 else [here]
        matrix = np.array([others[i % len(others)] for i in range(n)])
        copies = draw(_COPIES)
        if copies != "own" and box is None:
            matrix[:, :width] = here[:width] if copies == "of the target" else -here[:width]
        target = draw(st.integers(0, n - 1))
        matrix[target] = here
        if space.relation != "replace-one":
            gone = absent_row(space, len(here))
            if draw(_BOOLEAN):
                matrix[target] = gone
            else:
                there = gone
        return matrix, there, target

    return both()


def width_of(space: Space, row: Array) -> int:
    """Features of a row, without its label."""
    return len(row) - bool(space.rows.labels)


def is_absent(space: Space, row: Array) -> bool:
    """Does it say that the record is not there?"""
    gone = space.relation != "replace-one" or space.absent is not None
    return gone and np.array_equal(row, absent_row(space, len(row)), equal_nan=True)


def absent_row(space: Space, width: int) -> Array:
    """What says so; a record that is not there is not there in any width."""
    absent = space.absent if space.absent is not None else np.nan if space.removes else 0.0
    return np.array(np.broadcast_to(absent, width), dtype=float)


def times(factor: float, row: Array, space: Space) -> Array:
    """A row times a factor, as near to that as the space has it, with its label."""
    found = factor * row + 0.0 if space.rows.box is None else np.clip(factor * row, *space.rows.box)
    if space.rows.labels:
        found[-1] = row[-1]
    return found


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


def rows(allowed: Rows, width: int) -> st.SearchStrategy[Array]:
    """One record: zero, along an axis, a diagonal or any simple direction; of no, tiny, some, or all allowed length."""
    entries: st.SearchStrategy[Any] = st.lists(_ENTRY, min_size=width, max_size=width)
    boxed = None if allowed.box is None else _in_box(allowed.box, width)
    labels = st.sampled_from(allowed.labels) if allowed.labels else None

    @st.composite
    def row(draw: Any) -> Array:
        label = [draw(labels)] if labels is not None else []
        if boxed is not None:
            return np.array([*draw(boxed), *label], dtype=float)
        kind = draw(_KIND)
        features = np.zeros(width)
        if kind == "axis":
            features[draw(st.integers(0, width - 1))] = draw(_SIGN)
        elif kind == "diagonal":
            features[:] = draw(_SIGN)
        elif kind == "any":
            features[:] = draw(entries)
        length = float(np.linalg.norm(features))
        if length > 0:
            wanted = draw(_LENGTH) if allowed.bound is None else draw(_SHARE) * allowed.bound
            features *= (wanted or length) / length
            while allowed.bound is not None and np.linalg.norm(features) > allowed.bound:  # by a rounding
                features *= 1 - 2.0**-52
        return np.append(features, label)

    return row()


def _in_box(box: tuple[float, float], width: int) -> st.SearchStrategy[list[float]]:
    low, high = box
    values = [low, high, (low + high) / 2, low + (high - low) / 8, *([0.0] if low < 0 < high else [])]
    mixed = st.lists(st.sampled_from(values), min_size=width, max_size=width)
    return st.one_of(st.sampled_from(values).map(lambda value: [value] * width), mixed)


Options = tuple[st.SearchStrategy[Choice], st.SearchStrategy[list[tuple[int, Choice]]]]  # for all, and by occurrence
_GENERAL = st.sampled_from(
    [
        *(Choice("query"), Choice("zero"), DRAWN, Choice("opposite"), Choice("repeat"), DRAWN),
        *(Choice("huge", along=along) for along in ALONG),
    ]
)


class Drawing:
    """A dictation that is drawn from Hypothesis as the run asks for values; what was drawn is a :class:`Script`.

    One choice for all releases under a label, and up to two exceptions, so that a long run costs no more entropy than a
    short one.

    Args:
        same: the choice for every release, in place of all that is drawn; the target takes part in everything then.
    """

    def __init__(self, draw: Any = None, landmarks: Mapping[str, Sequence[float]] = {}, same: Choice | None = None):
        self._draw, self._landmarks, self._same = draw, landmarks, same
        self._values: dict[str, Choice] = {}
        self._exceptions: dict[str, dict[int, Choice]] = {}
        self._participation: dict[int, bool] = {}
        self._beyond: bool | None = None

    def choice(self, label: str, occurrence: int, law: Law) -> Choice:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        if self._same is not None:
            return self._values.setdefault(label, self._same)
        if label not in self._values:
            for_all, for_some = choices(law, self._landmarks.get(label, ()))
            self._values[label] = self._draw(for_all)
            self._exceptions[label] = dict(self._draw(for_some))
        return self._exceptions[label].get(occurrence, self._values[label])

    def takes_part(self, draw: Draw) -> bool:
        """See :class:`~dpassay.audit.lockstep.script.Dictation`."""
        if self._same is not None:
            return True
        if draw.number >= _DRAWS:
            if self._beyond is None:
                self._beyond = not self._draw(_BOOLEAN)
            return self._beyond
        if draw.number not in self._participation:
            self._participation[draw.number] = not self._draw(_BOOLEAN)  # simplest: it takes part
        return self._participation[draw.number]

    def script(self) -> Script:
        """What was drawn."""
        count = max(self._participation, default=-1) + 1
        part = tuple(self._participation.get(number, True) for number in range(count))
        exceptions = {label: found for label, found in self._exceptions.items() if found}
        return Script(dict(self._values), exceptions, part, True if self._beyond is None else self._beyond)


def choices(law: Law, landmarks: Sequence[float]) -> Options:
    """Values worth trying for a release with this law: at and next to the landmarks, and in general."""
    if isinstance(law, Categorical | AboveThreshold):
        return _of_outcomes(len(law.support) if isinstance(law, Categorical) else len(law.all_queries()) + 1)
    scale = float(getattr(law, "std", getattr(law, "scale", 0.0)))
    return _of_numbers(scale, tuple(map(float, landmarks))) if scale > 0 else _WITHOUT_NOISE


def _with_exceptions(options: st.SearchStrategy[Choice]) -> Options:
    return options, st.lists(st.tuples(st.integers(0, _OCCURRENCES - 1), options), max_size=2)


_WITHOUT_NOISE = _with_exceptions(st.just(Choice("query")))


@lru_cache(maxsize=64)
def _of_outcomes(count: int) -> Options:
    indices = (*range(min(count - 1, 12)), -1)
    return _with_exceptions(st.sampled_from([*(Choice("index", index=i) for i in indices), DRAWN]))


@lru_cache(maxsize=1024)
def _of_numbers(scale: float, landmarks: tuple[float, ...]) -> Options:
    near = [
        size
        for mark in landmarks
        for size in (
            *(mark, math.nextafter(mark, -math.inf), math.nextafter(mark, math.inf)),
            *(mark / 2, 2 * mark, *(mark * factor for factor in _CLOSE)),
        )
        if abs(size) < math.inf
    ]
    sizes = _norms(scale * 10.0**power for power in (-3, -1, 0, 1, 3))
    close = _norms(near) or sizes  # without landmarks the others come twice as often
    return _with_exceptions(st.one_of(_GENERAL, st.sampled_from(close), st.sampled_from(sizes)))


def _norms(sizes: Iterable[float]) -> list[Choice]:
    """Along each direction, and against the query."""
    found = [Choice("norm", size=size, along=along) for size in sizes for along in ALONG]
    return found + [Choice("norm", size=-one.size) for one in found if one.along == "query" and one.size > 0]
