"""Laws of known epsilon: weights and epsilons are right, and the likelihood audits keep their level on them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.stats import binomtest

from dpassay.audit.likelihood.bound import walk
from dpassay.audit.likelihood.pilot import excess, make_plan
from dpassay.audit.lockstep.tilting import PLAIN, Tilt
from dpassay.audit.zoo.laws import mixture_epsilon
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon

from . import finite_laws as known

DELTA = 1e-5
COIN = (np.array([0.5, 0.5]), np.array([0.5, 0.5]))


@st.composite
def pairs(draw):
    """Two laws on the same outcomes, zeros allowed on either side."""
    size = draw(st.integers(2, 6))
    weights = st.lists(st.sampled_from([0.0, 1e-6, 0.01, 0.3, 1.0, 5.0]), min_size=size, max_size=size)
    here, there = (np.array(draw(weights.filter(any))) for _ in range(2))
    return here / here.sum(), there / there.sum()


def finite_delta(here, there, epsilon):
    return float(np.maximum(here - np.exp(epsilon) * there, 0.0).sum())


@settings(max_examples=60)
@given(pairs(), st.floats(0, 6), st.floats(0.05, 0.95), st.floats(0, 3))
def test_weights_of_finite_laws_are_exact(pair, shift, share, epsilon):
    """E_R[W] = P(support) = 1 and E_R[W (1 - exp(epsilon - L))_+] = delta(epsilon), summed over all outcomes."""
    sampler = known.FiniteSampler(*pair)
    losses, law = sampler.table((PLAIN, Tilt(shift)), np.array([share, 1 - share]))
    seen = law > 0
    log_weight = losses.log_weight(np.log([share, 1 - share]))[seen]
    assert law.sum() == pytest.approx(1, abs=1e-12)
    assert (law[seen] * np.exp(log_weight)).sum() == pytest.approx(1, abs=1e-9)
    stick = (law[seen] * excess(losses.loss[seen], np.exp(log_weight), epsilon)).sum()
    assert stick == pytest.approx(finite_delta(*pair, epsilon), abs=1e-9)


def test_closed_forms():
    exact = math.log(math.e - DELTA * (1 + math.e))
    assert known.FiniteSampler(*known.response(1.0)).epsilon(DELTA) == pytest.approx(exact)
    assert known.FiniteSampler(*known.revealing()).epsilon(0.9) == math.inf
    assert known.FiniteSampler(*COIN).epsilon(DELTA) == 0


ROUNDED = [
    (known.rounded_gaussian(1.0), gdp_epsilon(1.0, DELTA)),
    (known.rounded_laplace(1.0), 1 + 2 * math.log1p(-DELTA)),
    (known.rounded_sampled_gaussian(0.1, 2.0), mixture_epsilon(0.1, 2.0, DELTA)),
]


@pytest.mark.parametrize(("sampler", "continuous"), ROUNDED)
def test_rounding_loses_next_to_nothing_and_never_gains(sampler, continuous):
    assert continuous * (1 - 1e-3) < sampler.epsilon(DELTA) <= continuous + 1e-9


# -- false claims ---------------------------------------------------------------------------------------------
EDGE = float(brentq(lambda mu: gdp_delta(0.0, mu) - DELTA, 1e-7, 1e-3, xtol=1e-18))  # delta(0) = DELTA
FAINT = known.branches((DELTA, 1 - DELTA), (known.revealing(), COIN))
LAWS = {
    "null": known.FiniteSampler(*COIN),
    "randomised response": known.FiniteSampler(*known.response(1.0)),
    "Laplace": known.rounded_laplace(1.0, 500),
    "Gaussian": known.rounded_gaussian(1.0, 500),
    "sampled Gaussian": known.rounded_sampled_gaussian(0.1, 2.0, 500),
    "delta(0) = delta": known.rounded_gaussian(EDGE, 500),
    "reveals with probability delta": known.FiniteSampler(*FAINT, lambda tilt: FAINT[0], lambda tilt: FAINT[1]),
}


def bounds(sampler, runs, seeds):
    for seed in range(seeds):
        plan, _ = make_plan(sampler, DELTA, 0.05, runs, 100, seed)
        final = sampler.swapped() if plan.swapped else sampler
        losses, counts = final.merged(plan.tilts, plan.shares, runs, (seed, 2))
        yield walk(losses, plan, DELTA, 0.05, counts)


@pytest.mark.some(1)
@pytest.mark.parametrize("name", LAWS)
def test_likelihood_bounds_keep_their_level(name):
    """60 seeds of 10,000 runs at 5 %: a bound that errs in 25 % of samples fails with probability 0.95.

    Red case: a truth taken 5 % too small is exceeded by nearly all bounds.
    """
    truth = LAWS[name].epsilon(DELTA)
    found = np.array(list(bounds(LAWS[name], 10_000, 60)))
    assert binomtest(int((found > truth + 1e-9).sum()), 60, 0.05, alternative="greater").pvalue > 1e-3
    if truth > 1e-6:
        assert np.mean(found > 0.95 * truth) > 0.9
