"""The accountant against dp-accounting on identical work, for benchmarks/speed.py: epsilon, and CPU milliseconds."""

from __future__ import annotations

import math
from collections.abc import Callable

from dp_accounting.pld import privacy_loss_distribution
from speed_tape import milliseconds

from dpassay.reference.accounting import curves, parts
from dpassay.reference.accounting.parts import Part, epsilon_of

HEADER = ("rate", "noise multiplier", "steps", "delta", "dp-accounting, ms", "dpassay, ms", "dp-accounting", "dpassay")
# Poisson batches, add/remove; rate 1 is the closed form of mu 1.5 that both must reach
WORK = (
    (0.01, 1.0, 1000, 1e-5),
    (0.001, 0.8, 100_000, 1e-6),
    (0.01, 10.0, 1_000_000, 1e-5),
    (1.0, math.sqrt(1e3) / 1.5, 1000, 1e-5),
    (1.0, math.sqrt(1e3) / 1.5, 1000, 1e-14),
    (1.0, math.sqrt(1e6) / 1.5, 1_000_000, 1e-5),
)


def theirs(rate: float, noise: float, steps: int, delta: float) -> float:
    """By dp-accounting, on our usual grid."""
    one = privacy_loss_distribution.from_gaussian_mechanism(
        noise, value_discretization_interval=parts.STEP, sampling_prob=rate
    )
    return float(one.self_compose(steps).get_epsilon_for_delta(delta))


def ours(rate: float, noise: float, steps: int, delta: float) -> float:
    """By our accountant, nothing kept from earlier calls."""
    for kept in (epsilon_of, parts.composed, curves.masses, curves.end_of):
        kept.cache_clear()
    return epsilon_of(((Part("sampled", 2 / noise, rate, "poisson"), steps),), "add-remove", delta)


def row(rate: float, noise: float, steps: int, delta: float) -> list[object]:
    """One line of the table."""
    work = (rate, noise, steps, delta)

    def repeated(call: Callable[..., float]) -> Callable[[int], object]:
        return lambda count: [call(*work) for _ in range(count)]

    found = milliseconds({"theirs": repeated(theirs), "ours": repeated(ours)}, 0.1)
    took = [f"{found[name]:.1f}" for name in ("theirs", "ours")]
    return [*(f"{one:.4g}" for one in work), *took, *(f"{call(*work):.4f}" for call in (theirs, ours))]
