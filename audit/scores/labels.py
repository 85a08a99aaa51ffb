"""Sound bound of epsilon from scores on D and on D': labels revealed outwards, and one event.

Most of the level is for labels that are revealed from the middle of the scores outwards and tell how the extreme ones
are judged (`outward.py`); it is exact at delta = 0. The rest is for one event, chosen on a part of the scores and
counted on the others: it sees what stands at the very end alone, which no curve through the other labels foresees.
What was tried beside them shows less on every known law (`docs/statistics.md`).
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike

from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.evidence.label_bets import labelled, without
from dpassay.audit.evidence.weighted import independent
from dpassay.audit.results import SoundBound
from dpassay.reference.errors import BadInput

from .outward import FEWEST, read_outward
from .thresholds import LEAST, epsilon_split

EVENT_SHARE = 0.1  # of the level; all of it where there are too few labels to be revealed


def epsilon_labels(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon at `delta` (0 allowed) from scores on D (P) and D' (Q); any sizes, any ties."""
    start = time.perf_counter()
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
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
        event = epsilon_split(p, q, delta, rng.spawn(1)[0], 1 - for_event * alpha, value)
        if event.epsilon > value:
            value, shown = event.epsilon, {**event.evidence, "by": "one event"}
    return SoundBound(
        epsilon=value,
        delta=delta,
        confidence=confidence,
        method="labels of extreme scores",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence=shown if value > 0 else {"by": "nothing seen"},
    )
