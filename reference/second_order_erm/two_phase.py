"""2OPT, 2OPT-LS, 2OPT-B: a hopeful first phase, then the full algorithm (`second_order_erm`, Section 3.4).

Phase one spends a part of the budget (3/4) on a number of steps that counts on a larger decrease per step, hence with
less noise. If it ends without a certified point, the algorithm starts again at the last iterate with what is left.

Guarantee: printed, the guarantee of the algorithm it wraps, with its leak, twice. Repaired: a filter; what phase one
did not spend (Hessians that were never evaluated) passes to phase two, which is sound because the cost of Gaussian
releases adds up adaptively. 2OPT-B has no filter: (epsilon, delta) is split 3/4 to 1/4.

Cite: second_order_erm, Section 3.4.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import ModuleType
from typing import TypeVar

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from . import opt_b, opt_ls, short_step
from .calibration import Budget
from .common import Outcome
from .filters import Filter, gaussian_cost
from .line_search import gaussian_parameter

_SPLIT = "3/4 and 1/4 of (epsilon, delta), which add up by basic composition: eq. (29) and Theorem B.8 leave no rest"


@dataclass(frozen=True)
class Notes:
    """What was completed and what was repaired, under the names that the modules of the other algorithms use."""

    COMPLETIONS: tuple[str, ...]
    REPAIRS: tuple[str, ...]


def notes(inner: ModuleType, hope: float) -> Notes:
    """Those of the wrapped algorithm, and where Section 3.4 is silent; `hope` is that of the printed schedule."""
    batches = inner is opt_b
    completions = (
        *inner.COMPLETIONS,
        f"phase one counts on a decrease of {hope:g} MIN_DEC per step (the text: an aggressive estimate)",
        "phase two evaluates f at its warm start, with noise of its own, for its own bound (6)",
        _SPLIT if batches else "the budget left is what the realised counts of Theorems 1 and 5 leave",
    )
    own = _SPLIT if batches else "the realised counts of phase one are used through a privacy filter"
    return Notes(completions, (*inner.REPAIRS, own))


S = TypeVar("S", bound=short_step.Schedule)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """The schedule of the wrapped algorithm with the total budget, and how phase one uses it."""

    base: short_step.Schedule | opt_b.Schedule
    share: float = 3 / 4
    hope: float = 20.0  # phase one counts on hope * MIN_DEC

    def __post_init__(self) -> None:
        require(0 < self.share < 1, "share", self.share, "must lie in (0, 1)")
        require(self.hope >= 1, "hope", self.hope, "must be at least 1")

    def first(self, base: short_step.Schedule) -> short_step.Schedule:
        """Phase one: a share of the budget of `base`."""
        return replace(base, budget=_part(base.budget, self.share * base.budget.rho))

    @staticmethod
    def part(budget: opt_b.Budget, share: float) -> opt_b.Budget:
        """Share of a mini-batch budget: (epsilon, delta) adds up by basic composition."""
        return replace(budget, epsilon=share * budget.epsilon, delta=share * budget.delta)


# GRADIENT, CLIP, NOISE: those of the wrapped algorithm. STEP:
def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Both phases."""
    if isinstance(schedule.base, opt_b.Schedule):
        return _run_batches(problem, schedule, schedule.base, tape)
    base, spent = schedule.base, Filter(schedule.base.budget.rho)
    outcome = _phase(problem, schedule.first(base), tape, schedule.hope, spent)
    if outcome.certified:
        return outcome
    second = replace(restarted(problem, base, outcome.w), budget=_part(base.budget, spent.left))
    return _joined(outcome, _phase(problem, second, tape, 1.0, spent))


def _phase(problem: SmoothRisk, s: short_step.Schedule, tape: Tape, hope: float, spent: Filter) -> Outcome:
    T = short_step.iteration_bound(problem, s, tape, hope * s.minimum_decrease)
    sigma = s.budget.sigma(T)
    if isinstance(s, opt_ls.Schedule):
        outcome = opt_ls.descend(problem, s, tape, s.start, T, sigma)
    else:
        outcome = short_step.descend(problem, s, tape, s.start, T, sigma)
    spent.charge(gaussian_cost(s.budget.sigma_f) + realised_cost(s, outcome, sigma))
    return outcome


def realised_cost(s: short_step.Schedule, outcome: Outcome, sigma: float) -> float:
    """Return the rho of Theorems 1 and 5 for the counts of this run (without the term of f)."""
    steps = outcome.gradient_steps + outcome.curvature_steps
    gradients = steps + int(outcome.certified)  # the last gradient of a certified run leads to no step
    cost = gaussian_cost(sigma, gradients + outcome.hessian_evaluations)
    if isinstance(s, opt_ls.Schedule):
        lam = s.lam(sigma)
        cost += gaussian_cost(lam, steps) if s.reading == "printed" else steps * gaussian_parameter(lam) ** 2 / 2
    return cost


def restarted(problem: SmoothRisk, s: S, w: Array) -> S:
    """Move the schedule to a new start; the sensitivity of f there depends on public numbers only."""
    if s.reading == "printed":
        value = problem.constants(radius=float(np.linalg.norm(w))).value / problem.n
    else:
        value = problem.value_sensitivity(w)
    return replace(s, start=w, sensitivity=replace(s.sensitivity, value=value))


def _part(budget: Budget, rho: float) -> Budget:
    return Budget(rho, budget.rho_f / budget.rho * rho, budget.releases_per_step)


def _joined(one: Outcome, two: Outcome) -> Outcome:
    return Outcome(
        two.w,
        two.certified,
        one.gradient_steps + two.gradient_steps,
        one.curvature_steps + two.curvature_steps,
        one.hessian_evaluations + two.hessian_evaluations,
    )


def _run_batches(problem: SmoothRisk, schedule: Schedule, base: opt_b.Schedule, tape: Tape) -> Outcome:
    """2OPT-B: (epsilon, delta) is split 3/4 to 1/4, which adds up by basic composition."""
    start, done = base.start, Outcome(base.start, False, 0, 0, 0)
    for share, hope in ((schedule.share, schedule.hope), (1 - schedule.share, 1.0)):
        phase = replace(base, start=start, budget=schedule.part(base.budget, share))
        T = opt_b.iteration_bound(problem, phase, tape, hope * phase.minimum_decrease)
        done = _joined(done, opt_b.descend(problem, phase, tape, start, T, phase.budget.sigma(T)))
        if done.certified:
            return done
        start = done.w
    return done
