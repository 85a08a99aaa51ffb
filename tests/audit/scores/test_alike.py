"""Guesses that weigh the same, their number chosen after a look: what one decides, and who pays for the choice."""

import numpy as np
from scipy.special import expit

from dpassay.audit.scores.fixed_guesses import guesses_p_value
from dpassay.audit.scores.found_out import FoundOut, largest_gain, tail_and_price
from dpassay.audit.scores.weighted import Guesses


def _hardest(refuted, counts, expected):
    """Of all numbers of guesses: the largest S of what is refuted, and the largest price of m delta coins."""
    tails, prices = [], []
    for count in counts:
        low, high = 0, count
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (low, middle) if refuted(count, middle) else (middle, high)
        if refuted(count, high):
            tail, price = tail_and_price([Guesses(1, count)], count - high, EPSILON)
            tails.append(tail)
            prices.append(expected * price)
    return max(tails), max(prices)


EPSILON, COUNTS = 1.0, [int(one) for one in np.geomspace(40, 60_000, 25)]


def test_whoever_chooses_the_number_of_guesses_after_a_look_pays_for_all_of_them():
    """A mechanism may spend its delta where few are guessed, its luck where many are: the sum must stay below 5 %.

    Red case: a p-value below 5 % for each number by itself comes to more than 8 % together.
    """
    expected, level = 1.0, 0.05
    shared = FoundOut(expected, level, planned=1000)

    def above(count, right):
        return shared.epsilon([Guesses(1, count)], count - right) > EPSILON

    def alone(count, right):
        return guesses_p_value(100_000, count, right, EPSILON, expected / 100_000) <= level

    tail, price = _hardest(above, COUNTS, expected)
    assert 0.6 * level < tail + price <= level
    assert sum(_hardest(alone, COUNTS, expected)) > 1.6 * level


def test_what_one_of_many_equal_guesses_decides():
    """The closed form is below what orders in a ring cost, and nothing is refuted if nobody is wrong by chance."""
    for count, wrong in ((400, 100), (4000, 1105)):
        tail, price = tail_and_price([Guesses(3, count)], 3 * wrong + 2, 0.9)
        ring = largest_gain([Guesses(3, count)], 0.9) * float(expit(-0.9))
        assert 0.1 * ring < price < ring and 0.02 < tail < 0.05
    assert tail_and_price([Guesses(1, 5)], 5, 0.9) == (1.0, 0.0)
    assert FoundOut(10.0, 0.05, planned=50).epsilon([Guesses(1, 40)], 0) < 1.0  # forty right ones: m delta is ten
    assert FoundOut(0.1, 0.05, planned=50).epsilon([Guesses(1, 40)], 0) > 2.0
    assert FoundOut(0.1, 0.05, planned=50).epsilon([Guesses(1, 40)], 0, above=9.0) == 0.0
