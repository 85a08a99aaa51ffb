"""Theorems 3.4, 3.7, 4.4, 4.8 and Corollary 4.9 over a grid: measured / bound, and from which n a bound says anything.

Run: python benchmarks/output_perturbation_utility.py [--quick] [--write]
"""

from dataclasses import dataclass, replace
from itertools import product

import audit_figures as figures
import numpy as np

from dpassay.reference.arrays import Array, Indices
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
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LinearLoss
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.tape import LiveTape

SEED = 7
BOUNDS = {  # with all printed constants; logs outside square roots come from K = log(n), to base 2 (see `phases`)
    "3.4 empirical": bounds.theorem_3_4_empirical,
    "3.4 population": lambda s: s.lipschitz**2 * s.smoothness / s.mu_x * (7 / s.n + 48 * s.square(2.5)) / s.mu_x,
    "3.7": lambda s: 4 * s.lipschitz * s.diameter * np.log2(s.n) * (s.n**-0.5 + 7 * s.square(2.5) ** 0.5),
    "4.4 empirical": bounds.theorem_4_4_empirical,
    "4.4 population": lambda s: 3 * s.lipschitz**2 * s.conditions * (3 / s.n + 128 * s.square(5)) / min(s.mu_x, s.mu_y),
    "4.8": lambda s: 16 * s.lipschitz * s.diameter * np.log2(s.n) ** 2 * (s.n**-0.5 + 5 * s.square(5) ** 0.5),
    "Cor. 4.9": lambda s: (
        6 * s.lipschitz * s.diameter * np.log2(s.n) * (s.n**-0.5 + 4 * s.square(2.5) ** 0.5)
        + (s.lipschitz * np.log2(s.n)) ** 2 / s.mu_y * (8 / s.n + 65 * s.square(2.5 * s.n))  # its log is of n/delta
    ),
}


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
        _measured(empirical, BOUNDS["3.4 empirical"](setting), trivial),
        _measured(population, BOUNDS["3.4 population"](setting), trivial),
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
    return _measured(excess, BOUNDS["3.7"](Setting(n, d, epsilon, delta, 1.0, diameter=1.0)), 1.0)


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
        _measured(empirical, BOUNDS["4.4 empirical"](setting), trivial),
        _measured(population, BOUNDS["4.4 population"](setting), trivial),
    )


def convex_concave(n: int, d: int, epsilon: float, delta: float, seed: int, runs: int = 40) -> Measured:
    """Theorem 4.8: weak gap of a bilinear game on unit balls, from the mean output (the objective is bilinear)."""
    x, y, loss = _phased_outputs(n, d, epsilon, delta, seed, runs, 0.0)
    x_mean, y_mean, drift = x.mean(axis=0), y.mean(axis=0), _drift(d)
    highest = float(np.linalg.norm(x_mean + drift) + drift @ x_mean)  # max over y of E F(x_tilde, y)
    lowest = float(drift @ y_mean - np.linalg.norm(y_mean + drift))  # min over x of E F(x, y_tilde)
    spread = float(np.sqrt((x.var(axis=0).sum() + y.var(axis=0).sum()) / runs))
    bound = BOUNDS["4.8"](Setting(n, d, epsilon, delta, loss.lipschitz, diameter=1.0))
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
    return Measured(primal - best, spread, BOUNDS["Cor. 4.9"](setting), loss.lipschitz)


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
            noise = np.sqrt(d * np.log(2.5 / delta)) / (n * epsilon)
            mu = 3 * loss.lipschitz * max(1 / np.sqrt(n), 4 * np.log2(n) * noise)  # of Corollary 4.9
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


def grid(sizes):
    print(f"{'theorem':18s}{'n':>6s}{'d':>4s}{'eps':>6s}{'kappa':>7s}", end="")
    print(f"{'measured':>12s}{'bound':>12s}{'share':>9s}  vacuous")
    for n, d, epsilon in product(sizes, (2, 16), (0.1, 0.9)):
        budget = (epsilon, 1 / n**2)
        for kappa in (1.0, 10.0, 100.0):
            empirical, population = strongly_convex(n, d, *budget, kappa, SEED)
            show("3.4 empirical", n, d, epsilon, kappa, empirical)
            show("3.4 population", n, d, epsilon, kappa, population)
        show("3.7", n, d, epsilon, 0, convex(n, d, *budget, SEED))
        for mu in (1.0, 0.1):
            empirical, population = saddle(n, d, *budget, mu, SEED)
            show("4.4 empirical", n, d, epsilon, 1 + 1 / mu, empirical)
            show("4.4 population", n, d, epsilon, 1 + 1 / mu, population)
        show("4.8", n, d, epsilon, 0, convex_concave(n, d, *budget, SEED, runs=10))
        show("Cor. 4.9", n, d, epsilon, 0, strongly_concave_side(n, d, *budget, 1.0, SEED, runs=10))


def show(name, n, d, epsilon, kappa, cell):
    assert cell.measured <= cell.bound, (name, n, d, epsilon, kappa, cell)
    print(
        f"{name:18s}{n:6d}{d:4d}{epsilon:6.2f}{kappa:7.0f}{cell.measured:12.4g}{cell.bound:12.4g}{cell.share:9.2e}"
        f"  {'yes' if cell.vacuous else ''}",
        flush=True,
    )


def first_meaningful_n(bound, trivial, at):
    """Smallest n (at least 4) from which on bound < trivial, with delta = 1/n^2: the octave, then the place in it."""

    def says_something(n):
        return bound(replace(at, n=n, delta=float(n) ** -2.0)) < trivial

    above = 2 ** next(exponent + 1 for exponent in range(60, 0, -1) if exponent == 1 or not says_something(2**exponent))
    below = above // 2
    while above > 4 and above - below > 1:
        middle = (above + below) // 2
        above, below = (middle, below) if says_something(middle) else (above, middle)
    return above


def first_meaningful():
    print("\nsmallest n with a bound below that of answering 0, L = D = mu = 1, delta = 1/n^2")
    trivial = {"3.4 population": (0.5, ", kappa 1"), "3.7": (1.0, ""), "4.4 population": (1.0, ", kappa 1"),
               "4.8": (2.0, ""), "Cor. 4.9": (1.0, ", mu_y 1")}  # fmt: skip
    for d, epsilon in product((2, 16, 128), (0.1, 0.9)):
        at = Setting(2, d, epsilon, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0)
        found = (f"{name}{more}: {first_meaningful_n(BOUNDS[name], of, at)}" for name, (of, more) in trivial.items())
        print(f"d = {d:4d}, epsilon = {epsilon}: " + ", ".join(found))


def corollary_gap():
    """(29) has K terms with n_bar = n/K, so log^3(n) log(2.5/delta): a product of logs became the log of a product."""
    print("\nCorollary 4.9: last term by the proof's own recipe / as printed")
    for n in (10**3, 10**4, 10**6):
        print(f"n = {n}: {np.log2(n) * np.log(2.5 * n**2.0) / np.log(2.5 * n**3.0):.2f}")


def measure(quick):
    first_meaningful()
    corollary_gap()
    print()
    grid((128,) if quick else (128, 1024))


if __name__ == "__main__":
    figures.keep_printed(__file__, __doc__, measure)
