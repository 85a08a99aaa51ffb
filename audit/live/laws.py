"""Releases by the laws that have no call of their own on the tape: each ask is one law of the reference.

The fields of an ask are those of its law (``reference/laws``), with the same names. ``ObjectivePerturbation`` alone
cannot be asked for: it is made of functions.
"""

from __future__ import annotations

import math
from typing import Annotated, Literal

import numpy as np
from pydantic import Field

from dpassay.reference.errors import require
from dpassay.reference.laws.bingham import Bingham as BinghamLaw
from dpassay.reference.laws.bounded_laplace import BoundedLaplace
from dpassay.reference.laws.bounded_noise_laplace import BoundedNoiseLaplace as BoundedNoiseLaw
from dpassay.reference.laws.categorical import Categorical as CategoricalLaw
from dpassay.reference.laws.discrete_gaussian import DiscreteGaussian as DiscreteGaussianLaw
from dpassay.reference.laws.folded_geometric import FoldedGeometric
from dpassay.reference.laws.folded_laplace import FoldedLaplace
from dpassay.reference.laws.geometric import Geometric as GeometricLaw
from dpassay.reference.laws.intervals import Intervals as IntervalsLaw
from dpassay.reference.laws.law import Law
from dpassay.reference.laws.number import Number as NumberLaw
from dpassay.reference.laws.selection import exponential, permute_and_flip
from dpassay.reference.laws.snapping import Snapping as SnappingLaw
from dpassay.reference.laws.staircase import Staircase as StaircaseLaw
from dpassay.reference.laws.truncated_geometric import TruncatedGeometric
from dpassay.reference.laws.truncated_laplace import TruncatedLaplace
from dpassay.reference.laws.uniform_noise import UniformNoise

from .fields import Number, Release

LARGEST_TABLE = 10_000  # scale of a discrete Gaussian: its probabilities are tabulated over 80 scales
Candidates = Annotated[list[Number], Field(min_length=1, max_length=10_000)]
FewCandidates = Annotated[list[Number], Field(min_length=1, max_length=500)]  # the time grows with their cube
Matrix = Annotated[
    list[Annotated[list[Number], Field(min_length=2, max_length=200)]], Field(min_length=2, max_length=200)
]


class Geometric(Release):
    """Release a whole ``query`` plus two-sided geometric noise: ``P(k)`` falls as ``exp(-|k| / scale)``."""

    ask: Literal["geometric"]
    query: Number
    scale: Number


class DiscreteGaussian(Release):
    """Release a whole ``query`` plus discrete Gaussian noise: ``P(k)`` falls as ``exp(-k^2 / (2 scale^2))``."""

    ask: Literal["discrete_gaussian"]
    query: Number
    scale: Annotated[Number, Field(le=LARGEST_TABLE)]


class Uniform(Release):
    """Release ``query + U(-scale, scale)``."""

    ask: Literal["uniform"]
    query: Number
    scale: Number


class Between(Release):
    """Laplace or geometric noise, and then nothing outside of ``lower..upper``.

    ``truncated``: moved to the nearer end; ``folded``: reflected at the ends; ``bounded_laplace``: the law given that
    it lies inside. The query may lie outside.
    """

    ask: Literal["truncated_laplace", "folded_laplace", "bounded_laplace", "truncated_geometric", "folded_geometric"]
    query: Number
    scale: Number
    lower: Number
    upper: Number


class BoundedNoiseLaplace(Release):
    """Release ``query + Laplace(scale)`` given that the noise is at most ``bound``."""

    ask: Literal["bounded_noise_laplace"]
    query: Number
    scale: Number
    bound: Number


class Staircase(Release):
    """Release ``query`` plus staircase noise: steps of width ``scale``, each ``exp(-epsilon)`` as high as the last."""

    ask: Literal["staircase"]
    query: Number
    scale: Number
    epsilon: Number
    gamma: Number


class Snapping(Release):
    """Release the clamped ``query`` plus Laplace noise, rounded to ``grid`` (a power of two), clamped to ``bound``."""

    ask: Literal["snapping"]
    query: Number
    scale: Number
    grid: Number
    bound: Number


class Exponential(Release):
    """Release the number of a candidate, with probability in proportion to ``exp(rate * utility)``."""

    ask: Literal["exponential"]
    utilities: Candidates
    rate: Number
    monotonic: bool = False  # adding a record moves all utilities in one direction


class PermuteAndFlip(Release):
    """Release the number of a candidate by permute-and-flip: ``exp(rate * (utility - largest))`` is its coin."""

    ask: Literal["permute_and_flip"]
    utilities: FewCandidates
    rate: Number
    monotonic: bool = False


class Categorical(Release):
    """Release a number from 0 with these log probabilities: randomised response, say."""

    ask: Literal["categorical"]
    log_probabilities: Candidates


class Intervals(Release):
    """Release a number: its density is in proportion to ``exp(rate * utilities[i])`` from ``edges[i]`` to the next."""

    ask: Literal["intervals"]
    edges: Annotated[list[Number], Field(min_length=2, max_length=10_001)]
    utilities: Candidates
    rate: Number


class Bingham(Release):
    """Release a unit vector v with density in proportion to ``exp(rate * v' A v)``, A the symmetric ``query``."""

    ask: Literal["bingham"]
    query: Matrix
    rate: Number


OtherLaw = (
    Geometric | DiscreteGaussian | Uniform | Between | BoundedNoiseLaplace | Staircase | Snapping | Exponential
    | PermuteAndFlip | Categorical | Intervals | Bingham
)  # fmt: skip
_NUMBERS: dict[str, type[NumberLaw]] = {
    "geometric": GeometricLaw,
    "discrete_gaussian": DiscreteGaussianLaw,
    "uniform": UniformNoise,
    "truncated_laplace": TruncatedLaplace,
    "folded_laplace": FoldedLaplace,
    "bounded_laplace": BoundedLaplace,
    "truncated_geometric": TruncatedGeometric,
    "folded_geometric": FoldedGeometric,
    "bounded_noise_laplace": BoundedNoiseLaw,
    "staircase": StaircaseLaw,
    "snapping": SnappingLaw,
}  # their fields are those of the ask


def law_of(said: OtherLaw) -> Law:
    """The law that an ask names.

    Raises:
        BadInput: numbers that make no such law: a query that is not whole or not finite, a scale of zero.
    """
    if said.ask in _NUMBERS:
        fields = said.model_dump(exclude={"ask", "label", "sensitivity", "batches"})
        return _NUMBERS[said.ask](np.asarray(fields.pop("query")), **fields)
    if isinstance(said, Exponential):
        return exponential(said.utilities, said.rate, monotonic=said.monotonic)
    if isinstance(said, PermuteAndFlip):
        return permute_and_flip(said.utilities, said.rate, monotonic=said.monotonic)
    if isinstance(said, Categorical):
        return CategoricalLaw(tuple(range(len(said.log_probabilities))), np.array(said.log_probabilities))
    if isinstance(said, Intervals):
        require(0 <= said.rate < math.inf, "rate", said.rate, "must be finite and not negative")
        require(bool(np.isfinite(said.utilities).all()), "utilities", said.utilities, "must be finite")
        return IntervalsLaw(np.array(said.edges), np.array(said.utilities), said.rate)
    assert isinstance(said, Bingham)
    rows = {len(row) for row in said.query}
    require(rows == {len(said.query)}, "query", sorted(rows), f"must have {len(said.query)} numbers in each row")
    return BinghamLaw(np.array(said.query), said.rate)
