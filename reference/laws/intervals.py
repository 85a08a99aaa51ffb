"""A number whose density is constant on each of some intervals: the exponential mechanism for a quantile."""

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import LARGEST, Cost, Law


@dataclass(frozen=True, eq=False)
class Intervals(Law):
    """Density proportional to ``exp(rate * utilities[i])`` between ``edges[i]`` and ``edges[i + 1]`` (Smith 2011).

    The data move the inner edges, and with them the utility at every point; the two ends are public.

    Args:
        edges: increasing, shape (k + 1,); intervals without length have no probability.
        utilities: shape (k,).
        rate: log of a density ratio for each unit of utility.
    """

    edges: Array
    utilities: Array
    rate: float
    form = ()  # how many records there are is not public
    public: ClassVar[tuple[str, ...]] = ("lower", "upper", "rate")

    def __post_init__(self) -> None:
        edges, utilities = np.array(self.edges, dtype=float), np.array(self.utilities, dtype=float)
        require(edges.shape == (utilities.size + 1,), "edges", edges.shape, f"must have the shape {utilities.size + 1}")
        for name, values in (("edges", edges), ("utilities", utilities), ("rate", np.array(self.rate))):
            good = bool((np.abs(values) <= LARGEST).all())
            require(good, name, values.tolist(), f"must be numbers in -{LARGEST:g}..{LARGEST:g}")
        require(self.rate >= 0, "rate", self.rate, "must not be negative")
        require(bool(np.all(np.diff(edges) >= 0)) and edges[0] < edges[-1], "edges", edges.tolist(), "must increase")
        with np.errstate(divide="ignore"):
            logs = self.rate * utilities + np.log(np.diff(edges))
        public = {"lower": float(edges[0]), "upper": float(edges[-1]), "_masses": logs - np.logaddexp.reduce(logs)}
        self.__dict__.update(edges=edges, utilities=utilities, **public)  # frozen

    def sample(self, rng: np.random.Generator) -> float:
        """An interval, then a place in it."""
        masses = np.exp(self._masses)  # type: ignore[attr-defined]
        i = int(rng.choice(len(masses), p=masses / masses.sum()))
        return float(self.edges[i] + rng.random() * (self.edges[i + 1] - self.edges[i]))

    def interval(self, value: float) -> int:
        """Number of the interval that holds the value (the last one at the upper end)."""
        return min(int(np.searchsorted(self.edges, value, side="right")) - 1, len(self.utilities) - 1)

    def log_density(self, value: float) -> float:
        """Log density; at an edge that of the interval above."""
        if not self.edges[0] <= value <= self.edges[-1]:
            return -math.inf
        i = self.interval(value)
        width = self.edges[i + 1] - self.edges[i]
        return float(self._masses[i] - math.log(width)) if width > 0 else -math.inf  # type: ignore[attr-defined]

    def distance(self, other: Law) -> float:
        """Largest change of the utility at a point."""
        if not isinstance(other, Intervals):
            return 0.0
        cuts = np.unique(np.concatenate([self.edges, other.edges]))
        middles = (cuts[1:] + cuts[:-1]) / 2
        middles = middles[
            (middles > max(self.edges[0], other.edges[0])) & (middles < min(self.edges[-1], other.edges[-1]))
        ]
        gaps = [abs(self.utilities[self.interval(x)] - other.utilities[other.interval(x)]) for x in middles]
        return float(max(gaps, default=0.0))

    def cost(self, sensitivity: float) -> Cost:
        """Twice the rate times the sensitivity of the utility (McSherry and Talwar 2007)."""
        return Cost("pure", 2 * self.rate * sensitivity)
