"""Comparator: phased ERM (Feldman, Koren and Talwar 2020, Algorithm 3), reconstructed from its description.

Minimises a convex E f(x; xi): halving phases n_k = n/2^k with steps eta_k = eta/4^k; each phase solves
(1/n_k) sum f + (1/(eta_k n_k)) ||x - x_{k-1}||^2 on fresh records and adds noise proportional to L eta_k.
It is the repaired Algorithm 2 with these phases: GRADIENT, CLIP, NOISE and STEP are those of ``algorithm2.py``.
Guarantee: (epsilon, delta)-DP under replace-one; noise by the exact Gaussian trade-off, not by the original constants.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import Convex

from . import algorithm2
from .algorithm2 import run
from .phases import Phases

__all__ = ["calibrated", "run"]


@dataclass(frozen=True)
class Halving(Phases):
    """Each phase has half of the records of the one before, rounded down; ``length`` is that of the first."""

    @property
    def lengths(self) -> tuple[int, ...]:
        """n_k."""
        return tuple(self.length // 2**k for k in range(self.count))


# SCHEDULE
def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> algorithm2.Schedule:
    """eta = (diameter/L) min(4/sqrt(n), epsilon/sqrt(d log(1/delta))), as in the source."""
    n, count = problem.n, int(np.log2(problem.n))
    private = epsilon / np.sqrt(problem.d * np.log(1 / delta))
    eta = diameter / problem.loss.lipschitz * min(4 / np.sqrt(n), private)
    regularisers = (float(2 / (eta * 4.0**-k * (n // 2**k))) for k in range(1, count + 1))  # 2 / (eta_k n_k)
    return algorithm2.certified(problem, Halving(count, n // 2, tuple(regularisers)), epsilon, delta)
