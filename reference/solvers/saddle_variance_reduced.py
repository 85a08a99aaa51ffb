"""Variance-reduced saddle solvers: SVRG and SAGA of Palaniappan and Bach (2016), and a variance-reduced extragradient.

All work in the metric W = diag(mu_x, mu_y) with the regulariser and the domain in the resolvent, so that
kappa = ell/min(mu_x, mu_y) of the data part is all that counts (the "separable" structure of Section 4.2).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.types import Array

from .protocol import Oracle, Solution, run_until_certified
from .variance_reduced import saga_pass


def saddle_condition(problem: FiniteSum) -> float:
    """kappa = ell/min(mu_x, mu_y) of the data part, at least 1."""
    return max(1.0, problem.loss.smoothness / problem.modulus)


@dataclass(frozen=True)
class SaddleSVRG:
    """SVRG for saddle points (Palaniappan and Bach 2016, Theorem 1): squared distance times 3/4 per epoch.

    Step 1/(4 kappa^2), log(4) (1 + 4 kappa^2) inner steps.  Count (n + kappa^2) log(1/target).
    """

    epochs: int = 400
    name: str = "SVRG (saddle)"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        size = 4 * saddle_condition(problem) ** 2  # L^2 + 3 L_bar^2 with L <= L_bar
        inner = int(np.ceil(np.log(4) * (1 + size)))
        step = problem.by_block(1 / problem.strong_convexity, 1 / problem.strong_concavity) / size

        def epoch(snapshot: Array) -> Array:
            mean, z = oracle.data_operator(snapshot), snapshot
            picks = rng.integers(n, size=inner)
            for j in range(inner):
                i = picks[j : j + 1]
                estimate = oracle.rows(z, i)[0] - oracle.rows(snapshot, i)[0] + mean
                z = problem.prox(z - step * estimate, step)
            return z

        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, epoch, target, self.epochs)


@dataclass(frozen=True)
class SaddleSAGA:
    """SAGA for saddle points (Palaniappan and Bach 2016, Theorem 2): rate 1 - 1/(4 max(3n/2, 1 + 4 kappa^2)) per step.

    Count (n + kappa^2) log(1/target); memory n d.
    """

    passes: int = 4000
    name: str = "SAGA (saddle)"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        size = max(1.5 * n - 1, 4 * saddle_condition(problem) ** 2)
        step = problem.by_block(1 / problem.strong_convexity, 1 / problem.strong_concavity) / size
        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, saga_pass(oracle, start, step, rng), target, self.passes)


@dataclass(frozen=True)
class PrimalDual:
    """Separable accelerated primal-dual method: loopless SVRG extragradient (Alacaoglu and Malitsky 2022, Algorithm 1).

    In the spirit of Jin et al.: g(x) and h(y) enter by their resolvents, so their smoothness does not count.
    Count (n + sqrt(n) kappa) log(1/target).  One reconstruction, not Jin et al.'s algorithm line by line.
    """

    passes: int = 4000
    name: str = "separable primal-dual"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        refresh = min(0.5, 2.0 / n)  # p
        size = 0.9 * float(np.sqrt(refresh)) / saddle_condition(problem)  # tau = sqrt(1 - alpha) gamma / L
        step = problem.by_block(1 / problem.strong_convexity, 1 / problem.strong_concavity) * size
        start = problem.project(problem.centre)
        state = {"anchor": start, "mean": oracle.data_operator(start)}

        def one_pass(z: Array) -> Array:
            picks, renew = rng.integers(n, size=n), rng.random(n) < refresh
            anchor, mean = state["anchor"], state["mean"]
            for j in range(n):
                i = picks[j : j + 1]
                middle = (1 - refresh) * z + refresh * anchor
                half = problem.prox(middle - step * mean, step)
                estimate = mean + oracle.rows(half, i)[0] - oracle.rows(anchor, i)[0]
                z = problem.prox(middle - step * estimate, step)
                if renew[j]:
                    anchor, mean = z, oracle.data_operator(z)
            state["anchor"], state["mean"] = anchor, mean
            return z

        return run_until_certified(oracle, start, one_pass, target, self.passes)
