"""Estimates of epsilon that lean on an assumption; they are labelled and never decide a verdict."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from dpassay.audit.bounds import clopper_pearson_upper
from dpassay.audit.evidence.curves import check_scores
from dpassay.audit.results import AssumedEstimate
from dpassay.reference.accounting.gdp import gdp_epsilon

POSTERIOR_DRAWS = 200_000
LARGEST_SCORE = 1e300  # sums of two must not overflow


def _split(p: ArrayLike, q: ArrayLike, rng: np.random.Generator) -> tuple[Any, Any, Any, Any]:
    """Shuffle, halve, orient so that Q scores high on the first half; infinite scores become the largest finite ones.

    Thresholds are means of scores, and the mean of two infinities would be no threshold.
    """
    a, b = rng.permutation(check_scores(p, "scores_p")), rng.permutation(check_scores(q, "scores_q"))
    sizes = np.abs(np.concatenate([a, b]))
    edge = min(1 + 2 * float(sizes[sizes < np.inf].max(initial=0.0)), LARGEST_SCORE)
    a, b = np.clip(a, -edge, edge), np.clip(b, -edge, edge)
    first_p, first_q = a[: a.size // 2], b[: b.size // 2]
    if first_p.size and first_q.size and np.median(first_p) > np.median(first_q):
        a, b = -a, -b
        first_p, first_q = -first_p, -first_q
    return first_p, first_q, a[a.size // 2 :], b[b.size // 2 :]


def gdp_fit(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> AssumedEstimate:
    """Lower bound of mu at one threshold (chosen on half of the data), read as epsilon of a Gaussian curve."""
    start = time.perf_counter()
    first_p, first_q, p, q = _split(scores_p, scores_q, rng)
    threshold = (np.median(first_p) + np.median(first_q)) / 2 if first_p.size and first_q.size else 0.0
    level = (1 - confidence) / 2
    false_positive = clopper_pearson_upper(int((p > threshold).sum()), p.size, level)
    false_negative = clopper_pearson_upper(int((q <= threshold).sum()), q.size, level)
    mu = max(0.0, float(-ndtri(false_positive) - ndtri(false_negative)))
    return AssumedEstimate(
        epsilon=gdp_epsilon(mu, delta),
        delta=delta,
        confidence=confidence,
        method="GDP fit at one threshold",
        assumption="the trade-off curve of the pair is Gaussian",
        runs=np.size(scores_p) + np.size(scores_q),
        seconds=time.perf_counter() - start,
        evidence={"mu": mu, "threshold": float(threshold)},
    )


def _best_cut(first_p: Any, first_q: Any, delta: float) -> float:
    """The quantile of the first halves at which their error rates, smoothed, show the largest epsilon."""
    cuts = np.unique(np.quantile(np.concatenate([first_p, first_q]), np.linspace(0.01, 0.99, 99)))
    false_p = (first_p[None, :] > cuts[:, None]).mean(axis=1) + 1.0 / (first_p.size + 1)
    miss = (first_q[None, :] <= cuts[:, None]).mean(axis=1) + 1.0 / (first_q.size + 1)
    gain = np.maximum(np.maximum(1 - miss - delta, 1e-12) / false_p, np.maximum(1 - false_p - delta, 1e-12) / miss)
    return float(cuts[int(np.argmax(gain))])


def bayesian(
    scores_p: ArrayLike, scores_q: ArrayLike, delta: float, rng: np.random.Generator, confidence: float = 0.95
) -> AssumedEstimate:
    """Joint credible lower bound (Zanella-Beguelin et al. 2023) at a threshold chosen on half of the data."""
    start = time.perf_counter()
    first_p, first_q, p, q = _split(scores_p, scores_q, rng)
    threshold = _best_cut(first_p, first_q, delta) if first_p.size and first_q.size else 0.0
    hits_p, misses_q = int((p > threshold).sum()), int((q <= threshold).sum())
    fpr = rng.beta(0.5 + hits_p, 0.5 + p.size - hits_p, POSTERIOR_DRAWS)
    fnr = rng.beta(0.5 + misses_q, 0.5 + q.size - misses_q, POSTERIOR_DRAWS)
    odds = np.maximum((1 - fnr - delta) / fpr, (1 - fpr - delta) / fnr)
    draws = np.log(np.maximum(odds, 1.0))
    return AssumedEstimate(
        epsilon=float(np.quantile(draws, 1 - confidence)),
        delta=delta,
        confidence=confidence,
        method="Bayesian joint credible bound",
        assumption="Jeffreys prior on both error rates; credibility, not coverage",
        runs=np.size(scores_p) + np.size(scores_q),
        seconds=time.perf_counter() - start,
        evidence={"threshold": float(threshold), "hits": (hits_p, misses_q)},
    )
