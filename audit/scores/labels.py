"""Sound bound of epsilon from the labels of extreme scores: all thresholds at once, exact at delta = 0.

Give each score a fair coin for its side. Under (epsilon, delta)-DP in both directions the pair (P, Q) is a
post-processing of: with probability delta the coin itself, else randomised response (Kairouz, Oh and Viswanath 2017,
Theorem 3.2). So given ANY scores, an uncorrupted label is guessed with probability at most e^eps / (1 + e^eps). Reading
the pooled scores from the most extreme inwards is then a betting game with a known house limit; its wealth may be taken
at any depth (Ville), and N labels, each corrupted with probability delta and worth at most a factor g when corrupted,
cost N log(1 + delta (g - 1)) with g <= 1 + e^-eps.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit

from dpassay.audit.results import SoundBound
from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array

from .curve_claim import check_scores
from .reading import refuted_steps, tally

TARGETS = np.array([0.1, 0.3, 0.6, 1.0])  # where between the house limit and 1 the bettor believes the rate to be
LADDER = np.round(  # a step below a claim of 0.1 must not cost a tenth of it
    np.concatenate([np.arange(0.0, 0.2, 0.002), np.arange(0.2, 3.0, 0.02), np.arange(3.0, 40.0, 0.05)]), 3
)
FINE_SHARE = 0.05  # of the stake is on smaller targets, which only many labels can use
PILOT_SHARE = 0.03


def label_counts(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many of P and of Q are labelled when each score gets a fair coin until a side of `size` would run out.

    About sqrt(size) scores stay unused. That their number depends on the coins does not help the bettor: for small
    sizes all outcomes are enumerated in `tests/audit/scores/test_exact_levels.py`.
    """
    coins = rng.random(2 * size) < 0.5
    of_q = np.cumsum(coins)
    longest = np.maximum(of_q, np.arange(1, 2 * size + 1) - of_q)
    used = int(np.searchsorted(longest, size, side="right"))
    count = int(of_q[used - 1]) if used else 0
    return used - count, count


def without(values: NDArray[Any], count: int, rng: np.random.Generator) -> NDArray[Any]:
    """A random part of `values`: all but `count` of them."""
    return np.delete(values, rng.choice(values.size, count, replace=False)) if count else values


def ladder_gains(ladder: Array, targets: Array) -> tuple[Array, Array]:
    """Log factors of a right guess, shape (steps, targets), and of a wrong one, shape (targets,)."""
    miss_limit = np.exp(log_expit(-ladder))[:, None]
    with np.errstate(divide="ignore"):
        return np.log1p(-miss_limit * (1 - targets)) - log_expit(ladder)[:, None], np.log(1 - targets)


def stakes_on(labels: int) -> tuple[Array, Array]:
    """Targets, and the share of the stake on each, for a number of labels known before they are read.

    The rate of many labels is seen to one part in the root of their number. A bettor who believes in much more than
    there is loses: of randomised response at epsilon 0.1, `TARGETS` alone show less the more labels there are.
    """
    finer = TARGETS[0] / 3.0 ** np.arange(1, 40)
    finer = finer[finer * np.sqrt(labels) >= 2.0]
    coarse = np.full(TARGETS.size, (1 - FINE_SHARE if finer.size else 1.0) / TARGETS.size)
    return np.append(TARGETS, finer), np.append(coarse, np.full(finer.size, FINE_SHARE / max(1, finer.size)))


def largest_refuted(tally: tuple[Array, Array], labels: int, delta: float, alpha: float) -> float:
    """Walk epsilon up a fixed ladder until one is not rejected (fixed-sequence testing keeps the level).

    The bettor pays for `labels` labels that are corrupted with probability `delta` each.
    """
    targets, shares = stakes_on(labels)
    hit, miss = ladder_gains(LADDER, targets)
    corruption = labels * np.log1p(delta * np.expm1(hit.max(axis=1)))
    steps = refuted_steps([tally], hit, miss, corruption - np.log(alpha), shares)
    return float(LADDER[steps - 1]) if steps else 0.0


def _orientation(p: Array, q: Array) -> float:
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
    p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
    size = max(1, int(PILOT_SHARE * min(p.size, q.size)))
    pilot_p, pilot_q = (rng.choice(side.size, size, replace=False) for side in (p, q))
    sign = _orientation(p[pilot_p], q[pilot_q])
    p, q = sign * np.delete(p, pilot_p), sign * np.delete(q, pilot_q)
    of_p, of_q = label_counts(min(p.size, q.size), rng)
    low, high = np.sort(without(p, p.size - of_p, rng)), np.sort(without(q, q.size - of_q, rng))
    value, labels = 0.0, of_p + of_q
    if labels:
        for tally_here in (tally(high, low, rng), tally(-low[::-1], -high[::-1], rng)):
            value = max(value, largest_refuted(tally_here, labels, delta, (1 - confidence) / 2))
    return SoundBound(
        epsilon=value,
        delta=delta,
        confidence=confidence,
        method="labels of extreme scores",
        runs=np.size(scores_p) + np.size(scores_q),
        seconds=time.perf_counter() - start,
        evidence={"labelled": labels, "high scores speak for": "Q" if sign > 0 else "P"},
    )
