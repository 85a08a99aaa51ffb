"""Laws of noise, and of what is only answered: the index of the largest noisy number, a choice, an output.

Kinds of noise go by name (``geometric:0.6`` with its probability).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.law import Cost, Difference, Law, other_law
from dpassay.reference.laws.number import Geometric

from .places import WAY_OUT, not_understood
from .terms import Terms

_SCIPY = {"normal": "norm", "laplace": "laplace", "gumbel": "gumbel_r"}


@cache
def law_of(kind: str) -> Any:
    """The standard law of ``scipy.stats``, which takes longer to import than many an audit runs."""
    from scipy import stats

    return getattr(stats, _SCIPY[kind])


def standard(kind: str, rng: np.random.Generator) -> float:
    """One draw of the standard law."""
    name, _, number = kind.partition(":")
    draw = getattr(rng, name)
    return float(draw(float(number)) if number else draw())


def square_root(factors: Array, kinds: set[str]) -> Array | None:
    """``R`` such that ``factors @ noise`` has the law of ``R @ independent noise``; None where there is none.

    Gaussian noise of covariance ``A A'`` is that of its Cholesky factor; other noise must be as many variables as
    numbers. Where the noise of some numbers determines that of others, no release has a density.
    """
    if len(kinds) != 1 or np.linalg.matrix_rank(factors) < len(factors):
        return None
    if kinds == {"normal"}:
        return np.asarray(np.linalg.cholesky(factors @ factors.T), dtype=np.float64)
    return factors if factors.shape[0] == factors.shape[1] else None


def law_of_noise(kinds: Sequence[str], noise: Terms, count: int, one_each: bool = False) -> tuple[str, Array]:
    """Kind of the noise and its scale for each of so many numbers.

    Args:
        one_each: for the place of the largest of them.
    """
    draws, factors = noise.ones.tolist(), noise.factors
    found = {kinds[one] for one in draws}
    kind, several = sorted(found)[0], len(draws) > count
    if len(set(draws)) < len(draws):
        raise not_understood("several numbers share their noise", f"release them one after the other, or {WAY_OUT}")
    if found == {"normal"}:
        starts = np.searchsorted(noise.rows, np.arange(count))
        return kind, np.hypot.reduceat(np.abs(factors), starts)  # squares of tiny scales would be 0
    name, _, p = kind.partition(":")
    pairs = len(found) == 1 and all(sorted(row.values()) == [-1, 1] for row in noise.of_rows().values())
    if p and float(p) < 1 and pairs:
        return kind, np.full(count, -1 / math.log1p(-float(p)))
    if len(found) > 1 or several:
        what = f"no density is known for this sum of {' and '.join(sorted(found))} noise"
        raise not_understood(what, f"release each part by itself, or {WAY_OUT}")
    if one_each and kind != "laplace" and not bool(np.all(factors > 0)):
        raise not_understood(f"the largest is sought under negative {kind} noise", WAY_OUT)
    if kind != "laplace" and not (one_each and kind in _SCIPY):
        raise not_understood(f"{name} noise is looked at: what that costs is not known", WAY_OUT)
    return kind, np.abs(factors)


def counted(query: float, scale: float) -> Geometric:
    """The law of a whole number plus the difference of two geometric variables."""
    if not query.is_integer():
        raise not_understood("geometric noise is added to a number that is not whole", f"round it before, or {WAY_OUT}")
    return Geometric(np.asarray(query), scale)


# -- answers -----------------------------------------------------------------------------------------------------
FARTHEST = 700.0  # a loss above it is called this large: e^-700 is the smallest probability that a float tells from 0
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(64)
_ROUNDING = 1e-15  # of a sum of probabilities
_TAIL = 1e-18  # mass of the noise that is cut off on either side


@dataclass(frozen=True, eq=False)
class NoisyAnswer(Categorical):
    """Which of ``queries + scale * noise`` is the largest; it knows what noise protects it."""

    kind: str = "laplace"
    scale_of_noise: float = 1.0
    queries: Any = None

    def distance(self, other: Law) -> float:
        """How far the queries are apart: the 2-norm under Gaussian noise, else the largest coordinate.

        Which is the largest does not change where all move together: the shift that leaves least is taken off, the
        mean, or the middle of the range. Counts that a record can only raise are half as far apart then.
        """
        if not isinstance(other, NoisyAnswer) or len(self.queries) != len(other.queries):
            return 0.0
        moved = self.queries - other.queries
        return float(np.linalg.norm(moved - moved.mean()) if self.kind == "normal" else np.ptp(moved) / 2)

    def apart(self, other: Law, moved: float) -> float:
        """The largest difference of a log probability: queries that move together tell nothing."""
        if not isinstance(other, NoisyAnswer) or len(other.support) != len(self.support):
            return moved / self.scale_of_noise
        here, there = self.log_probabilities, other.log_probabilities
        parted = here != there  # an answer that neither can give tells nothing
        return float(np.max(np.abs(here[parted] - there[parted]), initial=0.0))

    def cost(self, sensitivity: float) -> Cost | None:
        """Post-processing of a Gaussian release; or report noisy max (dwork2014, Claim 3.9 and its kin).

        Given the noise of the others, a query wins where its own noise is above a level, which moves by the range of
        all movements at most; the log survival of Laplace and of Gumbel noise falls no faster than by 1 a unit.
        """
        size = sensitivity / self.scale_of_noise
        return Cost("gaussian", size) if self.kind == "normal" else Cost("pure", 2 * size)

    def public_difference(self, other: Law) -> Difference | None:
        """How many queries there are, and the noise, are public."""
        if not isinstance(other, NoisyAnswer):
            return None if isinstance(other, Categorical) else other_law(self, other)
        if len(self.queries) != len(other.queries):
            return Difference("number of queries", len(self.queries), len(other.queries), comparable=False)
        one, two = self.scale_of_noise, other.scale_of_noise
        return None if one == two else Difference("scale", one, two, comparable=True)


def largest(kind: str, queries: Array, scales: Array) -> NoisyAnswer:
    """Which of ``queries + scales * noise`` is the largest? Exact up to quadrature, 64 nodes a piece.

    ``P(i) = integral of density_i(x) prod_{j != i} cdf_j(x)``; pieces end where a density has its kink.
    """
    law = law_of(kind)
    low, high = float(law.ppf(_TAIL)), float(law.isf(_TAIL))
    edges = np.unique(np.concatenate([queries + scales * low, queries, queries + scales * high]))
    step = 2.0 * float(np.min(scales))
    pieces = [np.linspace(a, b, 2 + int((b - a) / step)) for a, b in pairwise(edges)]
    edges = np.unique(np.concatenate(pieces)) if pieces else np.array([low, high])
    half, middle = np.diff(edges) / 2, (edges[1:] + edges[:-1]) / 2
    x = (middle[:, None] + half[:, None] * _NODES).ravel()
    weight = (half[:, None] * _WEIGHTS).ravel()
    z = (x[:, None] - queries) / scales
    below = law.logcdf(z)
    total = below.sum(axis=1)
    with np.errstate(invalid="ignore"):
        others = np.where(np.isfinite(below), total[:, None] - below, -math.inf)
        density = np.exp(law.logpdf(z) - np.log(scales) + others)
    density = np.where(np.isfinite(density), density, 0.0)
    probabilities = weight @ density
    logs = np.log(np.maximum(probabilities / probabilities.sum(), 1e-300))
    return NoisyAnswer(tuple(range(len(queries))), logs, kind, float(np.min(scales)), np.array(queries))


@dataclass(frozen=True, eq=False)
class Chosen(Categorical):
    """A choice with probabilities computed from the data, as the exponential mechanism makes it.

    Its movement is the largest difference of a log probability, so the sensitivity is its pure epsilon.
    """

    scale = 1.0

    def distance(self, other: Law) -> float:
        """The largest difference of a log probability, over all values."""
        if not isinstance(other, Categorical):
            return 0.0
        return max((abs(self._loss(other, value)) for value in {*self.support, *other.support}), default=0.0)

    def cost(self, sensitivity: float) -> Cost | None:
        """Pure epsilon (McSherry and Talwar 2007, Theorem 6, with the movement of the probabilities themselves)."""
        return Cost("pure", sensitivity)

    def _loss(self, other: Categorical, value: Any) -> float:
        here, there = self.log_density(value), other.log_density(value)
        return 0.0 if here == there else float(np.clip(here - there, -FARTHEST, FARTHEST))


@dataclass(frozen=True, eq=False)
class WholeOutput(Chosen):
    """All outputs of a mechanism that makes finitely many choices, with their exact probabilities.

    It is the only release of its run, so its movement is the epsilon itself at ``delta``, in both directions.
    """

    delta: float = 0.0

    def distance(self, other: Law) -> float:
        """The smallest epsilon whose hockey-stick divergence is at most ``delta``."""
        if not isinstance(other, Categorical):
            return 0.0
        keys = list({*self.support, *other.support})
        p = np.exp([self.log_density(key) for key in keys])
        q = np.exp([other.log_density(key) for key in keys])
        return max(epsilon_of(p, q, self.delta), epsilon_of(q, p, self.delta))


@dataclass(frozen=True, eq=False)
class WholeNumber(Intervals):
    """A number as the whole output of a mechanism: evenly between edges; ``delta`` as in :class:`WholeOutput`.

    With a rate of one half the cost is the movement, and a utility twice the log density.
    """

    rate: float = 0.5
    delta: float = 0.0
    scale, public = 1.0, ()

    def distance(self, other: Law) -> float:
        """The smallest epsilon whose hockey-stick divergence is at most ``delta``."""
        if not isinstance(other, WholeNumber):
            return 0.0
        cuts, here, there = self._beside(other)
        p, q = np.exp(here) * np.diff(cuts), np.exp(there) * np.diff(cuts)
        return max(epsilon_of(p, q, self.delta), epsilon_of(q, p, self.delta))

    def tilted(self, other: Law, shift: float) -> "WholeNumber | None":
        """On the pieces of both; a loss beyond ``FARTHEST`` is tilted as if it were that."""
        if not isinstance(other, WholeNumber):
            return None
        cuts, here, there = self._beside(other)
        loss = np.clip(here - there, -FARTHEST, FARTHEST)
        return WholeNumber(cuts, 2 * (here + shift * loss), delta=self.delta)

    def _beside(self, other: "WholeNumber") -> tuple[Array, Array, Array]:
        """The edges of both, and the log densities between."""
        cuts = np.union1d(self.edges, other.edges)
        places = (cuts[1:] + cuts[:-1]) / 2
        here, there = (np.array([law.log_density(place) for place in places]) for law in (self, other))
        return cuts, np.maximum(here, -FARTHEST), np.maximum(there, -FARTHEST)


def whole_number(pieces: Sequence[tuple[float, float, float]], delta: float) -> WholeNumber:
    """Of pieces between two ends, each with a log probability."""
    lows, highs, logs = np.array(pieces).T
    cuts = np.unique([lows, highs])
    covers = (lows[:, None] <= cuts[:-1]) & (cuts[1:] <= highs[:, None])
    densities = np.where(covers, (logs - np.log(highs - lows))[:, None], -FARTHEST)
    return WholeNumber(cuts, 2 * np.logaddexp.reduce(densities, axis=0), delta=delta)


def epsilon_of(p: Array, q: Array, delta: float) -> float:
    """Smallest epsilon >= 0 with ``sum max(0, p - e^epsilon q) <= delta``: the best event is a prefix by ratio."""
    order = np.argsort(-np.divide(p, q, out=np.full(len(p), math.inf), where=q > 0))
    more, less = np.cumsum(p[order]) - delta, np.cumsum(q[order])
    possible = more > _ROUNDING
    with np.errstate(divide="ignore"):
        found = np.log(more[possible]) - np.log(less[possible])
    return float(min(np.max(found, initial=0.0), FARTHEST))
