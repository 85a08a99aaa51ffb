"""Noise for a budget, by exact accounting of what is really released: how often, sampled how, how sensitive.

A run of either algorithm releases several sequences. Each gets noise in proportion to its own sensitivity, so that the
ratio std / sensitivity is a constant of the sequence even where the sensitivity follows the iterates; fully adaptive
composition then accounts the run as if the ratios had been fixed in advance, which they are.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import BadInput, require, require_budget

SAMPLED_FLOOR = 0.7  # below this ratio sampling stops helping (the rule of thumb is 1); keeps the search tame
_BISECTIONS = 12  # halvings of a factor 16: the ratio is within 0.1 % of the least that does


@dataclass(frozen=True)
class Sequence:
    """Releases of one kind: how many, and at which sampling rate (1: all records)."""

    count: int
    rate: float

    def __post_init__(self) -> None:
        require(self.count >= 0, "count", self.count, "must not be negative")
        require(0 < self.rate <= 1, "rate", self.rate, "must lie in (0, 1]")


def account_of(sequences: tuple[Sequence, ...], ratios: tuple[float, ...]) -> Account:
    """The account of such a run: full-batch releases merged exactly, sampled ones composed."""
    squares, parts = 0.0, []
    for sequence, ratio in zip(sequences, ratios, strict=True):
        if sequence.count == 0:
            continue
        if sequence.rate == 1:
            squares += sequence.count / ratio**2
        else:
            parts.append((Part("sampled", 1.0 / ratio, sequence.rate), sequence.count))
    if squares:
        parts.append((Part("gaussian", math.sqrt(squares)), 1))
    return Account(tuple(parts))


@lru_cache(maxsize=256)
def calibrated_ratios(sequences: tuple[Sequence, ...], epsilon: float, delta: float) -> tuple[float, ...]:
    """std / sensitivity for each sequence so that the whole run is (epsilon, delta)-DP.

    Every sequence gets the same share of mu^2, at rate * sqrt(count) where it is sampled, and not less than
    ``SAMPLED_FLOOR``. Without sampling the answer is exact; with it, the least common factor is found by bisection on
    the upper bound.
    """
    require_budget(epsilon, delta)
    active = sum(sequence.count > 0 for sequence in sequences)
    least = 1.0 / gdp_mu(epsilon, delta)

    def ratios(factor: float) -> tuple[float, ...]:
        return tuple(_ratio(sequence, active, factor * least) for sequence in sequences)

    if all(sequence.rate == 1 for sequence in sequences if sequence.count):
        return ratios(1.0 + 1e-12)
    low, high = 0.5, 8.0
    if account_of(sequences, ratios(high)).epsilon(delta) > epsilon:
        raise BadInput("sequences", sequences, f"no noise within reach gives ({epsilon:g}, {delta:g})-DP")
    for _ in range(_BISECTIONS):
        middle = math.sqrt(low * high)
        if account_of(sequences, ratios(middle)).epsilon(delta) > epsilon:
            low = middle
        else:
            high = middle
    return ratios(high)


def _ratio(sequence: Sequence, active: int, factor: float) -> float:
    ratio = factor * sequence.rate * math.sqrt(max(1, sequence.count) * active)
    return ratio if sequence.rate == 1 else max(ratio, SAMPLED_FLOOR)


def refreshes(steps: int, phase: int) -> int:
    """Refreshes among ``steps`` iterations that begin with one."""
    return math.ceil(steps / phase)
