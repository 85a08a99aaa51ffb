"""Katyusha: accelerated variance reduction with negative momentum (Allen-Zhu 2017, Algorithm 1, Option II)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.types import Array

from .protocol import Oracle, Solution, run_until_certified
from .variance_reduced import condition


@dataclass(frozen=True)
class Katyusha:
    """Count (n + sqrt(n kappa)) log(1/target); epochs of 2n steps, the gap falls by (1 + tau_1 ...)^-2n per epoch."""

    epochs: int = 1000
    name: str = "Katyusha"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        mu, inner = problem.strong_convexity, 2 * n  # sigma, m
        smoothness = condition(problem) * mu  # ell of the data part
        toward_z = min(0.5, float(np.sqrt(inner * mu / (3 * smoothness))))  # tau_1
        toward_snapshot = 0.5  # tau_2
        step = 1.0 / (3 * toward_z * smoothness)  # alpha
        state = {"y": problem.project(problem.centre), "z": problem.project(problem.centre)}

        def epoch(snapshot: Array) -> Array:
            mean, y, z = oracle.data_operator(snapshot), state["y"], state["z"]
            total, mass, weight = np.zeros_like(y), 0.0, 1.0
            picks = rng.integers(n, size=inner)
            for j in range(inner):
                i = picks[j : j + 1]
                x = toward_z * z + toward_snapshot * snapshot + (1 - toward_z - toward_snapshot) * y
                estimate = mean + oracle.rows(x, i)[0] - oracle.rows(snapshot, i)[0]
                moved = problem.prox(z - step * estimate, step)
                y, z = x + toward_z * (moved - z), moved
                total, mass = total + weight * y, mass + weight
                weight *= 1 + step * mu
                if weight > 1e100:  # keep the running average in range
                    total, mass, weight = total / weight, mass / weight, 1.0
            state["y"], state["z"] = y, z
            return np.asarray(total / mass)

        return run_until_certified(oracle, state["y"], epoch, target, self.epochs)
