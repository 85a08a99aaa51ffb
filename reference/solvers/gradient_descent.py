"""Full-gradient minimisation: gradient descent and its accelerated form, with projection."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.arrays import Array
from dpassay.reference.problems.finite_sum import FiniteSum

from .protocol import Oracle, Solution, run_until_certified


@dataclass(frozen=True)
class GradientDescent:
    """Projected gradient descent; contraction 1 - 1/kappa per step, 1 - 1/sqrt(kappa) when accelerated (Nesterov).

    Gradient count: n kappa log(1/target), n sqrt(kappa) log(1/target) when accelerated.
    """

    accelerated: bool = False
    limit: int = 100_000

    @property
    def name(self) -> str:
        """Short name."""
        return "accelerated gradient" if self.accelerated else "gradient descent"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; deterministic, `rng` is not used."""
        oracle = Oracle(problem)
        step = 1.0 / problem.smoothness  # 1 / ell
        root = np.sqrt(problem.strong_convexity / problem.smoothness)
        momentum = float((1 - root) / (1 + root)) if self.accelerated else 0.0
        state = {"previous": problem.project(problem.centre)}

        def advance(z: Array) -> Array:
            reached = problem.project(z - step * oracle.operator(z))
            ahead = reached + momentum * (reached - state["previous"])
            state["previous"] = reached
            return ahead

        return run_until_certified(oracle, state["previous"], advance, target, self.limit, check_every=5)
