"""Phased output perturbation for convex-concave saddle points, dual side (output_perturbation, Algorithm 5).

Phase k solves min_x max_y (1/n_bar) sum f + (mu/2) ||x||^2 - (mu_k/2) ||y - y_tilde_{k-1}||^2 on its own records and
releases y_k with noise; x stays secret.
Guarantee: (epsilon/2, delta/2)-DP (Theorem 4.8; the budget of the pair with Algorithm 4 is (epsilon, delta)).
Printed: solver trusted, noise by Definition 2 at half the budget.  Repaired: certified, sharp sensitivity of y alone
(`sharp_stability`, 0.71 of Lemma 4.5's in phase 1, down to half of it), exact noise, projection.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .algorithm4 import COMPLETIONS, REPAIRS
from .base_solver import RESIDUAL_FRACTION, printed_multiplier, require_size, solve
from .phased_saddle import Schedule, as_printed, draft
from .phases import partition

__all__ = ["COMPLETIONS", "REPAIRS", "Schedule", "printed", "repaired", "run"]


# SCHEDULE: the numbers are computed in phased_saddle
def printed(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Algorithm 5 as printed, in line 5 sigma_k = (8L/(n_bar epsilon)) sqrt(2 log(5/delta)/(mu_k mu)).

    (epsilon, delta) is the budget of the pair (Algorithm 4, Algorithm 5): this half alone claims (epsilon/2, delta/2).
    """
    return as_printed(problem, "y", mu, mu, printed_multiplier(epsilon, delta, parts=2), solver, add=True)


def repaired(
    problem: Convex,
    mu: float,
    epsilon: float,
    delta: float,
    *,
    solver: Solver | None = None,
    residual: float = RESIDUAL_FRACTION,
) -> Schedule:
    """Exact noise for (epsilon, delta), spent on this half alone."""
    exact = noise_for(run, draft(problem, "y", mu, mu, residual), problem, epsilon, delta)
    return replace(exact, solver=solver or Extragradient(), certified=True)


def run(problem: Convex, schedule: Schedule, tape: Tape, batches: Sequence[Batch] | None = None) -> Array:
    """Return y_tilde_K, shape (d_y,); ``batches``: a partition that is already drawn (both algorithms on one)."""
    require_size(problem.n, schedule.n)
    centre = np.zeros(schedule.d_y)  # y_tilde_0 = y_0, line 1
    for k, batch in enumerate(batches or partition(tape, schedule.n, schedule.plan), start=1):  # line 2
        mu_k = schedule.plan.regularisers[k - 1]  # line 3
        # GRADIENT: inside the base solver
        whole_centre = np.concatenate([np.zeros(schedule.d), centre])
        regulariser = Regulariser(x_weight=schedule.other_regulariser, y_weight=mu_k, centre=whole_centre)
        phase = problem.phase(batch.indices, regulariser)
        target, label = schedule.targets[k - 1], f"solver/y/{k}"
        solution = solve(phase, schedule.solver, target, schedule.certified, tape, label)  # line 4
        y_k = solution[schedule.d :]
        # CLIP: none, the stability of the saddle point bounds the sensitivity (Lemma 4.5)
        # NOISE
        sensitivity = schedule.sensitivities[k - 1]
        std = schedule.noise.std(f"y/{k}", sensitivity)  # sigma_k
        released = tape.gaussian(f"y/{k}", y_k, std=std, sensitivity=sensitivity, batch=batch)  # line 5
        # STEP
        centre = problem.domain_y.project(released) if schedule.project else released
    return centre  # Output
