"""Black-box audit of a claimed curve: draw, learn on one part, judge on the rest.

Most of the level is for a few events, fixed on the training part and tested exactly, the rest for outputs that repeat,
which need no training part.

Samples that show nothing of a mechanism are named: nothing was varied, nothing came out, or they were not drawn apart.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.evidence.events import judge_event
from dpassay.audit.results import ClaimTest, SoundBound, Verdict
from dpassay.audit.scores.labels import epsilon_labels
from dpassay.audit.scores.thresholds import strongest_event
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

from .learner import FIT_SHARE, Candidate, learn_scores
from .repeats import repeats_log_wealth
from .sources import Mechanism, draw
from .table import NOTHING, Column, Tables, kept, telling_columns, to_tables
from .telling import Telling, most_repeated, most_telling, of_event

DISTINCT, SAME = 20, 1e-9  # outputs that are needed to say so; of the spread, what rounding may move


def require_independent(tables: Tables) -> None:
    """Refuse two samples that were not drawn by themselves: outputs of one in the other, or one noise for both.

    They could accuse a right mechanism. By chance both cannot be: outputs that never repeat within a side hardly do
    between two independent ones, since two laws agree at most as often as the geometric mean of what each does with
    itself.
    """
    rows = [set(map(bytes, side)) for side in (tables.p, tables.q)]
    if min(map(len, rows)) < DISTINCT:
        return
    both, fresh = len(rows[0] & rows[1]), len(rows[0]) == len(tables.p) and len(rows[1]) == len(tables.q)
    why = "are the same on both sides, though none comes back on its own: the runs on D and on D' must be independent"
    require(both < DISTINCT or not fresh, "outputs", both, why)
    if len(tables.p) != len(tables.q):
        return
    with np.errstate(invalid="ignore", over="ignore"):  # infinities, and what is nearly as large
        spread = np.ptp(tables.p, axis=0)
        varied = spread > 0  # False where something is missing
        same = np.ptp(tables.q[:, varied] - tables.p[:, varied], axis=0) <= SAME * spread[varied]
    why = "each on D' is the one on D plus a constant: the runs on D and on D' must be independent, with other seeds"
    require(not (varied.any() and same.all()), "outputs", "one noise for both sides", why)


def same_data(datasets: tuple[Any, Any]) -> list[str]:
    """D and D' that are equal cannot show anything."""
    first, second = (data.tolist() if isinstance(data, np.ndarray) else data for data in datasets)
    return ["D and D' are equal: no mechanism can be refuted on them."] if first == second else []


def of_outputs(tables: Tables, outputs_p: Any, outputs_q: Any) -> list[str]:
    """Outputs that are missing or never change."""
    p, q, found = tables.p, tables.q, []
    if bool(_nothing(p, outputs_p) and _nothing(q, outputs_q)):
        found.append("All outputs are None or NaN: the mechanism gave nothing to judge.")
    elif bool(np.all((p == p[:1]) | np.isnan(p)) and np.all((q == p[:1]) | np.isnan(q))):
        found.append("All outputs are equal: a constant shows nothing of the data, or the mechanism does not run.")
    elif bool(np.isnan(p).mean() > 0.5 and np.isnan(q).mean() > 0.5):
        found.append("More than half of the entries are None or NaN.")
    return found


def _nothing(table: Array, outputs: Any) -> bool:
    if isinstance(outputs, np.ndarray):
        return bool(np.isnan(table).all())
    return all(one is None or (isinstance(one, float) and np.isnan(one)) for one in outputs)


LEAST = 10  # outputs a side
TRAINING_SHARE = 0.33
EVENT_SHARES = (0.4, 0.1, 0.1, 0.05, 0.05)  # of the level, for the events that promise most
REPEATS_SHARE = 0.3  # of the level
REPEATED = "repeated outputs"


@dataclass(frozen=True)
class Parts:
    """Training and test tables, each of P and of Q, with their columns."""

    columns: tuple[Column, ...]
    training: list[Array]
    test: list[Array]
    rows: list[Indices]  # of the outputs that each test table holds


def split(tables: Tables, rng: np.random.Generator) -> Parts:
    """A random part to learn from, the rest to judge; columns that say nothing in training are left out of both."""
    training, rows = [], []
    for table in (tables.p, tables.q):
        require(len(table) >= LEAST, "outputs", len(table), f"a black-box audit needs at least {LEAST} outputs a side")
        order, cut = rng.permutation(len(table)), int(TRAINING_SHARE * len(table))
        training.append(table[order[:cut]])
        rows.append(order[cut:])
    test, chosen = [tables.p[rows[0]], tables.q[rows[1]]], telling_columns(training)
    columns = tuple(column for column, one in zip(tables.columns, chosen, strict=True) if one) or NOTHING
    return Parts(columns, kept(training, chosen), kept(test, chosen), rows)


@dataclass(frozen=True)
class Judged:
    """What a score or a bet showed on the test part: a p-value after its share of the level, and how."""

    p_value: float
    name: str
    candidate: Candidate | None
    evidence: dict[str, object]


def judge_events(candidates: Sequence[Candidate], test: Sequence[Array]) -> list[Judged]:
    """The events that promised most, each with its share of the level; most promising first."""
    best = sorted(candidates, key=lambda one: -one.event.promise)[: len(EVENT_SHARES)]
    found = []
    for share, one in zip(EVENT_SHARES, best, strict=False):
        p_value = judge_event(one.event, one.score(test[0]), one.score(test[1]))
        found.append(Judged(min(1.0, p_value / share), one.name, one, {"by": "one event"}))
    return found


def audit_outputs(
    outputs_p: Any,
    outputs_q: Any,
    claim: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> ClaimTest:
    """Test `claim` on stored outputs of independent runs on D (P) and D' (Q): the result of `audit_in_detail`."""
    tables = to_tables(outputs_p, outputs_q)
    return audit_in_detail(tables, claim, rng, confidence, low_bits)[0]


@dataclass(frozen=True)
class Detail:
    """What a person wants to see, on the test part: the deciding score, and the event that gave most away."""

    candidate: Candidate
    plainest: Candidate | None  # whose event is told: a column if one shows it
    telling: Telling | None
    repeated: tuple[int, int] | None  # repeated outputs decided: one of them on each side, -1 where there is none
    parts: Parts
    candidates: list[Candidate]

    def scores(self, one: Candidate) -> tuple[Array, Array]:
        """Of the test part, on D and on D'."""
        return one.score(self.parts.test[0]), one.score(self.parts.test[1])


def audit_in_detail(
    tables: Tables,
    claim: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> tuple[ClaimTest, Detail]:
    """Test `claim`, and what it was decided by.

    `low_bits` judges the floating-point numbers themselves (every naive sampler fails that); without it the
    low-order bits are not looked at, and the verdict is about the real-valued mechanism.

    Raises:
        BadInput: the outputs on D and on D' were not drawn independently, as far as that shows.
    """
    start = time.perf_counter()
    require_independent(tables)
    parts = split(tables, rng)
    candidates = learn_scores(parts.training[0], parts.training[1], claim, rng, low_bits, parts.columns)
    wealth = max(0.0, repeats_log_wealth(tables.p, tables.q, claim, rng) + float(np.log(REPEATS_SHARE)))
    bet = Judged(float(np.exp(-wealth)), REPEATED, None, {"by": "bets", "log_wealth": wealth})
    found = min([*judge_events(candidates, parts.test), bet], key=lambda one: one.p_value)  # weighted union bound
    plainest, repeated = most_telling(found.candidate, candidates, parts.test), None
    telling = of_event(plainest, parts.test, tables.texts) if plainest else None
    if found.candidate is None:
        most, repeated = most_repeated(tables)
        telling = telling or most
    shown = found.candidate or max(candidates, key=lambda one: one.event.promise)
    detail = Detail(shown, plainest, telling, repeated, parts, candidates)
    result = ClaimTest(
        claim=claim.name,
        p_value=found.p_value,
        confidence=confidence,
        method="black box: learned scores, exact events, repeated outputs",
        runs=len(tables.p) + len(tables.q),
        seconds=time.perf_counter() - start,
        evidence={"score": found.name, **found.evidence, **(telling.evidence if telling else {})},
    )
    return result, detail


def float_grid(
    outputs_p: Any, outputs_q: Any, claim: Guarantee, rng: np.random.Generator, confidence: float = 0.95
) -> ClaimTest:
    """Black-box test that also sees the grid each float lies on; `real_numbers` says what it finds without.

    Adding noise to 1.0 leaves another pattern of low-order bits than adding it to 0.0 (Mironov 2012).
    """
    seen = audit_outputs(outputs_p, outputs_q, claim, rng, confidence, low_bits=True)
    without = audit_outputs(outputs_p, outputs_q, claim, rng, confidence)
    only_floats = without.verdict is not Verdict.VIOLATED
    cause = "none" if seen.verdict is not Verdict.VIOLATED else "floats" if only_floats else "mechanism"
    found = {**seen.evidence, "real_numbers": without.verdict.value, "cause": cause}
    return replace(seen, method="grid of the floats", evidence=found)


def audit_mechanism(
    mechanism: Mechanism,
    dataset_p: Any,
    dataset_q: Any,
    claim: Guarantee,
    samples: int,
    rng: np.random.Generator,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> ClaimTest:
    """Draw `samples` outputs on each dataset and test `claim`."""
    outputs_p = draw(mechanism, dataset_p, samples, rng)
    outputs_q = draw(mechanism, dataset_q, samples, rng)
    return audit_outputs(outputs_p, outputs_q, claim, rng, confidence, low_bits=low_bits)


def epsilon_of_outputs(
    outputs_p: Any, outputs_q: Any, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Sound lower bound of epsilon at `delta` from stored outputs, by the best learned score's labels."""
    start = time.perf_counter()
    tables = to_tables(outputs_p, outputs_q)
    require_independent(tables)
    parts = split(tables, rng)
    guess = Guarantee("no privacy loss", np.zeros(1), np.zeros(1))
    candidates = learn_scores(parts.training[0], parts.training[1], guess, rng, columns=parts.columns)
    return bound_of_scores(parts, candidates, delta, rng, confidence, start)


def bound_of_scores(
    parts: Parts,
    candidates: Sequence[Candidate],
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
    start: float | None = None,
) -> SoundBound:
    """`epsilon_of_outputs` with scores that were learned already, for the same or another question.

    Args:
        start: when the work began, for `seconds`; None: now.
    """
    start = time.perf_counter() if start is None else start
    held = [table[int(FIT_SHARE * len(table)) :] for table in parts.training]  # that chose among the scores
    best = max(candidates, key=lambda one: strongest_event(one.score(held[0]), one.score(held[1]), delta, 0.5)[0])
    bound = epsilon_labels(best.score(parts.test[0]), best.score(parts.test[1]), delta, rng, confidence)
    runs, seconds = sum(map(len, (*parts.training, *parts.test))), time.perf_counter() - start
    evidence = {"score": best.name, **bound.evidence}
    return replace(bound, method="black box: learned score, labels", runs=runs, seconds=seconds, evidence=evidence)
