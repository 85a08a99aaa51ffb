"""Joint test of a claimed trade-off curve: all thresholds at once, both directions, no parametric assumption.

Claim: E_Q 1{s > t} - e^eps E_P 1{s > t} <= delta(eps) for every threshold t and every eps of either sign. Any
non-negative combination of these inequalities bounds the mean of h(s_Q) - k(s_P), a bounded variable, so it can be bet
against. Thresholds, tangents and combinations are learned on the samples before the bet, so the wealth is a test
martingale: the test is exact at every sample size, and 1/wealth is a p-value.
"""

import time
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpassay.audit.results import ClaimTest
from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.guarantee import Guarantee

from .events import above, at_spread_ranks

PHASES = (0.03, 0.08, 0.2, 0.45, 1.0)  # share of the pairs seen by the end of each; the first only teaches
THRESHOLDS = 24
STAKES = np.array([1.25, 2.5, 5.0, 10.0, 25.0, 100.0])  # drift / sqrt(pairs) the bet is best for, in null std
KINDS = 4  # single thresholds, Gaussian shift, two learned combinations


@dataclass(frozen=True)
class _Bets:
    """Learned on the past: gains (portfolios, Q bins, P bins) are h(s_Q) - k(s_P) - D, in units of their std."""

    cuts: Array
    gains: Array
    worst: Array  # the largest loss of each portfolio, in the same units


def check_scores(scores: ArrayLike, name: str) -> Array:
    """A finite, non-empty vector of scores as floats; infinities are allowed (perfect evidence), NaN is not."""
    values = np.asarray(scores, dtype=float)
    require(values.ndim == 1 and values.size > 0, name, values.shape, "must be a non-empty vector of scores")
    require(not bool(np.isnan(values).any()), name, "NaN", "scores must be comparable")
    return values


def _cuts(past_p: Array, past_q: Array) -> Array:
    """Thresholds at logit-spaced quantiles of the pooled past; both sides of an atom when there are ties."""
    pooled = np.sort(np.concatenate([past_p, past_q]))  # both are sorted already: a merge
    cuts = at_spread_ranks(pooled, THRESHOLDS)
    if bool((pooled[1:] == pooled[:-1]).any()):
        with np.errstate(over="ignore"):  # just below the smallest float is -inf: no score is below it, a fine cut
            cuts = np.concatenate([cuts, np.nextafter(cuts, -np.inf)])
    cuts = np.unique(cuts)
    return np.asarray(cuts[cuts < np.inf]) if bool((cuts < np.inf).any()) else cuts


def _portfolios(p: Array, q: Array, slopes: Array, excess: Array) -> Array:
    """Non-negative weights over thresholds with null std 1, rows: each alone, the Gaussian shift, two learned."""
    count = p.size
    low, high = np.minimum.outer(p, p), np.minimum.outer(q, q)
    cov = (high - np.outer(q, q)) + np.outer(slopes, slopes) * (low - np.outer(p, p))
    spread = np.sqrt(np.diag(cov))
    scaled = cov / np.outer(spread, spread)
    rows = [np.eye(count)]
    shift = np.exp(-(ndtri(q) ** 2) / 2) / np.sqrt(2 * np.pi) / spread  # the Gaussian density at these quantiles
    learned = np.maximum(excess, 0) / spread
    for target, ridge in ((shift, 0.01), (learned, 0.05), (learned, 0.5)):
        weights = np.maximum(np.linalg.solve(scaled + ridge * np.eye(count), target), 0.0)
        if weights.sum() == 0:
            weights = np.ones(count)
        rows.append(weights[None, :] / np.sqrt(weights @ scaled @ weights))
    return np.concatenate(rows) / spread


def learn_bets(past_p: Array, past_q: Array, curve: Guarantee) -> _Bets:
    """Choose, for each threshold, the claim's most violated tangent on the sorted past, then the portfolios."""
    cuts = _cuts(past_p, past_q)
    p, q = above(past_p, cuts), above(past_q, cuts)
    odds = np.exp(curve.epsilons)
    excess = q[:, None] - odds[None, :] * p[:, None] - curve.deltas[None, :]
    best = excess.argmax(axis=1)
    slopes, deltas = odds[best], curve.deltas[best]
    weights = _portfolios(p, q, slopes, excess[np.arange(cuts.size), best])
    beyond = np.arange(cuts.size + 1)[:, None] > np.arange(cuts.size)[None, :]  # bin b lies above cuts 0..b-1
    earn, pay = weights @ beyond.T, (weights * slopes) @ beyond.T
    level = weights @ deltas
    gains = earn[:, :, None] - pay[:, None, :] - level[:, None, None]
    return _Bets(cuts, gains, pay.max(axis=1) + level)


def phase_log_wealth(bets: _Bets, next_p: Array, next_q: Array, pairs: int) -> Array:
    """Log wealth gained on paired new samples, shape (KINDS, stakes), when `pairs` are expected in all."""
    bins = bets.cuts.size + 1
    cell = np.searchsorted(bets.cuts, next_q) * bins + np.searchsorted(bets.cuts, next_p)
    counts = np.bincount(cell, minlength=bins * bins)
    seen = counts > 0
    gains = bets.gains.reshape(bets.gains.shape[0], -1)[:, seen]
    stakes = np.minimum(STAKES[None, :] / np.sqrt(pairs), 0.95 / bets.worst[:, None])
    logs = np.log1p(stakes[:, :, None] * gains[:, None, :]) @ counts[seen]
    joint = logs.shape[0] - KINDS + 1
    single = np.logaddexp.reduce(logs[:joint]) - np.log(joint)
    return np.concatenate([single[None, :], logs[joint:]])


def curve_log_wealth(p: Array, q: Array, curve: Guarantee, at_end: bool = False) -> float:
    """Largest log wealth over the phases, for samples in random order; `at_end`: the last one, an e-value."""
    pairs = min(p.size, q.size)
    ends = [max(2, int(share * pairs)) for share in PHASES]
    spare_p, spare_q = p[pairs:], q[pairs:]  # what cannot be paired still teaches
    wealth, now, best = np.zeros((KINDS, STAKES.size)), 0.0, 0.0
    for start, end in pairwise(ends):
        if end <= start:
            continue
        past_p, past_q = (np.sort(np.append(x[:start], spare)) for x, spare in ((p, spare_p), (q, spare_q)))
        below = np.searchsorted(past_p, past_q).mean() + np.searchsorted(past_p, past_q, "right").mean()
        up = float(below) >= past_p.size  # do the past scores of Q tend to be the larger ones?
        bets = learn_bets(past_p, past_q, curve) if up else learn_bets(-past_p[::-1], -past_q[::-1], curve)
        sign = 1.0 if up else -1.0
        wealth = wealth + phase_log_wealth(bets, sign * p[start:end], sign * q[start:end], pairs)
        now = float(np.logaddexp.reduce(wealth.ravel()) - np.log(wealth.size))
        best = max(best, now)
    return now if at_end else best


def refute_curve(
    scores_p: ArrayLike, scores_q: ArrayLike, curve: Guarantee, rng: np.random.Generator, confidence: float = 0.95
) -> ClaimTest:
    """Test 'the pair (P, Q) obeys `curve` in both directions' from scores of runs on D (P) and on D' (Q).

    Any sizes, ties and infinite scores allowed; `rng` only shuffles. Sound: P(violated | claim true) <= 1
    - confidence.
    """
    start = time.perf_counter()
    p, q = check_scores(scores_p, "scores_p"), check_scores(scores_q, "scores_q")
    wealth = curve_log_wealth(rng.permutation(p), rng.permutation(q), curve)
    return ClaimTest(
        claim=curve.name,
        p_value=float(np.exp(-wealth)),
        confidence=confidence,
        method="joint curve betting",
        runs=p.size + q.size,
        seconds=time.perf_counter() - start,
        evidence={"log_wealth": wealth},
    )
