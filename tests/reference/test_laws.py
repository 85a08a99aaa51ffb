"""Laws answer for themselves: distance, cost, density, tilt, samplers; also at the ends of what a float holds."""

import itertools
import math
import warnings
from itertools import product

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from dpassay.audit.assaying.assay import Effort, assay
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.laws import above_threshold, number
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Categorical, exponential, permute_and_flip
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import SMALLEST, Law, as_released
from dpassay.reference.laws.objective_perturbation import ObjectivePerturbation
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.tape import record
from tests.zoo.laws import SparseVector, pattern_probabilities

ONE, OTHER = np.array([0.0, 0.0]), np.array([3.0, -4.0])


def test_distances_are_in_the_norm_of_the_noise():
    assert Gaussian(ONE, 1.0).distance(Gaussian(OTHER, 1.0)) == 5.0
    assert Laplace(ONE, 1.0).distance(Laplace(OTHER, 1.0)) == 7.0
    assert AboveThreshold(ONE, 0.0, 1.0, 1.0).distance(AboveThreshold(OTHER, 0.0, 1.0, 1.0)) == 4.0
    zeros, *falling = (AboveThreshold(q, 0.0, 2.0, 4.0, 3, 0.5) for q in ([0.0] * 3, [1.0, 0.5, 0.25], [1.0, 0.5, 0.5]))
    assert [zeros.distance(one) for one in falling] == [1.0, 2.0] and zeros.changed(2.0, 1.0).cost(1.0)[3:] == (3, 0.5)


def test_tilted_finite_laws():
    law, other = Categorical((0, 1), np.log([0.2, 0.8])), Categorical((0, 1), np.log([0.5, 0.5]))
    found = np.exp(law.tilted(other, 1.0).log_probabilities)
    np.testing.assert_allclose(found, np.array([0.08, 1.28]) / 1.36)
    assert Gaussian(ONE, 1.0).tilted(Gaussian(OTHER, 1.0), 1.0) is None


class Uniform(Law):
    """``query + U(-scale, scale)``: a law that the package does not have."""

    public = ("scale",)

    def __init__(self, query, scale):
        self.query, self.scale = np.asarray(query, float), scale

    def sample(self, rng):
        return as_released(self.query + rng.uniform(-self.scale, self.scale, self.query.shape))

    def log_density(self, value):
        inside = np.all(np.abs(np.asarray(value) - self.query) <= self.scale)
        return -self.query.size * math.log(2 * self.scale) if inside else -math.inf


@pytest.mark.parametrize("width", [1.0, 1e7])
def test_a_law_of_ones_own_is_one_file(width):
    """delta at any epsilon is half the distance over the width: 0.5 refutes every claim, 5e-8 stays below 1e-5."""

    def run(x, tape):
        return tape.release("u", Uniform(x, width), sensitivity=None)

    claim = PrivacyClaim(1.0, 1e-5, Cite("dwork2014", "Definition 2.4"))
    found = assay(run, Pair(1.0, 0.0, 0), claim, effort=Effort(runs=300, pilot=100, examples=20))
    assert found.verdict == ("violated" if width == 1.0 else "inconclusive")
    assert "no accounting is known for the law" in found.account.gap or found.account.unknown
    assert record(lambda tape: run(1.0, tape), 0).releases[0].law.cost(1.0) is None


def test_one_above_threshold_release_asks_no_more_than_its_cost_covers(monkeypatch):
    assert above_threshold.MOST_QUERIES == 100_000
    monkeypatch.setattr(above_threshold, "MOST_QUERIES", 1000)
    endless = AboveThreshold(itertools.repeat(-1e9), 0.0, 1.0, 1.0)
    with pytest.raises(BadInput, match="1,000 at most"):
        endless.sample(np.random.default_rng(0))
    with pytest.raises(BadInput, match="3 at most"):
        AboveThreshold(iter([0.0] * 4), 0.0, 2.0, 4.0, 3).all_queries()


@pytest.mark.parametrize("shift", [0.0, 0.5, 2.0])
def test_a_tilted_laplace_law_draws_what_its_density_says(shift):
    """Two coordinates that move apart in opposite directions, and one that does not move; 1,500 draws (seed 0)."""
    law, other = Laplace(np.array([0.0, 2.0, 1.0]), 2.0), Laplace(np.array([3.0, 0.0, 1.0]), 7.0)
    tilted, rng = law.tilted(other, shift), np.random.default_rng(0)
    draws, total = np.array([tilted.sample(rng) for _ in range(1500)]), 0.0
    x = np.linspace(-30, 30, 1201)
    for k in range(3):
        single, apart = Laplace(law.query[k], 2.0), Laplace(other.query[k], 2.0)
        alone = single.tilted(apart, shift)
        logs = np.array([alone.log_density(v) for v in x])
        by_hand = -((1 + shift) * np.abs(x - law.query[k]) - shift * np.abs(x - other.query[k])) / 2
        mass = np.exp(by_hand) / np.exp(by_hand).sum()
        assert np.exp(logs) * (x[1] - x[0]) == pytest.approx(mass, rel=2e-3)
        assert stats.kstest(draws[:, k], lambda v, m=mass: np.interp(v, x + 0.025, np.cumsum(m))).pvalue > 1e-3
        total += alone.log_density(draws[0, k])
    assert tilted.log_density(draws[0]) == pytest.approx(total)
    assert law.tilted(Gaussian(ONE, 1.0), shift) is None


def test_what_is_public_of_an_above_threshold_release():
    """Its queries are not: two laws that differ in them alone are the same to an observer."""
    law = AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.0)
    assert law.public_difference(AboveThreshold([9.0, 1.0], 0.0, 1.0, 2.0)) is None
    for other, name in (
        (AboveThreshold([0.5], 0.0, 1.0, 2.0), "number of queries"),
        (AboveThreshold([0.5, 1.0], 0.1, 1.0, 2.0), "threshold"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.1, 2.0), "threshold_scale"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.1), "query_scale"),
        (AboveThreshold([0.5, 1.0], 0.0, 1.0, 2.0, None, 0.5), "falls"),
    ):
        found = law.public_difference(other)
        assert found is not None and found.name == name and found.comparable is (name != "number of queries")
    other = law.public_difference(Laplace(ONE, 1.0))
    assert other is not None and not other.comparable and "Laplace" in str(other)


@pytest.mark.parametrize(("answers", "scales"), [([0.5, -1.0, 2.0], (1.0, 0.7)), ([0.0] * 3 + [1.0, -1.0], (2.0, 4.0))])
def test_an_above_threshold_law_is_that_of_the_sparse_vector_technique(answers, scales):
    """By integration over 40,000 cells of the threshold's noise; and 4,000 draws follow it (seed 0).

    With a threshold of its own for each query the later ones would come out more often.
    """
    law, rng = AboveThreshold(answers, 0.0, *scales), np.random.default_rng(0)
    drawn = [law.sample(rng) for _ in range(4000)]
    counts = [drawn.count(value) for value in law.outcomes().support]
    assert stats.chisquare(counts, 4000 * np.exp(law.outcomes().log_probabilities)).pvalue > 1e-3
    for pattern, chance in pattern_probabilities(SparseVector(*scales, cutoff=1), answers).items():
        index = pattern.index(1) if 1 in pattern else None
        assert math.exp(law.log_density(index)) == pytest.approx(chance, rel=1e-5)


def test_above_threshold_in_pieces_and_at_its_limits(monkeypatch):
    whole = AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7).outcomes().log_probabilities
    monkeypatch.setattr(above_threshold, "_BLOCK", 1)
    again = AboveThreshold([0.5, -1.0, 2.0], 0.0, 1.0, 0.7).outcomes().log_probabilities
    assert again == pytest.approx(whole, abs=1e-13) and np.exp(whole).sum() == pytest.approx(1.0)
    with pytest.raises(BadInput, match="takes too long"):  # 3e9 cells: a minute is for a third of them
        AboveThreshold(np.linspace(-7, 7, 10_000), 0.0, 1.0, 1.0).log_density(None)
    for name, *told in (("count", -1), ("count", 100_001), ("falls", 2, 0.0), ("falls", 2, 1.5)):
        with pytest.raises(BadInput, match=name):
            AboveThreshold(iter([0.0]), 0.0, 1.0, 1.0, *told)


INF = math.inf
PURE = {
    "geometric": (lambda q: number.Geometric(q, 2.0), 1),
    "truncated geometric": (lambda q: number.TruncatedGeometric(q, 2.0, 0, 6), 1),
    "folded geometric": (lambda q: number.FoldedGeometric(q, 2.0, 0.5, 6.5), 1),
    "truncated laplace": (lambda q: number.TruncatedLaplace(q, 2.0, 0.0, 5.0), 1),
    "folded laplace": (lambda q: number.FoldedLaplace(q, 2.0, 0.0, 5.0), 1),
    "bounded laplace": (lambda q: number.BoundedLaplace(q, 2.0, 0.0, 5.0), 1),
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


def test_draws_of_bingham_on_the_sphere_follow_its_constant():
    matrix = np.array([[1.0, 0.3, 0.0], [0.3, -0.5, 0.2], [0.0, 0.2, 0.4]])
    law = Bingham(matrix, 1.5)
    rng = np.random.default_rng(5)
    draws = np.array([law.sample(rng) for _ in range(800)])
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
        lambda: number.TruncatedLaplace(0.0, 1.0, 2.0, 1.0),
        lambda: number.FoldedGeometric(1, 1.0, 0.3, 4.0),
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


EXTREMES = (5e-324, 1e-300, 1e-150, 1e-9, 1.0, 1e9, 1e150, 1e300, INF, math.nan, -1.0)
LAWS = {
    "bingham": lambda q, s: Bingham(np.array([[q, 1.0], [1.0, 2.0]]), s),
    "bounded laplace": lambda q, s: number.BoundedLaplace(np.array(q), s, -1.0, 2.0),
    "bounded laplace, query at an end": lambda q, s: number.BoundedLaplace(np.array(0.0), 1.0, q, s),
    "categorical": lambda q, s: Categorical((0, 1), np.log([0.25, 0.75]) * np.array([q, s])),
    "discrete gaussian": lambda q, s: number.DiscreteGaussian(np.array(q), min(s, 1e4)),
    "exponential": lambda q, s: exponential([q, 0.0, 1.0], s),
    "folded geometric": lambda q, s: number.FoldedGeometric(np.array(q), s, 0.0, 5.0),
    "folded laplace": lambda q, s: number.FoldedLaplace(np.array(q), s, -1.0, 2.0),
    "gaussian": lambda q, s: Gaussian(np.array(q), s),
    "geometric": lambda q, s: number.Geometric(np.array(q), s),
    "intervals": lambda q, s: Intervals(np.array([-1.0, 0.0, q]), np.array([1.0, 2.0]), s),
    "laplace": lambda q, s: Laplace(np.array(q), s),
    "permute and flip": lambda q, s: permute_and_flip([q, 0.0, 1.0], s),
    "truncated geometric": lambda q, s: number.TruncatedGeometric(np.array(q), s, 0.0, 4.0),
    "truncated laplace": lambda q, s: number.TruncatedLaplace(np.array(q), s, -1.0, 2.0),
    "above threshold": lambda q, s: AboveThreshold([0.5, q], 0.0, s, 1.0),
    "above threshold, query noise": lambda q, s: AboveThreshold([0.5], 0.0, q, s),
}


@pytest.mark.parametrize("name", LAWS)
def test_a_law_at_the_edge_is_refused_or_works(name):
    """With the old laws this met divisions by zero, matrices that are not definite, NaN, and warnings for the user."""
    rng, worked = np.random.default_rng(3), 0
    for query, size in product(EXTREMES, EXTREMES):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            try:
                law = LAWS[name](query, size)
                value = law.sample(rng)
                density, cost = law.log_density(value), law.cost(1e300)
            except BadInput as error:
                assert "\n" not in str(error)
                continue
        worked += 1
        assert not math.isnan(density) and (cost is None or cost.size >= 0), (query, size)
    assert worked > 0


def test_next_to_no_noise_is_none_for_a_density_too():
    """The square of such a standard deviation is zero in floats: the value says which query it was."""
    law = Gaussian(np.array([1.0]), SMALLEST / 10)
    assert law.is_bare and not law.is_normal and law.log_density([1.0]) == 0 and law.log_density([1.1]) == -INF
    assert Gaussian(np.array([1.0]), SMALLEST).log_density([1.0]) > 0
    assert float(law.sample(np.random.default_rng(0))[0]) == 1.0


@pytest.mark.parametrize("query_scale", [1.0, 0.1, 0.01, 1e-4, 1e-9, 1e-100, 30.0])
def test_above_threshold_with_noise_of_very_different_sizes(query_scale):
    """One query: P(None) is a tail of the difference of two Laplace variables, in closed form.

    With a query noise of 1e-9 the rule took 4e10 pieces before, and all the memory there is.
    """
    law = AboveThreshold([0.3], 0.0, 1.0, query_scale)
    a, b, x = (mpmath.mpf(one) for one in (1.0, query_scale, 0.3))
    if query_scale == 1.0:
        tail = mpmath.exp(-x) * (2 + x) / 4
    else:
        tail = (a**2 * mpmath.exp(-x / a) - b**2 * mpmath.exp(-x / b)) / (2 * (a**2 - b**2))
    assert law.log_density(None) == pytest.approx(float(mpmath.log(tail)), abs=1e-12)
    assert law.log_density(0) == pytest.approx(float(mpmath.log(1 - tail)), abs=1e-12)


def test_an_end_is_an_end_whatever_its_type():
    """0 and 0.0 are the same value, and no one object."""
    law = number.TruncatedGeometric(np.array(1.0), 1.5, 0, 300)
    for end in (0, 300):
        assert law.log_density(float(end)) == law.log_density(end) == law.log_density(np.float64(end))
    assert math.exp(law.log_density(0.0)) > 1.3 * math.exp(number.Geometric(np.array(1.0), 1.5).log_density(0))
