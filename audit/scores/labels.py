"""Sound bound of epsilon from scores on D and on D': labels revealed outwards, and one event.

Most of the level is for labels that are revealed from the middle of the scores outwards and tell how the extreme ones
are judged (`outward.py`); it is exact at delta = 0. The rest is for one event, a threshold that a part of the scores
chooses and the exact test of `evidence/events.py` judges on the others: it sees what stands at the very end alone,
which no curve through the other labels foresees. It is never chosen on the data that judge it.
What was tried beside them shows less on every known law (`docs/statistics.md`).
"""

import math
import time

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpassay.audit.bounds import halved
from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.events import best_event, count_errors, event_p_value
from dpassay.audit.evidence.label_bets import labelled, without
from dpassay.audit.evidence.weighted import independent
from dpassay.audit.results import SoundBound
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.guarantee import from_pairs

from .outward import FEWEST, read_outward

PILOT_SHARE = 0.3
LEAST = 4  # scores a side that can be split
HOPED = 3.0  # standard errors by which a pilot exceeds the epsilon that it promises
EXACT, STEP, MOST = 1e-3, 0.01, 40.0  # of a bound, in epsilon; first step of its search; no larger one
HALVINGS, FINE_HALVINGS = 12, 16  # of the range of promised epsilons; of that of the normal approximation
EVENT_SHARE = 0.1  # of the level; all of it where there are too few labels to be revealed


def promised_epsilon(p: Array, q: Array, delta: float) -> float:
    """The largest epsilon that some event of these scores exceeds by `HOPED` standard errors: it decides nothing."""
    return halved(lambda one: best_event(p, q, from_pairs([(one, delta)])).promise >= HOPED, 0.0, MOST, HALVINGS)[0]


def epsilon_of_event(
    hits_q: int, n_q: int, hits_p: int, n_p: int, delta: float, alpha: float, above: float = 0.0
) -> float:
    """The largest epsilon that the exact test of the event refutes at level alpha, rounded down to 0.001.

    0 if `above` is not refuted: who only wants more than that need not know how much less it is.
    """
    counts = hits_q, n_q, hits_p, n_p

    def refuted(epsilon: float) -> bool:
        return event_p_value(*counts, epsilon, delta) <= alpha

    if count_errors(*counts, above, delta) <= 0 or not refuted(above):
        return 0.0
    wanted = float(ndtri(1 - alpha))
    near, _ = halved(lambda one: count_errors(*counts, one, delta) >= wanted, 0.0, MOST, FINE_HALVINGS)
    low = high = max(above, near)  # where the normal approximation would put it; then outwards from there
    step = STEP
    while not refuted(low):
        low, step = max(above, low - step), 2 * step
    while high < MOST and refuted(high):
        high, step = high + step, 2 * step
    return halved(refuted, low, high, math.ceil(math.log2(max(high - low, EXACT) / EXACT)))[0]


def read_event(
    p: Array, q: Array, delta: float, rng: np.random.Generator, alpha: float, above: float = 0.0
) -> tuple[float, dict[str, object]]:
    """The event that a pilot share promises most of, and the bound by its exact test on the rest: 0 if not `above`."""
    p, q = rng.permutation(p), rng.permutation(q)
    cut_p, cut_q = int(PILOT_SHARE * p.size), int(PILOT_SHARE * q.size)
    pilot = np.sort(p[:cut_p]), np.sort(q[:cut_q])
    aim = max(above, promised_epsilon(*pilot, delta))
    event, side = best_event(*pilot, from_pairs([(aim, delta)])).oriented
    hits, sizes = (event.hits(p[cut_p:]), event.hits(q[cut_q:])), (p.size - cut_p, q.size - cut_q)
    counts = hits[side], sizes[side], hits[1 - side], sizes[1 - side]
    return epsilon_of_event(*counts, delta, alpha, above), {"event": f"scores {event.words}", "hits": hits}


def epsilon_labels(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon at `delta` (0 allowed) from scores on D (P) and D' (Q); any sizes, any ties."""
    start = time.perf_counter()
    require(0 <= delta < 1, "delta", delta, "must lie in [0, 1)")
    p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
    alpha, few = 1 - confidence, min(p.size, q.size) < LEAST
    of_p, of_q = labelled(p.size, q.size, rng)
    for_event = 1.0 if of_p + of_q < FEWEST else 0.0 if few else EVENT_SHARE
    value, shown = 0.0, dict[str, object]()
    if for_event < 1:
        low, high = np.sort(without(p, p.size - of_p, rng)), np.sort(without(q, q.size - of_q, rng))
        level, odds = (1 - for_event) * alpha, float(np.log(q.size / p.size))
        value, shown = read_outward(low, high, rng, level, independent(of_p + of_q, delta, level), odds)
        shown = {"by": shown.pop("direction"), **shown} if shown else {}
    if for_event > 0 and not few:
        found, seen = read_event(p, q, delta, rng.spawn(1)[0], for_event * alpha, value)
        if found > value:
            value, shown = found, {**seen, "by": "one event"}
    return SoundBound(
        epsilon=value,
        delta=delta,
        confidence=confidence,
        method="labels of extreme scores",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence=shown if value > 0 else {"by": "nothing seen"},
    )
