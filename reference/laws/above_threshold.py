"""AboveThreshold (the sparse vector technique): only the index of the first noisy query above is released.

Dwork and Roth (2014), Algorithm 1: with sensitivity D, threshold noise Lap(2 D / epsilon) and query noise
Lap(4 D / epsilon) the index is epsilon-DP, whatever the number of queries.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sized
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .categorical import Categorical
from .law import LARGEST, SMALLEST, Cost, Law

_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(24)
_TAIL = 40.0  # exp(-40) = 4e-18: what is cut off is below one rounding
_TINY = 1e-300  # no division by zero
_FINE = 50.0  # threshold noise over query noise: beyond, only the surroundings of the queries are cut into fine pieces
_BLOCK, _MOST_CELLS = 4_000_000, 10**9  # nodes times queries: held at once; computed for one law (a minute)
MOST_QUERIES = 100_000  # of one release: the bound on its cost is computed for that many


@dataclass(eq=False)
class AboveThreshold(Law):
    """Release the first index ``i`` with ``queries[i] + Lap(query_scale) >= threshold + Lap(threshold_scale)``.

    ``None`` is released when no query is above. Queries are evaluated only as far as a sample needs them; the exact
    output probabilities (by quadrature over the threshold noise) evaluate them all.

    Args:
        count: how many queries there are at most, a public number; without it the cost is that of any number of them.
            A list says it by itself.
        falls: query ``i`` moves by at most ``falls**i`` times the sensitivity, 0 < falls <= 1.
    """

    queries: Iterable[float]
    threshold: float
    threshold_scale: float
    query_scale: float
    count: int | None = None
    falls: float = 1.0
    _seen: list[float] = field(default_factory=list, repr=False)
    _outcomes: Categorical | None = field(default=None, repr=False)
    is_finite = True
    form = (("number of queries", lambda law: len(law.all_queries())),)
    public = ("falls", "threshold", "threshold_scale", "query_scale")

    def __post_init__(self) -> None:
        for name in ("threshold_scale", "query_scale"):
            value = getattr(self, name)
            require(value > 0, name, value, "must be positive")
            require(SMALLEST <= value <= LARGEST, name, value, f"must lie in {SMALLEST:g}..{LARGEST:g}")
        require(abs(self.threshold) <= LARGEST, "threshold", self.threshold, f"must lie in -{LARGEST:g}..{LARGEST:g}")
        require(0 < self.falls <= 1, "falls", self.falls, "must lie in (0, 1]")
        if self.count is None and isinstance(self.queries, Sized):
            self.count = len(self.queries)
        good = self.count is None or 0 <= self.count <= MOST_QUERIES
        require(good, "count", self.count, f"one release asks {MOST_QUERIES:,} queries at most")
        self._all: Array | None = None  # every query, once all are evaluated
        # an array may be overwritten before it is read; a generator is evaluated only as far as it is needed
        self._rest: Iterator[float] = iter(tuple(self.queries) if isinstance(self.queries, Sized) else self.queries)

    def _each(self) -> Iterator[float]:
        """The queries one by one, each evaluated when it is asked for, and once."""
        most = MOST_QUERIES if self.count is None else self.count
        for index in itertools.count():
            if index == len(self._seen):
                following = next(self._rest, None)
                if following is None:
                    return
                require(index < most, "queries", "more", f"one release asks {most:,} at most")
                require(abs(following) <= LARGEST, "query", following, f"must be finite, in -{LARGEST:g}..{LARGEST:g}")
                self._seen.append(float(following))
            yield self._seen[index]

    @property
    def evaluated(self) -> Array:
        """The queries that a sample has needed so far."""
        return np.array(self._seen)

    def first(self, count: int | None) -> Array:
        """The first ``count`` queries (all, if there are fewer), evaluated; of later ones none that was not before."""
        return np.array(list(itertools.islice(self._each(), count)))

    def all_queries(self) -> Array:
        """Every query value, evaluated."""
        if self._all is None:
            self._all = self.first(None)
            self._all.setflags(write=False)
        return self._all

    def sample(self, rng: np.random.Generator) -> int | None:
        """Run the mechanism as written, stopping at the first index above."""
        level = self.threshold + rng.laplace(0.0, self.threshold_scale)
        noisy = (query + rng.laplace(0.0, self.query_scale) for query in self._each())
        return next((index for index, value in enumerate(noisy) if value >= level), None)

    def moved(self) -> Array:
        """Every query."""
        return self.all_queries()

    def nth(self, index: int) -> int | None:
        """An index of a query; the last value is ``None``."""
        count = len(self.all_queries())
        return None if index % (count + 1) == count else index % (count + 1)

    def changed(self, noise: float, query: float) -> AboveThreshold:
        """Both noise scales; the queries are evaluated only as far as they are needed, and stay."""
        scales = noise * self.threshold_scale, noise * self.query_scale
        return AboveThreshold(self.queries, self.threshold, *scales, self.count, self.falls)

    def distance(self, other: Law) -> float:
        """The largest distance between two queries of one position, the later ones as many times as they may fall."""
        assert isinstance(other, AboveThreshold)
        apart = np.abs(self.all_queries() - other.all_queries())
        allowed = np.maximum(self.falls ** np.arange(apart.size), _TINY)
        with np.errstate(over="ignore"):
            return float(np.max(apart / allowed, initial=0.0))

    def cost(self, sensitivity: float) -> Cost:
        """Dwork and Roth 2014, Theorem 3.23, with general scales; less by what the worst queries show at most."""
        size = sensitivity / self.threshold_scale + 2 * sensitivity / self.query_scale
        share = self.threshold_scale / (self.query_scale + 2 * self.threshold_scale)
        told = (self.count, self.falls) if self.count else (0, 1.0)
        return Cost("above-threshold", size, share, *told)

    def tilted(self, other: Law, shift: float) -> Categorical | None:
        """By enumeration."""
        return self.outcomes().tilted(other, shift)

    def outcomes(self) -> Categorical:
        """Exact law of the released index (0, 1, ..., and ``None`` last)."""
        if self._outcomes is None:
            logs = np.log(np.maximum(_probabilities(self), 1e-300))
            self._outcomes = Categorical((*range(len(logs) - 1), None), logs)
        return self._outcomes

    def log_density(self, value: Any) -> float:
        """Log probability of the released index."""
        return self.outcomes().log_density(value)

    def happens(self, value: Any) -> bool:
        """Every index, and None, has a probability above zero: Laplace noise reaches everywhere."""
        return value is None or value in range(len(self.all_queries()))


def _probabilities(law: AboveThreshold) -> Array:
    """``P(index = i)`` for each ``i`` and ``P(None)`` last: one Gauss-Legendre rule per analytic piece.

    With the threshold noise at ``z`` the queries are independent, so the integrand is
    ``f(z) prod_{j<i} F(t + z - q_j) (1 - F(t + z - q_i))``, analytic between the kinks ``0`` and ``q_j - t``.
    """
    gaps = law.all_queries() - law.threshold
    edges = _edges(gaps, law.threshold_scale, law.query_scale)
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    cells = _NODES.size * half.size * (gaps.size + 1)
    why = f"have a law that takes too long to compute ({cells:.1g} cells, at most {_MOST_CELLS:.0g})"
    require(cells <= _MOST_CELLS, "queries", gaps.size, why)
    z = (middle[:, None] + half[:, None] * _NODES).ravel()
    weight = (half[:, None] * _WEIGHTS).ravel() * np.exp(-np.abs(z) / law.threshold_scale) / (2 * law.threshold_scale)
    rows = max(1, _BLOCK // (gaps.size + 1))
    parts = [
        weight[start : start + rows] @ _given(z[start : start + rows], gaps, law.query_scale)
        for start in range(0, z.size, rows)
    ]
    probabilities = np.sum(parts, axis=0)
    return np.asarray(probabilities / probabilities.sum())


def _edges(gaps: Array, threshold_scale: float, query_scale: float) -> Array:
    """Where the pieces of the rule begin and end: at the kinks, and so close that the integrand is smooth between."""
    reach = _TAIL * threshold_scale
    inside = gaps[np.abs(gaps) < reach]
    kinks = np.concatenate([inside, [0.0, -reach, reach]])
    longest = 2.0 * min(threshold_scale, query_scale)
    if threshold_scale > _FINE * query_scale:  # further from a query than this, it stays below, or above, for certain
        around = np.linspace(-_TAIL, _TAIL, 41) * query_scale
        kinks = np.concatenate([kinks, np.clip((inside[:, None] + around).ravel(), -reach, reach)])
        longest = 2.0 * threshold_scale
    pieces = [np.linspace(a, b, 2 + int((b - a) / longest)) for a, b in itertools.pairwise(np.unique(kinks))]
    return np.unique(np.concatenate(pieces))


def _given(z: Array, gaps: Array, query_scale: float) -> Array:
    """``P(index = i)`` and ``P(None)`` with the threshold noise at each ``z``: shape (nodes, queries + 1)."""
    with np.errstate(over="ignore", under="ignore"):
        x = (z[:, None] - gaps) / query_scale
        stays, above = below(x), below(-x)  # F(t + z - q_j): query j stays below
    so_far = np.concatenate([np.ones((len(z), 1)), np.cumprod(stays, axis=1)], axis=1)
    return np.concatenate([so_far[:, :-1] * above, so_far[:, -1:]], axis=1)


def below(y: Array) -> Array:
    """F: the probability that Laplace noise of scale one is below."""
    tail = np.exp(-np.abs(y)) / 2
    return np.where(y < 0, tail, 1 - tail)
