"""Draws whose probabilities come from the data: each is a release, with its exact law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.law import Cost, Difference, Law, other_law
from dpassay.reference.types import Array

FARTHEST = 700.0  # a loss above it is called this large: e^-700 is the smallest probability that a float tells from 0


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
        return max(_epsilon(p, q, self.delta), _epsilon(q, p, self.delta))


def _epsilon(p: Array, q: Array, delta: float) -> float:
    """Smallest epsilon >= 0 with ``sum max(0, p - e^epsilon q) <= delta``: the sum is piecewise linear in e^epsilon."""
    if float(p[q <= 0].sum()) > delta + 1e-15:
        return FARTHEST
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        ratios = np.where(q > 0, p / np.where(q > 0, q, 1.0), math.inf)
    order = np.argsort(-ratios)
    above_p = above_q = 0.0
    for number in order:  # on each piece the ratio e^epsilon at which the sum is delta
        if ratios[number] <= 1:
            break
        above_p, above_q = above_p + p[number], above_q + q[number]
        after = ratios[order[list(order).index(number) + 1]] if number != order[-1] else 0.0
        if above_p - max(after, 1.0) * above_q > delta:
            return math.log(max(1.0, (above_p - delta) / above_q)) if above_q > 0 else FARTHEST
    return 0.0


@dataclass(frozen=True, eq=False)
class Drawn(Law):
    """A draw of a law of NumPy whose parameters come from the data (posterior sampling, say); its cost is not known.

    Args:
        name: the method of the generator.
        parameters: in the order of its arguments.
        size: how many, None for one.
    """

    name: str
    parameters: tuple[Any, ...]
    size: Any = None

    def sample(self, rng: np.random.Generator) -> Any:
        """Draw as NumPy does."""
        return getattr(rng, self.name)(*self.parameters, size=self.size)

    def log_density(self, value: Any) -> float:
        """Of one draw, or the sum over all of them."""
        return float(np.sum(_log_densities()[self.name](value, *self.parameters)))

    def public_difference(self, other: Law) -> Difference | None:
        """Which law it is, and how many draws."""
        if not isinstance(other, Drawn) or other.name != self.name:
            return other_law(self, other)
        if self.size != other.size:
            return Difference("size", self.size, other.size, comparable=False)
        return None

    def agrees(self, other: Law) -> bool:
        """The parameters are equal."""
        return isinstance(other, Drawn) and all(
            np.array_equal(a, b) for a, b in zip(self.parameters, other.parameters, strict=True)
        )


@cache
def _log_densities() -> Mapping[str, Any]:
    from scipy import stats  # takes longer to import than many an audit runs

    return {
        "beta": stats.beta.logpdf,
        "gamma": lambda value, shape, scale=1.0: stats.gamma.logpdf(value, shape, scale=scale),
        "binomial": stats.binom.logpmf,
        "dirichlet": lambda value, alpha: [stats.dirichlet.logpdf(one, alpha) for one in np.atleast_2d(value)],
        "chisquare": stats.chi2.logpdf,
        "vonmises": lambda value, at, kappa: stats.vonmises.logpdf(value, kappa, loc=at),
        "lognormal": lambda value, mean=0.0, sigma=1.0: stats.lognorm.logpdf(value, sigma, scale=math.exp(mean)),
        "multinomial": lambda value, n, p: stats.multinomial.logpmf(value, n, p),
        "rayleigh": lambda value, scale=1.0: stats.rayleigh.logpdf(value, scale=scale),
    }


PARAMETERS: Mapping[str, tuple[str, ...]] = {
    "beta": ("a", "b"),
    "gamma": ("shape", "scale"),
    "binomial": ("n", "p"),
    "dirichlet": ("alpha",),
    "chisquare": ("df",),
    "vonmises": ("mu", "kappa"),
    "lognormal": ("mean", "sigma"),
    "multinomial": ("n", "pvals"),
    "rayleigh": ("scale",),
}


def drawn(name: str, arguments: tuple[Any, ...], named: Mapping[str, Any]) -> Drawn | None:
    """The law of this call of a generator's method; None where its density is not at hand."""
    names = PARAMETERS.get(name)
    if names is None:
        return None
    values = dict(zip((*names, "size"), arguments, strict=False)) | dict(named)
    size = values.pop("size", None)
    if set(values) - set(names) or names[0] not in values:
        return None
    given: list[Any] = []
    for one in names:
        if one not in values:
            break
        given.append(values[one])
    return Drawn(name, tuple(given), size) if len(given) == len(values) else None
