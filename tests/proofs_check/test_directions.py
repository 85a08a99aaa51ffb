"""Numbers that refute must err on the author's side: lower bounds are below, counterexamples inside the region."""

from __future__ import annotations

from fractions import Fraction
from math import exp, log

import pytest
from scipy.optimize import brentq

from dpassay.proofs_check.checkers import rates
from dpassay.proofs_check.checkers.privacy import gaussian_delta, gaussian_epsilon, sampled_epsilon


@pytest.mark.parametrize("noise", [0.5, 1.0, 3.0, 20.0])
def test_the_bound_that_refutes_is_below_the_exact_epsilon(noise):
    """One release of everything: epsilon is known in closed form."""
    exact = gaussian_epsilon(1e-5, 1 / noise)
    assert 0.9 * exact < sampled_epsilon(noise, 1.0, 1, 1e-5) <= exact


@pytest.mark.parametrize(("noise", "rate"), [(0.5, 0.1), (1.0, 0.5), (2.0, 0.3)])
def test_with_sampling_as_well(noise, rate):
    """One sampled release: delta(epsilon) = q delta_0(log(1 + (e^epsilon - 1)/q)) (Balle et al. 2018, Theorem 8)."""

    def spent(epsilon):
        return rate * gaussian_delta(log(1 + (exp(epsilon) - 1) / rate), 1 / noise) - 1e-5

    exact = brentq(spent, 1e-6, 50.0, xtol=1e-12)
    assert 0.9 * exact < sampled_epsilon(noise, rate, 1, 1e-5) <= exact


def test_a_counterexample_lies_in_the_region_exactly():
    """x^6001 <= n: the exponent 1/6001 rounds to 1/5000, which is outside; that point must not be shown."""
    left, right = [[{"x": Fraction(1)}]], [[{}]]
    region = [{"x": Fraction(6001), "n": Fraction(-1)}]
    found = rates.violation(left, right, region, {"n": Fraction(1)}, Fraction(0))
    assert found is None or 6001 * found[0]["x"] <= found[0]["n"]
    coarse = rates.violation(left, right, [{"x": Fraction(3), "n": Fraction(-1)}], {"n": Fraction(1)}, Fraction(0))
    assert coarse is not None and coarse[0]["x"] == Fraction(1, 3)
