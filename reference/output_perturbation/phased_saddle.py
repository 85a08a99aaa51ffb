"""What Algorithms 4 and 5 and Section 4.3 have in common: the numbers of their phases.  Their loops are their own.

The block that is released carries mu_k = mu 2^k, the other block a fixed modulus: the regulariser mu (Algorithms 4 and
5) or the loss's own strong concavity (Section 4.3).
"""

from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.solvers.gradient_descent import Extragradient
from dpassay.reference.solvers.protocol import Solver

from .base_solver import RESIDUAL_FRACTION, no_solver
from .phases import Phases, phases

Block = Literal["x", "y"]


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at; tuples have one entry per phase."""

    n: int
    d: int
    d_y: int
    block: Block  # the one that is released
    plan: Phases
    other_regulariser: float  # mu on the block that stays secret; 0 in Section 4.3
    solver: Solver
    targets: tuple[float, ...]  # on the weighted distance to the saddle point
    sensitivities: tuple[float, ...]  # of the released block
    noise: Multipliers | Printed  # of "x/1" .. "x/K", or "y/1" .. "y/K"
    certified: bool
    project: bool


def as_printed(
    problem: Convex, block: Block, mu: float, other: float, multiplier: float, solver: Solver | None, *, add: bool
) -> Schedule:
    """Accuracy L/(n_bar sqrt(m)) and sigma_k = ``multiplier`` 4L/(n_bar sqrt(mu_k m)), m the smaller of mu_k, other.

    ``other`` is the modulus on the secret block; ``add``: it is a regulariser, not the loss's own curvature.
    """
    plan = phases(problem.n, mu)  # lines 1 and 3
    units = [problem.loss.lipschitz / (plan.length * np.sqrt(min(mu_k, other))) for mu_k in plan.regularisers]
    sensitivities = [4 * unit / np.sqrt(mu_k) for unit, mu_k in zip(units, plan.regularisers, strict=True)]
    sigmas = {f"{block}/{k}": float(s) * multiplier for k, s in enumerate(sensitivities, start=1)}  # line 5
    return Schedule(
        n=problem.n,
        d=problem.d,
        d_y=problem.d_y,
        block=block,
        plan=plan,
        other_regulariser=other if add else 0.0,
        solver=solver or Extragradient(),
        targets=tuple(float(unit) for unit in units),  # line 4
        sensitivities=tuple(float(s) for s in sensitivities),
        noise=Printed(sigmas),
        certified=False,
        project=False,
    )


def draft(problem: Convex, printed: Schedule) -> Schedule:
    """The repaired reading before its noise and its solver: the sharp sensitivity of the released block alone.

    That is ``sharp_stability``, with the loss's own curvature if it has any, plus the solver's error on both datasets.
    """
    plan, curvatures = printed.plan, (problem.loss.strong_convexity, problem.loss.strong_concavity)
    own_curvature, other_curvature = curvatures if printed.block == "x" else curvatures[::-1]
    other = printed.other_regulariser + other_curvature
    targets, sensitivities = [], []
    for mu_k in plan.regularisers:
        own = mu_k + own_curvature
        target = RESIDUAL_FRACTION * problem.loss.lipschitz / (plan.length * np.sqrt(min(own, other)))
        targets.append(float(target))
        stable = sharp_stability(problem.loss.lipschitz, plan.length, own, other)
        sensitivities.append(float(stable + 2 * target / np.sqrt(own)))
    noise = Multipliers(dict.fromkeys(printed.noise.by_label, 1.0))
    sharp = replace(printed, targets=tuple(targets), sensitivities=tuple(sensitivities), noise=noise)
    return replace(sharp, solver=no_solver, project=True)
