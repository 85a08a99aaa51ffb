"""Comparators: noisy SGD (Bassily et al. 2019) and DP-SGDA (Yang et al. 2022), reconstructed.

Both are the same loop on the operator: minimisation has no y, DP-SGDA descends in x and ascends in y, noise on both.
It is the loop of ``baselines/dp_sgd.py`` (GRADIENT, CLIP at L, which no gradient exceeds, NOISE, STEP), projected.
T = min(n/8, n^2 epsilon^2/(32 d log(1/delta))) steps on batches of n sqrt(epsilon/(4T)) records, average returned.
The originals sample with replacement and use moments-accountant constants; here batches are drawn without replacement
and the noise is calibrated by the project's accountant for these batches.
Guarantee: (epsilon, delta)-DP under replace-one. Cite: bassily2019; yang2022.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.baselines import dp_sgd
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.interfaces import Seen
from dpassay.reference.tape import Tape


@dataclass(frozen=True, eq=False)
class Operator(Seen):
    """The operator (gradient in x, minus gradient in y) as a finite sum in z = (x, y)."""

    problem: Convex

    @property
    def d(self) -> int:
        """Entries of z."""
        return self.problem.loss.d + self.problem.loss.d_y

    def gradients(self, w: Array, indices: Indices) -> Array:
        """Per-record operator, shape (b, d_x + d_y)."""
        return self.problem.loss.rows(w, indices)

    def project(self, w: Array) -> Array:
        """On the domains of x and y."""
        x, y = w[: self.problem.loss.d], w[self.problem.loss.d :]
        return np.concatenate([self.problem.domain_x.project(x), self.problem.domain_y.project(y)])


# SCHEDULE
def calibrated(problem: Convex, diameter: float, epsilon: float, delta: float) -> dp_sgd.Schedule:
    """Steps, batches and step size of the sources; noise from the accountant."""
    seen, lipschitz = Operator(problem), problem.loss.lipschitz
    n, d = seen.n, seen.d
    private = n**2 * epsilon**2 / (32 * d * np.log(1 / delta))
    steps = max(1, int(min(n / 8, private)))
    batch = min(n, max(1, round(n * float(np.sqrt(epsilon / (4 * steps))))))
    silent = dp_sgd.Schedule(steps, 1.0, lipschitz, Multipliers({"gradient": 0.0}), batch, project=seen.project)
    schedule = dp_sgd.calibrated(silent, n, epsilon, delta)
    std = schedule.noise.std("gradient", 2 * lipschitz / batch)
    return replace(schedule, learning_rate=diameter / float(np.sqrt(steps * (lipschitz**2 + d * std**2))))


def run(problem: Convex, schedule: dp_sgd.Schedule, tape: Tape) -> Array:
    """The average iterate (x, y), shape (d_x + d_y,)."""
    iterates, _ = dp_sgd.path(Operator(problem), schedule, tape)
    return np.asarray(iterates[1:].mean(axis=0))
