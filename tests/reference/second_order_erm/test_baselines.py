"""DP-TR, TR-B, DP-GD: budgets, replay, the exact subproblem."""

import math

import numpy as np
import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.second_order_erm import dp_gd, dp_tr, worst_case
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import record

from .replays import findings, transcript_of


def test_step_counts_of_the_tables():
    """M = 1 and a gap of 1/2 give the Hessian evaluations of Tables 6 and 8."""
    for alpha, printed in ((0.04, 375), (0.02, 1061)):
        assert dp_tr.step_count(Accuracy(alpha, math.sqrt(alpha)), 1.0, 0.5) == printed


def test_trust_region_subproblem_is_solved_exactly():
    """Optimality (More and Sorensen): (H + m I) h = -g, m >= 0, H + m I psd, m (r - ||h||) = 0; 300 cases."""
    rng = np.random.default_rng(41)
    for case in range(300):
        H = rng.normal(size=(5, 5))
        H = H + H.T + (8 * np.eye(5) if case % 3 == 0 else 0)
        values, vectors = np.linalg.eigh(H)
        g = rng.normal(size=5) * 10.0 ** rng.integers(-3, 2)
        if case % 5 == 0:  # hard case: g across the lowest eigenvector
            g = g - (g @ vectors[:, 0]) * vectors[:, 0]
            g *= 1e-2
        radius = float(rng.uniform(0.1, 2))
        h = dp_tr.trust_region_step(g, values, vectors, radius)
        assert np.linalg.norm(h) <= radius * (1 + 1e-6)
        model = g @ h + h @ H @ h / 2
        others = rng.normal(size=(400, 5))
        others *= radius * rng.uniform(size=(400, 1)) ** 0.2 / np.linalg.norm(others, axis=1, keepdims=True)
        assert model <= (others @ g + np.einsum("ki,ij,kj->k", others, H, others) / 2).min() + 1e-7
        m = -(h @ (H @ h + g)) / (h @ h)
        assert np.linalg.norm(H @ h + m * h + g) <= 1e-5 * max(1, np.linalg.norm(g))
        assert m >= max(0.0, -values[0]) - 1e-5


def test_gradient_descent_searches_its_iterates(cancer):
    start = np.zeros(cancer.d)
    schedule = dp_gd.repaired(cancer, start, Accuracy(0.2, 0.2), 1.0, 1e-5)
    transcript = transcript_of(dp_gd, cancer, schedule)
    hessians = sum(r.label == "hessian" for r in transcript.releases)
    assert hessians == schedule.steps
    assert account(transcript).epsilon(1e-5) == pytest.approx(1.0, abs=1e-5)
    pair = worst_case.opposed_pair(cancer, start)
    one, other = pair.here, pair.there
    assert findings(dp_gd, schedule, one, other) == []
    quiet = dp_gd.printed(cancer, start, Accuracy(0.2, 0.2), 1e9, 0.5)
    outcome = record(lambda tape: dp_gd.run(cancer, quiet, tape), 1).output
    assert outcome.certified and np.linalg.norm(cancer.gradient(outcome.w)) <= 0.2
