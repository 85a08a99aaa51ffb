"""Staircase noise: a density that falls by the factor ``exp(-epsilon)`` in steps."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dpassay.reference.errors import require

from .law import Cost
from .number import Number

_LEAST = 1e-12  # epsilon of a step: below, the number of steps is no longer a whole number of a float


@dataclass(frozen=True, eq=False)
class Staircase(Number):
    """The law of Geng and Viswanath (2014): steps of width ``scale`` (the sensitivity), each high for ``gamma`` of it.

    Args:
        epsilon: log of the height of one step.
        gamma: in [0, 1]: the share of a step that is as high as its beginning.
    """

    epsilon: float = 1.0
    gamma: float = 0.5

    def __post_init__(self) -> None:
        super().__post_init__()
        require(
            _LEAST <= self.epsilon <= 1 / _LEAST, "epsilon", self.epsilon, f"must lie in {_LEAST:g}..{1 / _LEAST:g}"
        )
        require(0 <= self.gamma <= 1, "gamma", self.gamma, "must lie in [0, 1]")

    def cost(self, sensitivity: float) -> Cost:
        """Epsilon for each step that the query may move, counted whole."""
        steps = sensitivity / self.scale - 1e-9
        return Cost("pure", self.epsilon * (math.ceil(steps) if math.isfinite(steps) else math.inf))

    def sample(self, rng: np.random.Generator) -> float:
        """Sign, step, part of the step, place in the part."""
        high = self.gamma / (self.gamma + (1 - self.gamma) * math.exp(-self.epsilon))
        step = int(rng.geometric(-math.expm1(-self.epsilon))) - 1
        place = rng.random()
        inside = self.gamma * place if rng.random() < high else self.gamma + (1 - self.gamma) * place
        return self.at + (1 if rng.random() < 0.5 else -1) * (step + inside) * self.scale

    def log_density(self, value: float) -> float:
        """Log density."""
        steps = abs(value - self.at) / self.scale
        step = math.floor(steps)
        height = step if steps - step < self.gamma else step + 1
        area = self.gamma + (1 - self.gamma) * math.exp(-self.epsilon)
        return -height * self.epsilon + math.log(-math.expm1(-self.epsilon)) - math.log(2 * self.scale * area)
