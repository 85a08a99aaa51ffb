"""Laplace and geometric noise in an interval: clamped to it, folded into it, or drawn again until it is inside."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require

from .law import LARGEST, Cost
from .number import Geometric, Number, laplace_cdf, laplace_log_cdf, log_weight, require_size


@dataclass(frozen=True, eq=False)
class NumberBetween(Number):
    """A number that cannot leave ``lower..upper``; both ends are public, and either may be infinite."""

    lower: float = -math.inf
    upper: float = math.inf

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
        width = upper - lower
        place = (value - lower) % (2 * width)
        return lower + min(place, 2 * width - place)
    if value < lower:
        return 2 * lower - value
    return 2 * upper - value if value > upper else value


def log_images(gap: float, law: NumberBetween) -> float:
    """Log of the sum of ``exp(-|gap + k period| / scale)`` over all whole k, with period ``2 (upper - lower)``.

    With one end only there is no period, and one image.
    """
    period = 2 * (law.upper - law.lower)
    if not math.isfinite(period):
        return -abs(gap) / law.scale
    rest = gap % period
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
        logs = [log_images(value - self.at, self)]
        if math.isfinite(self.lower):
            logs.append(log_images(2 * self.lower - value - self.at, self))
        elif math.isfinite(self.upper):
            logs.append(log_images(2 * self.upper - value - self.at, self))
        return float(np.logaddexp.reduce(logs)) - math.log(2 * self.scale)


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
        """Log of the sum over images; a whole end is its own image and counts once."""
        if not (self.lower <= value <= self.upper and float(value).is_integer()):
            return -math.inf
        logs = [log_images(value - self.at, self)]
        end = self.lower if math.isfinite(self.lower) else self.upper
        if math.isfinite(end) and value not in (self.lower, self.upper):
            logs.append(log_images(2 * end - value - self.at, self))
        return float(np.logaddexp.reduce(logs)) + log_weight(self.scale)


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

    def _below(self, value: float) -> float:
        return laplace_cdf(value - self.at, self.scale)

    def sample(self, rng: np.random.Generator) -> float:
        """By inversion of the distribution function, on the side of the query that the draw falls."""
        low, middle, high = self._below(self.lower), 0.5, self._below(self.upper)
        u = low + (high - low) * rng.random()
        noise = self.scale * (math.log(2 * u) if u < middle else -math.log(2 * (1 - u)) if u < 1 else math.inf)
        return self.possible(self.at + noise)

    def log_density(self, value: float) -> float:
        """Log density."""
        if not self.lower <= value <= self.upper:
            return -math.inf
        # masses of the two sides, each without cancellation: the query lies in the interval
        below = -0.5 * math.expm1((self.lower - self.at) / self.scale)
        above = -0.5 * math.expm1((self.at - self.upper) / self.scale)
        return -abs(value - self.at) / self.scale - math.log(2 * self.scale) - math.log(below + above)
