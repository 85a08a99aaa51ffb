"""Bounds of epsilon from one event: a threshold that a part of the scores chooses, counted on the others.

For an event S, (epsilon, delta)-DP says Q(S) <= e^epsilon P(S) + delta, so
epsilon >= log((lower(Q(S)) - delta) / upper(P(S))) with Clopper-Pearson limits; one event that is fixed beforehand is
judged by the exact test of `events.py`, which needs no share of the level for each side. Thresholds are never chosen on
the data that judge them.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpassay.audit.bounds import clopper_pearson_lower, clopper_pearson_upper
from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.events import count_errors, event_p_value
from dpassay.audit.results import SoundBound
from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput

DENOMINATOR_SHARE = 0.8  # of the level goes to the rarer side, whose relative error is the larger one
PILOT_SHARE = 0.3
PILOT_LEVEL = 2.0  # half for each family: the pilot chooses, and decides nothing
LEAST = 4  # scores a side that can be split
_ULP = 2.0**-52
EXACT, STEP, MOST = 1e-3, 0.01, 40.0  # of a bound, in epsilon; first step of its search; no larger one


def epsilon_from_counts(hits_q: Any, n_q: int, hits_p: Any, n_p: int, delta: float, alpha: Any) -> Any:
    """Lower bound of epsilon from event counts on both sides at joint level alpha, rounded down; broadcasts."""
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    low = clopper_pearson_lower(hits_q, n_q, (1 - DENOMINATOR_SHARE) * np.asarray(alpha))
    high = clopper_pearson_upper(hits_p, n_p, DENOMINATOR_SHARE * np.asarray(alpha))
    with np.errstate(divide="ignore"):
        top, bottom = np.log(np.maximum(low - delta, 0.0)), np.log(high)
        lost = 2 * _ULP * (2.0 + np.where(np.isfinite(top), np.abs(top), 0.0) - bottom)
        return np.maximum(top - bottom - lost, 0.0)


def epsilon_of_event(
    hits_q: int, n_q: int, hits_p: int, n_p: int, delta: float, alpha: float, above: float = 0.0
) -> float:
    """The largest epsilon that the exact test of the event refutes at level alpha, rounded down to 0.001.

    0 if `above` is not refuted: who only wants more than that need not know how much less it is.
    """

    def refuted(epsilon: float) -> bool:
        return event_p_value(hits_q, n_q, hits_p, n_p, epsilon, delta) <= alpha

    def errors(epsilon: float) -> float:
        return count_errors(hits_q, n_q, hits_p, n_p, epsilon, delta)

    if errors(above) <= 0 or not refuted(above):
        return 0.0
    wanted, low, high = float(ndtri(1 - alpha)), 0.0, MOST
    while high - low > EXACT:  # where the normal approximation would put it; then outwards from there
        middle = 0.5 * (low + high)
        low, high = (middle, high) if errors(middle) >= wanted else (low, middle)
    step = STEP
    if refuted(low):
        while low < MOST and refuted(low + step):
            low, step = low + step, 2 * step
        high = low + step
    else:
        while low > 0 and not refuted(max(0.0, low - step)):
            low, step = max(0.0, low - step), 2 * step
        low, high = max(0.0, low - step), low
    while high - low > EXACT:
        middle = 0.5 * (low + high)
        low, high = (middle, high) if refuted(middle) else (low, middle)
    return low


@dataclass(frozen=True)
class ScoreEvent:
    """Scores beyond a threshold.

    Args:
        name: for a person.
        high: above it; else below, and the scores were read with their signs turned.
        of_q: more frequent on D' (Q) than on D (P); else the other way round.
    """

    name: str
    high: bool
    of_q: bool


def _directions(p: Array, q: Array) -> Iterator[tuple[ScoreEvent, Array, Array]]:
    """Events with their rare and frequent side, each read as 'score above the threshold'."""
    yield ScoreEvent("high scores, more often on D'", high=True, of_q=True), p, q
    yield ScoreEvent("low scores, more often on D", high=False, of_q=False), -q, -p
    yield ScoreEvent("high scores, more often on D", high=True, of_q=False), q, p
    yield ScoreEvent("low scores, more often on D'", high=False, of_q=True), -p, -q


def _log_ranks(n: int) -> Indices:
    """Ranks 1, 2, 3, 4, 6, 9, ... up to n: about 3 log2 n of them lose under 15 % of any rank between."""
    return np.unique(np.round(np.geomspace(1, n, int(3 * np.log2(n + 1))))).astype(np.int64)


def _scan(rare: Array, frequent: Array, delta: float, alpha: float) -> tuple[float, float]:
    """Best (epsilon, threshold): thresholds at ranks of the rare side; its tail mass there is Beta distributed."""
    ordered = np.sort(rare)[::-1]
    ranks = _log_ranks(rare.size)
    cuts = ordered[ranks - 1]
    above_q = frequent.size - np.searchsorted(np.sort(frequent), cuts, side="right")
    values = epsilon_from_counts(above_q, frequent.size, ranks - 1, rare.size, delta, alpha / ranks.size)
    best = int(np.argmax(values))
    return float(values[best]), float(cuts[best])


def strongest_event(p: Array, q: Array, delta: float, alpha: float) -> tuple[float, int, float]:
    """(epsilon, number of the family, threshold) of the event that shows most, level `alpha` shared among all.

    Thresholds are log-spaced ranks of four families. Valid with ties: the mass strictly above an order statistic is
    stochastically below its Beta law.
    """
    found = [_scan(rare, frequent, delta, alpha / 4) for _, rare, frequent in _directions(p, q)]
    best = max(range(4), key=lambda k: found[k][0])
    return found[best][0], best, found[best][1]


def epsilon_split(
    scores_p: ArrayLike,
    scores_q: ArrayLike,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
    above: float = 0.0,
) -> SoundBound:
    """Threshold and event family chosen on a pilot share, the exact test of this event on the rest.

    0 if it does not show more than `above`.
    """
    start = time.perf_counter()
    p = rng.permutation(check_scores(scores_p, "scores_p"))
    q = rng.permutation(check_scores(scores_q, "scores_q"))
    cut_p, cut_q = int(PILOT_SHARE * p.size), int(PILOT_SHARE * q.size)
    if min(cut_p, cut_q) < 1:
        raise BadInput("scores", (p.size, q.size), f"a split needs at least {int(1 / PILOT_SHARE) + 1} a side")
    _, chosen, threshold = strongest_event(p[:cut_p], q[:cut_q], delta, PILOT_LEVEL)
    event, rare, frequent = list(_directions(p[cut_p:], q[cut_q:]))[chosen]
    hits_p, hits_q = int((rare > threshold).sum()), int((frequent > threshold).sum())
    bound = epsilon_of_event(hits_q, frequent.size, hits_p, rare.size, delta, 1 - confidence, above)
    return SoundBound(
        epsilon=bound,
        delta=delta,
        confidence=confidence,
        method="one event, split",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence={"event": event, "threshold": threshold, "hits": (hits_p, hits_q)},
    )
