"""Stability and utility: bounds hold where measured, and the sharp bound is attained and never passed."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from dpassay.reference.output_perturbation import algorithm1, bounds, worst_case
from dpassay.reference.output_perturbation.bounds import Setting
from dpassay.reference.problems.domains import Ball, Box, Everywhere
from dpassay.reference.problems.finite_sum import FiniteSum, Loss, Regulariser
from dpassay.reference.problems.saddle_games import BilinearLoss, sharp_stability
from dpassay.reference.solvers.exact import Exact
from dpassay.reference.tape import LiveTape

EPSILON, DELTA = 0.9, 1e-4
N = 12


def share(here, there):
    """How far the x of the solution moves, over `sharp_stability`; L of the data part is one."""
    x, other = (Exact()(problem, 1e-8, np.random.default_rng(0)).point[: here.d] for problem in (here, there))
    return np.linalg.norm(x - other) / sharp_stability(1.0, N, here.strong_convexity, here.strong_concavity)


@pytest.mark.parametrize("mu_x", [1.5, 3.0, 16.0])
def test_the_sharp_bound_is_attained(mu_x):
    pair = worst_case.for_algorithm3_apart(N, mu_x, 1.0)
    assert share(pair.here, pair.there) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize(("boxed", "count"), [(False, 100), (True, 10)])
def test_no_random_game_passes_the_sharp_bound(boxed, count):
    """Pairs in 3 + 2 dimensions, couplings up to 4; boxed: small boxes, most of them active (seed 5)."""
    rng = np.random.default_rng(5)
    largest = 0.0
    domains = (Box(-0.02, 0.02, 3), Box(-0.02, 0.02, 2)) if boxed else (Everywhere(), Everywhere())
    for _ in range(count):
        mu_x, mu_y, strength = 10 ** rng.uniform(-1, 1), 10 ** rng.uniform(-1, 1), rng.uniform(0, 4)
        coupling = rng.normal(size=(3, 2))
        coupling *= strength / np.linalg.norm(coupling, 2)
        pair = []
        for _ in range(2):
            linear = np.zeros((N, 5))
            linear[0] = rng.normal(size=5)
            linear[0] /= np.linalg.norm(linear[0])
            loss = BilinearLoss(np.tile(coupling, (N, 1, 1)), linear, np.inf, np.inf, strength + 1e-9, 1.0, True)
            pair.append(FiniteSum(loss, Regulariser(mu_x, mu_y), *domains))
        largest = max(largest, share(*pair))
        assert largest <= 1 + 1e-6
    assert largest > 0.3


def test_sharp_bound_is_half_of_the_papers_for_very_different_moduli():
    paper = 2 * 1.0 / (N * np.sqrt(1000.0 * 1.0))
    assert sharp_stability(1.0, N, 1000.0, 1.0) / paper == pytest.approx(0.5, rel=1e-3)
    assert sharp_stability(1.0, N, 1.0, 1000.0) == pytest.approx(2 / N)


@dataclass(frozen=True)
class QuadraticLoss(Loss):
    """f(x; xi) = sum_j h_j (x_j - xi_j)^2 / 2, ||xi|| <= 1, on the unit ball: Assumption 3.2 as it is, L = 2 max h."""

    records: np.ndarray
    curvatures: np.ndarray  # h

    def __post_init__(self):
        n, d, top = *self.records.shape, float(self.curvatures.max())
        self._constants(n=n, d=d, strong_convexity=float(self.curvatures.min()), smoothness=top, lipschitz=2 * top)

    def rows(self, z, indices):
        return self.curvatures * (z - self.records[indices])

    def values(self, z, indices):
        return 0.5 * (z - self.records[indices]) ** 2 @ self.curvatures

    def affine(self):
        return np.diag(self.curvatures), -self.curvatures * self.records.mean(axis=0)


def test_theorem_3_4_holds_on_quadratics_and_a_tenth_of_it_does_not():
    """Excess over the minimiser of the data, and of the population: 150 runs, seed 7, kappa 10, 4 standard errors."""
    rng, curvatures, found = np.random.default_rng(7), np.linspace(1.0, 10.0, 4), []
    for k in range(150):
        rows = rng.normal(size=(64, 4))
        loss = QuadraticLoss(rows / np.linalg.norm(rows, axis=1)[:, None], curvatures)
        problem = FiniteSum(loss, domain_x=Ball(1.0))
        tape = LiveTape(np.random.SeedSequence([7, k]))
        released = algorithm1.run(problem, algorithm1.printed(problem, EPSILON, DELTA, solver=Exact()), tape)
        found.append([0.5 * (released - best) ** 2 @ curvatures for best in (loss.records.mean(axis=0), 0.0)])
    mean, error = np.mean(found, axis=0), 4 * np.std(found, axis=0) / np.sqrt(len(found))
    setting = Setting(64, 4, EPSILON, DELTA, loss.lipschitz, loss.smoothness, loss.strong_convexity)
    proved = np.array([bounds.theorem_3_4_empirical(setting), bounds.theorem_3_4_population(setting)])
    assert np.all(mean + error <= proved) and np.all(mean - error > [0.1 * proved[0], 0.05 * proved[1]])


@pytest.mark.parametrize(
    ("bound", "constant", "value"),
    [
        (bounds.theorem_3_4_empirical, 2.5, 33 / 64),
        (bounds.theorem_3_4_population, 2.5, 7 / 8 + 48 / 64),
        (bounds.theorem_4_4_empirical, 5.0, 257 * 2 / 64),
        (bounds.theorem_4_4_population, 5.0, 3 * 2 * (3 / 8 + 128 / 64)),
    ],
)
def test_the_printed_constants(bound, constant, value):
    """Where every quantity, and the logarithm, is one, and n = 8."""
    assert bound(Setting(8, 1, 1.0, constant / np.e, 1.0, 1.0, 1.0, 1.0)) == pytest.approx(value)


def test_when_the_bounds_start_to_say_something():
    """Answering 0 costs at most L D in Theorem 3.7, and 2 L D in Theorem 4.8."""
    at = Setting(2, 16, 0.9, 0.1, 1.0, 1.0, 1.0, 1.0, 1.0)
    found = bounds.first_meaningful_n(bounds.theorem_3_7, 1.0, at)
    below, there = (bounds.theorem_3_7(replace(at, n=n, delta=n**-2.0)) for n in (found - 1, found))
    assert found == 14_293 and there < 1.0 <= below
    assert bounds.first_meaningful_n(bounds.theorem_4_8, 2.0, at) == 24_494_967
    assert bounds.first_meaningful_n(bounds.theorem_3_7, 1000.0, at) == 4


def test_corollary_4_9_prints_less_than_its_proof_gives():
    s = Setting(10_000, 10, 0.5, 1e-8, 1.0, 1.0, 1.0, 1.0, 1.0)
    assert bounds.corollary_4_9_as_proved(s) > bounds.corollary_4_9(s)
