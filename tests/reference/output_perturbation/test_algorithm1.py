"""Algorithm 1: the worst-case pair, the two readings, and the refusal to release."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.output_perturbation import algorithm1
from dpassay.reference.problems.strongly_convex import LogisticLoss, SquaredLoss, regularised, stability_pair
from dpassay.reference.solvers.exact import Exact, closed_form
from dpassay.reference.solvers.gradient_descent import GradientDescent
from dpassay.reference.solvers.protocol import CertificateError
from dpassay.reference.tape import record

EPSILON, DELTA = 0.5, 1e-5


@pytest.mark.parametrize("size", [1, 10, 1000])
def test_the_pair_attains_the_stability_bound_but_for_n_over_n_plus_1(size):
    first, second = stability_pair(size, 3, 0.1)
    moved = np.linalg.norm(closed_form(first) - closed_form(second))
    bound = 2 * first.lipschitz / (first.strong_convexity * size)  # Lemma 3.3
    assert moved / bound == pytest.approx(size / (size + 1), rel=1e-9)


def test_realised_accounted_claimed_in_this_order_and_repaired_is_tight():
    first, second = stability_pair(1000, 3, 0.1)
    epsilons = {}
    for reading in (algorithm1.printed, algorithm1.repaired):
        schedule = reading(first, EPSILON, DELTA)
        queries = [record(lambda tape, p=p, s=schedule: algorithm1.run(p, s, tape), 3) for p in (first, second)]
        std = schedule.noise.std("output", schedule.sensitivity)
        moved = np.linalg.norm(queries[0].releases[0].law.query - queries[1].releases[0].law.query)
        assert moved <= schedule.sensitivity
        epsilons[reading.__name__] = [
            gdp_epsilon(moved / std, DELTA),
            gdp_epsilon(schedule.sensitivity / std, DELTA),
        ]
    for realised, accounted in epsilons.values():
        assert realised <= accounted <= EPSILON
    assert epsilons["printed"][0] < 0.5 * EPSILON  # the paper pays for a solver error that is not there
    assert epsilons["repaired"][0] > 0.97 * EPSILON


def test_refuses_when_the_solver_stops_early_and_says_what_is_missing():
    rng = np.random.default_rng(5)
    features = rng.normal(size=(50, 4))
    features /= np.linalg.norm(features, axis=1)[:, None]
    problem = regularised(SquaredLoss(features, np.sign(features[:, 0]), radius=2.0), 0.01, 2.0)
    lazy = GradientDescent(limit=2)
    printed = algorithm1.printed(problem, EPSILON, DELTA, solver=lazy)
    record(lambda tape: algorithm1.run(problem, printed, tape), 1)  # released in silence, as printed
    with pytest.raises(CertificateError, match=r"certified distance .* exceeds the required .* release refused"):
        record(lambda tape: algorithm1.run(problem, algorithm1.repaired(problem, EPSILON, DELTA, solver=lazy), tape), 1)


@pytest.mark.parametrize("radius", [0.3, 50.0])
def test_certificate_bounds_the_true_distance_inside_and_on_the_boundary(radius):
    rng = np.random.default_rng(11)
    features = rng.normal(size=(80, 5))
    features /= np.linalg.norm(features, axis=1)[:, None]
    labels = np.sign(features @ np.ones(5))
    problem = regularised(LogisticLoss(features, labels), 0.02, radius)
    exact = Exact()(problem, 1e-6, rng)
    assert exact.certificate.distance < 1e-9
    for target in (1.0, 1e-1, 1e-3):
        found = GradientDescent()(problem, target, rng)
        weight = np.sqrt(problem.strong_convexity)
        assert weight * np.linalg.norm(found.point - exact.point) <= found.certificate.distance + 1e-9 <= target + 1e-9


def test_repaired_noise_is_the_smallest():
    schedule = algorithm1.repaired(stability_pair(10, 3, 0.1)[0], EPSILON, DELTA)
    mu = 1 / schedule.noise.std("output", 1.0)
    assert gdp_delta(EPSILON, mu) <= DELTA
    assert gdp_delta(EPSILON, mu * 1.001) > DELTA
