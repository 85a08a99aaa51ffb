"""Variance-reduced minimisation: SVRG, SARAH, SAGA.

The quadratic regulariser and the domain go through the proximal step, so ell is that of the data part and
kappa = ell/mu, however large mu_k is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dpassay.reference.problems.finite_sum import FiniteSum
from dpassay.reference.types import Array

from .protocol import Oracle, Solution, Step, run_until_certified


def condition(problem: FiniteSum) -> float:
    """kappa = ell/mu of the data part against the whole modulus, at least 1."""
    return max(1.0, problem.loss.smoothness / problem.strong_convexity)


@dataclass(frozen=True)
class SVRG:
    """Prox-SVRG (Johnson and Zhang 2013; Xiao and Zhang 2014, Theorem 1).

    Step 1/(20 ell), 100 kappa inner steps: the expected gap is halved per epoch.  Count (n + kappa) log(1/target).
    """

    epochs: int = 400
    name: str = "SVRG"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        inner = int(np.ceil(100 * condition(problem)))
        step = 1.0 / (20 * condition(problem) * problem.strong_convexity)

        def epoch(snapshot: Array) -> Array:
            mean = oracle.data_operator(snapshot)
            z, total = snapshot, np.zeros_like(snapshot)
            picks = rng.integers(n, size=inner)
            for j in range(inner):
                i = picks[j : j + 1]
                estimate = oracle.rows(z, i)[0] - oracle.rows(snapshot, i)[0] + mean
                z = problem.prox(z - step * estimate, step)
                total += z
            return total / inner

        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, epoch, target, self.epochs)


@dataclass(frozen=True)
class SARAH:
    """SARAH (Nguyen et al. 2017, Theorem 4): recursive estimates, output a random inner iterate.

    Step 1/(2 ell), 6 kappa inner steps, ell and kappa of the regularised f: the expected squared gradient norm falls by
    2/3 per epoch (proved without constraints; here iterates are projected, and the start is not among those that may be
    drawn).  Count (n + kappa) log(1/target).
    """

    epochs: int = 400
    name: str = "SARAH"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle, n = Oracle(problem), problem.n
        inner = int(np.ceil(6 * problem.smoothness / problem.strong_convexity))
        step = 0.5 / problem.smoothness
        weights = problem.regulariser_weights

        def epoch(start: Array) -> Array:
            previous, estimate = start, oracle.operator(start)
            z = problem.project(start - step * estimate)
            stop = int(rng.integers(inner + 1))
            picks = rng.integers(n, size=stop)
            for j in range(stop):
                i = picks[j : j + 1]
                change = oracle.rows(z, i)[0] - oracle.rows(previous, i)[0] + weights * (z - previous)
                estimate = estimate + change
                previous, z = z, problem.project(z - step * estimate)
            return z

        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, epoch, target, self.epochs)


@dataclass(frozen=True)
class SAGA:
    """SAGA (Defazio, Bach and Lacoste-Julien 2014, Corollary 1): a table of the latest gradient of each record.

    Step 1/(3 ell): the squared distance contracts by 1 - min(1/(4n), mu/(3 ell)) per step.
    Count (n + kappa) log(1/target); memory n d.
    """

    passes: int = 2000
    name: str = "SAGA"

    def __call__(self, problem: FiniteSum, target: float, rng: np.random.Generator) -> Solution:
        """Solve with indices from `rng`."""
        oracle = Oracle(problem)
        step = 1.0 / (3 * condition(problem) * problem.strong_convexity)
        start = problem.project(problem.centre)
        return run_until_certified(oracle, start, saga_pass(oracle, start, step, rng), target, self.passes)


def saga_pass(oracle: Oracle, start: Array, step: float | Array, rng: np.random.Generator) -> Step:
    """One pass of SAGA (n inner steps), for minimisation and saddle points alike; the table starts at `start`."""
    problem, n = oracle.problem, oracle.problem.n
    table = oracle.rows(start, np.arange(n))
    mean = table.mean(axis=0)

    def one_pass(z: Array) -> Array:
        nonlocal mean
        picks = rng.integers(n, size=n)
        for j in range(n):
            i = picks[j : j + 1]
            fresh = oracle.rows(z, i)[0]
            change = fresh - table[i[0]]
            z = problem.prox(z - step * (change + mean), step)
            table[i[0]] = fresh
            mean = mean + change / n
        mean = table.mean(axis=0)  # rounding does not build up
        return z

    return one_pass
