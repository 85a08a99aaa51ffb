"""Phased output perturbation for convex-concave saddle points, dual side (output_perturbation, Algorithm 5).

Phase k solves min_x max_y (1/n_bar) sum f + (mu/2) ||x||^2 - (mu_k/2) ||y - y_tilde_{k-1}||^2 on its own records and
releases y_k with noise; x stays secret.  It is Algorithm 4, line by line, with x and y exchanged: block "y" there.
Guarantee: (epsilon/2, delta/2)-DP (Theorem 4.8; the budget of the pair with Algorithm 4 is (epsilon, delta)).
"""

from collections.abc import Sequence
from functools import partial

from dpassay.reference.arrays import Array
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch

from . import algorithm4
from .algorithm4 import COMPLETIONS, REPAIRS
from .phased_saddle import Schedule

__all__ = ["COMPLETIONS", "REPAIRS", "Schedule", "printed", "repaired", "run"]

# SCHEDULE
printed = partial(algorithm4.printed, block="y")
repaired = partial(algorithm4.repaired, block="y")


def run(problem: Convex, schedule: Schedule, tape: Tape, batches: Sequence[Batch] | None = None) -> Array:
    """Return y_tilde_K, shape (d_y,); ``batches``: a partition that is already drawn (both algorithms on one)."""
    # GRADIENT, CLIP, NOISE, STEP: as in Algorithm 4
    return algorithm4.run(problem, schedule, tape, batches)
