"""Laws whose numbers lie at the ends of what a float holds are refused in one line, or work: no warning, no error."""

import math
import warnings
from itertools import product

import mpmath
import numpy as np
import pytest

from dpassay.reference.errors import BadInput
from dpassay.reference.laws import between, number
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.laws.bingham import Bingham
from dpassay.reference.laws.categorical import Categorical
from dpassay.reference.laws.gaussian import Gaussian
from dpassay.reference.laws.intervals import Intervals
from dpassay.reference.laws.laplace import Laplace
from dpassay.reference.laws.law import SMALLEST
from dpassay.reference.laws.selection import exponential, permute_and_flip

INF = math.inf
EXTREMES = (5e-324, 1e-300, 1e-150, 1e-9, 1.0, 1e9, 1e150, 1e300, INF, math.nan, -1.0)
LAWS = {
    "bingham": lambda q, s: Bingham(np.array([[q, 1.0], [1.0, 2.0]]), s),
    "bounded laplace": lambda q, s: between.BoundedLaplace(np.array(q), s, -1.0, 2.0),
    "bounded laplace, query at an end": lambda q, s: between.BoundedLaplace(np.array(0.0), 1.0, q, s),
    "categorical": lambda q, s: Categorical((0, 1), np.log([0.25, 0.75]) * np.array([q, s])),
    "discrete gaussian": lambda q, s: number.DiscreteGaussian(np.array(q), min(s, 1e4)),
    "exponential": lambda q, s: exponential([q, 0.0, 1.0], s),
    "folded geometric": lambda q, s: between.FoldedGeometric(np.array(q), s, 0.0, 5.0),
    "folded laplace": lambda q, s: between.FoldedLaplace(np.array(q), s, -1.0, 2.0),
    "gaussian": lambda q, s: Gaussian(np.array(q), s),
    "geometric": lambda q, s: number.Geometric(np.array(q), s),
    "intervals": lambda q, s: Intervals(np.array([-1.0, 0.0, q]), np.array([1.0, 2.0]), s),
    "laplace": lambda q, s: Laplace(np.array(q), s),
    "permute and flip": lambda q, s: permute_and_flip([q, 0.0, 1.0], s),
    "truncated geometric": lambda q, s: between.TruncatedGeometric(np.array(q), s, 0.0, 4.0),
    "truncated laplace": lambda q, s: between.TruncatedLaplace(np.array(q), s, -1.0, 2.0),
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
    law = between.TruncatedGeometric(np.array(1.0), 1.5, 0, 300)
    for end in (0, 300):
        assert law.log_density(float(end)) == law.log_density(end) == law.log_density(np.float64(end))
    assert math.exp(law.log_density(0.0)) > 1.3 * math.exp(number.Geometric(np.array(1.0), 1.5).log_density(0))
