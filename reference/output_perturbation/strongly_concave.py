"""Convex-strongly-concave variant of Algorithm 4 and its strongly-convex-concave mirror (output_perturbation, 4.3).

The loss is mu_y-strongly concave by itself, so the phases regularise x alone, and only x is released.
Guarantee: (epsilon, delta)-DP and Corollary 4.9 (mirror: the same with x and y exchanged, side "y").
The text calls sigma_k a variance; the formula is that of a standard deviation (it scales like a length, and the
algorithms of Sections 3 and 4 use the same expression as one).  Charitable reading: "printed" takes it as a standard
deviation; "as_variance" takes the sentence at its word.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dpassay.reference.errors import BadInput
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.solvers.protocol import Solver

from . import phased_saddle
from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier
from .phased_saddle import Schedule, Side, run

__all__ = ["Schedule", "as_variance", "printed", "repaired", "run"]


def printed(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None, side: Side = "x") -> Schedule:
    """sigma_k = (4L/(n_bar epsilon)) sqrt(2 log(2.5/delta)/(mu_k min(mu_k, mu_y))) as a standard deviation."""
    _require_curvature(problem, side)
    return phased_saddle.schedule(problem, side, mu, 0.0, printed_multiplier(budget), 1.0, solver, repaired=False)


def as_variance(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None, side: Side = "x") -> Schedule:
    """The word "variance" taken literally: std = sqrt(sigma_k); too little noise as soon as sigma_k > 1."""
    schedule = printed(problem, budget, mu, solver, side)
    return replace(schedule, noise_stds=tuple(float(np.sqrt(std)) for std in schedule.noise_stds))


def repaired(
    problem: Convex,
    budget: Budget,
    mu: float,
    solver: Solver | None = None,
    side: Side = "x",
    residual: float = RESIDUAL_FRACTION,
) -> Schedule:
    """Certified solver, sharp sensitivity, exact noise, projection."""
    _require_curvature(problem, side)
    return phased_saddle.schedule(problem, side, mu, 0.0, exact_multiplier(budget), residual, solver, repaired=True)


def _require_curvature(problem: Convex, side: Side) -> None:
    curvature = problem.loss.strong_concavity if side == "x" else problem.loss.strong_convexity
    if not curvature > 0:
        name = "strong_concavity" if side == "x" else "strong_convexity"
        raise BadInput(name, curvature, "Section 4.3 needs a loss that is strongly concave (convex) by itself")
