"""OPT: DP optimisation with second-order guarantees, short steps (`second_order_erm`, Algorithm 1, Section 3.1).

Minimises f(w) = (1/n) sum_i l(w; x_i) to an (epsilon_g, epsilon_H)-second-order necessary point.

Guarantee: printed, rho-zCDP (Theorem 1, eq. 8), which the bound (6) on the number of steps breaks: it is computed from
f(w0) plus a noise that can only be positive, and both the noise levels and the length of the run depend on it.
Repaired: f(w0) is released with signed noise, the bound is post-processing, (epsilon, delta)-DP by exact Gaussian
accounting.

Cite: second_order_erm, Algorithm 1, Theorem 1, Lemma 2, Corollary 3, Theorem 4.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from math import ceil

import numpy as np
import scipy

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import Tape

from .calibration import PART_F, Budget, one_step, printed_budget
from .common import (
    UNIT,
    Accuracy,
    Outcome,
    Reading,
    Sensitivities,
    descent_sign,
    exact_sensitivities,
    printed_constants,
    printed_sensitivities,
    public_numbers,
)
from .eigen import Dense, Lanczos

COMPLETIONS = (
    "B is the bound on ||w|| <= ||w0|| (f is evaluated for release at w0 only): logistic loss has no bound on R^d",
    "w_1 = w^0: the loop begins at k = 1 and reads w_1, which nothing sets; T is at least one",
    "when T steps end without a return, the last iterate is returned, marked as not certified",
    "c = c1 = c2 = 0.1 and rho_f = 0.1 rho where the text leaves them free",
    "lower bound of f: 0",
)
REPAIRS = (
    "f(w0) is released with signed Gaussian noise; T is computed from the release plus a margin (quantile 1 - zeta)",
    "sensitivities without the regulariser (it cancels) and without sqrt(d) (a record's Hessian has rank one)",
    "(epsilon, delta) by the exact Gaussian curve instead of Proposition A.6",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is public before the run."""

    reading: Reading  # printed: eq. (6) with |z|; repaired: f(w0) is released
    start: Array  # w0, shape (d,)
    accuracy: Accuracy
    smoothness: float  # G
    hessian_lipschitz: float  # M
    sensitivity: Sensitivities  # Delta_f, Delta_g, Delta_H
    noise: Budget  # sigma_f, and sigma_g = sigma_H as a function of T
    lower_bound: float = 0.0  # f underbar
    failure: float = 0.01  # zeta: how often the repaired T may be too small
    eigen: Dense | Lanczos = field(default_factory=Dense)

    @property
    def minimum_decrease(self) -> float:
        """MIN_DEC of Lemma 2, where steps begin: at epsilon_H, with Lanczos at epsilon_H / 2 (Appendix C)."""
        begin = replace(self.accuracy, curvature=self.eigen.margin * self.accuracy.curvature)
        return minimum_decrease(begin, self.smoothness, self.hessian_lipschitz)

    def multipliers(self, T: int) -> Multipliers:
        """Noise multipliers of T iterations."""
        return self.noise.multipliers(T)  # eq. (8)


def minimum_decrease(accuracy: Accuracy, smoothness: float, hessian_lipschitz: float) -> float:
    """Return the decrease of a short step while the noise obeys eq. (9)."""
    a = accuracy
    by_gradient = (1 - 2 * a.c1) / (2 * smoothness) * a.gradient**2
    by_curvature = 2 * (1 / 3 - a.c2 - a.c) * a.curvature**3 / hessian_lipschitz**2
    return min(by_gradient, by_curvature)  # eq. (10)


def printed(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the printed schedule: eq. (4), (8) and Proposition A.6."""
    constants = printed_constants(problem, start)
    return Schedule(
        **public_numbers("printed", start, accuracy, constants),
        sensitivity=printed_sensitivities(constants, problem.n, problem.d),
        noise=printed_budget(epsilon, delta, releases_per_step=2),
    )


def repaired(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    unit = unit_schedule(problem, start, accuracy, releases_per_step=2)
    longest = partial(one_step, 2 * accuracy.curvature)
    found = noise_for(run, unit, Flat(problem.n, problem.d), epsilon, delta, longest=longest)
    return replace(found, sensitivity=exact_sensitivities(problem, start))


def unit_schedule(problem: SmoothRisk, start: Array, accuracy: Accuracy, releases_per_step: int) -> Schedule:
    """The repaired schedule before its noise is calibrated; its sensitivities follow then."""
    return Schedule(
        **public_numbers("repaired", start, accuracy, problem.constants()),
        sensitivity=UNIT,  # so that f(w0) is paid for even where it cannot move: 2OPT releases f elsewhere, too
        noise=Budget(1.0, PART_F, releases_per_step),
    )


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Algorithm 1 with the step sizes of eq. (7)."""
    s = schedule
    T = iteration_bound(problem, s, tape, s.minimum_decrease)
    return descend(problem, s, tape, s.start, T, s.multipliers(T))


def iteration_bound(problem: SmoothRisk, schedule: Schedule, tape: Tape, minimum_decrease: float) -> int:
    """T, the bound on the number of iterations: eq. (6) as printed, or from a proper release of f(w0)."""
    s = schedule
    std = s.noise.sigma_f * s.sensitivity.value  # Delta_f sigma_f
    if s.reading == "printed":
        top = problem.value(s.start) + abs(tape.noise("initial value", std))  # f(w0) + |z|
    else:
        top = tape.gaussian("initial value", problem.value(s.start), std=std, sensitivity=s.sensitivity.value)
        top = float(top) + std * float(-scipy.special.ndtri(s.failure))  # f(w0) is below this with probability 1 - zeta
    return max(1, ceil(float(top - s.lower_bound) / minimum_decrease))  # eq. (6)


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, w: Array, T: int, noise: Multipliers) -> Outcome:
    """The loop of Algorithm 1."""
    k_g = k_H = 0
    for _k in range(1, T + 1):
        # GRADIENT: of the full data set
        gradient = problem.gradient(w)  # g_k
        # CLIP: none, gradients are bounded by Assumption 2
        # NOISE
        delta_g, delta_H = s.sensitivity.gradient, s.sensitivity.hessian
        std_g, std_H = noise.std("gradient", delta_g), noise.std("hessian", delta_H)
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g)  # g~_k = g_k + eps_k
        # STEP
        if np.linalg.norm(g) > s.accuracy.gradient:
            w, k_g = w - g / s.smoothness, k_g + 1  # eq. (7): gamma_g = 1 / G
            continue
        H = tape.symmetric_gaussian("hessian", problem.hessian(w), std=std_H, sensitivity=delta_H)  # H~_k = H_k + E_k
        smallest, p = s.eigen.pair(H, s.accuracy.curvature, tape)  # (lambda~_k, p~_k)
        if smallest >= -s.eigen.margin * s.accuracy.curvature:
            return Outcome(w, True, k_g, k_H, k_H + 1)
        p = descent_sign(p, g)  # eq. (5)
        w, k_H = w + 2 * abs(smallest) / s.hessian_lipschitz * p, k_H + 1  # eq. (7): gamma_H = 2 |lambda~| / M
    return Outcome(w, False, k_g, k_H, k_H)
