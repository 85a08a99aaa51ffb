"""Conjugates against their definition, the printed Table 1 against the conjugates."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference.dro.divergences import DIVERGENCES, chi_square, cressie_read, kl_cvar
from dpassay.reference.errors import BadInput

CASES = [*DIVERGENCES, cressie_read(0.5), cressie_read(-1.0), cressie_read(2.5)]
ids = [case.name for case in CASES]


def one(function, value):
    return float(function(np.array([value]))[0])


@pytest.mark.parametrize("case", CASES, ids=ids)
@settings(max_examples=60)
@given(t=st.floats(1e-6, 30.0), u=st.floats(-6.0, 6.0))
def test_fenchel_young(case, t, u):
    """psi(t) + psi*(u) >= t u, with equality at t = psi*'(u)."""
    if u < case.conjugate_limit:
        tangent = one(case.conjugate_derivative, u)
        gap = one(case.generator, tangent) + one(case.conjugate, u) - tangent * u
        scale = 1.0 + abs(tangent * u) + abs(one(case.conjugate, u))
        assert abs(gap) <= 1e-9 * scale  # a dozen roundings of numbers of this size
        slack = one(case.generator, t) + one(case.conjugate, u) - t * u
        assert slack >= -1e-9 * (scale + abs(t * u))


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_conjugate_equals_numerical_supremum(case):
    grid = np.concatenate([np.linspace(0, 3, 30_001), np.geomspace(3, 400, 30_001)])
    grid = grid[grid <= case.generator_range[1]]
    grid = np.append(grid, case.generator_range[1]) if math.isfinite(case.generator_range[1]) else grid
    for u in np.linspace(-3.0, 0.9 * min(case.conjugate_limit, 2.0), 15):
        with np.errstate(divide="ignore"):
            best = np.max(grid * u - case.generator(grid))
        assert one(case.conjugate, u) == pytest.approx(best, abs=2e-6)  # grid spacing 1e-4, curvature about one


@pytest.mark.parametrize("case", CASES, ids=ids)
def test_derivative_by_finite_differences(case):
    points = np.linspace(-2.0, 0.8 * min(case.conjugate_limit, 2.0), 41)
    step = 1e-6
    numeric = (case.conjugate(points + step) - case.conjugate(points - step)) / (2 * step)
    assert case.conjugate_derivative(points) == pytest.approx(numeric, abs=1e-4, rel=1e-4)


def test_printed_table_1():
    """Table 1: the Cressie-Read row holds for k > 1, the chi-square and CVaR rows do not; counterexamples."""
    assert one(cressie_read(3.0).printed_conjugate, 0.7) == pytest.approx(one(cressie_read(3.0).conjugate, 0.7))
    assert one(chi_square().conjugate, 1.0) == 1.5
    assert one(chi_square().printed_conjugate, 1.0) == 1.25
    assert one(kl_cvar(0.2).conjugate, 0.0) == 0.0
    assert one(kl_cvar(0.2).printed_conjugate, 0.0) == pytest.approx((1 + math.log(0.2)) / 0.2 - 1)  # -4.05
    assert one(cressie_read(-1.0).conjugate, 0.6) == math.inf
    assert one(cressie_read(-1.0).printed_conjugate, 0.6) == 1.0


def test_printed_chi_square_belongs_to_twice_the_generator_on_the_whole_line():
    """It is the conjugate of (t - 1)^2 over all t; over t >= 0 the conjugate stays at -1 below u = -2."""
    u = np.linspace(-2, 3, 11)
    assert chi_square().printed_conjugate(u) == pytest.approx(2 * chi_square().conjugate(u / 2))
    assert one(chi_square().printed_conjugate, -4.0) == 0.0
    assert 2 * one(chi_square().conjugate, -2.0) == -1.0


def test_no_conjugate_of_table_1_is_non_negative_everywhere():
    """Assumption 3 asks psi* >= 0 on its domain; psi*(0) = 0 with slope 1 makes it negative just below zero."""
    for case in CASES:
        assert one(case.conjugate, 0.0) == pytest.approx(0.0, abs=1e-12)
        assert one(case.conjugate, -0.1) < 0


@pytest.mark.parametrize("make, value", [(kl_cvar, 1.0), (kl_cvar, 0.0), (cressie_read, 1.0), (cressie_read, 0.0)])
def test_bad_parameters_are_named(make, value):
    with pytest.raises(BadInput, match=f"= {value}"):
        make(value)
