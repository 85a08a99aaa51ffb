"""One event, chosen on other data, against a claim: an exact test from two binomial counts.

A claim says q <= slope p + delta for the probabilities of any event S on D' and on D, slope = e^epsilon. With S and the
pair fixed beforehand, the p-value is the largest probability, over all p, of an excess over the claim by as many
standard errors as was seen, or more. The largest is taken over a confidence interval of p, whose level is added (Berger
and Boos 1994). The interval is cut into cells; in each, K_P is taken at its lower end and K_Q at its upper one, and
sums over K_P go in blocks rounded up: so the p-value is an upper bound, without normal approximation.
A bet that may be stopped at any time needs about 3.8 standard errors to refute at 5 %, this test 1.7.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

import numpy as np
from scipy.special import bdtr, bdtrc, betaincinv, expit, logit

from dpassay.reference.arrays import Array, Bools
from dpassay.reference.guarantee import LARGEST, Guarantee

NUISANCE = 1e-7  # level of the interval of p, added to the p-value
CELLS, FINER, BLOCKS = 20, 10, 100
REFINED = 0.5  # cells whose first answer is above this share of the largest
LOST = 1e-12  # mass of K_P below the first block, added too
CUTS = 32
SMALLEST = 1e-320
MOST_PAIRS = 24  # of a claim that are tried when an event is chosen
LEAST_DELTA = 1e-6  # pairs of a smaller delta are taken for one


@dataclass(frozen=True)
class Event:
    """'The score is above `cut`' (`at`: or equal; `below`: not so), and the pair of the claim that it is held to."""

    cut: float
    at: bool
    below: bool
    epsilon: float  # any sign
    delta: float
    promise: float  # standard errors by which it exceeded the claim where it was chosen

    def inside(self, scores: Array) -> Bools:
        """Which scores are in the event."""
        above = scores >= self.cut if self.at else scores > self.cut
        return np.asarray(~above if self.below else above)

    def hits(self, scores: Array) -> int:
        """How many of the scores are in the event."""
        return int(self.inside(scores).sum())

    def rate(self, scores: Array) -> float:
        """Their share, smoothed."""
        return (self.hits(scores) + 0.5) / (scores.size + 1.0)

    @property
    def oriented(self) -> tuple[Event, int]:
        """The event with an epsilon of 0 or more, and where it is too frequent: 0 is D, 1 is D'."""
        if self.epsilon >= 0:
            return self, 1
        return replace(self, below=not self.below, epsilon=-self.epsilon, delta=_back(self.epsilon, self.delta)), 0

    def promised(self, p: Array, q: Array) -> Event:
        """The same, with what it promises on these scores."""
        of_q, of_p = np.array(self.rate(q)), np.array(self.rate(p))
        found = excesses(of_q, of_p, q.size, p.size, np.array([self.epsilon]), np.array([self.delta]))
        return replace(self, promise=float(found[0]))

    @property
    def words(self) -> str:
        """For a person."""
        sign = ("<" if self.below else ">=") if self.at else ("<=" if self.below else ">")
        return f"{sign} {shown(self.cut)}"


def shown(value: float) -> str:
    """A number of six digits; the largest one below zero stands for a zero with a minus sign."""
    return f"{value if abs(value) > SMALLEST else np.copysign(0.0, value):.6g}"


def _back(epsilon: float, delta: float) -> float:
    """The delta at -epsilon: q <= s p + d says of the complement that p' <= q' / s + (d - 1 + s) / s, used if s < 1."""
    slope = float(np.exp(epsilon))
    return max(0.0, (delta - 1 + slope) / slope)


@lru_cache(maxsize=1024)  # the same counts are held to the same pair again: for a p-value, a bound and what is shown
def event_p_value(hits_q: int, n_q: int, hits_p: int, n_p: int, epsilon: float, delta: float) -> float:
    """P(an excess this large or larger), at most, if Q(S) <= e^epsilon P(S) + delta; valid for every size.

    For epsilon < 0 the same is said of the complement with the roles exchanged, so slopes are 1 or more.
    """
    slope = float(np.exp(min(epsilon, LARGEST / 2)))
    if epsilon < 0:
        return event_p_value(n_p - hits_p, n_p, n_q - hits_q, n_q, -epsilon, _back(epsilon, delta))
    errors = count_errors(hits_q, n_q, hits_p, n_p, epsilon, delta)
    if errors <= 0:
        return 1.0
    low = float(betaincinv(hits_p, n_p - hits_p + 1, NUISANCE / 2)) if hits_p else 0.0
    high = float(betaincinv(hits_p + 1, n_p - hits_p, 1 - NUISANCE / 2))  # hits_p < n_p, or nothing is exceeded
    edges = low + (high - low) * np.linspace(0, 1, CELLS + 1) ** (1 if hits_p else 2)
    least = errors * (1 - 1e-9)
    found = _tail(edges[:-1], edges[1:], least, n_q, n_p, slope, delta)
    worst = np.flatnonzero(found >= REFINED * found.max())  # only these are looked at in finer cells
    parts = np.linspace(0, 1, FINER + 1)
    fine = edges[worst, None] + (edges[worst + 1] - edges[worst])[:, None] * parts
    finest = _tail(fine[:, :-1].ravel(), fine[:, 1:].ravel(), least, n_q, n_p, slope, delta)
    rest = np.delete(found, worst).max(initial=0.0)
    return float(min(1.0, NUISANCE + LOST + max(finest.max(), rest)))


def count_errors(hits_q: int, n_q: int, hits_p: int, n_p: int, epsilon: float, delta: float) -> float:
    """Standard errors by which the counts exceed (epsilon, delta) with epsilon >= 0: what orders outcomes."""
    slope, rate_q = float(np.exp(min(epsilon, LARGEST / 2))), hits_q / n_q  # the slope's square is a float too
    variance = rate_q * (1 - rate_q) / n_q + slope**2 * float(_variance_p(np.array(float(hits_p)), n_p)) / n_p
    return float((rate_q - slope * hits_p / n_p - delta) / np.sqrt(variance))


def _variance_p(hits: Array, n_p: int) -> Array:
    """p (1 - p) of the smoothed rate, not falling above one half: the excess needed must rise with the hits."""
    rate = np.minimum((hits + 0.5) / (n_p + 1.0), 0.5)
    return np.asarray(rate * (1 - rate))


def _needed(hits_p: Array, errors: float, n_q: int, n_p: int, slope: float, delta: float) -> Array:
    """The least K_Q that exceeds the claim by so many standard errors, for each K_P: a quadratic equation."""
    middle, extra = slope * hits_p / n_p + delta, errors**2 / n_q
    half = middle + extra / 2
    rest = middle**2 - errors**2 * slope**2 * _variance_p(hits_p, n_p) / n_p
    root = (half + np.sqrt(np.maximum(half**2 - (1 + extra) * rest, 0.0))) / (1 + extra)
    return np.asarray(np.ceil(n_q * root - 1e-7))


def _tail(lower: Array, upper: Array, errors: float, n_q: int, n_p: int, slope: float, delta: float) -> Array:
    """P(the claim is exceeded by `errors` or more) in each cell [lower, upper] of p, rounded up."""
    mean, spread = n_p * lower, np.sqrt(n_p * lower * (1 - lower)) + 1
    places = np.linspace(0, 1, BLOCKS + 1)
    starts = np.floor(np.maximum(0, mean - 8 * spread)[:, None] + places * (16 * spread)[:, None])
    starts = np.minimum(starts, n_p)
    starts[:, -1] = n_p + 1
    below = np.where(starts > 0, bdtr(np.maximum(starts - 1, 0), n_p, lower[:, None]), 0.0)  # P(K_P < start)
    mass = np.maximum(np.diff(below, axis=1), 0.0)
    first = below[:, :1]  # everything below the first block counts as if the claim were exceeded there
    rate_q = np.minimum(1.0, slope * upper + delta)[:, None]
    short = _needed(starts[:, :-1], errors, n_q, n_p, slope, delta) - 1
    above = np.where(short < 0, 1.0, np.where(short >= n_q, 0.0, bdtrc(np.clip(short, 0, n_q), n_q, rate_q)))
    return np.asarray((first + (mass * above).sum(axis=1, keepdims=True))[:, 0])


def some_pairs(claim: Guarantee) -> tuple[Array, Array]:
    """At most `MOST_PAIRS` of the claim's pairs, spread over them by the log odds of delta."""
    keep = np.flatnonzero(claim.epsilons < LARGEST)
    if keep.size > MOST_PAIRS:
        odds = logit(np.clip(claim.deltas[keep], LEAST_DELTA, 1 - LEAST_DELTA))
        wanted = np.linspace(odds.min(), odds.max(), MOST_PAIRS)
        keep = np.unique(keep[np.abs(odds[:, None] - wanted).argmin(axis=0)])
    return claim.epsilons[keep], claim.deltas[keep]


def excesses(rate_q: Array, rate_p: Array, n_q: int, n_p: int, epsilons: Array, deltas: Array) -> Array:
    """Standard errors by which events of these (smoothed) rates exceed each pair; the pairs are the last axis."""
    slopes = np.exp(epsilons)
    q, p = rate_q[..., None], rate_p[..., None]
    variance = q * (1 - q) / n_q + slopes**2 * p * (1 - p) / n_p
    return np.asarray((q - slopes * p - deltas) / np.sqrt(variance))


def best_event(p: Array, q: Array, claim: Guarantee) -> Event:
    """The threshold, its side and the pair of the claim that these scores (no NaN) exceed by most standard errors."""
    ordered_p, ordered_q = np.sort(p), np.sort(q)
    pooled = np.sort(np.concatenate([p, q]))
    cuts = np.unique(at_spread_ranks(pooled, CUTS))
    rates = [np.concatenate([above(side, cuts), above(side, cuts, "left")]) for side in (ordered_q, ordered_p)]
    epsilons, deltas = some_pairs(claim)
    both = [np.concatenate([rate, 1 - rate]) for rate in rates]
    found = excesses(both[0], both[1], q.size, p.size, epsilons, deltas)
    place, pair = np.unravel_index(int(found.argmax()), found.shape)
    below, side = divmod(int(place), 2 * cuts.size)
    at, cut = divmod(side, cuts.size)
    return Event(
        float(cuts[cut]),
        at=bool(at),
        below=bool(below),
        epsilon=float(epsilons[pair]),
        delta=float(deltas[pair]),
        promise=float(found[place, pair]),
    )


def at_spread_ranks(pooled: Array, count: int) -> Array:
    """So many of the sorted scores, at ranks that are evenly spread in log odds."""
    depth = np.log(max(pooled.size / 2.0, 2.0))
    ranks = (expit(np.linspace(-depth, depth, count)) * pooled.size).astype(int)
    return np.asarray(pooled[np.minimum(ranks, pooled.size - 1)])


def above(ordered: Array, cuts: Array, side: Literal["left", "right"] = "right") -> Array:
    """Smoothed share of the sorted scores above each cut ("left": or equal to it)."""
    return np.asarray((ordered.size - np.searchsorted(ordered, cuts, side) + 0.5) / (ordered.size + 1.0))


def judge_event(event: Event, p: Array, q: Array) -> float:
    """The p-value of a fixed event on other scores."""
    return event_p_value(event.hits(q), q.size, event.hits(p), p.size, event.epsilon, event.delta)
