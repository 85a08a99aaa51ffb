"""A solver that stops too early and does not say so: what the certificate is for."""

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum

from .protocol import Certificate, Oracle, Solution


@dataclass(frozen=True)
class UndecayedPasses:
    """Incremental gradient passes in index order that stop before the step size was ever decreased.

    The step is (1 + residual) / (mu n): on mean estimation, where the exact solution is an average, the last record
    enters with weight (1 + residual)/n instead of 1/n, so the result is `residual` L/(mu n) away from the solution.
    It reports the accuracy that it was asked for, whatever it reached: a defect planted on purpose.
    """

    residual: float = 10.0  # in units of the paper's L/(mu n)
    passes: int = 1
    name: str = "undecayed passes"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Run the passes; deterministic."""
        oracle = Oracle(problem)
        step = min((1 + self.residual) / (problem.strong_convexity * problem.n), 1.0 / problem.smoothness)
        z = problem.project(problem.centre)
        for _ in range(self.passes):
            for i in range(problem.n):
                z = problem.project(z - step * oracle.operator(z, np.array([i])))
        return Solution(z, Certificate(target, target), oracle.evaluations)
