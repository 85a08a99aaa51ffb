"""Implied epsilons against 60 digits: never above the truth, whatever the value."""

from __future__ import annotations

import math

import mpmath
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.audit.published.ceilings import ceiling_of, implied_epsilon

values = st.floats(0, 1) | st.floats(-16, -0.1).map(lambda power: 1 - 10.0**power)
deltas = st.just(0.0) | st.floats(-300, -0.1).map(lambda power: 10.0**power)


def truth(metric, value, delta, fpr):
    """Solved for epsilon by hand, to 60 digits; at least 0."""
    with mpmath.workdps(60):
        v, d = mpmath.mpf(value), mpmath.mpf(delta)
        if metric == "tpr":
            quotients = [(v - d, mpmath.mpf(fpr)), (1 - d - mpmath.mpf(fpr), 1 - v)]
        else:
            quotients = [((1 - d) ** 2 - (1 - v) if metric == "auc" else v - d, 1 - v)]
        logs = [mpmath.inf if below == 0 else mpmath.log(above / below) for above, below in quotients if above > below]
        return max([mpmath.mpf(0), *logs])


@settings(max_examples=300)
@given(st.sampled_from(["auc", "balanced accuracy", "tpr"]), values, deltas, st.floats(0, 1))
def test_an_implied_epsilon_is_rounded_down(metric, value, delta, fpr):
    found, exact = implied_epsilon(metric, value, delta, fpr), truth(metric, value, delta, fpr)
    assert found <= exact
    if math.isfinite(found) and value < 1 - 1e-9 and exact > 1e-3:
        assert found >= exact - 1e-9 or value - delta < 1e-6 or 1 - delta < 1e-6 or 1 - delta - fpr < 1e-6


@settings(max_examples=100)
@given(st.sampled_from(["auc", "balanced accuracy", "tpr"]), st.floats(0, 40), deltas, st.floats(0, 1))
def test_a_ceiling_allows_its_own_epsilon(metric, epsilon, delta, fpr):
    value = max(0.0, ceiling_of(metric, epsilon, delta, fpr) - 8e-16)  # what a ceiling is rounded up by, and more
    assert implied_epsilon(metric, value, delta, fpr) <= epsilon


@pytest.mark.parametrize("metric", ["auc", "balanced accuracy"])
def test_a_perfect_attack_implies_everything(metric):
    assert implied_epsilon(metric, 1.0, 0.0) == math.inf == implied_epsilon("tpr", 1.0, 0.0, 0.1)
    assert implied_epsilon(metric, 0.5, 0.0) == 0.0


def test_numbers_that_were_wrong():
    found, exact = implied_epsilon("auc", 1 - 1e-12, 1e-5), truth("auc", 1 - 1e-12, 1e-5, 0.0)
    assert found <= exact < found + 1e-12
