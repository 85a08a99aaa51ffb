"""The likelihood audit: tight, sound, deterministic, and mute where it must be."""

import math

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood, upper_limit
from dpassay.audit.likelihood.samplers import LockstepSampler, Losses
from dpassay.audit.results import SoundBound
from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.gdp import gdp_epsilon, gdp_mu
from dpassay.reference.errors import BadInput
from dpassay.reference.neighbours import Pair
from dpassay.reference.tape import record

from .gaussian_laws import GaussianSampler, SampledGaussianSampler

DELTA = 1e-5


def one(run, pair, **more):
    return audit_likelihood(LockstepSampler(run, pair), DELTA, **more)[0]


@pytest.mark.parametrize("epsilon", [2.0, 4.4, 10.0])
def test_median_tightness_on_gaussian_compositions(epsilon):
    """At least 0.93 of the truth in the median over 20 seeds, and never above it in these (level 5 %)."""
    sampler = GaussianSampler(gdp_mu(epsilon, DELTA))
    bounds = np.array([audit_likelihood(sampler, DELTA, seed=seed)[0].epsilon for seed in range(20)])
    assert np.median(bounds) >= 0.93 * epsilon
    assert np.sum(bounds > epsilon) <= 4  # P(more than 4 of 20 at 5 %) = 0.26 %


def test_laplace_reaches_its_epsilon():
    """(epsilon, 0)-DP with epsilon = 1: at delta = 1e-5 the exact value is 1 + 2 log(1 - delta) or so."""
    found = one(lambda x, tape: tape.laplace("l", x, scale=1.0, sensitivity=1.0), Pair(1.0, 0.0, 0))
    assert 0.97 <= found.epsilon <= 1.0


@pytest.mark.some(1)
@pytest.mark.parametrize("kind", ["poisson", "without-replacement", "fresh"])
def test_secret_batches(kind):
    """Sound against the accountant, and at least 0.9 of it (of one direction, for fixed-size batches)."""

    def run(a, tape):
        for k in range(4):
            if kind == "poisson":
                batch = tape.poisson(f"b{k}", len(a), 0.2)
            elif kind == "fresh":
                batch = tape.fresh(f"b{k}", len(a), 2)
            else:
                batch = tape.batch(f"b{k}", len(a), 2)
            tape.gaussian("g", a[batch.indices].sum(), std=1.5, sensitivity=2.0, batch=batch)

    there = np.zeros(10) if kind == "poisson" else np.full(10, -1.0)
    here = there.copy()
    if kind == "poisson":
        there[4] = -1.0
    here[4] = 1.0
    bound = one(run, Pair(here, there, 4), seed=3, runs=100 if kind == "fresh" else 500)
    found = account(record(lambda tape: run(here, tape), 0))
    limit = found.epsilon(DELTA)
    reachable = {"fresh": None, "poisson": limit}.get(kind, found.one_direction(DELTA))
    assert isinstance(bound, SoundBound) and bound.epsilon <= limit
    if reachable is not None:
        assert bound.epsilon >= 0.9 * reachable


@pytest.mark.parametrize(
    ("field", "more"), [("confidence", {"confidence": 1.0}), ("runs", {"runs": 1}), ("pilot", {"pilot": 3})]
)
def test_impossible_settings(field, more):
    with pytest.raises(BadInput, match=field):
        audit_likelihood(GaussianSampler(1.0), DELTA, **more)


# Drawing in stages: it stops early, stays sound, and the interval that a lock keeps covers the truth.
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
    both = one.joined(other)
    assert both.loss.tolist() == [1.0, -math.inf, 2.0]
    assert both.log_weights.shape == (3, 2)
    assert (both.inexact, both.checked) == ("a secret", 3)


@pytest.mark.parametrize(("loss", "limit"), [([math.inf] * 10, math.inf), ([0.0] * 10, 0.0)])
def test_the_ends_of_what_is_possible(loss, limit):
    assert upper_limit(np.array(loss), np.ones(10), DELTA, 0.05) == pytest.approx(limit, abs=1e-6)
