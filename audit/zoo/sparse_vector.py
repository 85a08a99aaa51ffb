"""The six sparse vector algorithms of Lyu, Su and Li 2017 (Figure 1), sampled in bulk and solved by integration.

Threshold 0, sensitivity 1. Output of a run: one column per query, 1 above, 0 below, -1 not reached; with released
values a second block of columns holds the noisy answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array


@dataclass(frozen=True)
class SparseVector:
    """Noise scales and cutoff of one variant; `query_scale` 0 means no noise on the queries."""

    threshold_scale: float
    query_scale: float
    cutoff: int | None
    resample_scale: float | None = None  # scale of a fresh threshold after each positive answer
    values: bool = False

    def many(self, dataset: Sequence[float], rng: np.random.Generator, size: int) -> Array:
        """`size` runs on the query answers `dataset`, shape (size, k) or (size, 2 k)."""
        answers = np.asarray(dataset, dtype=float)
        noisy = np.tile(answers, (size, 1))
        if self.query_scale > 0:
            noisy = noisy + rng.laplace(0, self.query_scale, noisy.shape)
        threshold = rng.laplace(0, self.threshold_scale, size)
        seen, above = np.zeros(size, dtype=int), np.full(noisy.shape, -1.0)
        for i in range(answers.size):
            live = np.ones(size, dtype=bool) if self.cutoff is None else seen < self.cutoff
            positive = live & (noisy[:, i] >= threshold)
            above[live, i] = positive[live]
            seen += positive
            if self.resample_scale is not None:
                threshold = np.where(positive, rng.laplace(0, self.resample_scale, size), threshold)
        return np.hstack([above, np.where(above == 1, noisy, 0.0)]) if self.values else above

    def __call__(self, dataset: Sequence[float], rng: np.random.Generator) -> Array:
        """One run."""
        return np.asarray(self.many(dataset, rng, 1)[0])


def lyu_variant(number: int, epsilon: float, cutoff: int) -> SparseVector:
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


def _laplace_upper(x: Array, scale: float) -> Array:
    """P(Laplace(scale) >= x), or the step function when there is no noise."""
    if scale == 0:
        return np.asarray(np.where(x <= 0, 1.0, 0.0))
    return np.asarray(np.where(x > 0, 0.5 * np.exp(-np.abs(x) / scale), 1 - 0.5 * np.exp(-np.abs(x) / scale)))


def _grid(scale: float) -> tuple[Array, Array]:
    """Midpoints and masses of the threshold's Laplace law: 40,000 cells out to 30 scales, exact masses."""
    edges = np.linspace(-30 * scale, 30 * scale, 40_001)
    return (edges[1:] + edges[:-1]) / 2, -np.diff(_laplace_upper(edges, scale))


def pattern_probabilities(mechanism: SparseVector, answers: Sequence[float]) -> dict[tuple[int, ...], float]:
    """P(pattern of answers) for every pattern, by integrating over the threshold between resamplings."""
    scales = [one for one in (mechanism.threshold_scale, mechanism.resample_scale) if one is not None]
    grids = [_grid(scale) for scale in scales]
    above = [[_laplace_upper(grid[0] - a, mechanism.query_scale) for a in answers] for grid in grids]
    below = [[1 - table for table in tables] for tables in above]
    found: dict[tuple[int, ...], float] = {}

    def extend(pattern: tuple[int, ...], seen: int, total: float, current: Array, which: int) -> None:
        """All patterns that begin so: ``current`` is P(answers since the last resampling) given the threshold."""
        at = len(pattern)
        if at == len(answers) or (mechanism.cutoff is not None and seen >= mechanism.cutoff):
            found[pattern] = total * float(current @ grids[which][1])
            return
        extend((*pattern, 0), seen, total, current * below[which][at], which)
        current = current * above[which][at]
        if mechanism.resample_scale is not None:
            total *= float(current @ grids[which][1])
            which, current = 1, np.ones(grids[1][0].size)
        extend((*pattern, 1), seen + 1, total, current, which)

    extend((), 0, 1.0, np.ones(grids[0][0].size), 0)
    return found


def exact_epsilon(mechanism: SparseVector, answers: Sequence[float], neighbour: Sequence[float]) -> float:
    """max |log ratio| over all patterns of positive probability; infinite when one side has none (no values)."""
    p, q = pattern_probabilities(mechanism, answers), pattern_probabilities(mechanism, neighbour)
    worst = 0.0
    for pattern in p:
        a, b = p[pattern], q[pattern]
        if max(a, b) < 1e-15:
            continue
        worst = max(worst, float("inf") if min(a, b) < 1e-15 else abs(float(np.log(a / b))))
    return worst
