"""DP-SGD on the composite variable z = (x, eta) (paper ``dro``, Section 3): the baseline of Remark 1.

Minimises L(z), eq. (3), treating x and eta as one vector: per-record gradients (d + 1 numbers) are clipped together.
GRADIENT is that of ``Composite``; SCHEDULE, CLIP, NOISE and STEP are those of ``baselines/dp_sgd.py``.
Guarantee: that of T sampled Gaussian releases of sensitivity 2 C / b. Cite: ``dro``, Section 3; abadi2016, Algorithm 1.
"""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.interfaces import Seen
from dpassay.reference.tape import Tape

from .constants import Plan
from .objective import DualObjective


@dataclass(frozen=True, eq=False)
class Composite(Seen):
    """L as a finite sum in z = (x, eta), which has d + 1 entries."""

    problem: DualObjective

    @property
    def d(self) -> int:
        """Entries of z."""
        return self.problem.d + 1

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Per-record gradient of L in z, shape (b, d + 1)."""
        x, eta = w[:-1], float(w[-1])
        columns = [self.problem.x_gradients(x, eta, indices), self.problem.eta_gradients(x, eta, indices)]
        return np.column_stack(columns)


def calibrated(plan: Plan, epsilon: float, delta: float, *, clip: float = 1.0, step: float = 0.1) -> dp_sgd.Schedule:
    """Noise by exact accounting."""
    silent = dp_sgd.Schedule(plan.steps, step, clip, Multipliers({"gradient": 0.0}), plan.batch)
    return dp_sgd.calibrated(silent, plan.n, epsilon, delta)


def run(problem: DualObjective, schedule: dp_sgd.Schedule, tape: Tape) -> Array:
    """The last z, shape (d + 1,)."""
    return dp_sgd.run(Composite(problem), schedule, tape)
