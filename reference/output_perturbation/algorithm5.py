"""Phased output perturbation for convex-concave saddle points, dual side (output_perturbation, Algorithm 5).

Phase k solves min_x max_y (1/n_bar) sum f + (mu/2) ||x||^2 - (mu_k/2) ||y - y_tilde_{k-1}||^2 on its own records and
releases y_k with noise; x stays secret.  The mirror of Algorithm 4, same loop, same claims.
`run_both` is the composition that Theorem 4.8 is about: Algorithm 4, then Algorithm 5 on the same partition.
"""

from __future__ import annotations

import numpy as np

from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.types import Array

from . import algorithm4, phased_saddle
from .budget import RESIDUAL_FRACTION, Budget, exact_multiplier, printed_multiplier
from .phased_saddle import Schedule, run
from .phases import partition

__all__ = ["Schedule", "both_printed", "both_repaired", "printed", "repaired", "run", "run_both"]

Pair = tuple[Schedule, Schedule]


def printed(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None) -> Schedule:
    """Algorithm 5 as printed; `budget` is that of the pair."""
    multiplier = printed_multiplier(budget, parts=2)
    return phased_saddle.schedule(problem, "y", mu, mu, multiplier, 1.0, solver, repaired=False)


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
    return phased_saddle.schedule(problem, "y", mu, mu, multiplier, residual, solver, repaired=True)


def both_printed(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None) -> Pair:
    """Both halves as printed."""
    return algorithm4.printed(problem, budget, mu, solver), printed(problem, budget, mu, solver)


def both_repaired(problem: Convex, budget: Budget, mu: float, solver: Solver | None = None) -> Pair:
    """Both halves repaired: a record meets one phase of each, two Gaussians within `budget`."""
    x_half = algorithm4.repaired(problem, budget, mu, solver, releases=2)
    return x_half, repaired(problem, budget, mu, solver, releases=2)


def run_both(problem: Convex, schedules: Pair, tape: Tape) -> Array:
    """Return (x_tilde_K, y_tilde_K) in one vector (d_x + d_y,)."""
    batches = partition(tape, problem.loss.size, schedules[0].plan)
    x = run(problem, schedules[0], tape, batches)
    y = run(problem, schedules[1], tape, batches)
    return np.concatenate([x, y])
