"""Audits from a single run with many canaries, each included by its own fair coin.

`steinke_p_value` is Steinke, Nasr and Jagielski 2023 (Theorem 5.2, Appendix D): v right of r guesses, abstaining on the
rest. `epsilon_one_run` reads the coins from the most extreme score inwards, which lets the number of guesses be chosen
by the data at no cost: given the output, coin i is known with probability at most e^eps / (1 + e^eps), except for at
most 2 m delta corrupted coins in expectation (their Proposition behind Theorem 5.2). `fdp_refuted` is Mahloujifar,
Melis and Chaudhuri 2024 (Algorithm 3) for any trade-off curve.
"""

from __future__ import annotations

import time
from bisect import bisect_right

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import expit
from scipy.stats import binom

from dpassay.audit.results import ClaimTest, SoundBound
from dpassay.audit.scores.curve import Curve
from dpassay.audit.scores.curve_test import check_scores
from dpassay.audit.scores.labels import LADDER, Floats, ladder_gains
from dpassay.audit.scores.reading import refuted_steps, tally, tally_both_ends, tops
from dpassay.reference.errors import BadInput

RELATION = "add or remove one canary"
Bools = NDArray[np.bool_]
GUESSES_CAP = 5000  # of `one_run_curve`, whose recursion is sequential


def steinke_p_value(canaries: int, guesses: int, correct: int, epsilon: float, delta: float) -> float:
    """P(at least `correct` of `guesses` right | (epsilon, delta)-DP), bounded above."""
    if not 0 <= correct <= guesses <= canaries:
        raise BadInput("correct, guesses, canaries", (correct, guesses, canaries), "must be increasing from 0")
    rate = expit(epsilon)
    tail = float(binom.sf(correct - 1, guesses, rate))
    if delta == 0 or correct == 0:
        return min(1.0, tail)
    shift = np.arange(1, correct + 1)
    between = binom.sf(correct - 1 - shift, guesses, rate) - tail
    return min(1.0, tail + 2 * canaries * delta * float((between / shift).max()))


def epsilon_steinke(canaries: int, guesses: int, correct: int, delta: float, confidence: float = 0.95) -> float:
    """The largest epsilon refuted by a number of right guesses fixed in advance (the p-value rises in epsilon)."""
    low, high = 0.0, 50.0
    if steinke_p_value(canaries, guesses, correct, low, delta) > 1 - confidence:
        return 0.0
    for _ in range(40):
        middle = 0.5 * (low + high)
        refuted = steinke_p_value(canaries, guesses, correct, middle, delta) <= 1 - confidence
        low, high = (middle, high) if refuted else (low, middle)
    return low


def _check_canaries(scores: ArrayLike, included: ArrayLike) -> tuple[Floats, Bools]:
    values, coins = check_scores(scores, "scores"), np.asarray(included)
    if coins.shape != values.shape or not bool(np.isin(coins, (0, 1)).all()):
        raise BadInput("included", coins.shape, "must be one coin (0 or 1) per score")
    return values, coins.astype(bool)


def needed_log_wealth(epsilons: Floats, canaries: int, delta: float, alpha: float) -> Floats:
    """Log wealth that refutes each epsilon: at most c coins are corrupted except with probability 2 m delta / (c + 1).

    The best c is taken; a corrupted coin is worth at most the factor 1 + exp(-epsilon) of a right guess.
    """
    expected = 2 * canaries * delta
    if expected == 0:
        return np.full(epsilons.shape, -np.log(alpha))
    allowed = np.unique(np.round(np.geomspace(max(1.0, expected / alpha), 1e3 * (1 + expected / alpha), 200)))
    allowed = np.append(0.0, allowed)
    left = alpha - expected / (allowed + 1)
    allowed, left = allowed[left > 0], left[left > 0]
    if not allowed.size:
        return np.full(epsilons.shape, np.inf)
    return np.asarray((allowed * np.log1p(np.exp(-epsilons))[:, None] - np.log(left)).min(axis=1))


def epsilon_one_run(
    scores: ArrayLike,
    included: ArrayLike,
    delta: float,
    rng: np.random.Generator,
    confidence: float = 0.95,
) -> SoundBound:
    """Lower bound of epsilon from one run: canary scores and the coins that included them (high score = 'in').

    The number of guesses is chosen by the data without correction; more canaries do not worsen it.
    """
    start = time.perf_counter()
    values, coins = _check_canaries(scores, included)
    if not 0 <= delta < 1:
        raise BadInput("delta", delta, "must lie in [0, 1)")
    high, low = np.sort(values[coins]), np.sort(values[~coins])
    tallies = [tally(high, low, rng), tally(-low[::-1], -high[::-1], rng), tally_both_ends(high, low, rng)]
    tallies = [one for one in tallies if one[0].size]
    hit, miss = ladder_gains(LADDER)
    needed = needed_log_wealth(LADDER, values.size, delta, 1 - confidence)
    steps = refuted_steps(tallies, hit, miss, needed)
    return SoundBound(
        epsilon=float(LADDER[steps - 1]) if steps else 0.0,
        delta=delta,
        confidence=confidence,
        method="one run, labels of extreme scores",
        relation=RELATION,
        runs=1,
        seconds=time.perf_counter() - start,
        evidence={"canaries": int(values.size)},
    )


def _lower_envelope(curve: Curve) -> tuple[list[float], list[float], list[float]]:
    """The curve's lines in the order in which they are the maximum, with the points where they take over."""
    slopes = -np.exp(curve.epsilons)
    heights = 1 - curve.deltas
    starts: list[float] = []
    keep: list[int] = []
    for line in np.argsort(slopes):  # steepest first: the maximum at alpha = 0 side
        while keep:
            last = keep[-1]
            if slopes[line] == slopes[last]:
                cross = -np.inf if heights[line] >= heights[last] else np.inf
            else:
                cross = (heights[last] - heights[line]) / (slopes[line] - slopes[last])
            if cross > (starts[-1] if len(starts) > 0 else -np.inf):
                break
            keep.pop()
            starts.pop()
        if not keep:
            keep.append(int(line))
            starts.append(-np.inf)
        elif np.isfinite(cross):
            keep.append(int(line))
            starts.append(float(cross))
    return starts, [float(heights[i]) for i in keep], [float(slopes[i]) for i in keep]


def fdp_refuted(curve: Curve, canaries: int, guesses: int, correct: int, alpha: float = 0.05) -> bool:
    """Would f-DP allow `correct` of `guesses` right with probability above alpha? True when it would not.

    Backward recursion on (h, r), the masses of runs with more than i right guesses weighted by their wrong and right
    guesses; f bounds the wrong mass from below by f(1 - r).
    """
    if not 0 <= correct <= guesses <= canaries or guesses == 0:
        raise BadInput("correct, guesses, canaries", (correct, guesses, canaries), "must be increasing from 0")
    starts, heights, slopes = _lower_envelope(curve)
    share = alpha * guesses / canaries
    wrong, right = share * (guesses - correct) / guesses, share * correct / guesses
    for i in range(correct - 1, -1, -1):
        point = 1.0 - right
        line = bisect_right(starts, point) - 1
        more = max(wrong, heights[line] + slopes[line] * point)
        right += i / (guesses - i) * (more - wrong)
        wrong = more
        if right + wrong > guesses / canaries:
            return True
    return right + wrong > guesses / canaries


def one_run_curve(
    scores: ArrayLike,
    included: ArrayLike,
    curve: Curve,
    rng: np.random.Generator,
    confidence: float = 0.95,
    guesses: int | None = None,
) -> ClaimTest:
    """Test a claimed trade-off curve on one run; `guesses` (half from each end) is fixed before looking."""
    start = time.perf_counter()
    values, coins = _check_canaries(scores, included)
    few = min(max(values.size // 20, min(values.size, 20)), GUESSES_CAP)  # a few percent works best for all mu
    count = few if guesses is None else guesses
    high, low = np.sort(values[coins]), np.sort(values[~coins])
    half = np.array([min(count, values.size) // 2], dtype=np.int64)
    correct = int(tops(high, low, half, rng)[0] + tops(-low[::-1], -high[::-1], half, rng)[0])
    count = 2 * int(half[0])
    refuted = count > 0 and fdp_refuted(curve, values.size, count, correct, 1 - confidence)
    return ClaimTest(
        claim=curve.name,
        p_value=1 - confidence if refuted else 1.0,
        confidence=confidence,
        method="one run, f-DP recursion",
        relation=RELATION,
        runs=1,
        seconds=time.perf_counter() - start,
        evidence={"canaries": int(values.size), "guesses": count, "correct": correct},
    )
