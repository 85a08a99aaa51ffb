"""Algorithms 4 and 5 composed on one partition: the private saddle point of Theorem 4.8 (output_perturbation).

Guarantee: (epsilon, delta)-DP under replace-one, and the weak duality gap of Theorem 4.8.
Printed: basic composition of two halves of the budget.  Repaired: a record meets one phase of each half, so two
Gaussians are accounted together.
"""

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.accounting.calibrate import noise_for
from dpassay.reference.arrays import Array
from dpassay.reference.noise import Multipliers, Printed
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.solvers.gradient_descent import Extragradient
from dpassay.reference.solvers.protocol import Solver
from dpassay.reference.tape import Tape

from . import algorithm4, algorithm5
from .phased_saddle import draft
from .phases import partition

COMPLETIONS = (*algorithm4.COMPLETIONS, "both halves use the same partition by index")
REPAIRS = (*algorithm4.REPAIRS, "two Gaussians per record, accounted together")


# SCHEDULE
@dataclass(frozen=True)
class Schedule:
    """The two halves; ``noise`` is that of both and replaces what the halves bring."""

    x_half: algorithm4.Schedule
    y_half: algorithm5.Schedule
    noise: Multipliers | Printed  # of "x/1" .. "x/K" and "y/1" .. "y/K"

    @property
    def n(self) -> int:
        """Records that the sensitivities are made for."""
        return self.x_half.n


def printed(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Both halves as printed."""
    x_half = algorithm4.printed(problem, mu, epsilon, delta, solver=solver)
    y_half = algorithm5.printed(problem, mu, epsilon, delta, solver=solver)
    return Schedule(x_half, y_half, Printed({**x_half.noise.by_label, **y_half.noise.by_label}))


def repaired(problem: Convex, mu: float, epsilon: float, delta: float, *, solver: Solver | None = None) -> Schedule:
    """Both halves repaired, with exact noise for the two together."""
    plain = printed(problem, mu, epsilon, delta)
    x_half, y_half = (draft(problem, half) for half in (plain.x_half, plain.y_half))
    unit = Schedule(x_half, y_half, Multipliers({**x_half.noise.by_label, **y_half.noise.by_label}))
    exact = noise_for(run, unit, problem, epsilon, delta)
    solver = solver or Extragradient()
    certified = [replace(half, solver=solver, certified=True) for half in (exact.x_half, exact.y_half)]
    return replace(exact, x_half=certified[0], y_half=certified[1])


def run(problem: Convex, schedule: Schedule, tape: Tape) -> Array:
    """Return (x_tilde_K, y_tilde_K) in one vector (d + d_y,)."""
    # GRADIENT, CLIP, NOISE, STEP: as in Algorithms 4 and 5
    batches = partition(tape, schedule.n, schedule.x_half.plan)
    x = algorithm4.run(problem, replace(schedule.x_half, noise=schedule.noise), tape, batches)
    y = algorithm5.run(problem, replace(schedule.y_half, noise=schedule.noise), tape, batches)
    return np.concatenate([x, y])
