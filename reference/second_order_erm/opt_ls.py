"""OPT-LS: DP optimisation with second-order guarantees and private line search (`second_order_erm`, Algorithm 3).

Minimises f(w) = (1/n) sum_i l(w; x_i) to an (epsilon_g, epsilon_H)-second-order necessary point.

Guarantee: printed, rho-zCDP (Theorem 5, eq. 14), broken by the bound (6) on the number of steps exactly as in
Algorithm 1. Repaired: the bound is computed from a signed release, (epsilon, delta)-DP by Gaussian accounting in
which a line search counts with the mu of its worst queries, so that the total holds whatever T the
release of f(w0) leads to.

Cite: second_order_erm, Algorithm 3, Theorem 5, Lemmas 6 and 7, Theorem 8.
"""

from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.accounting.calibrate import noise_factor
from dpassay.reference.accounting.cost import account
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import SmoothRisk
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import ScriptedTape, Tape

from . import opt
from .calibration import one_step, printed_budget
from .common import Accuracy, Outcome, descent_sign, exact_sensitivities
from .line_search import (
    LineSearch,
    curvature_query,
    curvature_roots,
    gaussian_equivalent,
    gradient_query,
    lambda_for,
    line_search,
)
from .opt import iteration_bound

COMPLETIONS = (
    *opt.COMPLETIONS,
    "c_g = c_H = 0.2, b_g = 8, b_H = 4, beta = 1/2: the paper gives ranges only",
    "t1 < t2 although eq. (15) prints them with +-; i_max as in Algorithm 2 (Lemma 7's log_beta(b) is negative)",
)
REPAIRS = (
    *opt.REPAIRS,
    "a line search counts as the Gaussian release that shows more than its worst queries (a dynamic program over its "
    "trials, whose sensitivity falls with the step), not as 1/lambda in zCDP; each kind of search has its own lambda",
)


# SCHEDULE
@dataclass(frozen=True)
class Schedule(opt.Schedule):
    """Everything that is public before the run.

    Printed: eq. (6) with |z|, lambda = sigma; repaired: f(w0) is released, lambda by its exact cost.
    """

    search: LineSearch = field(default_factory=LineSearch)

    @property
    def minimum_decrease(self) -> float:
        """MIN_DEC of Lemma 7, where steps begin: at epsilon_H, with Lanczos at epsilon_H / 2 (Appendix C)."""
        begin = replace(self.accuracy, curvature=self.eigen.margin * self.accuracy.curvature)
        return minimum_decrease(begin, self.smoothness, self.hessian_lipschitz, self.search)

    def multipliers(self, T: int) -> Multipliers:
        """Noise multipliers of T iterations; those of the line searches are lambda."""
        sigma, found = self.noise.sigma(T), dict(self.noise.multipliers(T).by_label)
        for label, trials in self.search.trials.items():  # eq. (14), or at the cost of a gradient
            found[label] = sigma if self.reading == "printed" else lambda_for(1 / sigma, *trials)
        return Multipliers(found)


def minimum_decrease(
    accuracy: Accuracy, smoothness: float, hessian_lipschitz: float, search: LineSearch | None = None
) -> float:
    """Return the decrease of one iteration while the noise obeys eq. (9) and n obeys eq. (16)."""
    ls = search or LineSearch()
    ls.check(accuracy)
    _, t2 = curvature_roots(accuracy, ls.c_H)
    by_gradient = (1 - accuracy.c1 - ls.c_g) * ls.c_g * accuracy.gradient**2 / smoothness
    by_curvature = ls.c_H * t2**2 * accuracy.curvature**3 / hessian_lipschitz**2 / 4
    return min(by_gradient, by_curvature)  # eq. (17)


def printed(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the printed schedule: eq. (4), (14) and Proposition A.6."""
    base = opt.printed(problem, start, accuracy, epsilon, delta)
    return Schedule(**{**vars(base), "noise": printed_budget(epsilon, delta, releases_per_step=3)})


def repaired(problem: SmoothRisk, start: Array, accuracy: Accuracy, epsilon: float, delta: float) -> Schedule:
    """Return the repaired schedule: see REPAIRS."""
    unit = Schedule(**vars(opt.unit_schedule(problem, start, accuracy, 3)))
    tape = ScriptedTape(partial(one_step, 2 * accuracy.curvature))
    flat: Any = Flat(problem.n, problem.d)
    run(flat, unit, tape)
    as_gaussian = gaussian_equivalent(account(tape.transcript), 1 / unit.noise.sigma(1))
    factor = noise_factor(as_gaussian, epsilon, delta)
    return replace(unit, sensitivity=exact_sensitivities(problem, start), noise=unit.noise.scaled(factor))


def run(problem: SmoothRisk, schedule: Schedule, tape: Tape) -> Outcome:
    """Algorithm 3."""
    s = schedule
    T = iteration_bound(problem, s, tape, s.minimum_decrease)  # eq. (6) with (17)
    return descend(problem, s, tape, s.start, T, s.multipliers(T))  # eq. (14)


def descend(problem: SmoothRisk, s: Schedule, tape: Tape, w: Array, T: int, noise: Multipliers) -> Outcome:
    """The loop of Algorithm 3."""
    ls, k_g, k_H = s.search, 0, 0
    fallback_g = 2 * (1 - s.accuracy.c1 - ls.c_g) / s.smoothness  # gamma-bar_g
    for _k in range(1, T + 1):
        # GRADIENT: of the full data set
        gradient = problem.gradient(w)  # g_k
        # CLIP: none, gradients are bounded by Assumption 2
        # NOISE
        delta_g, delta_H = s.sensitivity.gradient, s.sensitivity.hessian
        std_g, std_H = noise.std("gradient", delta_g), noise.std("hessian", delta_H)
        g = tape.gaussian("gradient", gradient, std=std_g, sensitivity=delta_g)  # g~_k = g_k + eps_k
        # STEP
        norm_g = np.linalg.norm(g)
        if norm_g > s.accuracy.gradient:
            initial = ls.b_g * fallback_g  # gamma_init
            gamma = line_search(
                tape,
                "line search/gradient",
                gradient_query(problem, w, g, ls.c_g),
                sensitivity=delta_g * initial * float(norm_g),  # Delta_q = 2 gamma_init B_g ||g~|| / n
                initial=initial,
                fallback=fallback_g,
                beta=ls.beta_g,
                lam=noise["line search/gradient"],
            )
            w, k_g = w - gamma * g, k_g + 1
            continue
        H = tape.symmetric_gaussian("hessian", problem.hessian(w), std=std_H, sensitivity=delta_H)  # H~_k = H_k + E_k
        smallest, p = s.eigen.pair(H, s.accuracy.curvature, tape)  # (lambda~_k, p~_k)
        if smallest >= -s.eigen.margin * s.accuracy.curvature:
            return Outcome(w, True, k_g, k_H, k_H + 1)
        p = descent_sign(p, g)  # eq. (5)
        fallback = curvature_roots(s.accuracy, ls.c_H)[1] * abs(smallest) / s.hessian_lipschitz  # t2 |lambda~| / M
        gamma = line_search(
            tape,
            "line search/curvature",
            curvature_query(problem, w, p, smallest, ls.c_H),
            sensitivity=delta_g * ls.b_H * fallback,  # Delta_q = 2 gamma_init B_g / n
            initial=ls.b_H * fallback,
            fallback=fallback,
            beta=ls.beta_H,
            lam=noise["line search/curvature"],
        )
        w, k_H = w + gamma * p, k_H + 1
    return Outcome(w, False, k_g, k_H, k_H)
