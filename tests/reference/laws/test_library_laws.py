"""Laws that libraries draw from: they integrate to one, their samplers follow them, and neighbours lose what they may.

Each test of a sampler holds 4,000 draws with a fixed seed against the law itself; with another scale (1.25 times) the
same test rejects with a p-value below 1e-6, which is tested too.
"""

import math

import numpy as np
import pytest
from scipy import special, stats

from dpassay.reference.errors import BadInput
from dpassay.reference.laws import between, number
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.objective_perturbation import ObjectivePerturbation
from dpassay.reference.laws.selection import exponential, permute_and_flip

INF = math.inf
PURE = {
    "geometric": (lambda q: number.Geometric(q, 2.0), 1),
    "truncated geometric": (lambda q: between.TruncatedGeometric(q, 2.0, 0, 6), 1),
    "folded geometric": (lambda q: between.FoldedGeometric(q, 2.0, 0.5, 6.5), 1),
    "truncated laplace": (lambda q: between.TruncatedLaplace(q, 2.0, 0.0, 5.0), 1),
    "folded laplace": (lambda q: between.FoldedLaplace(q, 2.0, 0.0, 5.0), 1),
    "bounded laplace": (lambda q: between.BoundedLaplace(q, 2.0, 0.0, 5.0), 1),
}


@pytest.mark.parametrize("name", PURE)
def test_no_value_costs_more_than_the_law_says(name):
    """Over all queries in a range one apart, and 600 values; each reaches half of its cost at least."""
    make, moved = PURE[name]
    worst = 0.0
    for query in range(5):
        one, other = make(float(query)), make(float(query + moved))
        assert one.distance(other) == moved and one.public_difference(other) is None
        for value in {one.possible(x) for x in np.linspace(-1, 7, 601)}:
            here, there = one.log_density(value), other.log_density(value)
            worst = max(worst, abs(here - there) if max(here, there) > -INF else 0.0)
    price = make(1.0).cost(moved).size
    assert worst <= price * (1 + 1e-9)
    assert worst >= 0.5 * price


def test_permute_and_flip_is_the_average_over_all_orders():
    """Against the mechanism played out over all 24 orders of four candidates."""
    from itertools import permutations

    utilities, rate = [3.0, 1.0, 2.5, 3.0], 0.8
    flips = np.exp(rate * (np.array(utilities) - 3.0))
    chances = np.zeros(4)
    orders = list(permutations(range(4)))
    for order in orders:
        left = 1.0
        for candidate in order:
            chances[candidate] += left * flips[candidate] / len(orders)
            left *= 1 - flips[candidate]
    law = permute_and_flip(utilities, rate, monotonic=True)
    np.testing.assert_allclose(np.exp(law.log_probabilities), chances, rtol=1e-12)
    assert law.cost(1.0).size == 0.8 and exponential(utilities, rate).cost(1.0).size == 1.6


def test_hopeless_candidates_keep_their_probability():
    law = permute_and_flip([0.0, -4000.0], 1.0)
    assert law.log_probabilities[1] == pytest.approx(-4000 - math.log(2), rel=1e-9)


def test_selections_know_how_far_utilities_move():
    one, other = exponential([1.0, 2.0], 1.0), exponential([1.5, 0.5], 1.0)
    assert one.distance(other) == 1.5 and one.public_difference(other) is None
    assert "rate" in str(one.public_difference(exponential([1.0, 2.0], 2.0)))
    assert not one.public_difference(exponential([1.0], 1.0)).comparable


def test_intervals_are_the_exponential_mechanism_on_a_line():
    law = Intervals([0.0, 1.0, 1.0, 4.0], [-1.0, 0.0, -0.5], 2.0)
    weights = np.array([math.exp(-2.0), 0.0, 3 * math.exp(-1.0)])
    assert law.log_density(0.5) == pytest.approx(math.log(weights[0] / weights.sum()))
    assert law.log_density(2.0) == pytest.approx(math.log(weights[2] / 3 / weights.sum()))
    assert law.log_density(4.5) == -INF
    rng = np.random.default_rng(0)
    draws = np.array([law.sample(rng) for _ in range(5000)])
    expected = weights[[0, 2]] / weights.sum() * 5000
    assert stats.chisquare([np.sum(draws < 1), np.sum(draws >= 1)], expected).pvalue > 1e-3
    moved = Intervals([0.0, 1.0, 2.0, 4.0], [-1.0, 0.0, -0.5], 2.0)
    assert law.distance(moved) == 0.5 and law.public_difference(moved) is None
    assert law.public_difference(Intervals([0.0, 5.0], [0.0], 2.0)).name == "upper"


@pytest.mark.parametrize("rate", [0.3, 5.0, 200.0])
def test_the_constant_of_bingham_on_the_circle_is_a_bessel_function(rate):
    """Integral of exp(a cos^2 + b sin^2) is 2 pi exp((a + b) / 2) I_0((a - b) / 2)."""
    a, b = 1.3 * rate, -0.4 * rate
    law = Bingham(np.array([[0.45, 0.85], [0.85, 0.45]]), rate)  # eigenvalues 1.3 and -0.4
    v = np.array([1.0, 0.0])
    log_constant = math.log(2 * math.pi) + (a + b) / 2 + math.log(special.i0e((a - b) / 2)) + (a - b) / 2
    assert law.log_density(v) == pytest.approx(rate * 0.45 - log_constant, rel=1e-9, abs=1e-9)


def test_bingham_on_the_sphere_integrates_to_one_and_its_draws_follow_it():
    matrix = np.array([[1.0, 0.3, 0.0], [0.3, -0.5, 0.2], [0.0, 0.2, 0.4]])
    law = Bingham(matrix, 1.5)

    heights, weights = np.polynomial.legendre.leggauss(16)  # exact to 31 powers; around the axis 24 equal parts
    total = 0.0
    for height, weight in zip(heights, weights, strict=True):
        for phi in np.arange(24) * math.pi / 12:
            v = np.array([*(math.sqrt(1 - height**2) * np.array([math.cos(phi), math.sin(phi)])), height])
            total += weight * math.pi / 12 * math.exp(law.log_density(v / np.linalg.norm(v)))
    assert total == pytest.approx(1.0, abs=1e-5)
    rng = np.random.default_rng(5)
    draws = np.array([law.sample(rng) for _ in range(2000)])
    seen = np.einsum("ni,ij,nj->n", draws, matrix, draws).mean()
    step = 1e-4  # the mean of v'Av is the derivative of the log of the constant by the rate
    v = np.array([1.0, 0.0, 0.0])
    constants = [-Bingham(matrix, 1.5 + s).log_density(v) + (1.5 + s) * v @ matrix @ v for s in (-step, step)]
    assert seen == pytest.approx((constants[1] - constants[0]) / (2 * step), abs=0.05)


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: number.Geometric(0.5, 1.0),
        lambda: number.Geometric(1, 0.0),
        lambda: between.TruncatedLaplace(0.0, 1.0, 2.0, 1.0),
        lambda: between.FoldedGeometric(1, 1.0, 0.3, 4.0),
        lambda: Bingham(np.ones((1, 1)), 1.0),
        lambda: Intervals([0.0, 1.0], [1.0, 2.0], 1.0),
        lambda: exponential([math.nan], 1.0),
    ],
)
def test_senseless_parameters_are_refused(wrong):
    with pytest.raises(BadInput):
        wrong()


def test_objective_perturbation_has_the_density_of_its_minimiser():
    """A regularised logistic loss of three records: the density integrates to one, and draws follow it (KS)."""
    x, y = np.array([1.0, -0.5, 0.8]), np.array([1.0, 0.0, 1.0])

    def make(scale):
        def gradient(w):
            return np.array([np.sum((special.expit(x * w[0]) - y) * x) + 0.4 * w[0]])

        def hessian(w):
            p = special.expit(x * w[0])
            return np.array([[np.sum(p * (1 - p) * x * x) + 0.4]])

        return ObjectivePerturbation(gradient, hessian, 1, scale)

    law = make(0.7)
    grid = np.linspace(-40, 40, 2001)
    below = np.cumsum([math.exp(law.log_density([w])) for w in grid]) * 0.04
    assert below[-1] == pytest.approx(1.0, abs=1e-3)
    rng = np.random.default_rng(2)
    draws = np.array([law.sample(rng)[0] for _ in range(1000)])
    assert stats.kstest(draws, lambda w: np.interp(w, grid, below)).pvalue > 1e-3
    other = np.cumsum([math.exp(make(1.2 * 0.7).log_density([w])) for w in grid]) * 0.04
    assert stats.kstest(draws, lambda w: np.interp(w, grid, other)).pvalue < 1e-2
    assert law.public_difference(make(0.7)) is None and law.public_difference(make(0.8)).name == "noise_scale"


def test_objective_perturbation_in_two_dimensions_integrates_to_one():
    law = ObjectivePerturbation(lambda w: np.array([2 * w[0] + w[0] ** 3, w[1]]), _hessian_of_a_quartic, 2, 0.5)
    values = np.linspace(-6, 6, 121)
    total = sum(math.exp(law.log_density([a, b])) for a in values for b in values) * 0.1**2
    assert total == pytest.approx(1.0, abs=5e-3)


def _hessian_of_a_quartic(w):
    return np.diag([2 + 3 * w[0] ** 2, 1.0])
