"""Bound of epsilon from one event: a threshold that a part of the scores chooses, counted on the others.

The event is judged by the exact test of `evidence/events.py`; it is never chosen on the data that judge it.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.events import best_event, count_errors, event_p_value
from dpassay.audit.results import SoundBound
from dpassay.reference.arrays import Array
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import from_pairs

PILOT_SHARE = 0.3
LEAST = 4  # scores a side that can be split
HOPED = 3.0  # standard errors by which a pilot exceeds the epsilon that it promises
EXACT, STEP, MOST = 1e-3, 0.01, 40.0  # of a bound, in epsilon; first step of its search; no larger one
HALVINGS = 12  # of the range of promised epsilons


def promised_epsilon(p: Array, q: Array, delta: float) -> float:
    """The largest epsilon that some event of these scores exceeds by `HOPED` standard errors: it decides nothing."""
    low, high = 0.0, MOST
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        good = best_event(p, q, from_pairs([(middle, delta)])).promise >= HOPED
        low, high = (middle, high) if good else (low, middle)
    return low


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


def epsilon_split(
    scores_p: ArrayLike,
    scores_q: ArrayLike,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
    above: float = 0.0,
) -> SoundBound:
    """The event that a pilot share promises most of, the exact test of it on the rest; 0 if not more than `above`."""
    start = time.perf_counter()
    p = rng.permutation(check_scores(scores_p, "scores_p"))
    q = rng.permutation(check_scores(scores_q, "scores_q"))
    cut_p, cut_q = int(PILOT_SHARE * p.size), int(PILOT_SHARE * q.size)
    if min(cut_p, cut_q) < 1:
        raise BadInput("scores", (p.size, q.size), f"a split needs at least {LEAST} a side")
    pilot = np.sort(p[:cut_p]), np.sort(q[:cut_q])
    aim = max(above, promised_epsilon(*pilot, delta))
    event, side = best_event(*pilot, from_pairs([(aim, delta)])).oriented
    hits, sizes = (event.hits(p[cut_p:]), event.hits(q[cut_q:])), (p.size - cut_p, q.size - cut_q)
    counts = hits[side], sizes[side], hits[1 - side], sizes[1 - side]
    return SoundBound(
        epsilon=epsilon_of_event(*counts, delta, 1 - confidence, above),
        delta=delta,
        confidence=confidence,
        method="one event, split",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence={"event": f"scores {event.words}", "hits": hits},
    )
