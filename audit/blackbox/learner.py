"""Learned scores: fitted on one part of the training outputs, given an event on another, judged elsewhere.

Trees on the best columns, and the odds of histograms added up: each of them sees bugs of the zoo, or of wide outputs,
that nothing else sees. Everything is fitted on the training split only.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.evidence.events import Event, best_event
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.guarantee import Guarantee

from .columns import CHOSEN, Found, all_of, named, screen, tamed
from .table import Column, Origin

Score = Callable[[Array], Array]
ROWS_CAP = 30_000  # a side, for trees
FIT_SHARE = 0.5  # of the training tables; the rest chooses the best
COLUMNS, BEST_COLUMNS = 2, 6  # best entries of the outputs, and best of all columns, that are scores by themselves
SPREAD, BINS = 64, 16  # columns whose odds are added; bins of their histograms
ALIKE = 3.0  # outputs a bin, as if seen, without a difference
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


def lowest_bit(values: Array) -> Array:
    """log2 of the lowest set bit of each float: the grid it lies on (0 for 0, NaN and infinities)."""
    bits = np.ascontiguousarray(values, dtype=np.float64).view(np.int64)
    exponent = (bits >> 52) & 0x7FF
    significand = (bits & ((1 << 52) - 1)) | (1 << 52)
    low = np.log2((significand & -significand).astype(np.float64))
    usable = np.isfinite(values) & (values != 0) & (exponent > 0)
    return np.where(usable, exponent - 1075 + low, 0.0)


def features(screened: list[Found], width: int, low_bits: bool) -> Score:
    """What trees see: all raw columns if they are few, those that looked best on their own, the grid of each float."""
    raw = [one for one in screened if one.family.one is not None and one.value is None]
    plain = [one for one in raw if one.column < width][: CHOSEN if width > CHOSEN else None]
    taken = set(plain)
    best = [one for one in screened if one not in taken]
    differ = sorted(best, key=lambda one: -one.difference)[: CHOSEN // 2]
    chosen = [*plain, *dict.fromkeys([*best[: CHOSEN // 2], *differ])][: 3 * CHOSEN]

    def made(table: Array) -> Array:
        found = all_of(chosen, table)
        if low_bits:
            bits = [lowest_bit(table[:, j])[:, None] for j in range(min(table.shape[1], CHOSEN))]
            found = np.concatenate([found, *bits], axis=1)
        return found if found.shape[1] else np.zeros((len(table), 1))

    return made


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


def added_odds(p: Array, q: Array, columns: Sequence[int]) -> Score:
    """The log odds of single raw columns, each from its own smoothed histogram of the training part, added up."""
    few_p, few_q, known = tamed(p[:, list(columns)]), tamed(q[:, list(columns)]), []
    for j, column in enumerate(columns):
        pooled = np.sort(np.concatenate([few_p[:, j], few_q[:, j]]))
        edges = np.unique(pooled[np.linspace(0, pooled.size - 1, BINS + 1).astype(int)[1:-1]])
        edges = np.unique(np.concatenate([edges, np.nextafter(edges, -np.inf)]))
        bins = edges.size + 1
        in_p, in_q = (np.bincount(np.searchsorted(edges, few[:, j]), minlength=bins) for few in (few_p, few_q))
        share = (in_p + in_q + 1) / (len(p) + len(q) + bins)
        odds = np.log((in_q + ALIKE * share * BINS) / (len(q) + ALIKE * BINS))
        odds -= np.log((in_p + ALIKE * share * BINS) / (len(p) + ALIKE * BINS))
        known.append((column, edges, odds))

    def score(table: Array) -> Array:
        found = np.zeros(len(table))
        for column, edges, odds in known:
            found += odds[np.searchsorted(edges, tamed(table[:, column]))]
        return found

    return score


def remembered(function: Score) -> Score:
    """The function with its last answers: events, bets and bounds ask for the same scores.

    Tables are not changed in between: they are told apart by identity.
    """
    known: list[tuple[Array, Array]] = []

    def answer(table: Array) -> Array:
        for seen, found in known:
            if seen is table:
                return found
        found = function(table)
        if found.size <= LARGEST_KEPT:
            known[:] = [(table, found), *known][:REMEMBERED]
        return found

    return answer


def learn_scores(
    p: Array, q: Array, claim: Guarantee, rng: np.random.Generator, columns: Sequence[Column], low_bits: bool = False
) -> list[Candidate]:
    """Fit on half of the training tables; each score's event is the one that exceeds `claim` most on the rest.

    The event of a column, which learns nothing, is chosen on both halves. What an event promises is counted on the
    second one. Scores and events are fixed before the test data are seen.
    """
    cut_p, cut_q = (max(1, int(FIT_SHARE * len(side))) for side in (p, q))
    held = (p[cut_p:], q[cut_q:]) if min(len(p) - cut_p, len(q) - cut_q) > 0 else (p, q)
    few_p, few_q, width = p[:cut_p], q[:cut_q], p.shape[1]
    screened, found = screen(few_p, few_q, claim, columns), list[Candidate]()

    def add(name: str, plain: Score, column: Column | None = None, value: float | None = None) -> None:
        score = remembered(plain)
        scores = score(held[0]), score(held[1])
        event = best_event(*scores if column is None else (plain(p), plain(q)), claim)
        found.append(Candidate(name, score, event.promised(*scores), column, value))

    if not screened:
        add("nothing", lambda table: np.zeros(len(table)))
    if width > 1 or low_bits:  # a single number needs no trees: its histogram says as much
        made = features(screened, width, low_bits)
        sides = made(few_p[:ROWS_CAP]), made(few_q[:ROWS_CAP])
        trees = boosting(np.concatenate(sides), np.repeat([0, 1], [len(side) for side in sides]), rng)
        add("boosting", lambda table: trees(made(table)))
    raw = {one.column: one for one in screened if one.family.one is not None and one.column < width}
    differ = sorted(raw, key=lambda j: -raw[j].difference)[:SPREAD]
    if differ:
        add(f"histograms of {BINS} bins", added_odds(few_p, few_q, differ))
    entries = {one.base: replace(one, value=None) for one in screened if one.base.origin is Origin.VALUE}
    plain = list(entries)[:COLUMNS]
    best = [one for one in screened if one.value is not None or one.base not in plain][:BEST_COLUMNS]
    for one in (*(entries[base] for base in plain), *best):
        add(named(one.base, one.value), one.of, one.base, one.value)
    return found
