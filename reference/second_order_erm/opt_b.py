"""OPT-B: Algorithm 1 on mini-batches (`second_order_erm`, Section 3.3 and Appendix B).

Guarantee: printed, (epsilon, delta)-DP by subsampled RDP (eq. 29, 30) or by Theorem B.8; the bound on the number of
steps leaks as in Algorithm 1, and one batch serves the gradient and the Hessian, which eq. (29) does not account.
Repaired: the number of steps comes from a public bound on f(w0), the Hessian has its own batch, noise by exact
composition.

Cite: second_order_erm, Section 3.3, Theorems B.3, B.4, B.5 and B.8.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, inf
from typing import Literal

import numpy as np

from dpassay.reference.errors import require
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from . import short_step
from .common import (
    Accuracy,
    Outcome,
    Sensitivities,
    descent_sign,
    exact_sensitivities,
    printed_constants,
    printed_sensitivities,
)
from .eigen import Dense
from .subsampled import AdvancedBudget, ExactSampledBudget, SampledBudget

Budget = SampledBudget | AdvancedBudget | ExactSampledBudget

COMPLETIONS = (
    *short_step.COMPLETIONS,
    "f(w0) is evaluated on all records, with the noise of a batch (Delta_f = B / m)",
    "one batch S_k serves the gradient and the Hessian of iteration k",
    "eq. (30) leaves three noises open: sigma_g = sigma_H, the least for which eq. (29) meets epsilon (orders to 512)",
    "epsilon_f = 0.1 epsilon and delta_f = 0.1 delta in Theorem B.8 (c_f of Theorem B.9)",
)
REPAIRS = (
    "the number of steps is computed from a public upper bound on f(w0); f(w0) is not released",
    "the Hessian is computed on a batch of its own",
    "noise by exact composition of the dominating pairs of sampling without replacement",
    "sensitivities without the regulariser and without sqrt(d)",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run. Sensitivities are for means over `batch_size` records."""

    reading: short_step.Reading
    start: Array  # w0
    accuracy: Accuracy
    smoothness: float  # G
    hessian_lipschitz: float  # M
    sensitivity: Sensitivities
    budget: Budget
    batch_size: int  # m
    lower_bound: float = 0.0

    @property
    def minimum_decrease(self) -> float:
        """MIN_DEC of Lemma 2."""
        return short_step.minimum_decrease(self.accuracy, self.smoothness, self.hessian_lipschitz)


def scaled(sensitivity: Sensitivities, factor: float) -> Sensitivities:
    """Sensitivities of means over fewer records: n / m times as large."""
    return Sensitivities(*(factor * value for value in vars(sensitivity).values()))


def printed(
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    batch_size: int,
    radius: float = inf,
    route: Literal["rdp", "advanced"] = "rdp",
) -> Schedule:
    """Return the printed schedule: eq. (30), or Theorem B.8 for route "advanced"."""
    require(1 <= batch_size <= problem.n, "batch_size", batch_size, f"must lie in 1..n = {problem.n}")
    constants = printed_constants(problem, start, radius)
    make = SampledBudget if route == "rdp" else AdvancedBudget
    return Schedule(
        reading="printed",
        start=start,
        accuracy=accuracy,
        smoothness=constants.smoothness,
        hessian_lipschitz=constants.hessian_lipschitz,
        sensitivity=printed_sensitivities(constants, batch_size, problem.d),
        budget=make(epsilon, delta, batch_size / problem.n),
        batch_size=batch_size,
    )


def repaired(
    problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float, *, batch_size: int
) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    require(1 <= batch_size <= problem.n, "batch_size", batch_size, f"must lie in 1..n = {problem.n}")
    constants = problem.constants()
    return Schedule(
        reading="repaired",
        start=start,
        accuracy=accuracy,
        smoothness=constants.smoothness,
        hessian_lipschitz=constants.hessian_lipschitz,
        sensitivity=scaled(exact_sensitivities(problem, start), problem.n / batch_size),
        budget=ExactSampledBudget(epsilon, delta, batch_size / problem.n),
        batch_size=batch_size,
    )


# GRADIENT: a fresh batch in each iteration. CLIP: none, gradients are bounded by Assumption 2.
def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Algorithm 1 with f, g and H of a batch, step sizes of eq. (7)."""
    T = iteration_bound(problem, schedule, tape, schedule.minimum_decrease)
    return descend(problem, schedule, tape, schedule.start, T, schedule.budget.sigma(T))


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, w: Array, T: int, sigma: float) -> Outcome:
    """The loop of Algorithm 1 on batches."""
    k_g = k_H = 0
    for _k in range(1, T + 1):
        batch = tape.batch("batch", problem.n, s.batch_size)  # S_k
        # NOISE
        g = tape.gaussian(
            "gradient",
            problem.gradient(w, batch.indices),
            std=s.sensitivity.gradient * sigma,
            sensitivity=s.sensitivity.gradient,
            batch=batch,
        )
        # STEP
        if np.linalg.norm(g) > s.accuracy.gradient:
            w, k_g = w - g / s.smoothness, k_g + 1  # eq. (7)
            continue
        if s.reading == "repaired":
            batch = tape.batch("hessian batch", problem.n, s.batch_size)
        H = tape.symmetric_gaussian(
            "hessian",
            problem.hessian(w, batch.indices),
            std=s.sensitivity.hessian * sigma,
            sensitivity=s.sensitivity.hessian,
            batch=batch,
        )
        smallest, p = Dense().pair(H, s.accuracy.curvature, tape)
        if smallest >= -s.accuracy.curvature:
            return Outcome(w, True, k_g, k_H, k_H + 1)
        w = w + 2 * abs(smallest) / s.hessian_lipschitz * descent_sign(p, g)  # eq. (5), (7)
        k_H += 1
    return Outcome(w, False, k_g, k_H, k_H)


def iteration_bound(problem: SmoothRisk, s: Schedule, tape: Tape, minimum_decrease: float) -> int:
    """T: eq. (6) as printed, or from a public bound on f(w0)."""
    if isinstance(s.budget, ExactSampledBudget):
        top = problem.value_bound(s.start)
    else:
        top = problem.value(s.start) + abs(tape.noise("initial value", s.sensitivity.value * s.budget.sigma_f))
    return max(1, ceil(float(top - s.lower_bound) / minimum_decrease))  # eq. (6)
