"""Kinds of noise by name (``name:number`` where it has a number of its own), and the standard law of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np

from dpassay.reference.laws.law import Difference, Law, noise_difference
from dpassay.reference.types import Array

_PLAIN = {  # names in scipy.stats, which takes longer to import than many an audit runs
    "gaussian": "norm",
    "laplace": "laplace",
    "gumbel": "gumbel_r",
    "exponential": "expon",
    "logistic": "logistic",
    "cauchy": "cauchy",
    "uniform": "uniform",
}
_WITH_NUMBER = {"student_t": "t", "geometric": "geom", "poisson": "poisson"}
_WHOLE = ("geometric", "poisson")


def with_number(name: str, number: float) -> str:
    """The name of a kind that has a number: degrees of freedom, a probability, a rate."""
    return f"{name}:{float(number)!r}"


@cache
def law_of(kind: str) -> Any:
    """The standard law, frozen, of ``scipy.stats``."""
    from scipy import stats

    name, _, number = kind.partition(":")
    return getattr(stats, _WITH_NUMBER[name])(float(number)) if number else getattr(stats, _PLAIN[name])


def is_whole(kind: str) -> bool:
    """Are its values whole numbers?"""
    return kind.partition(":")[0] in _WHOLE


def geometric_scale(kind: str) -> float | None:
    """Scale of the two-sided law that the difference of two such variables has; None for other kinds."""
    name, _, number = kind.partition(":")
    return -1 / math.log1p(-float(number)) if name == "geometric" and float(number) < 1 else None


def standard(kind: str, rng: np.random.Generator) -> float:
    """One draw of the standard law."""
    if kind == "gaussian":
        return float(rng.standard_normal())
    if kind in ("laplace", "exponential", "gumbel", "logistic"):
        return float(getattr(rng, kind)())
    return float(law_of(kind).rvs(random_state=rng))


@dataclass(frozen=True, eq=False)
class AddedNoise(Law):
    """``query + scale * noise`` of a kind that the tape has no law for. What it costs is not known: its density is.

    Args:
        query: what the noise is added to, any shape.
        scale: of the noise; 1 or -1 for whole numbers.
        kind: of the noise.
    """

    query: Array = field()
    scale: float = field()
    kind: str = field()

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw one value."""
        return self.query + self.scale * law_of(self.kind).rvs(size=self.query.shape, random_state=rng)

    def log_density(self, value: Any) -> float:
        """Log density, or log probability of whole numbers; they are met up to rounding."""
        noise = (np.asarray(value, dtype=float) - self.query) / self.scale
        law = law_of(self.kind)
        if not is_whole(self.kind):
            return float(np.sum(law.logpdf(noise))) - noise.size * math.log(abs(self.scale))
        nearest = np.round(noise)
        return float(np.sum(law.logpmf(nearest))) if np.allclose(noise, nearest, atol=1e-9) else -math.inf

    def distance(self, other: Law) -> float:
        """The largest movement of a coordinate."""
        return float(np.max(np.abs(self.query - other.query), initial=0.0)) if isinstance(other, AddedNoise) else 0.0

    def possible(self, value: Any) -> Any:
        """Whole numbers for whole noise."""
        if not is_whole(self.kind):
            return value
        return self.query + np.round(np.asarray(value, dtype=float) - self.query)

    def public_difference(self, other: Law) -> Difference | None:
        """Kind, shape and scale are public."""
        if isinstance(other, AddedNoise) and other.kind != self.kind:
            return Difference("noise", self.kind, other.kind, comparable=True)
        return noise_difference(self, other, "scale")
