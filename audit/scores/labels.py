"""Sound bound of epsilon from the labels of extreme scores: all thresholds at once, exact at delta = 0.

Give each score a fair coin for its side. Under (epsilon, delta)-DP in both directions the pair (P, Q) is a
post-processing of: with probability delta the coin itself, else randomised response (Kairouz, Oh and Viswanath 2017,
Theorem 3.2). So given ANY scores, an uncorrupted label is guessed with probability at most e^eps / (1 + e^eps). Reading
the pooled scores from the most extreme inwards is then a betting game with a known house limit; its wealth may be taken
at any depth (Ville), and N labels, each corrupted with probability delta and worth at most a factor g when corrupted,
cost N log(1 + delta (g - 1)) with g <= 1 + e^-eps. Revealed from the middle outwards they tell which depth to judge at
once (`outward.py`), which shows more unless the signal is at the very end alone.
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
from .outward import FEWEST, read_outward
from .reading import refuted_steps, tally, tally_both_ends
from .thresholds import epsilon_split
from .weighted import independent

TARGETS = np.array([0.1, 0.3, 0.6, 1.0])  # where between the house limit and 1 the bettor believes the rate to be
LADDER = np.round(  # a step below a claim of 0.1 must not cost a tenth of it
    np.concatenate([np.arange(0.0, 0.2, 0.002), np.arange(0.2, 3.0, 0.02), np.arange(3.0, 40.0, 0.05)]), 3
)
FINE_SHARE = 0.05  # of the stake is on smaller targets, which only many labels can use
EVENT_SHARE, EVENT_FROM = 0.05, 20  # of the level for one event, from so many scores a side on
OUTWARD_SHARE = 0.95  # of the rest for labels that are revealed outwards


def labelled(size_p: int, size_q: int, rng: np.random.Generator) -> tuple[int, int]:
    """How many of P and of Q are labelled when coins that show Q with probability size_q / (size_p + size_q) are
    tossed until a side would run out.

    About the root of the sizes stays unused. That their number depends on the coins does not help the bettor: for small
    sizes all outcomes are enumerated in `tests/audit/scores/test_exact_levels.py`.
    """
    coins = rng.random(size_p + size_q) < size_q / (size_p + size_q)
    of_q = np.cumsum(coins)
    of_p = np.arange(1, coins.size + 1) - of_q
    used = int(np.searchsorted((of_q > size_q) | (of_p > size_p), True))
    count = int(of_q[used - 1]) if used else 0
    return used - count, count


def label_counts(size: int, rng: np.random.Generator) -> tuple[int, int]:
    """The same for two sides of one size: fair coins."""
    return labelled(size, size, rng)


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


def beyond(epsilon: float) -> int:
    """The step of the ladder that must be refuted to show more than `epsilon`."""
    return int(np.searchsorted(LADDER, epsilon, side="right")) if epsilon > 0 else 0


def largest_refuted(
    tally: tuple[Array, Array], labels: int, delta: float, alpha: float, log_odds: float = 0.0, above: float = 0.0
) -> float:
    """Walk epsilon up a fixed ladder until one is not rejected (fixed-sequence testing keeps the level).

    The bettor pays for `labels` labels that are corrupted with probability `delta` each. `log_odds`: of a right guess
    before anything is seen, 0 for fair coins. 0 if no more than `above` is shown.
    """
    targets, shares = stakes_on(labels)
    hit, miss = ladder_gains(LADDER + log_odds, targets)
    corruption = labels * np.log1p(delta * np.expm1(hit.max(axis=1)))
    steps = refuted_steps([tally], hit, miss, corruption - np.log(alpha), shares, beyond(above))
    return float(LADDER[steps - 1]) if steps else 0.0


def _read(
    low: Array, high: Array, prior: float, delta: float, rng: np.random.Generator, alpha: float, above: float
) -> list[tuple[float, str]]:
    """The bound of each reading order and its name; sorted labelled scores of D (P) and of D' (Q).

    0 for those that show no more than `above`.
    """
    labels, found = low.size + high.size, []
    for sign in (1.0, -1.0):
        one, other = (low, high) if sign > 0 else (-low[::-1], -high[::-1])
        which = ("high", "low") if sign > 0 else ("low", "high")
        orders = [
            (tally(other, one, rng), prior, f"{which[0]} scores guessed to be of D'"),
            (tally(-one[::-1], -other[::-1], rng), -prior, f"{which[1]} scores guessed to be of D"),
        ]
        if prior == 0:
            orders.append(
                (tally_both_ends(other, one, rng), 0.0, f"{which[0]} scores guessed to be of D', {which[1]} ones of D")
            )
        share = alpha / (2 * len(orders))
        found += [(largest_refuted(read, labels, delta, share, odds, above), name) for read, odds, name in orders]
    return found


def _all_orders(
    p: Array, q: Array, delta: float, rng: np.random.Generator, alpha: float
) -> tuple[float, dict[str, object]]:
    """The best bound of the outward reading and of the six betting ones, which share the level, and what shows it."""
    of_p, of_q = labelled(p.size, q.size, rng)
    labels, prior = of_p + of_q, float(np.log(q.size / p.size))
    if not labels:
        return 0.0, {"by": "nothing to read"}
    low, high = np.sort(without(p, p.size - of_p, rng)), np.sort(without(q, q.size - of_q, rng))
    share, value, seen = OUTWARD_SHARE if labels >= FEWEST else 0.0, 0.0, dict[str, object]()
    if share:
        allowed = independent(labels, delta, share * alpha)
        value, seen = read_outward(low, high, rng, share * alpha, allowed, prior)
    outward: dict[str, object] = {"by": "nothing seen"}
    if seen:
        outward = {"by": seen["direction"], "read": "outwards", **{name: seen[name] for name in ("guesses", "wrong")}}
    best, name = max(_read(low, high, prior, delta, rng, (1 - share) * alpha, value))
    return (best, {"by": name, "read": "inwards"}) if best > value else (value, outward)


def epsilon_labels(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon at `delta` (0 allowed) from scores on D (P) and D' (Q); any sizes, any ties.

    Most of the level is for labels that are revealed outwards (`outward.py`), a part for six readings inwards (from
    either end and from both, high scores for Q or for P), which see what stands at the very end alone, and a part for
    one event, chosen on a part of the scores and counted on the rest.
    """
    start = time.perf_counter()
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
    alpha = 1 - confidence
    for_event = EVENT_SHARE if min(p.size, q.size) >= EVENT_FROM else 0.0
    value, shown = _all_orders(p, q, delta, rng, (1 - for_event) * alpha)
    if for_event:
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
        evidence={**shown, **_hint(p, q, value)},
    )


def _hint(p: Array, q: Array, value: float) -> dict[str, object]:
    """Why there is nothing to see, where that is plain."""
    if value == 0 and np.unique(np.concatenate([p, q])).size == 1:
        return {"hint": "all scores are equal: they say nothing"}
    return {}
