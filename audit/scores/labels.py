"""Sound bound of epsilon from the labels of extreme scores: all thresholds at once, exact at delta = 0.

Give each score a fair coin for its side. Under (epsilon, delta)-DP in both directions the pair (P, Q) is a
post-processing of: with probability delta the coin itself, else randomised response (Kairouz, Oh and
Viswanath 2017,
Theorem 3.2). So given ANY scores, an uncorrupted label is guessed with probability at most e^eps / (1 +
e^eps).
Reading the pooled scores from the most extreme inwards is then a betting game with a known house limit; its
wealth may be taken at any depth (Ville), and N labels, each corrupted with probability delta and worth at
most a factor g
when corrupted, cost N log(1 + delta (g - 1)) with g <= 1 + e^-eps.
"""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit, logsumexp

from dpassay.audit.results import SoundBound
from dpassay.audit.scores.curve_test import check_scores
from dpassay.reference.errors import BadInput

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
TARGETS = np.array([0.1, 0.3, 0.6, 1.0])  # where between the house limit and 1 the bettor believes the rate to be
LADDER = np.concatenate([np.arange(0.0, 3.0, 0.02), np.arange(3.0, 40.0, 0.05)])
PILOT_SHARE = 0.03
_DEPTHS = 600


def coin_labels(p: Floats, q: Floats, rng: np.random.Generator) -> tuple[Floats, Bools]:
    """Pool two samples under independent fair coins: (scores, came from Q).

    Coins are drawn until a side would run out, which leaves about sqrt(n) scores unused.
    """
    size = min(p.size, q.size)
    labels = rng.random(2 * size) < 0.5
    longest = np.maximum(np.cumsum(labels), np.cumsum(~labels))
    labels = labels[: int(np.searchsorted(longest, size, side="right"))]
    scores = np.empty(labels.size)
    scores[labels] = rng.permutation(q)[: int(labels.sum())]
    scores[~labels] = rng.permutation(p)[: labels.size - int(labels.sum())]
    return scores, labels


def tally(correct: Bools) -> tuple[Floats, Floats]:
    """Right and wrong guesses down to each of about `_DEPTHS` log-spaced depths."""
    depth = np.unique(np.geomspace(1, correct.size, _DEPTHS).astype(int))
    hits = np.cumsum(correct)[depth - 1].astype(float)
    return hits, depth - hits


def log_wealth(hits: Floats, misses: Floats, epsilon: float, delta: float, labels: int) -> float:
    """Largest log wealth over the depths against (epsilon, delta)-DP, after paying for corrupted labels."""
    log_limit, miss_limit = log_expit(epsilon), np.exp(log_expit(-epsilon))
    with np.errstate(divide="ignore", invalid="ignore"):
        gain_hit = np.log1p(-miss_limit * (1 - TARGETS)) - log_limit
        gain_miss = np.log(1 - TARGETS)
        logs = hits[:, None] * gain_hit + np.where(misses[:, None] > 0, misses[:, None] * gain_miss, 0.0)
    corruption = labels * np.log1p(delta * np.expm1(gain_hit.max()))
    return float(logsumexp(logs, axis=1).max() - np.log(TARGETS.size) - corruption)


def largest_refuted(correct: Bools, delta: float, alpha: float) -> float:
    """Walk epsilon up a fixed ladder until one is not rejected (fixed-sequence testing keeps the level)."""
    hits, misses = tally(correct)
    refuted = 0.0
    for epsilon in LADDER:
        if log_wealth(hits, misses, float(epsilon), delta, correct.size) < -np.log(alpha):
            break
        refuted = float(epsilon)
    return refuted


def _orientation(p: Floats, q: Floats) -> float:
    """+1 when Q's pilot scores tend to be the larger."""
    ordered = np.sort(p)
    balance = np.searchsorted(ordered, q).mean() + np.searchsorted(ordered, q, "right").mean()
    return 1.0 if float(balance) >= p.size else -1.0


def epsilon_labels(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon at `delta` (0 allowed) from scores on D (P) and D' (Q); any sizes, any ties.

    A pilot share fixes which side scores high; the level is halved between the two tails.
    """
    start = time.perf_counter()
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    p = rng.permutation(check_scores(scores_p, "scores_p"))
    q = rng.permutation(check_scores(scores_q, "scores_q"))
    pilot = max(1, int(PILOT_SHARE * min(p.size, q.size)))
    sign = _orientation(p[:pilot], q[:pilot])
    scores, labels = coin_labels(sign * p[pilot:], sign * q[pilot:], rng)
    value = 0.0
    if labels.size:
        order = np.argsort(scores)  # stable order of a random pool: ties are broken by the coins' own shuffle
        alpha = (1 - confidence) / 2
        value = max(largest_refuted(labels[order][::-1], delta, alpha), largest_refuted(~labels[order], delta, alpha))
    return SoundBound(
        epsilon=value,
        delta=delta,
        confidence=confidence,
        method="labels of extreme scores",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence={"labelled": int(labels.size), "high scores speak for": "Q" if sign > 0 else "P"},
    )
