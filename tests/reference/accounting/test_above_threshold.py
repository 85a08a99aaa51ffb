"""AboveThreshold's cost: sequences by enumeration, exact laws, pieces by definition, a hidden threshold."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.optimize import differential_evolution, minimize_scalar

from dpassay.reference.accounting import above_threshold
from dpassay.reference.accounting.above_threshold import (
    above_threshold_delta,
    above_threshold_mu,
    below,
    helps,
    hidden_threshold,
    pure_mu,
)
from dpassay.reference.accounting.cost import Account
from dpassay.reference.accounting.gdp import gdp_delta
from dpassay.reference.accounting.parts import Part
from dpassay.reference.laws.above_threshold import AboveThreshold

SHIFT = 0.25  # sensitivity over query noise
PLACES = (-1.5, -0.6, -0.1, 0.1, 0.25, 1.0)  # threshold minus query, in units of the query noise
SHARES = {0.5: 1 / 4, 1.0: 1 / 3, 0.01: 1 / 102}  # threshold noise over query noise -> share of the pure epsilon


def exact(pure, share, falls, places, moves):
    """P(index) on both sides: queries at these distances below the threshold, moved by shares of what they may."""
    query_scale, threshold_scale = 1 / (pure * share), 1 / (pure * (1 - 2 * share))  # sensitivity one
    here = -np.asarray(places) * query_scale
    there = here + np.asarray(moves) * falls ** np.arange(len(here))
    laws = [AboveThreshold(list(q), 0.0, threshold_scale, query_scale) for q in (here, there)]
    return [np.array([math.exp(law.log_density(k)) for k in (*range(len(here)), None)]) for law in laws]


def deltas(laws, epsilons):
    return np.array([np.maximum(laws[0] - math.exp(e) * laws[1], 0.0).sum() for e in epsilons])


def enumerated(pure, share, count, falls):
    """The largest delta at each epsilon over all sequences of ``count`` queries and all directions of the moves."""
    ways = itertools.product(itertools.product(PLACES, repeat=count), itertools.product((-1.0, 1.0), repeat=count))
    return np.max([deltas(exact(pure, share, falls, *way), GRID) for way in ways], axis=0)


GRID = np.array([-0.3, 0.0, 0.1, 0.25, 0.5, 0.7])


@pytest.mark.parametrize(
    ("count", "falls"), [(2, 1.0), (2, 0.5), (2, 0.7), pytest.param(3, 1.0, marks=pytest.mark.more)]
)
@pytest.mark.parametrize("noise", SHARES)
def test_no_sequence_shows_more_than_a_number_of_queries_that_is_told(noise, count, falls):
    """Each query moves by ``falls`` of the one before. 1e-12: both are zero but for rounding beyond reach.

    Without threshold noise to speak of some come near, and refute bounds for fewer queries or moves; with it what
    is told of two costs less than any number of queries does.
    """
    share = SHARES[noise]
    pure = SHIFT / share
    true, bound = enumerated(pure, share, count, falls), lambda at, *told: above_threshold_delta(at, pure, share, *told)
    told = bound(GRID, count, falls)
    assert np.all(true <= told + 1e-12) and np.all(bound(GRID, count, 0.3) <= told + 1e-12)
    if noise > 0.1 or count == 3:  # 2 s for 0.01
        untold = bound(GRID)
        assert np.all(told <= untold + 1e-12) and (count == 3 or told[1] < 0.8 * untold[1])
    if noise < 0.1:
        assert true[1] > (0.98 if count == 2 else 0.85) * told[1]
        assert falls < 1 or all(true[1] > bound(np.zeros(1), *less)[0] for less in ((count - 1, 1.0), (count, 0.5)))


def test_the_exact_law_in_composition_stays_below():
    """20 releases of a bad sequence, its exact law sampled (seed 3); a bound for half the shift is below the truth."""
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
    """A curve: between 0 and 1, falling, and of the mirror image below zero, down to where delta is almost one."""
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


@settings(max_examples=40)
@given(st.floats(-300, 2.9).map(lambda power: 10.0**power))
def test_the_mu_of_a_pure_loss_is_rounded_up(epsilon):
    mu = pure_mu(epsilon)
    with mpmath.workdps(700):  # of one half at 1e-300
        truth = 1 / (1 + mpmath.exp(mpmath.mpf(epsilon)))
        assert mpmath.erfc(mpmath.mpf(mu) / mpmath.sqrt(8)) / 2 <= truth
        assert mpmath.erfc(mpmath.mpf(mu) * (1 - 1e-10) / mpmath.sqrt(8)) / 2 > truth


def test_the_worst_places_of_a_line_search_come_near_the_bound_and_show_that_less_is_too_little():
    """By differential evolution, every query moved by all it may, up or down (seed 0): 0.92 of the bound at epsilon 0.

    Of the bound that tells the threshold noise, 0.7. Twins that believe in twice the threshold noise, or in moves half
    as long, are below.
    """
    pure, share, count, falls = told = (0.338, 0.25, 3, 0.5)
    shift = pure * share

    def lost(x):
        laws = exact(pure, share, falls, x[:count], np.where(x[count:] > 0, 1.0, -1.0))
        return -float(deltas(laws, [0.0])[0])

    found = differential_evolution(lost, [(-3.0, 3.0)] * count + [(-1.0, 1.0)] * count, rng=0, maxiter=25, popsize=8)
    shown, bound = -float(found.fun), above_threshold_delta(np.zeros(1), *told)[0]
    assert 0.9 * bound < shown <= bound and shown < 0.75 * above_threshold._curve(*told)[1][0]
    later, values = above_threshold.worst_tests(shift * falls, 14.0, count - 1, falls)

    def after(a):
        found = np.interp(np.maximum(a, 1 / a), np.exp(later), values)
        return np.where(a >= 1, found, 1 - a + a * found)

    wider = share * 2 / (1 + 2 * share)  # share / (1 - 2 share) twice as large
    honest, noisier, shorter = (
        hidden_threshold(np.zeros(1), s, r, after, 1.0)[0]
        for s, r in ((shift, share), (shift, wider), (shift / 2, share))
    )
    assert shown <= honest and noisier < shown and shorter < shown


def test_where_only_the_pure_epsilon_is_known():
    """Shifts from 1e-7 to 5, and epsilons up to 100, have a curve of their own; a bound that takes long is left out."""
    assert not helps(0.25, 0, 1.0) and not helps(0.25, 3, 1.0) and not helps(0.01, 1, 1.0)
    known = [(20.0, 0.25), (100.0, 0.05), (100.0, 1e-6), (1e-6, 0.2)]
    unknown = [(20.1, 0.25), (100.1, 0.01), (1e-6, 0.05), (300.0, 0.5)]
    assert [above_threshold.costs_its_epsilon(*one) for one in known + unknown] == [False] * 4 + [True] * 4
    assert above_threshold_delta(np.array([0.0, 1.0]), 300.0, 0.5) == pytest.approx([1.0, 1.0])
    assert above_threshold_mu(300.0, 0.5) == pure_mu(300.0)


@pytest.mark.parametrize("epsilon", [0.0, 0.05])
@pytest.mark.parametrize(("shift", "share"), [(0.08, 0.25), (0.6, 0.3)])
def test_one_query_agrees_with_quadrature(shift, share, epsilon):
    """The mean over the threshold noise of what one test shows, by adaptive quadrature, at the worst place."""
    scale, a = share / (1 - 2 * share), math.exp(epsilon)

    def shown(z, x):
        one = float(below(np.array(x + z)))
        both = (float(below(np.array(x + z + move))) for move in (-shift, shift))
        most = max(max(1 - one - a * (1 - other), 0.0) + max(one - a * other, 0.0) for other in both)
        return most * math.exp(-abs(z) / scale) / (2 * scale)

    def mean(x):
        points = sorted({0.0, -x, -x - shift, -x + shift})
        edges = [-30 * scale, *(p for p in points if abs(p) < 30 * scale), 30 * scale]
        return sum(quad(shown, low, high, args=(x,), limit=200)[0] for low, high in itertools.pairwise(edges))

    worst = -minimize_scalar(lambda x: -mean(x), bounds=(-0.7, 0.7), method="bounded", options={"maxiter": 12}).fun
    after = lambda b: np.maximum(0.0, 1 - b)  # noqa: E731
    found = hidden_threshold(np.array([epsilon]), shift, share, after, 1.0)[0]
    assert worst <= found <= 1.02 * worst + 4e-4  # a cell's width times the slope in it
