"""Algorithms 2 and 3: SVT probabilities, its privacy by enumeration, sufficient decrease, replay, accounting."""

import dataclasses
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.second_order_erm import line_search as ls
from dpassay.reference.second_order_erm import opt_ls
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, descent_sign
from dpassay.reference.tape import record

ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


@pytest.mark.parametrize("count", [3, 4])
def test_a_line_search_leaks_far_less_than_it_counts_for(count):
    """Mean loss over all 3^count patterns and 5 levels: 5 to 7 % of the 1/(2 lambda^2) that Theorem 5 counts."""
    lam, worst = 50.0, 0.0
    outcomes = (*range(count), None)
    for level in (-2.0, -0.5, 0.0, 0.5, 2.0):
        queries = np.full(count, 2 * lam * level)
        here = AboveThreshold(iter(queries), 0.0, 2 * lam, 4 * lam)
        logs = np.array([here.log_density(outcome) for outcome in outcomes])
        for move in product((-1.0, 0.0, 1.0), repeat=count):
            there = AboveThreshold(iter(queries + np.array(move)), 0.0, 2 * lam, 4 * lam)
            worst = max(worst, float(np.exp(logs) @ (logs - [there.log_density(outcome) for outcome in outcomes])))
    assert 0.05 < worst * 2 * lam**2 < 0.07


@settings(max_examples=40)
@given(data=st.data())
def test_sufficient_decrease_holds_while_the_noise_bound_does(curved, noisy, data):
    """Lemma 6: noise inside eq. (9) makes q_g >= 0 up to the fallback step, q_H >= 0 between t1/t2 of it and it."""
    (accuracy, w, g, smallest, p), search, k = noisy(data), ls.LineSearch(), curved.constants()
    share = data.draw(st.floats(0.0, 1.0))
    if np.linalg.norm(g) > accuracy.gradient:
        fallback = 2 * (1 - accuracy.c1 - search.c_g) / k.smoothness
        assert ls.gradient_query(curved, w, g, search.c_g)(share * fallback) >= -1e-12
    elif smallest < -accuracy.curvature:
        t1, t2 = ls.curvature_roots(accuracy, search.c_H)
        t = t1 + share * (t2 - t1)
        q = ls.curvature_query(curved, w, descent_sign(p, g), smallest, search.c_H)
        assert q(t * abs(smallest) / k.hessian_lipschitz) >= -1e-12


def test_roots_solve_their_equation_and_the_last_trial_is_not_below_the_fallback():
    t1, t2 = ls.curvature_roots(Accuracy(1, 1), 0.2)
    for t in (t1, t2):
        assert -(t**2) / 6 + 0.5 * 0.7 * t - 0.1 == pytest.approx(0, abs=1e-14)
    assert 0 < t1 < t2
    for b, beta in ((8.0, 0.5), (10.0, 0.7), (1.01, 0.5), (2.0, 0.9)):
        count = ls.trial_count(b, 1.0, beta)
        assert count >= 1
        assert b * beta ** (count - 1) >= 1 - 1e-9 > b * beta**count - 2e-9


def test_each_kind_of_step_starts_at_its_own_multiple_of_its_fallback(curved):
    """Algorithm 3: gamma_init = b_g gamma-bar_g and b_H gamma-bar_H; sensitivities follow, not one for both.

    Almost no noise: a certified end, both kinds of step, first trials that are taken.
    """
    start, accuracy = np.full(curved.d, 1.5), Accuracy(gradient=1.0, curvature=0.05)
    search = ls.LineSearch(b_g=8.0, b_H=3.0, beta_g=0.5, beta_H=0.6)
    schedule = opt_ls.repaired(curved, start, accuracy, epsilon=1.0, delta=1e-5)
    quiet = dataclasses.replace(schedule, sensitivity=Sensitivities(1e-9, 1e-9, 1e-9), search=search)
    transcript = record(lambda tape: opt_ls.run(curved, quiet, tape), 2)
    fallback_g = 2 * (1 - accuracy.c1 - search.c_g) / schedule.smoothness
    t2 = ls.curvature_roots(accuracy, search.c_H)[1]
    released = {}
    for release in transcript.releases:
        if release.label == "line search/gradient":
            expected, trials = 8 * fallback_g * np.linalg.norm(released["gradient"]), 4  # 1/8 = (1/2)^3
        elif release.label == "line search/curvature":
            smallest = np.linalg.eigvalsh(symmetric(released["hessian"], curved.d))[0]
            expected, trials = 3 * t2 * abs(smallest) / schedule.hessian_lipschitz, 3  # 0.6^2 > 1/3 > 0.6^3
        else:
            released[release.label] = release.value
            continue
        assert release.sensitivity == pytest.approx(1e-9 * expected, rel=1e-9)
        assert len(release.law.all_queries()) == trials
    outcome = transcript.output
    assert outcome.certified and outcome.gradient_steps > 0 and outcome.curvature_steps > 0
    assert any(one.value == 0 for one in transcript.releases if one.label.startswith("line search"))


def symmetric(upper, d):
    """The matrix whose upper triangle was released."""
    found = np.zeros((d, d))
    found[np.triu_indices(d)] = upper
    return found + np.triu(found, 1).T


def test_lambda_and_its_gaussian_parameter_are_inverse_and_safe():
    """Inverse up to one step of the grid of lambdas, which is a part in a hundred, and never below."""
    for mu in (1e-3, 0.1, 2.0):
        for trials in ls.LineSearch().trials.values():
            lam = ls.lambda_for(mu, *trials)
            assert ls.gaussian_parameter(lam, *trials) <= mu
            assert mu < ls.gaussian_parameter(lam / 1.01, *trials) * (1 + 1e-9)


@pytest.mark.parametrize(
    ("search", "field"),
    [
        (ls.LineSearch(c_g=0.95), "c_g"),
        (ls.LineSearch(c_H=0.5), "c_H"),
        (ls.LineSearch(b_g=1.0), "b"),
        (ls.LineSearch(beta_g=1.0), "beta_g"),
        (ls.LineSearch(beta_H=0.1), "beta_H"),
    ],
)
def test_parameters_outside_the_lemmas_are_named(search, field):
    with pytest.raises(BadInput) as caught:
        search.check(ACCURACY)
    assert caught.value.field == field
