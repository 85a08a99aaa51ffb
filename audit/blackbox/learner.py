"""Learned scores: fitted on one part of the training outputs, given an event on another, judged elsewhere.

Trees on the best columns, and the odds of histograms added up: each of them sees bugs of the zoo, or of wide outputs,
that nothing else sees. Everything is fitted on the training split only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.evidence.events import Event, best_event
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.guarantee import Guarantee

from .screen import CHOSEN, SPREAD, AddedOdds, Found, all_of, named, screen
from .table import Column, Origin

Score = Callable[[Array], Array]
ROWS_CAP = 30_000  # a side, for trees
FIT_SHARE = 0.5  # of the training tables; the rest chooses the best
COLUMNS, BEST_COLUMNS = 2, 6  # best entries of the outputs, and best of all columns, that are scores by themselves
BINS = 16  # of the histograms whose odds are added
REMEMBERED = 4  # training and test part of both sides
LARGEST_KEPT = 20_000_000  # entries of an answer that is kept


@dataclass
class Candidate:
    """A score function with a name, and the event that promised most."""

    name: str
    score: Score
    event: Event
    column: Column | None = None  # the one column (or plain sum or difference of columns) that it is about
    value: float | None = None  # the score is 1 where the column is equal to this, else 0


# -- features: the columns that were chosen, and low-order bits --------------------------------------------------------
def lowest_bit(values: Array) -> Array:
    """log2 of the lowest set bit of each float: the grid it lies on (0 for 0, NaN and infinities)."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    low = np.log2((significand & -significand).astype(np.float64))
    usable = np.isfinite(values) & (values != 0) & (exponent > 0)
    return np.where(usable, exponent - 1075 + low, 0.0)


@dataclass
class Features:
    """The columns that a learner sees: all raw ones if they are few, and those that looked best on their own."""

    chosen: list[Found]
    bits: bool

    @staticmethod
    def fit(screened: list[Found], width: int, low_bits: bool) -> Features:
        """From the screened columns; `low_bits` adds the grid each float lies on."""
        raw = [one for one in screened if one.family.one is not None and one.value is None]
        plain = [one for one in raw if one.column < width][: CHOSEN if width > CHOSEN else None]
        taken = set(plain)
        best = [one for one in screened if one not in taken]
        differ = sorted(best, key=lambda one: -one.difference)[: CHOSEN // 2]
        return Features([*plain, *dict.fromkeys([*best[: CHOSEN // 2], *differ])][: 3 * CHOSEN], low_bits)

    def transform(self, table: Array) -> Array:
        """The feature matrix, without NaN."""
        made = all_of(self.chosen, table)
        if self.bits:
            bits = [lowest_bit(table[:, j])[:, None] for j in range(min(table.shape[1], CHOSEN))]
            made = np.concatenate([made, *bits], axis=1)
        return made if made.shape[1] else np.zeros((len(table), 1))


# -- learners ----------------------------------------------------------------------------------------------------------
def boosting(x: Array, y: Indices, rng: np.random.Generator) -> Score:
    """Trees on all columns."""
    from sklearn.ensemble import HistGradientBoostingClassifier  # slow to import, and not needed for a number

    model = HistGradientBoostingClassifier(
        max_iter=60,
        max_leaf_nodes=15,
        learning_rate=0.15,
        min_samples_leaf=max(5, len(y) // 2000),
        early_stopping=False,
        random_state=int(rng.integers(2**31)),
    ).fit(x, y)
    return lambda z: np.asarray(model.decision_function(z))


class Remembered:
    """A function of tables that knows its last answers: events, bets and pictures ask for the same scores.

    Tables are not changed in between: they are told apart by identity.
    """

    def __init__(self, function: Callable[[Array], Array]):
        self._function = function
        self._known: list[tuple[Array, Array]] = []

    def __call__(self, table: Array) -> Array:
        """The function's answer."""
        for known, answer in self._known:
            if known is table:
                return answer
        answer = self._function(table)
        if answer.size <= LARGEST_KEPT:
            self._known = [(table, answer), *self._known][:REMEMBERED]
        return answer


def _candidates(
    p: Array, q: Array, claim: Guarantee, titles: Sequence[Column], rng: np.random.Generator, low_bits: bool
) -> tuple[list[tuple[str, Score]], list[tuple[Column, Score, float | None]]]:
    """Learned scores, from richest to plainest, and single columns with the value that they are held against.

    A single number needs no trees: its histogram says as much.
    """
    screened, width = screen(p, q, claim, titles), p.shape[1]
    found: list[tuple[str, Score]] = [] if screened else [("nothing", lambda t: np.zeros(len(t)))]
    if width > 1 or low_bits:
        features = Features.fit(screened, width, low_bits)
        few_p, few_q = features.transform(p[:ROWS_CAP]), features.transform(q[:ROWS_CAP])
        trees = boosting(np.concatenate([few_p, few_q]), np.repeat([0, 1], [len(few_p), len(few_q)]), rng)
        found += [("boosting", Remembered(lambda t: trees(features.transform(t))))]
    raw = {one.column: one for one in screened if one.family.one is not None and one.column < width}
    differ = sorted(raw, key=lambda j: -raw[j].difference)[:SPREAD]
    if differ:
        found += [(f"histograms of {BINS} bins", AddedOdds.fit(p, q, differ, BINS).score)]
    entries = {one.base: replace(one, value=None) for one in screened if one.base.origin is Origin.VALUE}
    plain = list(entries)[:COLUMNS]
    best = [one for one in screened if one.value is not None or one.base not in plain][:BEST_COLUMNS]
    return found, [(one.base, one.of, one.value) for one in (*(entries[base] for base in plain), *best)]


def learn_scores(
    p: Array,
    q: Array,
    claim: Guarantee,
    rng: np.random.Generator,
    low_bits: bool = False,
    columns: Sequence[Column] | None = None,
) -> list[Candidate]:
    """Fit on half of the training tables; each score's event is the one that exceeds `claim` most on the rest.

    The event of a column, which learns nothing, is chosen on both halves. What an event promises is counted on the
    second one. Scores and events are fixed before the test data are seen.
    """
    titles = tuple(columns) if columns is not None else tuple(Column(f"column {j}") for j in range(p.shape[1]))
    cut_p, cut_q = (max(1, int(FIT_SHARE * len(side))) for side in (p, q))
    learned, single = _candidates(p[:cut_p], q[:cut_q], claim, titles, rng, low_bits)
    held = (p[cut_p:], q[cut_q:]) if min(len(p) - cut_p, len(q) - cut_q) > 0 else (p, q)
    found: list[tuple[str, Score, Column | None, float | None]] = [(name, score, None, None) for name, score in learned]
    found += [(named(base, value), score, base, value) for base, score, value in single]

    def candidate(name: str, plain: Score, column: Column | None, value: float | None) -> Candidate:
        score = Remembered(plain)
        scores = score(held[0]), score(held[1])
        event = best_event(*scores if column is None else (plain(p), plain(q)), claim)
        return Candidate(name, score, event.promised(*scores), column, value)

    return [candidate(*one) for one in found]
