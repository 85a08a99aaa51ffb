"""Curves of an audit: below the truth as often as they say, and close to it."""

import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.curve import POINTS, curves, grid, lower_bounds, shown
from dpassay.reference import account, record
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon

from . import known_laws as known

MU, DELTA = 0.5, 1e-5
CLAIMED = gdp_epsilon(MU, DELTA)
EPSILONS = grid(CLAIMED, CLAIMED)
TRUTH, LESS = (np.array([gdp_delta(float(epsilon), mu) for epsilon in EPSILONS]) for mu in (MU, 0.4))


def gaussian(mu, std=1.0):
    return account(record(lambda tape: tape.gaussian("x", 0.0, std=std, sensitivity=mu), seed=0))


def losses(seed=0, runs=500):
    return audit_likelihood(known.gaussian(MU), DELTA, runs=runs, pilot=200, seed=seed)[1]


@pytest.mark.more
def test_the_band_lies_below_the_truth_as_often_as_it_says():
    """40 audits at 80 %: the whole band is wrong in at most 15 of them (8 expected at worst, 3 standard errors)."""
    hits = ndtr((MU**2 / 2 - EPSILONS) / MU)  # the loss is N(mu^2/2, mu^2)
    wrong = {"realised": 0, "true positives": 0}
    for seed in range(40):
        found = losses(seed)
        bounds = shown(found, found.shares, EPSILONS, 0.8)
        for name, truth in (("realised", TRUTH), ("true positives", hits)):
            wrong[name] += bool(np.any(bounds[name] > truth * (1 + 1e-9)))
    assert max(wrong.values()) <= 15


def test_the_band_is_close_to_the_truth_around_the_claim():
    """And what must show: the band of mu = 0.5 crosses the curve of mu = 0.4, a claim with too little noise."""
    found = losses(runs=1000)
    bounds = shown(found, found.shares, EPSILONS, 0.95)
    near = (TRUTH < 1e-3) & (TRUTH > 1e-6)
    assert near.sum() >= 5 and np.all(bounds["realised"][near] > 0.6 * TRUTH[near])
    assert np.all(bounds["realised"] <= bounds["pointwise"]) and np.all(bounds["pointwise"] <= bounds["estimate"])
    assert np.any(bounds["realised"] > LESS)


def test_the_curves_of_a_row():
    """Losses that decide nothing give no band."""
    seen = losses()
    found = curves(seen, gaussian(MU), CLAIMED, DELTA, 0.95)
    assert set(found) == {"epsilons", "accounted", "realised", "pointwise", "true positives", "estimate"}
    assert {len(values) for values in found.values()} == {POINTS}
    assert found["accounted"] == pytest.approx(TRUTH, rel=1e-9)
    seen.inexact = "secret batches"
    assert set(curves(seen, gaussian(MU), CLAIMED, DELTA, 0.95)) == {"epsilons", "accounted"}


@pytest.mark.parametrize("accounted", [0.3, 0.9, 6.0, 1e4, np.inf])
def test_the_grid_covers_the_claim_and_what_is_accounted(accounted):
    found = grid(0.9, accounted)
    assert len(found) == POINTS and found[0] == 0 and np.all(np.diff(found) > 0)
    assert found[-1] >= min(60.0, max(1.8, 1.5 * min(accounted, 40.0))) - 1e-9


def test_a_mean_of_nothing_is_bounded_by_nothing():
    assert lower_bounds(np.zeros((2, 10)), 3.0).tolist() == [0.0, 0.0]
    assert lower_bounds(np.ones((1, 1000)), 3.0)[0] == pytest.approx(1.0, rel=0.02)


def test_many_deltas_at_once_are_the_single_ones():
    def sampled(tape):
        batch = tape.poisson("batch", 10, 0.1)
        return tape.gaussian("x", 0.0, std=1.0, sensitivity=1.0, batch=batch)

    for found in (gaussian(0.7), account(record(sampled, seed=0))):
        many = found.deltas([0.1, 0.5, 1.0])
        assert many.tolist() == pytest.approx([found.delta(epsilon) for epsilon in (0.1, 0.5, 1.0)], rel=1e-9)
    assert gaussian(1.0, std=0.0).deltas([0.0, 1.0]).tolist() == [1.0, 1.0]
