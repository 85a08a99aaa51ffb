"""Drawing in stages: it stops early, stays sound, and the interval that a lock keeps covers the truth."""

import math

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import Losses
from dpassay.audit.likelihood.stages import joined, upper_limit
from dpassay.reference.accounting.gdp import gdp_epsilon

from .gaussian_laws import GaussianSampler, SampledGaussianSampler

DELTA = 1e-5
EXACT = gdp_epsilon(1.0, DELTA)


def audits(enough, seeds=100, runs=400):
    """Bounds, upper limits and runs of a 1-GDP mechanism at 95 %."""
    found = [
        audit_likelihood(GaussianSampler(1.0), DELTA, runs=runs, pilot=120, seed=seed, enough=enough)[0]
        for seed in range(seeds)
    ]
    return [np.array(one) for one in zip(*[(b.epsilon, b.evidence["upper limit"], b.runs) for b in found], strict=True)]


def test_all_runs_are_made_where_nothing_is_enough_and_none_is_asked_for():
    for enough in (None, 10 * EXACT):
        bounds, _, runs = audits(enough, 5)
        assert set(runs) == {400}
        assert (bounds > 0.8 * EXACT).all()


def test_a_violated_claim_is_refuted_early():
    bound, _ = audit_likelihood(
        SampledGaussianSampler(0.5, 1.0, 5), DELTA, claimed=1.0, runs=1000, pilot=200, enough=1.0 + 1e-9
    )
    assert bound.epsilon > 1.0 and bound.runs < 1000


def test_two_samples_are_one():
    one = Losses(np.array([1.0, -np.inf]), np.zeros((2, 2)), checked=1)
    other = Losses(np.array([2.0]), np.ones((1, 2)), inexact="a secret", checked=2)
    both = joined(one, other)
    assert both.loss.tolist() == [1.0, -math.inf, 2.0]
    assert both.log_weights.shape == (3, 2)
    assert (both.inexact, both.checked) == ("a secret", 3)


@pytest.mark.parametrize(("loss", "limit"), [([math.inf] * 10, math.inf), ([0.0] * 10, 0.0)])
def test_the_ends_of_what_is_possible(loss, limit):
    assert upper_limit(np.array(loss), np.ones(10), DELTA, 0.05) == pytest.approx(limit, abs=1e-6)
