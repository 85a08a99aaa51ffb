"""What the theorems of `output_perturbation` bound, measured on populations whose optimum is known in closed form.

Each function returns the measured mean, the printed bound, and what holds for any point; `search` moves all records.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from dpassay.reference.arrays import Array, Indices
from dpassay.reference.errors import BadInput
from dpassay.reference.extras import Later
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithms4and5,
    bounds,
    phases,
    strongly_concave,
)
from dpassay.reference.output_perturbation.bounds import Setting
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex, FiniteSum, Loss, Regulariser
from dpassay.reference.problems.saddle_games import BilinearLoss, sharp_stability
from dpassay.reference.problems.strongly_convex import LinearLoss
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.tape import LiveTape


@dataclass(frozen=True)
class Measured:
    """One cell of the grid."""

    measured: float
    error: float  # standard error of `measured`
    bound: float
    trivial: float

    @property
    def share(self) -> float:
        """Measured over bound; at most 1 when the theorem holds."""
        return self.measured / self.bound

    @property
    def vacuous(self) -> bool:
        """The bound says less than the domain does."""
        return self.bound >= self.trivial


@dataclass(frozen=True)
class QuadraticLoss(Loss):
    """f(x; xi) = sum_j h_j (x_j - xi_j)^2 / 2 with ||xi|| <= record_bound, ||x|| <= radius; Assumption 3.2 as it is.

    mu = min h, ell = max h, L = max h (radius + record_bound).
    """

    records: Array  # (n, d)
    curvatures: Array  # h, (d,)
    radius: float
    record_bound: float = 1.0

    def __post_init__(self) -> None:
        steepest = float(self.curvatures.max())
        self._constants(
            n=len(self.records),
            d=self.records.shape[1],
            strong_convexity=float(self.curvatures.min()),
            smoothness=steepest,
            lipschitz=steepest * (self.radius + self.record_bound),
        )

    def rows(self, z: Array, indices: Indices) -> Array:
        """h (x - xi_i)."""
        return self.curvatures * (z - self.records[indices])

    def values(self, z: Array, indices: Indices) -> Array:
        """Half weighted squared distances."""
        return np.asarray(0.5 * (z - self.records[indices]) ** 2 @ self.curvatures)

    def affine(self) -> tuple[Array, Array]:
        """A = diag(h), b = -h times the mean record."""
        return np.diag(self.curvatures), -self.curvatures * self.records.mean(axis=0)

    def excess(self, x: Array, centre: Array) -> float:
        """Risk of x above that of the minimiser `centre` (the mean record, or its expectation)."""
        return float(0.5 * (x - centre) ** 2 @ self.curvatures)


Pair = tuple[Measured, Measured]


def strongly_convex(n: int, d: int, epsilon: float, delta: float, kappa: float, seed: int, runs: int = 40) -> Pair:
    """Theorem 3.4, empirical and population, on quadratics with curvatures from 1 to kappa."""
    curvatures, rng = np.linspace(1.0, kappa, d) if d > 1 else np.array([kappa]), np.random.default_rng(seed)
    empirical, population = [], []
    for k in range(runs):
        loss = QuadraticLoss(_sphere(rng, n, d), curvatures, 1.0)
        problem = FiniteSum(loss, domain_x=Ball(1.0))
        released = algorithm1.run(problem, algorithm1.printed(problem, epsilon, delta, solver=Exact()), _tape(seed, k))
        empirical.append(loss.excess(released, loss.records.mean(axis=0)))
        population.append(loss.excess(released, np.zeros(d)))  # the records' expectation is zero
    setting = Setting(n, d, epsilon, delta, loss.lipschitz, loss.smoothness, loss.strong_convexity)
    lipschitz = loss.lipschitz
    trivial = min(lipschitz, lipschitz**2 / (2 * loss.strong_convexity))  # of answering 0, in the unit ball
    return (
        _measured(empirical, bounds.theorem_3_4_empirical(setting), trivial),
        _measured(population, bounds.theorem_3_4_population(setting), trivial),
    )


def convex(n: int, d: int, epsilon: float, delta: float, seed: int, runs: int = 40) -> Measured:
    """Theorem 3.7 on linear losses over the unit ball; the population optimum is -||E xi||."""
    rng, drift = np.random.default_rng(seed), np.zeros(d)
    drift[0] = 0.5
    excess = []
    for k in range(runs):
        problem = Convex(LinearLoss(0.5 * _sphere(rng, n, d) + drift), Ball(1.0))
        mu = phases.convex_regulariser(n, d, 1.0, 1.0, epsilon, delta)
        x = algorithm2.run(problem, algorithm2.printed(problem, mu, epsilon, delta), _tape(seed, k))
        excess.append(0.5 - float(drift @ x))
    return _measured(excess, bounds.theorem_3_7(Setting(n, d, epsilon, delta, 1.0, diameter=1.0)), 1.0)


def saddle(n: int, d: int, epsilon: float, delta: float, mu: float, seed: int, runs: int = 40) -> Pair:
    """Theorem 4.4, empirical and population strong gaps (over all of R^d: at least those over the domain)."""
    rng, coupling = np.random.default_rng(seed), np.eye(d)
    empirical, population = [], []
    for k in range(runs):
        loss = BilinearLoss(np.tile(coupling, (n, 1, 1)), _sphere(rng, n, 2 * d), 1.0, 1.0, 1.0, 1.0)
        problem = FiniteSum(loss, Regulariser(mu, mu), Ball(1.0), Ball(1.0))
        released = algorithm3.run(problem, algorithm3.printed(problem, epsilon, delta, solver=Exact()), _tape(seed, k))
        solution = Exact()(problem, 1e-6, np.random.default_rng(0)).point
        empirical.append(_strong_gap(released - solution, mu))
        population.append(_strong_gap(released, mu))  # the population saddle point is zero
    setting = Setting(n, d, epsilon, delta, problem.lipschitz, problem.smoothness, mu, mu)
    trivial = min(2 * problem.lipschitz, problem.lipschitz**2 / mu)  # of answering (0, 0), in unit balls
    return (
        _measured(empirical, bounds.theorem_4_4_empirical(setting), trivial),
        _measured(population, bounds.theorem_4_4_population(setting), trivial),
    )


def convex_concave(n: int, d: int, epsilon: float, delta: float, seed: int, runs: int = 40) -> Measured:
    """Theorem 4.8: weak gap of a bilinear game on unit balls, from the mean output (the objective is bilinear)."""
    x, y, loss = _phased_outputs(n, d, epsilon, delta, seed, runs, 0.0)
    x_mean, y_mean, drift = x.mean(axis=0), y.mean(axis=0), _drift(d)
    highest = float(np.linalg.norm(x_mean + drift) + drift @ x_mean)  # max over y of E F(x_tilde, y)
    lowest = float(drift @ y_mean - np.linalg.norm(y_mean + drift))  # min over x of E F(x, y_tilde)
    spread = float(np.sqrt((x.var(axis=0).sum() + y.var(axis=0).sum()) / runs))
    bound = bounds.theorem_4_8(Setting(n, d, epsilon, delta, loss.lipschitz, diameter=1.0))
    return Measured(highest - lowest, spread, bound, 2 * loss.lipschitz)


def strongly_concave_side(
    n: int, d: int, epsilon: float, delta: float, curvature: float, seed: int, runs: int = 40
) -> Measured:
    """Corollary 4.9: max_y E F(x_tilde, y) - F(x*, y*) on unit balls."""
    x, _, loss = _phased_outputs(n, d, epsilon, delta, seed, runs, curvature)
    mean = x.mean(axis=0)
    primal = _primal_value(mean, _drift(d), curvature)
    ray = np.linspace(-1, 1, 4001)[:, None] * _drift(d) / np.linalg.norm(_drift(d))  # x* lies on it by symmetry
    best = min(_primal_value(point, _drift(d), curvature) for point in ray)
    setting = Setting(n, d, epsilon, delta, loss.lipschitz, mu_y=curvature, diameter=1.0)
    spread = float(np.sqrt(x.var(axis=0).sum() / runs))
    return Measured(primal - best, spread, bounds.corollary_4_9(setting), loss.lipschitz)


def _phased_outputs(
    n: int, d: int, epsilon: float, delta: float, seed: int, runs: int, curvature: float
) -> tuple[Array, Array, BilinearLoss]:
    """F(x, y) = <x, y> + <p, x> - <q, y> - (curvature/2)||y||^2 in expectation, p = -q = `_drift`."""
    rng, xs, ys = np.random.default_rng(seed), [], []
    mean = np.concatenate([_drift(d), -_drift(d)])
    for k in range(runs):
        linear = 0.5 * _sphere(rng, n, 2 * d) + mean
        loss = BilinearLoss(np.tile(np.eye(d), (n, 1, 1)), linear, 1.0, 1.0, 1.0, 1.0, concavity=curvature)
        problem, tape = Convex(loss, Ball(1.0), Ball(1.0)), _tape(seed, k)
        if curvature:
            mu = phases.convex_strongly_concave_regulariser(n, d, loss.lipschitz, 1.0, epsilon, delta)
            xs.append(strongly_concave.run(problem, strongly_concave.printed(problem, mu, epsilon, delta), tape))
            ys.append(np.zeros(d))
        else:
            mu = phases.convex_concave_regulariser(n, d, loss.lipschitz, 1.0, epsilon, delta)
            both = algorithms4and5.run(problem, algorithms4and5.printed(problem, mu, epsilon, delta), tape)
            xs.append(both[:d])
            ys.append(both[d:])
    return np.array(xs), np.array(ys), loss


def _primal_value(x: Array, drift: Array, curvature: float) -> float:
    """max over the unit ball of <x, y> + <drift, x> + <drift, y> - (curvature/2)||y||^2."""
    pull = float(np.linalg.norm(x + drift))
    length = min(1.0, pull / curvature)
    return float(drift @ x) + pull * length - 0.5 * curvature * length**2


def _strong_gap(offset: Array, mu: float) -> float:
    """max_y - min_x of (mu/2)|x|^2 + <x, y> - (mu/2)|y|^2 at an offset from the saddle point: closed form."""
    return float(0.5 * (mu + 1 / mu) * (offset @ offset))


def _drift(d: int) -> Array:
    drift = np.zeros(d)
    drift[0] = 0.25
    return drift


def _sphere(rng: np.random.Generator, n: int, d: int) -> Array:
    rows = rng.normal(size=(n, d))
    return np.asarray(rows / np.linalg.norm(rows, axis=1)[:, None])


def _tape(seed: int, k: int) -> LiveTape:
    return LiveTape(np.random.SeedSequence([seed, k]))


def _measured(values: list[float], bound: float, trivial: float) -> Measured:
    return Measured(float(np.mean(values)), float(np.std(values) / np.sqrt(len(values))), bound, trivial)


optimize = Later("scipy.optimize")

Family = Callable[[Array], tuple[FiniteSum, FiniteSum]]


@dataclass(frozen=True)
class Shares:
    """Distances between exact solutions as shares of what is proved (1 = attained)."""

    weighted: float  # of Lemma 3.3/4.3: sqrt(mu_x |dx|^2 + mu_y |dy|^2) against 2L/(n sqrt(mu))
    x: float  # |dx| against the paper's 2L/(n sqrt(mu_x mu))
    x_sharp: float  # |dx| against `sharp_stability`


def shares(here: FiniteSum, there: FiniteSum, lipschitz: float | None = None) -> Shares:
    """Compare the exact solutions of two neighbours; L is the full f's unless given."""
    bound = max(here.lipschitz, there.lipschitz) if lipschitz is None else lipschitz
    if not np.isfinite(bound):
        raise BadInput("lipschitz", bound, "give L of the data part on an unbounded domain")
    moved = _solution(here) - _solution(there)
    n, mu, d_x = here.n, here.modulus, here.loss.d
    joint = 2 * bound / (n * np.sqrt(mu))
    x = float(np.linalg.norm(moved[:d_x]))
    other = here.strong_concavity if here.loss.d_y else np.inf
    return Shares(
        weighted=float(np.linalg.norm(np.sqrt(here.weights) * moved)) / float(joint),
        x=x / float(joint / np.sqrt(here.strong_convexity)),
        x_sharp=x / sharp_stability(bound, n, here.strong_convexity, other),
    )


def search(
    family: Family,
    bounds: list[tuple[float, float]],
    rng: np.random.Generator,
    *,
    objective: Callable[[Shares], float],
    lipschitz: float | None = None,
    generations: int = 60,
) -> tuple[Shares, Array]:
    """Largest `objective` found by differential evolution over the family's parameters, and where."""

    def loss(parameters: Array) -> float:
        return -objective(shares(*family(parameters), lipschitz))

    ranges: Any = bounds
    found = optimize.differential_evolution(
        loss, ranges, rng=rng, maxiter=generations, popsize=8, polish=False, tol=1e-8
    )
    return shares(*family(found.x), lipschitz), np.asarray(found.x)


def _solution(problem: FiniteSum) -> Array:
    return Exact()(problem, 1e-8, np.random.default_rng(0)).point
