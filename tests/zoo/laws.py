"""Closed forms of the exact privacy of some mechanisms.

The six sparse vector algorithms of Lyu, Su and Li 2017 (Figure 1) are solved by integration. Threshold 0, sensitivity
1. Output of a run: one column per query, 1 above, 0 below, -1 not reached; with released values a second block of
columns holds the noisy answers.
"""

from dataclasses import dataclass

import numpy as np
from scipy import stats
from scipy.optimize import brentq

from dpassay.reference.accounting.gdp import gdp_delta


@dataclass(frozen=True)
class SparseVector:
    """Noise scales and cutoff of one variant; `query_scale` 0 means no noise on the queries."""

    threshold_scale: float
    query_scale: float
    cutoff: int | None
    resample_scale: float | None = None  # scale of a fresh threshold after each positive answer
    values: bool = False

    def many(self, dataset, rng, size):
        """`size` runs on the query answers `dataset`, shape (size, k) or (size, 2 k)."""
        noisy = np.tile(np.asarray(dataset, dtype=float), (size, 1))
        if self.query_scale > 0:
            noisy = noisy + rng.laplace(0, self.query_scale, noisy.shape)
        threshold = rng.laplace(0, self.threshold_scale, size)
        seen, above = np.zeros(size, dtype=int), np.full(noisy.shape, -1.0)
        for i, column in enumerate(noisy.T):
            live = seen < (np.inf if self.cutoff is None else self.cutoff)
            positive = live & (column >= threshold)
            above[live, i] = positive[live]
            seen += positive
            if self.resample_scale is not None:
                threshold = np.where(positive, rng.laplace(0, self.resample_scale, size), threshold)
        return np.hstack([above, np.where(above == 1, noisy, 0.0)]) if self.values else above


def lyu_variant(number, epsilon, cutoff):
    """Algorithm 1 to 6 of the paper's Figure 1 at budget `epsilon` with at most `cutoff` positive answers."""
    half, quarter = epsilon / 2, epsilon / 4
    return {
        1: SparseVector(1 / half, 2 * cutoff / half, cutoff),
        2: SparseVector(cutoff / half, 2 * cutoff / half, cutoff, resample_scale=cutoff / half),
        3: SparseVector(1 / half, cutoff / half, cutoff, values=True),
        4: SparseVector(1 / quarter, 1 / (epsilon - quarter), cutoff),
        5: SparseVector(1 / half, 0.0, None),
        6: SparseVector(1 / half, 1 / half, None),
    }[number]


def _laplace_upper(x, scale):
    """P(Laplace(scale) >= x), or the step function when there is no noise."""
    return stats.laplace.sf(x, scale=scale) if scale else np.where(x <= 0, 1.0, 0.0)


def _grid(scale):
    """Midpoints and masses of the threshold's Laplace law: 40,000 cells out to 30 scales, exact masses."""
    edges = np.linspace(-30 * scale, 30 * scale, 40_001)
    return (edges[1:] + edges[:-1]) / 2, -np.diff(_laplace_upper(edges, scale))


def pattern_probabilities(mechanism, answers):
    """P(pattern of answers) for every pattern, by integrating over the threshold between resamplings."""
    scales = [one for one in (mechanism.threshold_scale, mechanism.resample_scale) if one is not None]
    grids = [_grid(scale) for scale in scales]
    above = [[_laplace_upper(grid[0] - a, mechanism.query_scale) for a in answers] for grid in grids]
    found = {}

    def extend(pattern, total, current, which):
        """All patterns that begin so: `current` is P(answers since the last resampling) given the threshold."""
        at = len(pattern)
        if at == len(answers) or sum(pattern) == mechanism.cutoff:
            found[pattern] = total * float(current @ grids[which][1])
            return
        extend((*pattern, 0), total, current * (1 - above[which][at]), which)
        current = current * above[which][at]
        if mechanism.resample_scale is not None:
            total *= float(current @ grids[which][1])
            which, current = 1, np.ones(grids[1][0].size)
        extend((*pattern, 1), total, current, which)

    extend((), 1.0, np.ones(grids[0][0].size), 0)
    return found


def exact_epsilon(mechanism, answers, neighbour):
    """max |log ratio| over all patterns of positive probability; infinite when one side has none (no values)."""
    p, q = pattern_probabilities(mechanism, answers), pattern_probabilities(mechanism, neighbour)
    pairs = [(p[pattern], q[pattern]) for pattern in p if max(p[pattern], q[pattern]) >= 1e-15]
    return max(np.inf if min(pair) < 1e-15 else abs(np.log(pair[0] / pair[1])) for pair in pairs)


def noisy_max_epsilon(scale, answers, neighbour):
    """max over the index of |log ratio|, each probability by integration over the noise of the largest answer."""
    noise, masses = _grid(scale)

    def probability(values, i):
        below = [1 - _laplace_upper(noise + values[i] - other, scale) for other in np.delete(values, i)]
        return np.prod(below, axis=0) @ masses

    return max(abs(np.log(probability(answers, i) / probability(neighbour, i))) for i in range(len(answers)))


def exponential_epsilon(rate, scores, neighbour):
    """max over the index of |log ratio| of two laws proportional to exp(rate score)."""
    logs = [rate * one - np.log(np.exp(rate * one).sum()) for one in (scores, neighbour)]
    return np.abs(logs[0] - logs[1]).max()


def mixture_epsilon(rate, mu, delta):
    """Epsilon of (1 - q) N(0, 1) + q N(mu, 1) against N(0, 1): q times a Gaussian hockey stick, solved for delta."""

    def excess(epsilon):
        return rate * gdp_delta(np.log1p(np.expm1(epsilon) / rate), mu) - delta

    return brentq(excess, 0.0, mu * (mu + 12)) if excess(0.0) > 0 else 0.0


def shuffle_epsilon(steps, std, delta):
    """Lower bound for one shuffled epoch from the event 'the largest coordinate exceeds a', best a."""
    cuts = np.linspace(-4 * std, 1 + 6 * std, 4001)
    log_q = np.log(-np.expm1(steps * stats.norm.logcdf(cuts / std)))
    p = -np.expm1((steps - 1) * stats.norm.logcdf(cuts / std) + stats.norm.logcdf((cuts - 1) / std))
    with np.errstate(divide="ignore"):
        return max(0.0, (np.log(np.maximum(p - delta, 0.0)) - log_q).max())
