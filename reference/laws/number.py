"""Laws of one noisy number, free or in an interval: clamped to it, folded into it, or drawn again until it is inside.

Query, scale, and whatever further numbers there are, which are public and must agree between neighbours.
"""

import math
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require

from .law import LARGEST, SMALLEST, Cost, Law, query_of

LARGEST_WHOLE = 2.0**53  # up to here every whole number is a float
_REACH = 40  # standard deviations of a discrete Gaussian: beyond, a term is below the smallest float


def require_size(name: str, value: float, most: float = LARGEST) -> None:
    """A noise scale, a bound, a width: positive, and far enough from the ends of what a float holds."""
    require(0 < value < math.inf, name, value, "must be positive and finite")
    require(SMALLEST <= value <= most, name, value, f"must lie in {SMALLEST:g}..{most:g}")


@dataclass(frozen=True, eq=False)
class Number(Law):
    """A law of one number around ``query`` with noise of size ``scale``; sub-classes give density and sampler.

    Every field but the query is public. ``whole`` says that released values are integers.
    """

    query: Array = field()
    scale: float = field()

    whole: ClassVar[bool] = False
    public: ClassVar[tuple[str, ...]] = ("scale",)

    def __post_init__(self) -> None:
        number = np.array(self.query, dtype=float)
        require(number.ndim == 0 and bool(np.isfinite(number)), "query", self.query, "must be one finite number")
        require(not self.whole or float(number).is_integer(), "query", self.query, "must be a whole number")
        most = LARGEST_WHOLE if self.whole else LARGEST
        require(bool(np.abs(number) <= most), "query", self.query, f"must lie in -{most:g}..{most:g}")
        require_size("scale", self.scale, most)
        object.__setattr__(self, "query", number)

    @property
    def at(self) -> float:
        """The query as a float."""
        return float(self.query)

    def possible(self, value: float) -> float:
        """The nearest whole number, or the number itself."""
        return round(float(value)) if self.whole else value

    def distance(self, other: Law) -> float:
        """Absolute difference."""
        return abs(float(query_of(self)) - float(query_of(other)))

    def cost(self, sensitivity: float) -> Cost | None:
        """Sensitivity over scale: right for Laplace-like noise and whatever is computed from it."""
        return Cost("pure", sensitivity / self.scale)


def laplace_log_cdf(x: float, scale: float) -> float:
    """Its logarithm, exact in the lower tail."""
    return x / scale - math.log(2) if x < 0 else math.log1p(-0.5 * math.exp(-x / scale))


@dataclass(frozen=True, eq=False)
class Geometric(Number):
    """``P(query + k)`` is proportional to ``exp(-|k| / scale)`` (Ghosh, Roughgarden and Sundararajan 2012)."""

    whole: ClassVar[bool] = True

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value: the noise is the difference of two geometric variables."""
        one, other = rng.geometric(-math.expm1(-1 / self.scale), size=2)
        return self.possible(round(self.at) + int(one) - int(other))

    def log_density(self, value: float) -> float:
        """Log probability."""
        return self.log_at(value) if float(value).is_integer() else -math.inf

    def log_at(self, value: float) -> float:
        """Log probability of the noisy number at a whole number."""
        return log_weight(self.scale) - abs(value - self.at) / self.scale

    def log_from(self, gap: float) -> float:
        """Log probability that the noise is at least ``gap`` (a whole number) in one direction."""
        if gap <= 0:
            return math.log1p(-math.exp(self.log_from(1 - gap)))
        return -gap / self.scale - math.log1p(math.exp(-1 / self.scale))


def log_weight(scale: float) -> float:
    """Log probability of no noise at all: ``(1 - a) / (1 + a)`` with ``a = exp(-1 / scale)``."""
    return math.log(-math.expm1(-1 / scale)) - math.log1p(math.exp(-1 / scale))


@dataclass(frozen=True, eq=False)
class DiscreteGaussian(Number):
    """``P(query + k)`` is proportional to ``exp(-k^2 / (2 scale^2))`` (Canonne, Kamath and Steinke 2020)."""

    whole: ClassVar[bool] = True

    def cost(self, sensitivity: float) -> Cost | None:
        """Unknown: its concentrated bound is that of a Gaussian, its (epsilon, delta) curve is not."""
        return None

    def sample(self, rng: np.random.Generator) -> int:
        """By inversion of the table of probabilities."""
        support, probabilities = _table(self.scale)
        return round(self.at) + int(float(rng.choice(support, p=probabilities)))

    def log_density(self, value: float) -> float:
        """Log probability."""
        if not float(value).is_integer():
            return -math.inf
        return -((value - self.at) ** 2) / (2 * self.scale**2) - _log_total(self.scale)


@lru_cache(maxsize=64)
def _table(scale: float) -> tuple[Array, Array]:
    reach = math.ceil(_REACH * scale) + 1
    support = np.arange(-reach, reach + 1, dtype=float)
    weights = np.exp(-(support**2) / (2 * scale**2))
    return support, np.asarray(weights / weights.sum())


@lru_cache(maxsize=64)
def _log_total(scale: float) -> float:
    support = _table(scale)[0]
    return float(np.logaddexp.reduce(-(support**2) / (2 * scale**2)))


@dataclass(frozen=True, eq=False)
class NumberBetween(Number):
    """A number that cannot leave ``lower..upper``; both ends are public, and either may be infinite."""

    lower: float = -math.inf
    upper: float = math.inf
    public = ("scale", "lower", "upper")

    def __post_init__(self) -> None:
        super().__post_init__()
        require(self.lower < self.upper, "lower", self.lower, f"must be below upper = {self.upper}")
        require_size("upper - lower", min(self.upper - self.lower, LARGEST))

    def possible(self, value: float) -> float:
        """The nearest value that can come out."""
        return float(min(max(float(value), self.lower), self.upper))


@dataclass(frozen=True, eq=False)
class TruncatedLaplace(NumberBetween):
    """``clamp(query + Laplace(scale), lower, upper)``, "truncated" in diffprivlib. Either end may be infinite.

    The density is with respect to length inside and counting at the two ends.
    """

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.possible(self.at + rng.laplace(0.0, self.scale))

    def log_density(self, value: float) -> float:
        """Log mass at the ends, log density inside."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        if value == self.lower:
            return laplace_log_cdf(self.lower - self.at, self.scale)
        if value == self.upper:
            return laplace_log_cdf(self.at - self.upper, self.scale)
        return -abs(value - self.at) / self.scale - math.log(2 * self.scale)


@dataclass(frozen=True, eq=False)
class TruncatedGeometric(NumberBetween, Geometric):
    """``clamp(query + geometric noise, lower, upper)``; the ends are whole numbers or infinite."""

    def possible(self, value: float) -> int:
        """Clamped."""
        return round(super().possible(value))

    def log_density(self, value: float) -> float:
        """Log probability; the ends hold the tails."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        if value == self.lower:
            return self.log_from(self.at - self.lower)
        return self.log_from(self.upper - self.at) if value == self.upper else self.log_at(value)


def fold(value: float, lower: float, upper: float) -> float:
    """Reflect at the ends until inside."""
    if math.isfinite(lower) and math.isfinite(upper):
        return lower + abs(math.remainder(value - lower, 2 * (upper - lower)))
    if value < lower:
        return 2 * lower - value
    return 2 * upper - value if value > upper else value


def log_folded(value: float, law: NumberBetween) -> float:
    """Log of the sum of ``exp(-|gap| / scale)`` over the images of a value; a whole end is its own and counts once."""
    end = law.lower if math.isfinite(law.lower) else law.upper
    gaps = [value - law.at]
    if math.isfinite(end) and not (law.whole and value in (law.lower, law.upper)):
        gaps.append(2 * end - value - law.at)
    return float(np.logaddexp.reduce([log_images(gap, law) for gap in gaps]))


def log_images(gap: float, law: NumberBetween) -> float:
    """Log of the sum of ``exp(-|gap + k period| / scale)`` over all whole k, with period ``2 (upper - lower)``.

    With one end only there is no period, and one image.
    """
    period = 2 * (law.upper - law.lower)
    if not math.isfinite(period):
        return -abs(gap) / law.scale
    rest = abs(math.remainder(gap, period))  # exact, where a difference rounds
    near = np.logaddexp(-rest / law.scale, -(period - rest) / law.scale)
    return float(near) - math.log(-math.expm1(-period / law.scale))


@dataclass(frozen=True, eq=False)
class FoldedLaplace(NumberBetween):
    """``fold(query + Laplace(scale), lower, upper)``. Either end may be infinite.

    The density at a value is the sum over its images; with two ends they have period ``2 (upper - lower)``, so the sum
    is two geometric series.
    """

    def sample(self, rng: np.random.Generator) -> float:
        """Draw one value."""
        return self.possible(self.at + rng.laplace(0.0, self.scale))

    def possible(self, value: float) -> float:
        """Folded."""
        return fold(float(value), self.lower, self.upper)

    def log_density(self, value: float) -> float:
        """Log of the sum over images."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        return log_folded(value, self) - math.log(2 * self.scale)


@dataclass(frozen=True, eq=False)
class FoldedGeometric(NumberBetween, Geometric):
    """``fold(query + geometric noise, lower, upper)``: the images of a value are summed as for folded Laplace noise."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for name, end in (("lower", self.lower), ("upper", self.upper)):
            good = math.isinf(end) or float(2 * end).is_integer()
            require(good, name, end, "must be a whole or a half number")

    def possible(self, value: float) -> int:
        """Folded."""
        return round(fold(round(float(value)), self.lower, self.upper))

    def log_density(self, value: float) -> float:
        """Log of the sum over images."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        return log_folded(value, self) + log_weight(self.scale)


@dataclass(frozen=True, eq=False)
class BoundedLaplace(NumberBetween):
    """``query + Laplace(scale)`` given ``lower <= value <= upper`` (Holohan et al. 2020, Definition 3).

    The mass of the interval depends on the query, so the loss is not the sensitivity over the scale.
    """

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "query", np.clip(self.query, self.lower, self.upper))

    def cost(self, sensitivity: float) -> Cost:
        """Twice the sensitivity over the scale: density and mass of the interval change by that factor at most."""
        return Cost("pure", 2 * sensitivity / self.scale)

    def sample(self, rng: np.random.Generator) -> float:
        """By inversion of the distribution function, on the side of the query that the draw falls."""
        low = 0.5 * math.exp((self.lower - self.at) / self.scale)
        high = 1 - 0.5 * math.exp((self.at - self.upper) / self.scale)
        u = low + (high - low) * rng.random()
        noise = self.scale * (math.log(2 * u) if u < 0.5 else -math.log(2 * (1 - u)) if u < 1 else math.inf)
        return self.possible(self.at + noise)

    def log_density(self, value: float) -> float:
        """Log density."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        # masses of the two sides, each without cancellation: the query lies in the interval
        below = -0.5 * math.expm1((self.lower - self.at) / self.scale)
        above = -0.5 * math.expm1((self.at - self.upper) / self.scale)
        return -abs(value - self.at) / self.scale - math.log(2 * self.scale) - math.log(below + above)
