"""2OPT: a hopeful first phase of Algorithm 1, then the full algorithm (`second_order_erm`, Section 3.4).

Phase one spends a part of the budget (3/4) on a number of steps that counts on a larger decrease per step, hence with
less noise. If it ends without a certified point, Algorithm 1 starts again at the last iterate with what is left.

Guarantee: printed, that of Algorithm 1, with its leak, twice. Repaired: a filter; what phase one did not spend
(Hessians that were never evaluated) passes to phase two, which is sound because the cost of Gaussian releases adds up
adaptively.

Cite: second_order_erm, Section 3.4.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape

from . import opt
from .calibration import gaussian_cost
from .common import Outcome, joined

Loop = Callable[[SmoothRisk, Any, Tape, Array, int, Multipliers], Outcome]  # `descend` of Algorithm 1 or 3
Cost = Callable[[Any, Multipliers, Outcome], float]
HOPEFUL = (
    "phase one counts on a decrease of hope x MIN_DEC per step (the text: an aggressive estimate)",
    "phase two evaluates f at its warm start, with noise of its own, for its own bound (6)",
)
COMPLETIONS = (*opt.COMPLETIONS, *HOPEFUL, "the budget left is what the realised counts of Theorem 1 leave")
REPAIRS = (*opt.REPAIRS, "the realised counts of phase one are used through a privacy filter")


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """The schedule of Algorithm 1 with the total budget, and how phase one uses it."""

    base: Any  # of Algorithm 1: opt.Schedule; of Algorithm 3: opt_ls.Schedule
    hope: float  # phase one counts on hope * MIN_DEC
    share: float = 3 / 4

    def __post_init__(self) -> None:
        require(0 < self.share < 1, "share", self.share, "must lie in (0, 1)")
        require(self.hope >= 1, "hope", self.hope, "must be at least 1")

    @property
    def first(self) -> Any:
        """Phase one: a share of the budget."""
        return replace(self.base, noise=self.base.noise.part(self.share * self.base.noise.rho))

    def second(self, problem: SmoothRisk, w: Array, rho: float) -> Any:
        """Phase two from w, with what is left; the sensitivity of f there depends on public numbers only."""
        if self.base.reading == "printed":
            value = problem.constants(radius=float(np.linalg.norm(w))).value / problem.n
        else:
            value = problem.value_sensitivity(w)
        sensitivity = replace(self.base.sensitivity, value=value)
        return replace(self.base, start=w, sensitivity=sensitivity, noise=self.base.noise.part(rho))


def in_two_parts(kind: Callable[..., Any], whole: Callable[..., Any], *given: Any, hope: float) -> Any:
    """The schedule that the one-phase algorithm makes of what is given, in two parts."""
    return kind(whole(*given), hope)


printed, repaired = (partial(in_two_parts, Schedule, one) for one in (opt.printed, opt.repaired))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Both phases."""
    return two_phases(problem, schedule, tape, opt.descend, realised_cost)


def two_phases(problem: SmoothRisk, s: Schedule, tape: Tape, descend: Loop, cost: Cost) -> Outcome:
    """Phase one with hope, then phase two with what the filter has left."""
    one, spent = _phase(problem, s.first, tape, s.hope, descend, cost)
    if one.certified:
        return one
    two, _ = _phase(problem, s.second(problem, one.w, s.base.noise.rho - spent), tape, 1.0, descend, cost)
    return joined(one, two)


# GRADIENT, CLIP: as in Algorithm 1 or 3
def _phase(
    problem: SmoothRisk, s: opt.Schedule, tape: Tape, hope: float, descend: Loop, cost: Cost
) -> tuple[Outcome, float]:
    """The algorithm with the steps that `hope` leaves, and the rho of what it really released."""
    T = opt.iteration_bound(problem, s, tape, hope * s.minimum_decrease)  # eq. (6)
    # NOISE
    noise = s.multipliers(T)  # eq. (8), (14)
    # STEP
    outcome = descend(problem, s, tape, s.start, T, noise)
    spent = gaussian_cost(s.noise.sigma_f) + cost(s, noise, outcome)
    require(spent <= s.noise.rho * (1 + 1e-12), "rho", spent, f"a phase may spend {s.noise.rho:.6g}")  # the filter
    return outcome, spent


def realised_cost(s: opt.Schedule, noise: Multipliers, outcome: Outcome) -> float:
    """Return the rho of Theorem 1 for the counts of this run (without the term of f).

    The last gradient and the last Hessian of a certified run lead to no step; they are counted here.
    """
    gradients = outcome.gradient_steps + outcome.curvature_steps + int(outcome.certified)
    return gaussian_cost(noise["gradient"], gradients + outcome.hessian_evaluations)
