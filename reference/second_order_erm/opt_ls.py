"""OPT-LS: DP optimisation with second-order guarantees and private line search (`second_order_erm`, Algorithm 3).

Minimises f(w) = (1/n) sum_i l(w; x_i) to an (epsilon_g, epsilon_H)-second-order necessary point.

Guarantee: printed, rho-zCDP (Theorem 5, eq. 14), broken by the bound (6) on the number of steps exactly as in
Algorithm 1. Repaired: the bound is computed from a signed release, (epsilon, delta)-DP by Gaussian accounting in
which a line search counts with the mu of the worst (1/lambda)-DP mechanism, so that the total holds whatever T the
release of f(w0) leads to.

Cite: second_order_erm, Algorithm 3, Theorem 5, Lemmas 6 and 7, Theorem 8.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

import numpy as np

from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from . import short_step
from .calibration import exact_budget, printed_budget
from .common import Accuracy, Outcome, descent_sign
from .line_search import LineSearch, curvature_query, curvature_roots, gradient_query, lambda_for, line_search

COMPLETIONS = (
    *short_step.COMPLETIONS,
    "c_g = c_H = 0.2, b_g = 8, b_H = 4, beta = 1/2: the paper gives ranges only",
    "t1 < t2 although eq. (15) prints them with +-; i_max as in Algorithm 2 (Lemma 7's log_beta(b) is negative)",
)
REPAIRS = (
    *short_step.REPAIRS,
    "a line search counts as -2 Phi^-1(1 / (1 + exp(1/lambda))) in Gaussian accounting, not as 1/lambda in zCDP",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule(short_step.Schedule):
    """The schedule of Algorithm 1 with the parameters of the line search; the budget has three releases per step."""

    search: LineSearch = field(default_factory=LineSearch)

    @property
    def minimum_decrease(self) -> float:
        """MIN_DEC of Lemma 7."""
        return minimum_decrease(self.step_accuracy, self.search, self.smoothness, self.hessian_lipschitz)

    def lam(self, sigma: float) -> float:
        """Privacy parameter of the line search beside Gaussian releases of noise multiplier sigma."""
        return sigma if self.reading == "printed" else lambda_for(1 / sigma)  # eq. (14)


def minimum_decrease(accuracy: Accuracy, search: LineSearch, smoothness: float, hessian_lipschitz: float) -> float:
    """Return the decrease of one iteration while the noise obeys eq. (9) and n obeys eq. (16)."""
    search.check(accuracy)
    _, t2 = curvature_roots(accuracy, search.c_H)
    by_gradient = (1 - accuracy.c1 - search.c_g) * search.c_g * accuracy.gradient**2 / smoothness
    by_curvature = search.c_H * t2**2 * accuracy.curvature**3 / hessian_lipschitz**2 / 4
    return min(by_gradient, by_curvature)  # eq. (17)


def printed(
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    radius: float = inf,
    search: LineSearch | None = None,
) -> Schedule:
    """Return the printed schedule: eq. (4), (14) and Proposition A.6."""
    base = short_step.printed(problem, start, accuracy, epsilon, delta, radius=radius)
    fields = {**vars(base), "budget": printed_budget(epsilon, delta, releases_per_step=3)}
    return Schedule(**fields, search=search or LineSearch())


def repaired(
    problem: SmoothRisk,
    start: Array,
    accuracy: Accuracy,
    epsilon: float,
    delta: float,
    *,
    search: LineSearch | None = None,
) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    base = short_step.repaired(problem, start, accuracy, epsilon, delta)
    fields = {**vars(base), "budget": exact_budget(epsilon, delta, releases_per_step=3)}
    return Schedule(**fields, search=search or LineSearch())


# GRADIENT: the full data set. CLIP: none, gradients are bounded by Assumption 2.
def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Algorithm 3."""
    s = schedule
    T = short_step.iteration_bound(problem, s, tape, s.minimum_decrease)  # eq. (6) with (17)
    return descend(problem, s, tape, s.start, T, s.budget.sigma(T))


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, w: Array, T: int, sigma: float) -> Outcome:
    """The loop of Algorithm 3."""
    lam, ls, k_g, k_H = s.lam(sigma), s.search, 0, 0
    fallback_g = 2 * (1 - s.accuracy.c1 - ls.c_g) / s.smoothness  # gamma-bar_g
    for _k in range(1, T + 1):
        # NOISE
        g = tape.gaussian(  # g~_k = g_k + eps_k
            "gradient", problem.gradient(w), std=s.sensitivity.gradient * sigma, sensitivity=s.sensitivity.gradient
        )
        # STEP
        if (norm_g := float(np.linalg.norm(g))) > s.accuracy.gradient:
            initial = ls.b_g * fallback_g  # gamma_init
            gamma = line_search(
                tape,
                "line search/gradient",
                gradient_query(problem, w, g, ls.c_g),
                sensitivity=s.sensitivity.gradient * initial * norm_g,  # Delta_q = 2 gamma_init B_g ||g~|| / n
                initial=initial,
                fallback=fallback_g,
                beta=ls.beta_g,
                lam=lam,
            )
            w, k_g = w - gamma * g, k_g + 1
            continue
        H = tape.symmetric_gaussian(  # H~_k = H_k + E_k
            "hessian", problem.hessian(w), std=s.sensitivity.hessian * sigma, sensitivity=s.sensitivity.hessian
        )
        smallest, p = s.eigen.pair(H, s.accuracy.curvature, tape)  # (lambda~_k, p~_k)
        if smallest >= -s.eigen.margin * s.accuracy.curvature:
            return Outcome(w, True, k_g, k_H, k_H + 1)
        p = descent_sign(p, g)  # eq. (5)
        fallback = curvature_roots(s.accuracy, ls.c_H)[1] * abs(smallest) / s.hessian_lipschitz  # t2 |lambda~| / M
        gamma = line_search(
            tape,
            "line search/curvature",
            curvature_query(problem, w, p, smallest, ls.c_H),
            sensitivity=s.sensitivity.gradient * ls.b_H * fallback,  # Delta_q = 2 gamma_init B_g / n
            initial=ls.b_H * fallback,
            fallback=fallback,
            beta=ls.beta_H,
            lam=lam,
        )
        w, k_H = w + gamma * p, k_H + 1
    return Outcome(w, False, k_g, k_H, k_H)
