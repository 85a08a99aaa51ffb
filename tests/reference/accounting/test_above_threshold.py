"""The bound on AboveThreshold against enumeration: all short query sequences, exact laws, exact composition."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference.accounting.above_threshold import above_threshold_delta, above_threshold_mu, pure_mu
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.gdp import gdp_delta
from dpassay.reference.accounting.parts import Part
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold

SHIFT = 0.25  # sensitivity over query noise
PLACES = (-1.5, -0.6, -0.1, 0.1, 0.25, 1.0)  # threshold minus query, in units of the query noise
SHARES = {0.5: 1 / 4, 1.0: 1 / 3, 0.01: 1 / 102}  # threshold noise over query noise -> share of the pure epsilon


def below(x):
    return np.where(x < 0, np.exp(np.minimum(x, 0)) / 2, 1 - np.exp(-np.maximum(x, 0)) / 2)


def laws(places, noise):
    """P(index) for each row of places, None last; the threshold noise by a fine midpoint rule on its quantiles."""
    level = (np.arange(80) + 0.5) / 80
    told = noise * np.where(level < 0.5, np.log(2 * level), -np.log(2 * (1 - level)))
    stays = below(places[:, None, :] + told[None, :, None])
    so_far = np.concatenate([np.ones((*stays.shape[:2], 1)), np.cumprod(stays, axis=2)], axis=2)
    return np.concatenate([so_far[..., :-1] * (1 - stays), so_far[..., -1:]], axis=2).mean(axis=1)


def enumerated(noise, count, epsilons, falls=1.0):
    """The largest delta at each epsilon over all sequences of ``count`` queries and all directions of the moves."""
    places = np.array(list(itertools.product(PLACES, repeat=count)))
    here, worst = laws(places, noise), np.zeros(len(epsilons))
    for signs in itertools.product((-1, 1), repeat=count):
        there = laws(places + SHIFT * falls ** np.arange(count) * np.array(signs), noise)
        for k, epsilon in enumerate(epsilons):
            worst[k] = max(worst[k], np.maximum(0, here - math.exp(epsilon) * there).sum(axis=1).max())
    return worst


@pytest.mark.some(2)
@pytest.mark.parametrize("noise", SHARES)
def test_no_sequence_of_three_queries_shows_more(noise):
    """And without threshold noise to speak of some come within 15 %: the bound is no weaker than it must be."""
    epsilons = np.array([-0.3, 0.0, 0.1, 0.25, 0.5, 0.7])
    true = enumerated(noise, 3, epsilons)
    bound = above_threshold_delta(epsilons, SHIFT / SHARES[noise], SHARES[noise])
    assert np.all(true <= bound)
    assert noise > 0.1 or true[1] > 0.85 * bound[1]


@pytest.mark.parametrize("falls", [1.0, 0.5, 0.7])
@pytest.mark.parametrize("noise", SHARES)
def test_a_number_of_queries_that_is_told_costs_less_and_no_sequence_shows_more(noise, falls):
    """Two of them, of which the second moves by 1, 1/2, or 0.7 of the first: above all of 36 sequences, and no higher
    than needed but for the noise of the threshold. 1e-12: both are zero but for rounding beyond their reach."""
    epsilons, pure = np.array([-0.3, 0.0, 0.1, 0.25, 0.5, 0.7]), SHIFT / SHARES[noise]
    true = enumerated(noise, 2, epsilons, falls)
    bound = above_threshold_delta(epsilons, pure, SHARES[noise], 2, falls)
    assert np.all(true <= bound + 1e-12) and (noise > 0.1 or true[1] > 0.98 * bound[1])
    assert noise < 0.1 or bound[1] < 0.8 * above_threshold_delta(epsilons, pure, SHARES[noise])[1]  # 2 s for 0.01
    assert np.all(above_threshold_delta(epsilons, pure, SHARES[noise], 2, 0.3) <= bound + 1e-12)


def test_a_bound_for_fewer_queries_or_smaller_movements_is_refuted():
    """Three that move alike show more than the bounds for one, for two, and for three that halve."""
    true = enumerated(0.01, 3, [0.0])[0]
    for count, falls in ((1, 1.0), (2, 1.0), (3, 0.5)):
        assert true > above_threshold_delta(np.array([0.0]), SHIFT / SHARES[0.01], SHARES[0.01], count, falls)[0]


def test_more_queries_than_are_told_are_refused_and_a_movement_that_does_not_fall_is_seen():
    def law(queries, count, falls=0.5):
        return AboveThreshold(iter(queries), 0.0, 2.0, 4.0, count, falls)

    with pytest.raises(BadInput, match="3 at most"):
        law([0.0] * 4, 3).all_queries()
    with pytest.raises(BadInput, match="falls"):
        law([0.0], 1, 0.0)
    here, there = law([0.0, 0.0, 0.0], 3), law([1.0, 0.5, 0.25], 3)
    assert here.distance(there) == 1.0
    assert law([0.0, 0.0, 0.0], 3).distance(law([1.0, 0.5, 0.5], 3)) == 2.0
    assert here.public_difference(law([1.0, 0.5, 0.25], 3, 0.25)).name == "falls"
    assert here.changed(2.0, 1.0).cost(1.0)[3:] == (3, 0.5) == here.cost(1.0)[3:]


def test_the_exact_law_in_composition_stays_below():
    """20 releases of a bad sequence: the largest deltas of its exact law, by sampling products (seed 3, 1e5 draws).

    Power: the bound for half the shift is below the truth at epsilon 1.
    """
    places = np.array([-0.5, -0.1, -0.1])
    here = AboveThreshold(-places, 0.0, 0.5, 1.0).outcomes().log_probabilities
    there = AboveThreshold(-places - SHIFT * np.array([-1, 1, 1]), 0.0, 0.5, 1.0).outcomes().log_probabilities
    drawn = np.random.default_rng(3).choice(len(here), size=(100_000, 20), p=np.exp(here) / np.exp(here).sum())
    loss = (here - there)[drawn].sum(axis=1)
    shown = np.maximum(0.0, -np.expm1(1.0 - loss))
    error = 4 * shown.std() / math.sqrt(len(shown))
    part = Part("above-threshold", 1.0, share=0.25)
    assert shown.mean() - error < Account(((part, 20),)).delta(1.0)
    assert shown.mean() - error > Account(((Part("above-threshold", 0.3, share=0.25), 20),)).delta(1.0)


@pytest.mark.parametrize("pure", [1e-300, 1e-6, 0.1, 1.0, 10.0, 200.0, 700.0])
@pytest.mark.parametrize("share", [1e-9, 0.05, 0.25, 0.4999999])
def test_the_curve_at_the_ends_of_its_range(pure, share):
    """A curve: between 0 and 1, falling, and of the mirror image below zero, down to where delta is almost one.

    Below minus the pure epsilon it stayed at the value that it has there, far under the truth.
    """
    up = np.geomspace(1e-12, 200.0, 40)
    for count, falls in ((0, 1.0), (3, 0.5)):
        found = above_threshold_delta(np.concatenate([-up[::-1], [0.0], up]), pure, share, count, falls)
        assert np.all(np.isfinite(found)) and found.min() >= 0 and found.max() <= 1
        assert np.all(np.diff(found) <= 1e-12)
        assert np.all(found[:40][::-1] >= -np.expm1(-up) * (1 - 1e-12)), "nothing is below 1 - e^epsilon"
        assert np.all(found[41:][up >= pure] == 0)


@pytest.mark.parametrize(("pure", "share", "count"), [(1.0, 0.25, 0), (0.3, 0.4, 0), (4.0, 0.1, 5), (20.0, 0.2, 0)])
def test_the_gaussian_that_stands_for_a_release_is_nowhere_below_it(pure, share, count):
    """At points between those of the grid, too; 1 % less mu is below it somewhere."""
    epsilons = np.linspace(0.0, pure, 700)
    curve, mu = above_threshold_delta(epsilons, pure, share, count), above_threshold_mu(pure, share, count)
    gauss = np.array([gdp_delta(float(one), mu) for one in epsilons])
    assert np.all(gauss >= curve * (1 - 1e-9))
    assert np.any(np.array([gdp_delta(float(one), 0.99 * mu) for one in epsilons]) < curve)


@settings(max_examples=80, deadline=None)
@given(st.floats(-300, 2.9).map(lambda power: 10.0**power))
def test_the_mu_of_a_pure_loss_is_rounded_up(epsilon):
    """60 digits; near zero it was off by a ten-thousandth, and zero at 1e-300."""
    mu = pure_mu(epsilon)
    with mpmath.workdps(700):  # of one half at 1e-300
        truth = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert mpmath.erfc(mpmath.mpf(mu) / mpmath.sqrt(8)) / 2 <= truth
        assert mpmath.erfc(mpmath.mpf(mu) * (1 - 1e-10) / mpmath.sqrt(8)) / 2 > truth
