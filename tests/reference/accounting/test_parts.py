"""What parts add up to, in cases small enough for a closed form."""

from __future__ import annotations

import pytest

from dpassay.reference.accounting import parts
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.accounting.parts import Part, delta_of, epsilon_of

GAUSSIAN, LAPLACE, PURE = Part("gaussian", 0.7), Part("laplace", 1.0), Part("pure", 800.0)
RELATION = "replace-one"


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
