"""Coins that may be found out together: the price of a weighted test, against all outcomes of few guesses."""

from dataclasses import FrozenInstanceError
from functools import cache
from itertools import product

import numpy as np
import pytest
from scipy.special import expit
from scipy.stats import binom

from dpassay.audit.scores import found_out
from dpassay.audit.scores.found_out import FoundOut, largest_gain
from dpassay.audit.scores.weighted import Allowance, Guesses, weighted_epsilon

WEIGHTS = np.array([1, 1, 1, 1, 3, 3, 3, 3])
CLASSES = [Guesses(1, 4), Guesses(3, 4)]
GROUP = np.array([0, 1, 2, 3, 0, 1, 2, 3])  # of the i-th of four: floor(4 i / 4)


@cache
def _chance(weights, low, high, rate):
    """P(low < weighted number of wrong ones <= high), of weights in any order."""
    total = 0.0
    for wrong in product((0, 1), repeat=len(weights)):
        at = int(np.dot(weights, wrong))
        total += (low < at <= high) * rate ** sum(wrong) * (1 - rate) ** (len(weights) - sum(wrong))
    return total


def _gains(outcome, order, most, rate):
    """g_j of each guess for this order."""
    found, before = np.zeros(len(outcome)), 0
    for place, j in enumerate(order):
        rest = tuple(sorted(int(WEIGHTS[k]) for k in order[place + 1 :]))
        found[j] = rate * _chance(rest, most - int(WEIGHTS[j]) - before, most - before, rate)
        before += int(WEIGHTS[j]) * (1 - outcome[j])
    return found


@pytest.mark.parametrize(("epsilon", "most"), [(0.3, 2), (1.0, 4)])
def test_the_sum_is_an_identity_and_no_gain_exceeds_the_price(monkeypatch, epsilon, most):
    """1{W <= t} = S + sum g_j x_j for all outcomes (1 = right), each order and their mean; g below (1 - p) gain."""
    monkeypatch.setattr(found_out, "GROUPS", 4)
    rate = float(expit(-epsilon))
    tail = _chance(tuple(map(int, WEIGHTS)), -1, most, rate)
    orders = [sorted(range(8), key=lambda j, first=first: ((GROUP[j] - first) % 4, j)) for first in range(4)]
    price, largest = rate * largest_gain(CLASSES, epsilon), 0.0
    for outcome in product((0, 1), repeat=8):
        gains = np.mean([_gains(outcome, order, most, rate) for order in orders], axis=0)
        signs = np.where(outcome, 1.0, -np.exp(epsilon))
        wrong = int(WEIGHTS @ (1 - np.array(outcome)))
        assert tail + gains @ signs == pytest.approx(float(wrong <= most), abs=1e-9)
        largest = max(largest, gains.max())
    assert 0.5 * price < largest <= price < rate  # it is paid for, and less than one order alone would cost


def test_what_may_be_found_out_costs_epsilon_and_too_much_of_it_everything():
    """Without delta it is the exact test; the bound falls as m delta grows; a gain not paid for shows nothing."""
    guesses, wrong = [Guesses(1, 300), Guesses(2, 100)], 60
    found = [FoundOut(expected, 0.05, 0.6).epsilon(guesses, wrong) for expected in (0.0, 0.02, 0.08)]
    assert found[0] == pytest.approx(weighted_epsilon(guesses, wrong, [Allowance(0, 0.05)]), abs=2e-4)
    assert found[0] > found[1] > found[2] > 1.0
    assert FoundOut(1.0, 0.05, 0.5).epsilon(guesses, wrong) == 0.0
    assert FoundOut(0.02, 0.05, 0.05).epsilon(guesses, wrong) == 0.0
    assert FoundOut(0.02, 0.05, 0.5).epsilon([], 0) == 0.0
    assert FoundOut(0.02, 0.05, 0.5).epsilon(guesses, 300) == 0.0


def test_how_the_level_is_shared_is_fixed_and_pays_for_every_gain_unless_told():
    """No g exceeds 1 - p, so that a gain of one is enough; what was seen must not change a share."""
    shares = FoundOut(0.02, 0.05)
    assert [shares.price(low) for low in (0.0, 2.5, 20.0)] == [0.3, expit(-2.5), expit(-20.0)]
    with pytest.raises(FrozenInstanceError):
        shares.expected = 0.0


def test_the_price_of_sixteen_groups_is_the_mean_of_what_each_number_of_them_may_hide():
    """By plain convolutions of the classes' rounded-down shares, over three neighbouring integers at most."""
    classes, total = [Guesses(1, 40), Guesses(3, 21)], 1.0
    for groups in range(1, 16):
        spread = np.zeros(3 * (21 * groups // 16) + 1)
        spread[::3] = binom.pmf(np.arange(21 * groups // 16 + 1), 21 * groups // 16, expit(-0.8))
        ones = binom.pmf(np.arange(40 * groups // 16 + 1), 40 * groups // 16, expit(-0.8))
        law = np.convolve(ones, spread)
        total += min(1.0, max(law[k : k + 3].sum() for k in range(law.size)))
    assert largest_gain(classes, 0.8) == pytest.approx(total / 16 * (1 + 1e-7), abs=3e-9)
    assert largest_gain(classes, 0.8) > total / 16
    assert largest_gain([Guesses(8, 1)], 1.0) == 1.0  # of one guess there is nothing to hide behind


def test_a_cell_is_halved_eleven_times():
    """No wrong guess of 100, nothing found out: (1 + e^-epsilon)^-100 = 5 %, in steps of a quarter over 2,048."""
    step = 0.25 / 2**11
    for count in range(100, 108):
        exact = -np.log(np.expm1(-np.log(0.05) / count))
        assert FoundOut(0.0, 0.05, 1.0).epsilon([Guesses(1, count)], 0) == step * np.floor(exact / step)
