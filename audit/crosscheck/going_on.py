"""The reference goes on with something else than what was released: its own query, both together, an earlier value.

No single line of an algorithm does so in its first step alone, or adds the query to what is released; a slip in another
language does. So this is tried on the tape: it asks for the same, and hands back something else.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.law import Law, query_of
from dpassay.reference.types import Array

from .copies import run_copied
from .encode import encode
from .families import every_series, series
from .kinds import Kind
from .recording import VectorTape, events_of
from .rounding import Run

LABELS = 6  # of releases that are tried one by one
Value = Callable[[Array, Array, Array], Array]  # of released value, query, and the value of this label before


@dataclass(frozen=True)
class Way:
    """What is handed back in place of a released value, and at which releases of a label (numbered from 0)."""

    kind: Kind
    name: str
    value: Value


WAYS = (
    Way(Kind.UN_NOISED, "the query", lambda value, query, before: query),
    Way(Kind.UN_NOISED, "the query added to the released value", lambda value, query, before: value + query),
    Way(Kind.UN_NOISED, "the mean of query and released value", lambda value, query, before: (value + query) / 2),
    Way(Kind.INDEX_SHIFT, "the value released before", lambda value, query, before: before),
)
PARTS = ("the released", "nothing", "the query")


def _put(above: str, diagonal: str, below: str) -> Way:
    """A symmetric matrix, of which the upper triangle is released, put together from other parts."""

    def value(released: Array, query: Array, before: Array) -> Array:
        parts = dict(zip(PARTS, (released, np.zeros_like(released), query), strict=True))
        lower, upper = np.tril(parts[below], -1), np.triu(parts[above], 1)
        return np.asarray(upper + lower + _diagonal(parts[diagonal]))

    kind = Kind.UN_NOISED if "the query" in (above, diagonal, below) else Kind.MISSING_TERM
    return Way(kind, f"{above} above the diagonal, {diagonal} on it, {below} below it", value)


MATRICES = (  # what is easiest done comes first
    Way(Kind.INDEX_SHIFT, "the entries filled in column by column", lambda value, query, before: _columns(value)),
    *(_put(*one) for one in product(PARTS, repeat=3) if len(set(one)) > 1),
    Way(Kind.UN_NOISED, "the mean of both beside the diagonal", lambda value, query, before: _half(value, query)),
    Way(Kind.FACTOR, "the diagonal twice", lambda value, query, before: value + _diagonal(value)),
    Way(Kind.FACTOR, "what lies off the diagonal twice", lambda value, query, before: 2 * value - _diagonal(value)),
    Way(Kind.FACTOR, "half of what lies off the diagonal", lambda value, query, before: (value + _diagonal(value)) / 2),
    Way(Kind.FACTOR, "the matrix twice", lambda value, query, before: 2 * value),
)
ABOVE = Way(Kind.UN_NOISED, "the first query that is above the threshold, without noise", lambda value, query, _: value)
CHOICES = (  # of a search that releases which query is above its threshold
    ABOVE,
    Way(Kind.INDEX_SHIFT, "the choice after the released one", lambda value, query, _: value + 1),
    Way(Kind.INDEX_SHIFT, "the choice before the released one", lambda value, query, _: value - 1),
)
Place = Callable[[int, int], bool]  # of the release's number, and of how many there are
PLACES: dict[str, Place] = {
    "": lambda number, count: True,
    " the first time": lambda number, count: number == 0,
    " but the first time": lambda number, count: number > 0,
    " but the last time": lambda number, count: number < count - 1,
    " every other time": lambda number, count: number % 2 == 1,
}


class _OtherValues(VectorTape):
    def __init__(self, vector: Mapping[str, Any], way: Way, place: Place, label: str):
        events = vector["events"]
        super().__init__(events, on=bool(vector.get("further")))
        self._way, self._where, self._only = way, place, label
        self._count: Counter[str] = Counter()
        self._every = Counter(series(one["label"]) for one in events if one["event"] == "release")
        self._before: dict[str, Array] = {}
        self.shown: dict[int, int] = {}  # by step: how many queries were needed

    def _place(self, label: str) -> bool:
        """Is this release of a series one of those? It is counted."""
        number = self._count[series(label)]
        self._count[series(label)] += 1
        return self._only in ("", series(label)) and self._where(number, self._every[series(label)])

    def symmetric_gaussian(self, label: str, query: Array, **how: Any) -> Array:
        """A matrix that is put together otherwise."""
        released = super().symmetric_gaussian(label, query, **how)
        if self._way not in MATRICES or not self._place(label):
            return released
        return self._way.value(released, query, released)

    def _released(self, label: str, law: Law, sensitivity: float | None, draws: tuple[int, ...]) -> Any:
        value = super()._released(label, law, sensitivity, draws)
        if isinstance(law, AboveThreshold) and self._way in CHOICES:
            return self._chosen(law, value) if self._place(label) else value
        query = getattr(law, "query", None)
        if query is None or value is None or np.shape(value) != np.shape(query) or self._way in (*MATRICES, *CHOICES):
            return value
        before = self._before.get(series(label), np.asarray(value, dtype=float))
        self._before[series(label)] = np.asarray(value, dtype=float)
        if not self._place(label):
            return value
        found = self._way.value(np.asarray(value, dtype=float), query_of(law), before)
        return found if isinstance(value, np.ndarray) else float(found)

    def _chosen(self, law: AboveThreshold, value: int | None) -> int | None:
        """Another choice; the queries that are looked at for it are not shown."""
        self.shown[self.step] = len(law.evaluated)
        queries = law.all_queries()
        if self._way is ABOVE:
            return next((place for place, one in enumerate(queries) if one >= law.threshold), None)
        moved = None if value is None else int(self._way.value(np.asarray(value), queries, queries))
        return moved if moved is None else min(max(moved, 0), len(queries) - 1)


Going = tuple[Way, str, str]  # the way, the place's name, the label (empty: every one)


def goings_on(vector: Mapping[str, Any], others: Sequence[Mapping[str, Any]] = ()) -> Iterator[Going]:
    """Everything that is tried on a vector, the simplest first; ``others`` may release under other labels as well."""
    released = [event for event in vector["events"] if event["event"] == "release"]
    labels = every_series(event["label"] for event in released)
    choices = CHOICES if any(event["law"] == "AboveThreshold" for event in released) else ()
    releases = (event for one in (vector, *others) for event in one["events"] if event["event"] == "release")
    every = every_series(event["label"] for event in releases)
    for label in ("", *(labels[:LABELS] if len(every) > 1 else ())):
        for place in PLACES:
            for way in (*WAYS, *choices, *(() if label or place else MATRICES)):
                yield way, place, label


def _split(above: Array, below: Array) -> Array:
    return np.asarray(np.triu(above) + np.tril(below, -1))


def _half(value: Array, query: Array) -> Array:
    """Noise in one triangle alone, and then the mean of the matrix and its transpose."""
    mixed = _split(value, query)
    return (mixed + mixed.T) / 2


def _diagonal(matrix: Array) -> Array:
    return np.diag(np.diag(matrix))


def _columns(matrix: Array) -> Array:
    """The upper triangle read row by row, written column by column."""
    found, size = np.zeros_like(matrix), len(matrix)
    columns = [(j, k) for k in range(size) for j in range(k + 1)]
    for (j, k), value in zip(columns, matrix[np.triu_indices(size)], strict=True):
        found[j, k] = found[k, j] = value
    return found


def said_of(going: Going) -> str:
    """What it goes on with, in words."""
    way, place, label = going
    return f"{way.name}{place}" + (f", at {label}" if label else "")


def answers_going_on(run: Run, vector: Mapping[str, Any], going: Going) -> dict[str, Any] | None:
    """What the reference asks for then; None where it does not run."""
    way, place, label = going
    tape = _OtherValues(vector, way, PLACES[place], label)
    output: Any = None
    with np.errstate(all="ignore"):
        try:
            output = encode(run_copied(run, vector, tape), "output")
        except Exception:  # whatever other values lead to; another call than the vector's is an answer
            if not tape.diverged:
                return None
    last = [{name: tape.diverged[name] for name in ("event", "label")}] if tape.diverged else []
    events = [
        {**event, "queries": event["queries"][: tape.shown[step]]} if step in tape.shown else event
        for step, event in enumerate(events_of(tape))
    ]
    return {"output": output, "events": events + last}
