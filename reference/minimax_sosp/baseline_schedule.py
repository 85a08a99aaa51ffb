"""Parameters shared by the baselines of minimax_sosp, Tables 1 and 2. All baselines are reconstructions.

The paper names them and does not print them: what is here follows the methods' published descriptions, with the
privacy rule of Appendix D for all (clip every record at C, sensitivity 2 C / B, one noise multiplier for a run).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from math import ceil

from scipy.optimize import brentq

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.errors import require, require_at_least, require_positive

from .calibration import advanced_composition_multiplier, exact_multiplier

RECONSTRUCTION = "reconstruction: the paper names this method and prints neither its pseudocode nor its parameters"


@dataclass(frozen=True)
class BaselineSchedule:
    """One record for all baselines; each uses what it needs."""

    records: int  # n
    outer_steps: int  # T
    inner_steps: int = 1  # ascent steps in y per outer step
    period: int = 10  # q
    refresh_batch: int = 200  # b1
    step_batch: int = 50  # b2
    clip: float = 1.0  # C
    step_x: float = 0.1
    step_y: float = 0.8
    multiplier: float = 0.0  # noise std over sensitivity
    drift_limit: float = 1.0  # kappa of the drift-triggered refresh
    tolerance: float = 0.1  # gradient norm under which a saddle is suspected
    perturbation: float = 0.1  # radius (or std) of the escape perturbation
    frozen_steps: int = 50  # no second perturbation for so many steps

    def __post_init__(self) -> None:
        require_at_least(1, self, "outer_steps", "inner_steps", "period", "refresh_batch", "step_batch", "frozen_steps")
        for field in ("refresh_batch", "step_batch"):
            require(getattr(self, field) <= self.records, field, getattr(self, field), f"must be <= n = {self.records}")
        require_positive(self, "clip", "step_x", "step_y")
        require(self.multiplier >= 0, "multiplier", self.multiplier, "must not be negative")

    @property
    def refreshes(self) -> int:
        """Number of periodic refreshes."""
        return ceil(self.outer_steps / self.period)


Counts = Callable[[BaselineSchedule], tuple[tuple[int, int], ...]]  # (batch size, number of releases) in a run


def spider_counts(s: BaselineSchedule) -> tuple[tuple[int, int], ...]:
    """Periodic refreshes, differences in between."""
    return ((s.refresh_batch, s.refreshes), (s.step_batch, s.outer_steps - s.refreshes))


def drift_counts(s: BaselineSchedule) -> tuple[tuple[int, int], ...]:
    """Refreshes come when the drift says so: in the worst case always."""
    return ((max(s.refresh_batch, s.step_batch), s.outer_steps),)


def descent_ascent_counts(s: BaselineSchedule) -> tuple[tuple[int, int], ...]:
    """One release in y and one in x per step (DP-SGDA)."""
    return ((s.step_batch, 2 * s.outer_steps),)


def private_diff_counts(s: BaselineSchedule) -> tuple[tuple[int, int], ...]:
    """K ascents per step, and a SPIDER estimate in x."""
    ascents = s.outer_steps * s.inner_steps
    return ((s.step_batch, ascents + s.outer_steps - s.refreshes), (s.refresh_batch, s.refreshes))


def by_advanced_composition(s: BaselineSchedule, counts: Counts, epsilon: float, delta: float) -> BaselineSchedule:
    """Appendix D's description: the budget split by advanced composition over all gradient accesses."""
    total = sum(number for _, number in counts(s))
    return replace(s, multiplier=advanced_composition_multiplier(epsilon, delta, total))


def by_exact_accounting(s: BaselineSchedule, counts: Counts, epsilon: float, delta: float) -> BaselineSchedule:
    """Exact composition, with amplification where batches are smaller than the data."""
    found = counts(s)
    high = exact_multiplier(epsilon, delta, sum(number for _, number in found))
    if all(batch == s.records for batch, _ in found):
        return replace(s, multiplier=high)

    def spent(multiplier: float) -> float:
        parts = tuple((Part("sampled", 1 / multiplier, batch / s.records), number) for batch, number in found if number)
        return Account(parts).epsilon(delta)

    low = high
    while spent(low) <= epsilon:
        high, low = low, low / 2
    multiplier = float(brentq(lambda m: spent(m) - epsilon, low, high, rtol=1e-4))
    while spent(multiplier) > epsilon:
        multiplier *= 1.0005
    return replace(s, multiplier=multiplier)
