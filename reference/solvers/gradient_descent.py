"""Full-gradient solvers with projection: accelerated gradient descent, and extragradient for saddle points.

Extragradient steps by W^-1 F, W = diag(mu_x, mu_y): in that metric the operator is 1-strongly monotone and
kappa-Lipschitz with kappa = 1 + ell/min(mu_x, mu_y), however far apart mu_x and mu_y are (mu_k against mu in
Algorithm 4).
"""

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


@dataclass(frozen=True)
class Extragradient:
    """Korpelevich's extragradient, step 1/(2 kappa): squared distance times 1 - 1/(4 kappa) or better per step.

    Gradient count: n kappa log(1/target).
    """

    limit: int = 1_000_000
    name: str = "extragradient"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve; deterministic, `rng` is not used."""
        oracle = Oracle(problem)
        step = 0.5 / (problem.relative_smoothness * problem.weights)

        def advance(z: Array) -> Array:
            middle = problem.project(z - step * oracle.operator(z))
            return problem.project(z - step * oracle.operator(middle))

        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, advance, target, self.limit, check_every=5)
