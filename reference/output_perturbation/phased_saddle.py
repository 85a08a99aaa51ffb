"""The phase loop that Algorithms 4 and 5 and Section 4.3 share: solve, perturb one block, move the centre there.

The released block carries mu_k = mu 2^k, the other block a fixed modulus: the regulariser mu (Algorithms 4 and 5) or
the loss's own strong concavity (Section 4.3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from dpassay.reference.problems.finite_sum import Convex, Regulariser
from dpassay.reference.problems.saddle_games import sharp_stability
from dpassay.reference.solvers.extragradient import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape
from dpassay.reference.transcript import Batch
from dpassay.reference.types import Array

from .budget import solve
from .phases import Phases, partition, phases

Side = Literal["x", "y"]


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """Everything that is fixed before the data are looked at; one entry per phase."""

    side: Side  # the block that is released
    solver: Solver
    plan: Phases
    other_regulariser: float  # mu on the block that stays secret; 0 in Section 4.3
    targets: tuple[float, ...]  # on the weighted distance to the saddle point
    sensitivities: tuple[float, ...]  # of the released block
    noise_stds: tuple[float, ...]  # sigma_k
    certified: bool
    project: bool


def schedule(
    problem: Convex,
    side: Side,
    mu: float,
    other_regulariser: float,
    multiplier: float,
    residual: float,
    solver: Solver | None,
    *,
    repaired: bool,
) -> Schedule:
    """Targets, sensitivities and noise for noise `multiplier` and solver error `residual` times the paper's.

    Printed sensitivity: 4L/(n_bar sqrt(mu_k m)), m the smaller modulus, of the regularisers alone where there are two.
    Repaired: `sharp_stability`, with the loss's own curvature if it has any, plus the solver's error on both datasets.
    """
    plan, lipschitz = phases(problem.loss.size, mu), problem.loss.lipschitz
    n_bar = plan.length
    curvatures = (problem.loss.strong_convexity, problem.loss.strong_concavity)
    own_curvature, other_curvature = curvatures if side == "x" else curvatures[::-1]
    printed_other = other_regulariser or other_curvature  # mu in Algorithms 4 and 5, mu_y (mu_x) in Section 4.3
    targets, sensitivities = [], []
    for mu_k in plan.regularisers:
        own, other = (mu_k + own_curvature, other_regulariser + other_curvature) if repaired else (mu_k, printed_other)
        unit = lipschitz / (n_bar * np.sqrt(min(own, other)))  # L / (n_bar sqrt(m))
        targets.append(float(residual * unit))
        stable = sharp_stability(lipschitz, n_bar, own, other) if repaired else 2 * unit / np.sqrt(own)
        sensitivities.append(float(stable + 2 * residual * unit / np.sqrt(own)))
    return Schedule(
        side=side,
        solver=solver or Extragradient(),
        plan=plan,
        other_regulariser=other_regulariser,
        targets=tuple(targets),
        sensitivities=tuple(sensitivities),
        noise_stds=tuple(s * multiplier for s in sensitivities),
        certified=repaired,
        project=repaired,
    )


def run(problem: Convex, schedule: Schedule, tape: Tape, batches: list[Batch] | None = None) -> Array:
    """Return the released block of the last phase; `batches` reuses a partition (Algorithm 5 after Algorithm 4)."""
    d_x, d_y = problem.loss.primal, problem.loss.dual
    primal = schedule.side == "x"
    block = slice(0, d_x) if primal else slice(d_x, d_x + d_y)
    domain = problem.domain_x if primal else problem.domain_y
    centre = np.zeros(d_x + d_y)  # x_0 = 0 (y_0 = 0), line 1
    parts = partition(tape, problem.loss.size, schedule.plan) if batches is None else batches
    for k, (batch, mu_k) in enumerate(zip(parts, schedule.plan.regularisers, strict=True)):  # lines 2 and 3
        # GRADIENT: inside the base solver
        weights = (mu_k, schedule.other_regulariser) if primal else (schedule.other_regulariser, mu_k)
        phase = problem.phase(batch.indices, Regulariser(*weights, centre=centre.copy()))
        label = f"solver/{schedule.side}/{k + 1}"
        solution = solve(phase, schedule.solver, schedule.targets[k], schedule.certified, tape, label)  # line 4
        # CLIP: none, the stability of the saddle point bounds the sensitivity (Lemma 4.5)
        # NOISE
        std, sensitivity = schedule.noise_stds[k], schedule.sensitivities[k]
        label = f"{schedule.side}/{k + 1}"
        released = tape.gaussian(label, solution[block], std=std, sensitivity=sensitivity, batch=batch)  # line 5
        # STEP
        centre[block] = domain.project(released) if schedule.project else released
    return centre[block]  # Output
