"""What parts add up to, in cases small enough for a closed form."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpassay.reference.accounting import parts
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.accounting.parts import Part, delta_of, deltas_of, epsilon_of

GAUSSIAN, LAPLACE, PURE = Part("gaussian", 0.7), Part("laplace", 1.0), Part("pure", 800.0)
RELATION = "replace-one"


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


@pytest.mark.parametrize(
    ("total", "halvings"),
    [
        (((Part("pure", 0.5), 8),), 0),
        (((Part("pure", 0.0082), 1),), 0),
        (((Part("pure", 0.0078), 1),), 1),  # eight points of a grid for a usual loss
        (((Part("pure", 1e-6), 10**4),), 13),
        (((Part("pure", 1e-20), 1),), 40),  # no grid is finer
        (((Part("pure", 1.0), 10**6),), -9),  # 2^20 points at most: 12,000 and half a million
        (((Part("pure", 30.0), 1),), -3),  # 2^17 points, about: 360 and 450
        (((Part("pure", 1e-2), 1), (Part("pure", 100.0), 1)), -6),
        (((Part("pure", 0.001), 10**7),), 3),
    ],
)
def test_the_grid_is_as_fine_as_a_usual_loss_asks_for_and_as_coarse_as_the_reach(total, halvings):
    """By hand: sum n s^2 / sum n s is usual, 12 sqrt(sum n s^2) + sum n s^2 / 2 the reach."""
    assert parts.step_of(total, RELATION, 1e-20) == 1e-3 * 2.0**-halvings


@given(st.lists(st.tuples(st.floats(1e-3, 30.0), st.integers(1, 1000)), min_size=1, max_size=5))
def test_plain_sums_are_rounded_up_and_hardly(sizes):
    total = [(Part("laplace", size), count) for size, count in sizes]
    total += [(Part("sampled", size, rate=0.1), count) for size, count in sizes]
    with mpmath.workdps(50):
        bounded = mpmath.fsum(count * mpmath.mpf(size) for size, count in sizes)
        mu = mpmath.sqrt(mpmath.fsum(count * mpmath.mpf(size) ** 2 for size, count in sizes))
        for found, truth in zip(parts._unsampled(total), (bounded, mu), strict=True):
            assert truth <= found <= truth * (1 + mpmath.mpf(2e-15))


def test_beyond_a_large_pure_loss_epsilon_and_delta_are_those_of_the_rest():
    large, rest = (Part("pure", 800.0), 1), ((Part("laplace", 0.5), 3),)
    assert epsilon_of((large, *rest), RELATION, 1e-5) == 800.0 + epsilon_of(rest, RELATION, 1e-5)
    assert epsilon_of((large,), RELATION, 1e-5) == 800.0
    assert delta_of((large,), RELATION, 799.0) == 1.0 and delta_of((large,), RELATION, 800.5) == 0.0
    wide = (Part("gaussian", 50.0), 1)
    both = epsilon_of((wide, *rest), RELATION, 1e-5)
    assert both == gdp_epsilon(parts.mu_of((wide,)), 0.5e-5) + epsilon_of(rest, RELATION, 0.5e-5)
    left = 1500.0 - epsilon_of(rest, RELATION, 1e-12)
    assert delta_of((wide, *rest), RELATION, 1500.0) == gdp_delta(left, parts.mu_of((wide,))) + 1e-12
    assert delta_of((wide, *rest), RELATION, 0.1) == 1.0
