"""Phased output perturbation for convex-concave saddle points, primal side (output_perturbation, Algorithm 4).

Phase k solves min_x max_y (1/n_bar) sum f + (mu_k/2) ||x - x_tilde_{k-1}||^2 - (mu/2) ||y||^2 on its own records and
releases x_k with noise; y stays secret.  The loop is `phased_saddle.run`, with the line numbers.
Guarantee: (epsilon/2, delta/2)-DP (Theorem 4.8; the budget of the pair with Algorithm 5 is (epsilon, delta)).
Printed: solver trusted, noise by Definition 2 at half the budget.  Repaired: certified, sharp sensitivity of x alone
(`sharp_stability`, 0.71 of Lemma 4.5's in phase 1, down to half of it), exact noise, projection.
"""

from __future__ import annotations

import numpy as np

from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.solvers.protocol import Solver

from . import phased_saddle
from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier
from .phased_saddle import Schedule, run

__all__ = ["Schedule", "printed", "repaired", "run"]


def printed(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None) -> Schedule:
    """Algorithm 4 as printed, in line 5 sigma_k = (8L/(n_bar epsilon)) sqrt(2 log(5/delta)/(mu_k mu)).

    `budget` is that of the pair (Algorithm 4, Algorithm 5): this half alone claims (epsilon/2, delta/2).
    """
    multiplier = printed_multiplier(budget, parts=2)
    return phased_saddle.schedule(problem, "x", mu, mu, multiplier, 1.0, solver, repaired=False)


def repaired(
    problem: Convex,
    budget: Budget,
    mu: float,
    solver: Solver | None = None,
    residual: float = RESIDUAL_FRACTION,
    releases: int = 1,
) -> Schedule:
    """Exact noise for `budget`, spent on this half alone, or on `releases` Gaussians per record (2: both halves)."""
    multiplier = float(np.sqrt(releases)) * exact_multiplier(budget)
    return phased_saddle.schedule(problem, "x", mu, mu, multiplier, residual, solver, repaired=True)
