"""Comparator: phased ERM (Feldman, Koren and Talwar 2020, Algorithm 3), reconstructed from its description.

Minimises a convex E f(x; xi): halving phases n_k = n/2^k with steps eta_k = eta/4^k; each phase solves
(1/n_k) sum f + (1/(eta_k n_k)) ||x - x_{k-1}||^2 on fresh records and adds noise proportional to L eta_k.
It is the repaired Algorithm 2 with these phases: GRADIENT, CLIP, NOISE and STEP are those of ``algorithm2.py``.
Guarantee: (epsilon, delta)-DP under replace-one; noise by the exact Gaussian trade-off, not by the original constants.
"""

from __future__ import annotations

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.tape import Tape

from . import algorithm2
from .phases import Phases


# SCHEDULE
def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> algorithm2.Schedule:
    """eta = (diameter/L) min(4/sqrt(n), epsilon/sqrt(d log(1/delta))), as in the source."""
    n, lipschitz = problem.n, problem.loss.lipschitz
    private = epsilon / np.sqrt(problem.d * np.log(1 / delta))
    eta = diameter / lipschitz * min(4 / np.sqrt(n), private)
    lengths = _lengths(n)
    regularisers = [float(2 / (eta * 4.0**-k * n_k)) for k, n_k in enumerate(lengths, start=1)]  # 2 / (eta_k n_k)
    units = [lipschitz / (mu_k * n_k) for mu_k, n_k in zip(regularisers, lengths, strict=True)]
    plan = Phases(len(lengths), lengths[0], tuple(regularisers))
    return algorithm2.certified(run, problem, plan, units, epsilon, delta)


def _lengths(n: int) -> list[int]:
    """n_k: each phase has half of the records of the one before."""
    return [n // 2**k for k in range(1, int(np.log2(n)) + 1)]


def run(problem: Convex, schedule: algorithm2.Schedule, tape: Tape) -> Array:
    """Return the last phase's private solution, shape (d,)."""
    n = schedule.n
    batches = [tape.fresh(f"phase/{k}", n, n_k, order="index") for k, n_k in enumerate(_lengths(n), start=1)]
    return algorithm2.run(problem, schedule, tape, batches)
