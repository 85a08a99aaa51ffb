"""The pieces of the bound on AboveThreshold, each against its definition on a tiny case."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.reference.accounting import above_threshold as bound


def stays(x):
    """Standard Laplace distribution function."""
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


@pytest.mark.parametrize("log_ratio", [-3.0, -0.7, -0.5, -0.2, 0.0, 0.3, 0.5, 0.6])
def test_the_hockey_stick_of_two_laplace_laws_is_a_supremum(log_ratio):
    """Over 200,001 places x; shift 0.5."""
    x = np.linspace(-30, 30, 200_001)
    # F(x) - r F(x - shift): for r below 1 the supremum is at +infinity, 1 - r
    best = max(float(np.max(stays(x) - np.exp(log_ratio) * stays(x - 0.5))), 0.0, -np.expm1(log_ratio))
    found = float(bound._laplace_share(np.array([log_ratio]), 0.5)[0])
    assert best - 1e-9 <= found <= best + 1e-7


def test_where_only_the_pure_epsilon_is_known():
    """Shifts from 1e-7 to 5, and epsilons up to 100, have a curve of their own."""
    known = [(20.0, 0.25), (100.0, 0.05), (100.0, 1e-6), (1e-6, 0.2)]
    unknown = [(20.1, 0.25), (100.1, 0.01), (1e-6, 0.05), (300.0, 0.5)]
    assert [bound.costs_its_epsilon(*one) for one in known + unknown] == [False] * 4 + [True] * 4
    pure = bound.above_threshold_delta(np.array([0.0, 1.0]), 300.0, 0.5)
    assert pure == pytest.approx([1.0, 1.0]) and bound.above_threshold_mu(300.0, 0.5) == bound.pure_mu(300.0)


@pytest.mark.parametrize("queries", [1, 2])
def test_one_or_two_tests_of_laplace_noise_are_exact(queries):
    """Two tests: the best of 61 x 61 places by hand; the bound is above, and hardly."""
    shift, logs = 0.25, np.array([0.0, 0.1, 0.2])
    x = np.linspace(-3, 3, 61)
    one, other = np.meshgrid(x, x)
    best = []
    for log in logs:
        found = []
        for signs in ((1, 1), (1, -1), (-1, 1), (-1, -1)):
            here, there = (stays(one), stays(other)), (stays(one + signs[0] * shift), stays(other + signs[1] * shift))
            laws = [(1 - f, f * (1 - g), f * g) if queries == 2 else (1 - f, f) for f, g in (here, there)]
            found.append(sum(np.maximum(p - np.exp(log) * q, 0) for p, q in zip(*laws, strict=True)).max())
        best.append(max(found))
    at, values = bound.worst_tests(shift, 4.0, queries, 1.0)
    ours = np.interp(np.exp(logs), np.exp(at), values)
    assert np.all(ours >= np.array(best) - 1e-12) and ours == pytest.approx(best, rel=0.02, abs=2e-5)
