"""Learned scores: fitted on one part of the training outputs, given an event on another, judged elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dpassay.audit.evidence.events import Event, best_event
from dpassay.reference.guarantee import Guarantee
from dpassay.reference.types import Array

from .features import Atoms, ColumnAtoms, Features
from .models import Remembered, Score, boosting, direction, kernel, logistic
from .screen import SPREAD, AddedOdds, named, screen
from .table import Column, Origin

ROWS_CAP = 30_000  # a side, for the boosting and logistic fits
FIT_SHARE = 0.5  # of the training tables; the rest chooses the best
COLUMNS, BEST_COLUMNS = 2, 6  # best entries of the outputs, and best of all columns, that are scores by themselves
BINS = (16, 64)  # of the histograms whose odds are added


@dataclass
class Candidate:
    """A score function with a name, and the event that promised most."""

    name: str
    score: Score
    event: Event
    column: Column | None = None  # the one column (or plain sum or difference of columns) that it is about
    value: float | None = None  # the score is 1 where the column is equal to this, else 0


def _models(p: Array, q: Array, features: Features, atoms: Atoms, rng: np.random.Generator) -> list[tuple[str, Score]]:
    """Trees, logistic regression and kernel on the features; trees also where no atom is known."""
    few_p, few_q = features.transform(p[:ROWS_CAP]), features.transform(q[:ROWS_CAP])
    x = np.concatenate([few_p, few_q])
    y = np.concatenate([np.zeros(len(few_p), dtype=np.int64), np.ones(len(few_q), dtype=np.int64)])
    boost, linear, near = boosting(x, y, rng), logistic(x, y), kernel(x, y, rng.spawn(1)[0])
    made = Remembered(features.transform)
    boosted = Remembered(lambda t: boost(made(t)))

    def atoms_else(table: Array) -> Array:
        known = atoms.score(table)
        return np.where(np.isnan(known), boosted(table), known)

    found: list[tuple[str, Score]] = [("atoms, else boosting", atoms_else)] if atoms.codes.size else []
    return [
        *found,
        ("boosting", boosted),
        ("logistic", lambda t: linear(made(t))),
        ("kernel", lambda t: near(made(t))),
    ]


def _candidates(
    p: Array, q: Array, claim: Guarantee, titles: Sequence[Column], rng: np.random.Generator, low_bits: bool
) -> tuple[list[tuple[str, Score]], list[tuple[Column, Score, float | None]]]:
    """Learned scores, from richest to plainest, and single columns with the value that they are held against.

    A single number needs no trees: its histogram says as much.
    """
    screened, atoms = screen(p, q, claim, titles), Atoms.fit(p, q)
    width = p.shape[1]
    found = []
    if width > 1 or low_bits:
        found += _models(p, q, Features.fit(screened, width, low_bits), atoms, rng)
    if atoms.codes.size:
        found += [("atoms, else nothing", lambda t: np.nan_to_num(atoms.score(t)))]
    raw = {one.column: one for one in screened if one.family.one is not None and one.column < width}
    differ = sorted(raw, key=lambda j: -raw[j].difference)[:SPREAD]
    for bins in BINS:
        odds = AddedOdds.fit(p, q, differ, bins) if differ else None
        found += [(f"histograms of {bins} bins", odds.score)] if odds else []
    if width > 1:
        by_column = ColumnAtoms.fit(p, q)
        found += [("repeated values of columns", by_column.score)] if by_column.parts else []
        for squared in (False, True):
            what = "squares of all columns" if squared else "direction of all columns"
            found.append((what, direction(p[:ROWS_CAP], q[:ROWS_CAP], squared)))
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
