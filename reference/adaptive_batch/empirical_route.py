"""Appendix C of adaptive_batch: an SOSP of the empirical loss, and what it says about the population.

The paper takes the empirical SOSP from Ganesh et al. (2023) without printing that method. Reconstruction: full-batch
DP-SGD (the noise itself perturbs saddles); of x_1, x_2, ... the one with the smallest released gradient is returned
(x_0 may be a saddle), which is post-processing. Theorem C.1 then adds its generalisation error.
Guarantee: T full-batch Gaussian releases of sensitivity 2 G / n, calibrated exactly. Cite: adaptive_batch, Appendix C.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.errors import require
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.interfaces import MinimisationProblem
from dpassay.reference.tape import Tape

from .theorems import Constants, empirical_route_accuracy


@dataclass(frozen=True, eq=False)
class Result:
    """The returned point and all iterates."""

    x: Array
    iterates: Array


# SCHEDULE
def calibrated(c: Constants, steps: int | None = None) -> dp_sgd.Schedule:
    """eta = 1/M and T = B M / alpha^2 steps at the printed accuracy; clipped at G, which no gradient exceeds."""
    alpha = empirical_route_accuracy(c)
    require(alpha < c.lipschitz, "alpha", alpha, f"Appendix C says nothing unless alpha < G = {c.lipschitz:.4g}")
    count = steps or ceil(c.initial_gap * c.smoothness / alpha**2)
    silent = dp_sgd.Schedule(count, 1 / c.smoothness, c.lipschitz, Multipliers({"gradient": 0.0}))
    return dp_sgd.calibrated(silent, c.n, c.epsilon, c.delta)


def run(problem: MinimisationProblem, schedule: dp_sgd.Schedule, tape: Tape) -> Result:
    """Run the reconstruction: GRADIENT, CLIP, NOISE and STEP are those of DP-SGD."""
    iterates, gradients = dp_sgd.path(problem, schedule, tape)
    lengths = np.linalg.norm(gradients, axis=1)  # lengths[t] belongs to x_t
    best = 0 if len(lengths) == 1 else 1 + int(np.argmin(lengths[1:]))  # not x_0
    return Result(iterates[best], iterates)
