"""Black-box audit of a claimed curve: draw, learn on one part, judge on the rest.

Most of the level is for a few events, fixed on the training part and tested exactly, the rest for outputs that repeat,
which need no training part.

Samples that show nothing of a mechanism are named: nothing was varied, nothing came out, or they were not drawn apart.
"""

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.audit.evidence.events import judge_event
from dpassay.audit.results import ClaimTest, SoundBound
from dpassay.audit.scores.labels import epsilon_labels, promised_epsilon
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

from .learner import FIT_SHARE, Candidate, learn_scores
from .repeats import repeats_log_wealth
from .table import NOTHING, Column, Tables, kept, telling_columns, to_tables
from .telling import SIDES, Telling, most_repeated, most_telling, of_event, shortened

LEAST = 10  # outputs a side
TRAINING_SHARE = 0.33
EVENT_SHARES = (0.4, 0.1, 0.1, 0.05, 0.05)  # of the level, for the events that promise most
REPEATS_SHARE = 0.3  # of the level
REPEATED = "repeated outputs"
SHOWN = 3  # outputs a side
DISTINCT, SAME = 20, 1e-9  # outputs by which it shows that two samples are one; of the spread, what rounding may move


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


def of_outputs(tables: Tables, *outputs: Any) -> list[str]:
    """Outputs that are missing or never change."""
    p, q = tables.p, tables.q
    values = [np.ravel(side).tolist() if isinstance(side, np.ndarray) else side for side in outputs]
    if all(one is None or (isinstance(one, float) and np.isnan(one)) for side in values for one in side):
        return ["All outputs are None or NaN: the mechanism gave nothing to judge."]
    if bool(np.all((p == p[:1]) | np.isnan(p)) and np.all((q == p[:1]) | np.isnan(q))):
        return ["All outputs are equal: a constant shows nothing of the data, or the mechanism does not run."]
    if bool(np.isnan(p).mean() > 0.5 and np.isnan(q).mean() > 0.5):
        return ["More than half of the entries are None or NaN."]
    return []


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


def audit_outputs(
    outputs_p: Any,
    outputs_q: Any,
    claim: Guarantee,
    rng: np.random.Generator,
    confidence: float = 0.95,
    low_bits: bool = False,
) -> ClaimTest:
    """Test `claim` on stored outputs of independent runs on D (P) and D' (Q): the result of `audit_in_detail`."""
    return audit_in_detail(to_tables(outputs_p, outputs_q), claim, rng, confidence, low_bits)[0]


@dataclass(frozen=True)
class Detail:
    """What a person wants to see, on the test part: the deciding score, and the event that gave most away."""

    candidate: Candidate
    plainest: Candidate | None  # whose event is told: a column if one shows it
    telling: Telling | None
    repeated: tuple[int, int] | None  # repeated outputs decided: one of them on each side, -1 where there is none
    parts: Parts
    candidates: list[Candidate]

    def most_telling(self, *outputs: Sequence[Any]) -> dict[str, list[str]]:
        """Of all outputs on D and on D' those with the most extreme scores, in the direction of each side."""
        if self.repeated is not None:
            one_a_side = zip(SIDES, outputs, self.repeated, strict=True)
            return {name: [shortened(side[row])] for name, side, row in one_a_side if row >= 0}
        column, found = self.telling.column if self.telling else None, dict[str, list[str]]()
        for side, name in enumerate(SIDES):
            score = self.candidate.score(self.parts.test[side])
            upwards = (side == 0) != self.candidate.event.below
            rows = np.argsort(score if upwards else -score, kind="stable")[:SHOWN]
            found[name] = []
            for row in map(int, rows):
                entry = ""  # that gave it away, for an output that is too long to be shown
                if column in self.parts.columns:
                    value = self.parts.test[side][row, self.parts.columns.index(column)]
                    entry = f"{column} {'is missing' if np.isnan(value) else f'= {value:.6g}'} in "
                found[name].append(shortened(outputs[side][int(self.parts.rows[side][row])], entry))
        return found


def audit_in_detail(
    tables: Tables, claim: Guarantee, rng: np.random.Generator, confidence: float = 0.95, low_bits: bool = False
) -> tuple[ClaimTest, Detail]:
    """Test `claim`, and what it was decided by.

    `low_bits` judges the floating-point numbers themselves: noise that is added to 1.0 leaves another pattern of
    low-order bits than noise that is added to 0.0 (Mironov 2012), so every naive sampler fails. Without it the verdict
    is about real numbers.

    Raises:
        BadInput: the outputs on D and on D' were not drawn independently, as far as that shows.
    """
    start = time.perf_counter()
    require_independent(tables)
    parts = split(tables, rng)
    candidates = learn_scores(parts.training[0], parts.training[1], claim, rng, parts.columns, low_bits)
    judged: list[tuple[float, str, Candidate | None, dict[str, object]]] = []  # p-value, name, score, evidence
    for share, one in zip(EVENT_SHARES, sorted(candidates, key=lambda one: -one.event.promise), strict=False):
        p_value = judge_event(one.event, one.score(parts.test[0]), one.score(parts.test[1]))
        judged.append((min(1.0, p_value / share), one.name, one, {"by": "one event"}))
    wealth = max(0.0, repeats_log_wealth(tables.p, tables.q, claim, rng) + float(np.log(REPEATS_SHARE)))
    judged.append((float(np.exp(-wealth)), REPEATED, None, {"by": "bets", "log_wealth": wealth}))
    p_value, name, winner, evidence = min(judged, key=lambda one: one[0])  # weighted union bound
    plainest, repeated = most_telling(winner, candidates, parts.test), None
    telling = of_event(plainest, parts.test, tables.texts) if plainest else None
    if winner is None:
        most, repeated = most_repeated(tables)
        telling = telling or most
    deciding = winner or max(candidates, key=lambda one: one.event.promise)
    detail = Detail(deciding, plainest, telling, repeated, parts, candidates)
    result = ClaimTest(
        claim=claim.name,
        p_value=p_value,
        confidence=confidence,
        method="black box: learned scores, exact events, repeated outputs",
        runs=len(tables.p) + len(tables.q),
        seconds=time.perf_counter() - start,
        evidence={"score": name, **evidence, **(telling.evidence if telling else {})},
    )
    return result, detail


def epsilon_of_outputs(
    outputs_p: Any, outputs_q: Any, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Sound lower bound of epsilon at `delta` from stored outputs, by the best learned score's labels."""
    start = time.perf_counter()
    tables = to_tables(outputs_p, outputs_q)
    require_independent(tables)
    parts = split(tables, rng)
    guess = Guarantee("no privacy loss", np.zeros(1), np.zeros(1))
    candidates = learn_scores(parts.training[0], parts.training[1], guess, rng, parts.columns)
    return replace(bound_of_scores(parts, candidates, delta, rng, confidence), seconds=time.perf_counter() - start)


def bound_of_scores(
    parts: Parts, candidates: Sequence[Candidate], delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """`epsilon_of_outputs` with scores that were learned already, for the same or another question."""
    held = [table[int(FIT_SHARE * len(table)) :] for table in parts.training]  # that chose among the scores
    best = max(candidates, key=lambda one: promised_epsilon(one.score(held[0]), one.score(held[1]), delta))
    bound = epsilon_labels(best.score(parts.test[0]), best.score(parts.test[1]), delta, rng, confidence)
    runs, evidence = sum(map(len, (*parts.training, *parts.test))), {"score": best.name, **bound.evidence}
    return replace(bound, method="black box: learned score, labels", runs=runs, evidence=evidence)
