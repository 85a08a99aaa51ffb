"""Sound bound of epsilon from the labels of extreme scores: all thresholds at once, exact at delta = 0.

Give each score a fair coin for its side. Under (epsilon, delta)-DP in both directions the pair (P, Q) is a
post-processing of: with probability delta the coin itself, else randomised response (Kairouz, Oh and Viswanath 2017,
Theorem 3.2). So given ANY scores, an uncorrupted label is guessed with probability at most e^eps / (1 + e^eps). Reading
the pooled scores from the most extreme inwards is then a betting game with a known house limit; its wealth may be taken
at any depth (Ville), and N labels, each corrupted with probability delta and worth at most a factor g when corrupted,
cost N log(1 + delta (g - 1)) with g <= 1 + e^-eps. Revealed from the middle outwards they tell which depth to judge at
once (`outward.py`), which shows more unless the signal is at the very end alone.

So what is revealed also says how the level is shared. Some labels at either end are never revealed; what stays hidden
is judged at once with a share 1 - w of the level and read inwards with w, where w may depend on everything revealed.
Proof: let K labels be corrupted, and a_k be levels with E[a_K] <= alpha, fixed beforehand (`weighted.independent`).
Given K = k, which labels these are, the scores and what was revealed, hidden uncorrupted labels are still wrong as
often as epsilon says. So the exact test is wrong with probability (1 - w) a_k at most. k corrupted labels multiply the
wealth by g^k at most, so wealth above max_j g^j / (w a_j) has probability w a_k at most (Ville). The sum is a_k,
whatever w is, and its mean at most alpha. To pay for the mean number of corrupted labels, as above, would not do: w
could be large where many are corrupted.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import log_expit

from dpassay.audit.results import SoundBound
from dpassay.reference.errors import BadInput
from dpassay.reference.types import Array

from .curve_claim import check_scores
from .outward import FEWEST, judge, plan_outward, read_outward
from .ranked import blocks_of
from .reading import refuted_steps, tally, tally_both_ends
from .thresholds import epsilon_split
from .weighted import Allowance, independent

TARGETS = np.array([0.1, 0.3, 0.6, 1.0])  # where between the house limit and 1 the bettor believes the rate to be
LADDER = np.round(  # a step below a claim of 0.1 must not cost a tenth of it
    np.concatenate([np.arange(0.0, 0.2, 0.002), np.arange(0.2, 3.0, 0.02), np.arange(3.0, 40.0, 0.05)]), 3
)
FINE_SHARE = 0.05  # of the stake is on smaller targets, which only many labels can use
EVENT_FROM = 20  # scores a side from which on a share of the level is for one event:
FEW_CORRUPTED, EVENT_SHARES = 5.0, (0.03, 0.05)  # up to so many corrupted labels in expectation, and beyond
KEPT, KEPT_SHARE = 40, 0.05  # labels at either end that are never revealed, and no more than this share of all
PROMISES = (0.05, 0.5)  # of the outward reading: below the first little is lost, beyond the second the end adds little
APART = 0.05  # share of the labels read inwards where more are corrupted
INWARD_SHARES = (0.3, 0.05, 0.02)  # of what the event leaves, by the promise; all of it where nothing is promised


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
    tally: tuple[Array, Array],
    labels: int,
    corrupted: float | Sequence[Allowance],
    alpha: float,
    log_odds: float = 0.0,
    above: float = 0.0,
) -> float:
    """Walk epsilon up a fixed ladder until one is not rejected (fixed-sequence testing keeps the level).

    Args:
        tally: right and wrong guesses by depth.
        labels: their number, read or not.
        corrupted: the probability that a label is corrupted, each by itself; or levels by their number, of which the
            bettor has the share `alpha`.
        alpha: level, or share of the levels.
        log_odds: of a right guess before anything is seen, 0 for fair coins.
        above: 0 is returned if no more than this is shown.
    """
    targets, shares = stakes_on(labels)
    hit, miss = ladder_gains(LADDER + log_odds, targets)
    gain = hit.max(axis=1)
    if isinstance(corrupted, float):
        needed = labels * np.log1p(corrupted * np.expm1(gain)) - np.log(alpha)
    else:
        needed = np.max([one.corrupted * gain - np.log(alpha * one.level) for one in corrupted], axis=0)
    steps = refuted_steps([tally], hit, miss, needed, shares, beyond(above))
    return float(LADDER[steps - 1]) if steps else 0.0


@dataclass(frozen=True)
class Ends:
    """What may be read: sorted scores of D (P) and D' (Q), those at the high end and those at the low end."""

    high: tuple[Array, Array]
    low: tuple[Array, Array]

    @staticmethod
    def of(low: Array, high: Array, at_top: tuple[int, int], at_bottom: tuple[int, int]) -> Ends:
        """The largest and the smallest so many of each side."""
        tops = tuple(one[one.size - count :] for one, count in zip((low, high), at_top, strict=True))
        bottoms = tuple(one[:count] for one, count in zip((low, high), at_bottom, strict=True))
        return Ends((tops[0], tops[1]), (bottoms[0], bottoms[1]))

    def turned(self) -> Ends:
        """With all signs turned."""
        high, low = ((-p[::-1], -q[::-1]) for p, q in (self.low, self.high))
        return Ends(high, low)


def _read(
    ends: Ends,
    labels: int,
    prior: float,
    corrupted: float | Sequence[Allowance],
    rng: np.random.Generator,
    alpha: float,
    above: float,
    signs: Sequence[int] = (1, -1),
) -> list[tuple[float, str]]:
    """The bound of each reading order and its name; arguments as in `largest_refuted`, `prior` log odds of D'.

    0 for those that show no more than `above`. `signs`: +1 where high scores speak for D'.
    """
    found = []
    for sign in signs:
        (one, other), (far_one, far_other) = (
            (ends.high, ends.low) if sign > 0 else (ends.turned().high, ends.turned().low)
        )
        which = ("high", "low") if sign > 0 else ("low", "high")
        orders = [
            (tally(other, one, rng), prior, f"{which[0]} scores guessed to be of D'"),
            (tally(-far_one[::-1], -far_other[::-1], rng), -prior, f"{which[1]} scores guessed to be of D"),
        ]
        if prior == 0:
            apart = one.size + other.size + far_one.size + far_other.size <= labels
            both = tally_both_ends(other, one, rng, (far_other, far_one) if apart else None)
            orders.append((both, 0.0, f"{which[0]} scores guessed to be of D', {which[1]} ones of D"))
        share = alpha / (len(signs) * len(orders))
        found += [
            (largest_refuted(read, labels, corrupted, share, odds, above) if read[0].size else 0.0, name)
            for read, odds, name in orders
        ]
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
    if labels < FEWEST:
        few = Ends.of(low, high, (of_p, of_q), (of_p, of_q))
        return _named(max(_read(few, labels, prior, delta, rng, alpha, 0.0)))
    if labels * delta > FEW_CORRUPTED:
        return _apart(low, high, prior, delta, rng, alpha)
    levels, blocks = independent(labels, delta, alpha), blocks_of(low, high, rng)
    kept = max(1, int(min(KEPT, KEPT_SHARE * labels)))
    plan = plan_outward(blocks, alpha, levels[len(levels) // 2].corrupted, prior, kept=kept)
    share, value, seen, signs = 1.0, 0.0, dict[str, object](), [1, -1]
    if plan and plan.weights.any():
        share = INWARD_SHARES[int(np.searchsorted(PROMISES, plan.epsilon, side="right"))]
        signs = [plan.sign] if plan.epsilon >= PROMISES[1] else signs
        allowed = [Allowance(one.corrupted, (1 - share) * one.level) for one in levels]
        value, seen = judge(blocks, plan, allowed, prior)
        seen = _outward(seen)
    if plan is None:
        return _named((0.0, ""))
    hidden = [
        (int(part.sum()), int(of_q.sum()))
        for part, of_q in (
            (blocks.size[: plan.top], blocks.of_q[: plan.top]),
            (blocks.size[plan.bottom :], blocks.of_q[plan.bottom :]),
        )
    ]
    at_top, at_bottom = ((count - of_q, of_q) for count, of_q in hidden)
    best = max(_read(Ends.of(low, high, at_top, at_bottom), labels, prior, levels, rng, share, value, signs))
    return _named(best) if best[0] > value or not seen else (value, seen)


def _apart(
    low: Array, high: Array, prior: float, delta: float, rng: np.random.Generator, alpha: float
) -> tuple[float, dict[str, object]]:
    """With shares fixed beforehand, all labels read inwards: many corrupted labels cost the wealth less in the mean."""
    labels, sizes = low.size + high.size, (low.size, high.size)
    value, seen = read_outward(
        low, high, rng, (1 - APART) * alpha, independent(labels, delta, (1 - APART) * alpha), prior
    )
    best = max(_read(Ends.of(low, high, sizes, sizes), labels, prior, delta, rng, APART * alpha, value))
    return _named(best) if best[0] > value or not seen else (value, _outward(seen))


def _outward(seen: dict[str, object]) -> dict[str, object]:
    """What the outward reading rests on."""
    return {"by": seen["direction"], "read": "outwards", **{name: seen[name] for name in ("guesses", "wrong")}}


def _named(found: tuple[float, str]) -> tuple[float, dict[str, object]]:
    """The bound of a reading inwards, and what it rests on."""
    value, name = found
    return (value, {"by": name, "read": "inwards"}) if value > 0 else (0.0, {"by": "nothing seen"})


def epsilon_labels(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> SoundBound:
    """Lower bound of epsilon at `delta` (0 allowed) from scores on D (P) and D' (Q); any sizes, any ties.

    Most of the level is for labels that are revealed outwards (`outward.py`), or, as these say, for six readings
    inwards (from either end and from both, high scores for Q or for P), which see what stands at the very end alone. A
    part is for one event, chosen on a part of the scores and counted on the rest: it says more where many labels may be
    corrupted.
    """
    start = time.perf_counter()
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
    alpha = 1 - confidence
    many = (p.size + q.size) * delta > FEW_CORRUPTED
    for_event = EVENT_SHARES[many] if min(p.size, q.size) >= EVENT_FROM else 0.0
    value, shown = _all_orders(p, q, float(delta), rng, (1 - for_event) * alpha)
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
