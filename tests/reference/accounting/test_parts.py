"""What parts add up to, in cases small enough for a closed form."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpassay.reference.accounting import parts
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.accounting.parts import Part, delta_of, deltas_of, epsilon_of

GAUSSIAN, LAPLACE, PURE = Part("gaussian", 0.7), Part("laplace", 1.0), Part("pure", 800.0)
RELATION = "replace-one"


def test_gaussians_add_in_squares():
    total = ((GAUSSIAN, 4), (Part("gaussian", 2.0), 1))
    assert parts.mu_of(total) == pytest.approx(math.sqrt(4 * 0.49 + 4.0), rel=1e-15)
    assert parts.mu_of(((GAUSSIAN, 1), (LAPLACE, 1))) is None


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 0.9])
def test_one_laplace_release_has_its_closed_form(epsilon):
    """delta = 1 - exp((epsilon - 1) / 2), from above, and by at most what the grid of 1e-3 adds."""
    exact = -math.expm1((epsilon - 1.0) / 2)
    assert exact <= delta_of(((LAPLACE, 1),), RELATION, epsilon) <= exact + 1e-3
    (found,) = deltas_of(((LAPLACE, 1),), RELATION, [epsilon])
    assert found == delta_of(((LAPLACE, 1),), RELATION, epsilon)


@pytest.mark.parametrize("delta", [1e-2, 1e-5, 1e-12])
def test_the_epsilon_of_one_laplace_release(delta):
    """1 + 2 log(1 - delta), rounded up."""
    exact = 1 + 2 * math.log1p(-delta)
    assert exact <= epsilon_of(((LAPLACE, 1),), RELATION, delta) <= exact * (1 + 1e-3)


@pytest.mark.parametrize("total", [((GAUSSIAN, 3),), ((GAUSSIAN, 3), (PURE, 1)), ((Part("gaussian", 50.0), 1),)])
def test_many_epsilons_are_the_single_ones(total):
    """Gaussians by their formula, and losses that no grid holds one by one: to the last bit."""
    epsilons = [0.5, 3.0, 801.0]
    assert deltas_of(total, RELATION, epsilons).tolist() == [delta_of(total, RELATION, one) for one in epsilons]
    mu = parts.mu_of(total)
    assert mu is None or deltas_of(total, RELATION, epsilons).tolist() == [gdp_delta(one, mu) for one in epsilons]


def test_simple_composition_adds_what_is_bounded_and_takes_the_others_as_if_nothing_were_sampled():
    total = ((Part("sampled", 2.0, rate=0.1), 3), (LAPLACE, 2), (Part("pure", 0.5), 1))
    assert parts._plain_epsilon(total, 1e-5) == pytest.approx(2.5 + gdp_epsilon(2 * math.sqrt(3), 1e-5), rel=1e-12)
    assert parts._plain_delta(total, 4.0) == pytest.approx(gdp_delta(1.5, 2 * math.sqrt(3)), rel=1e-9)
    assert parts._plain_delta(total, 2.4) == 1.0


def test_losses_beyond_a_grid_are_split_off():
    total = ((GAUSSIAN, 2), (Part("gaussian", 41.0), 2), (PURE, 3), (Part("pure", 700.0), 1), (LAPLACE, 1))
    pure, mu, rest = parts._split(total)
    assert (pure, mu) == (2400.0, pytest.approx(41.0 * math.sqrt(2)))
    assert rest == (total[0], total[3], total[4])
    assert parts._split(((GAUSSIAN, 1),)) == (0.0, 0.0, ((GAUSSIAN, 1),))


@pytest.mark.parametrize(
    ("size", "digits"),
    [(0.0, 13), (1 / 3, 13), (10 / 3, 12), (1000 / 3, 10), (1e-5 / 3, 18), (0.3, 13), (1.0, 12), (100.0, 10)],
)
def test_equal_up_to_rounding_is_equal_and_no_less(size, digits):
    """Thirteen digits, after three quarters of the last one were added; on 0.3 and 1.0 the last bit decided."""
    found = parts.clean(size)
    assert size <= found <= size + 1.26 * 10.0**-digits
    assert found == parts.clean(size * (1 + 1e-15)) == parts.clean(size * (1 - 1e-15)) == round(found, digits)


def test_a_part_may_be_a_key_and_has_no_sampling_of_itself():
    assert len({GAUSSIAN, Part("gaussian", 0.7), LAPLACE}) == 2
    assert (GAUSSIAN.share, GAUSSIAN.falls) == (0.0, 1.0)
    assert (GAUSSIAN.rate, GAUSSIAN.queries, Part("pure", 2.0).pure_epsilon) == (1.0, 0, 2.0)
    assert np.isclose(Part("pure", 2.0, rate=0.5).pure_epsilon, math.log((1 + math.exp(2.0)) / 2))
