"""Phased output perturbation for convex-concave saddle points, primal side (output_perturbation, Algorithm 4).

Phase k solves min_x max_y (1/n_bar) sum f + (mu_k/2) ||x - x_tilde_{k-1}||^2 - (mu/2) ||y||^2 on its own records and
releases x_k with noise; y stays secret.  With ``block`` "y" it is Algorithm 5: x and y exchange their roles.
Guarantee: (epsilon/2, delta/2)-DP (Theorem 4.8; the budget of the pair with Algorithm 5 is (epsilon, delta)).
Printed: solver trusted, noise by Definition 2 at half the budget.  Repaired: certified, sharp sensitivity of x alone
(`sharp_stability`, 0.71 of Lemma 4.5's in phase 1, down to half of it), exact noise, projection.
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.solvers.gradient_descent import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from . import algorithm1, algorithm2
from .algorithm3 import SHARED
from .base_solver import printed_multiplier, require_size, solve
from .phased_saddle import Block, Schedule, as_printed, draft
from .phases import partition

__all__ = ["COMPLETIONS", "REPAIRS", "Schedule", "printed", "repaired", "run"]

COMPLETIONS = (*algorithm2.COMPLETIONS, SHARED)
SHARP = (
    "sensitivity of the released block alone: L/(n_bar sqrt(mu (mu_k - mu))), "
    "0.71 of Lemma 4.5's in phase 1 and down to half of it"
)
REPAIRS = (*algorithm1.REPAIRS, SHARP)


# SCHEDULE: the numbers are computed in phased_saddle
def printed(
    problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None, block: Block = "x"
) -> Schedule:
    """Algorithm 4 as printed, in line 5 sigma_k = (8L/(n_bar epsilon)) sqrt(2 log(5/delta)/(mu_k mu)).

    (epsilon, delta) is the budget of the pair (Algorithm 4, Algorithm 5): this half alone claims (epsilon/2, delta/2).
    """
    return as_printed(problem, block, mu, mu, printed_multiplier(epsilon, delta, parts=2), solver, add=True)


def repaired(
    problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None, block: Block = "x"
) -> Schedule:
    """Exact noise for (epsilon, delta), spent on this half alone."""
    plain = draft(problem, printed(problem, mu, epsilon, delta, block=block))
    exact = noise_for(run, plain, problem, epsilon, delta)
    return replace(exact, solver=solver or Extragradient(), certified=True)


def run(problem: Convex, schedule: Schedule, tape: Tape, batches: Sequence[Batch] | None = None) -> Array:
    """Return x_tilde_K, shape (d,), or y_tilde_K (Algorithm 5).

    ``batches``: a partition that is already drawn (both algorithms on one).
    """
    require_size(problem.n, schedule.n)
    block, mu, d = schedule.block, schedule.other_regulariser, schedule.d
    order = 1 if block == "x" else -1  # x before y
    centre = np.zeros(d if block == "x" else schedule.d_y)  # x_tilde_0 = x_0, line 1
    for k, batch in enumerate(batches or partition(tape, schedule.n, schedule.plan), start=1):  # line 2
        mu_k = schedule.plan.regularisers[k - 1]  # line 3
        # GRADIENT: inside the base solver
        other = np.zeros(schedule.d_y if block == "x" else d)
        whole_centre = np.concatenate([centre, other][::order])
        x_weight, y_weight = (mu_k, mu)[::order]
        phase = problem.phase(batch.indices, Regulariser(x_weight, y_weight, whole_centre))
        target, label = schedule.targets[k - 1], f"solver/{block}/{k}"
        solution = solve(phase, schedule.solver, target, schedule.certified, tape, label)  # line 4
        x_k = solution[:d] if block == "x" else solution[d:]
        # CLIP: none, the stability of the saddle point bounds the sensitivity (Lemma 4.5)
        # NOISE
        sensitivity = schedule.sensitivities[k - 1]
        std = schedule.noise.std(f"{block}/{k}", sensitivity)  # sigma_k
        released = tape.gaussian(f"{block}/{k}", x_k, std=std, sensitivity=sensitivity, batch=batch)  # line 5
        # STEP
        domain = problem.domain_x if block == "x" else problem.domain_y
        centre = domain.project(released) if schedule.project else released
    return centre  # Output
