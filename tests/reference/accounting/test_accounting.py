"""Accounting: closed forms, dp-accounting, the notes' measured table, and what must not be accountable."""

import math

import numpy as np
import pytest

from dpassay.reference.accounting import parts
from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon, gdp_mu
from dpassay.reference.accounting.parts import Part
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp, from_pairs, gdp
from dpassay.reference.papers import Cite
from dpassay.reference.tape import LiveTape

DELTA = 1e-5


def transcript(*sizes, **more):
    tape = LiveTape(0)
    for size in sizes:
        tape.gaussian("g", 0.0, std=1 / size, sensitivity=1.0, **more)
    return tape.transcript


def test_add_remove_halves_the_move():
    assert account(transcript(1.0), "add-remove").epsilon(DELTA) == pytest.approx(gdp_epsilon(0.5, DELTA))


def test_fresh_batches_do_not_add_up_but_their_worst_counts():
    def fresh(*mus):
        tape = LiveTape(0)
        for k, mu in enumerate(mus):
            batch = tape.fresh(f"f{k}", 100, 20)
            tape.gaussian("g", 0.0, std=1 / mu, sensitivity=1.0, batch=batch)
        return account(tape.transcript).epsilon(DELTA)

    assert fresh(0.5, 0.5, 0.5) == pytest.approx(fresh(0.5))
    assert fresh(0.5, 0.9, 0.1) == pytest.approx(gdp_epsilon(0.9, DELTA))


def test_laplace_and_above_threshold_are_pure():
    tape = LiveTape(0)
    tape.laplace("l", 0.0, scale=2.0, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.5, abs=2e-3)
    tape = LiveTape(0)
    scales = {"threshold_scale": 2.0, "query_scale": 4.0}
    tape.above_threshold("s", iter([0.0]), threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(1.0, abs=2e-3)
    tape = LiveTape(0)
    tape.above_threshold("s", [0.0], threshold=1.0, **scales, sensitivity=1.0)
    assert account(tape.transcript).epsilon(1e-12) == pytest.approx(0.25, abs=2e-3), "one test is a Laplace release"


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_impossible_epsilon(epsilon):
    with pytest.raises(BadInput, match="epsilon"):
        gdp_mu(epsilon, DELTA)


# What parts add up to, in cases small enough for a closed form.
RELATION = "replace-one"


@pytest.mark.parametrize(
    ("size", "digits"),
    [(0.0, 13), (1 / 3, 13), (10 / 3, 12), (1000 / 3, 10), (1e-5 / 3, 18), (0.3, 13), (1.0, 12), (100.0, 10)],
)
def test_equal_up_to_rounding_is_equal_and_no_less(size, digits):
    """Thirteen digits, after three quarters of the last one were added; on 0.3 and 1.0 the last bit decided."""
    found = parts.clean(size)
    assert size <= found <= size + 1.26 * 10.0**-digits
    assert found == parts.clean(size * (1 + 1e-15)) == parts.clean(size * (1 - 1e-15)) == round(found, digits)


@pytest.mark.parametrize(
    ("total", "halvings"),
    [
        (((Part("pure", 0.5), 8),), 0),
        (((Part("pure", 0.0082), 1),), 0),
        (((Part("pure", 0.0078), 1),), 1),  # eight points of a grid for a usual loss
        (((Part("pure", 1e-6), 10**4),), 13),
        (((Part("pure", 1e-20), 1),), 40),  # no grid is finer
        (((Part("pure", 1.0), 10**6),), -9),  # 2^20 points at most: 12,000 and half a million
        (((Part("pure", 30.0), 1),), -3),  # 2^17 points, about: 360 and 450
        (((Part("pure", 1e-2), 1), (Part("pure", 100.0), 1)), -6),
        (((Part("pure", 0.001), 10**7),), 3),
    ],
)
def test_the_grid_is_as_fine_as_a_usual_loss_asks_for_and_as_coarse_as_the_reach(total, halvings):
    """By hand: sum n s^2 / sum n s is usual, 12 sqrt(sum n s^2) + sum n s^2 / 2 the reach."""
    assert parts.step_of(total, RELATION, 1e-20) == 1e-3 * 2.0**-halvings


# One guarantee in its forms: a pair, mu-GDP, pairs, what an accountant proves; read as delta, epsilon, trade-off.
def test_a_claim_says_its_pair_its_neighbours_and_its_source():
    found = PrivacyClaim(1.5, 1e-7, Cite("dwork2014", "Theorem 3.1"), "add-remove").guarantee
    assert found.outermost == (1.5, 1e-7) and found.epsilon(1e-7) == 1.5 and found.delta(1.5) == 1e-7
    assert found.epsilon(9e-8) is None, "a smaller delta is more than was claimed"
    assert str(found) == f"(1.5, 1e-07)-DP, add-remove ({Cite('dwork2014', 'Theorem 3.1')})"
    assert str(approx_dp(1.0)) == "(1, 0)-DP"


def test_delta_is_that_of_the_pairs_alone():
    """Below the smallest epsilon stands its mirror image, below all of them nothing."""
    claim = from_pairs([(2.0, 0.2), (1.0, 0.01), (0.5, 0.3), (1.0, 0.005)])
    backward = 1 - math.exp(-0.5) + math.exp(-0.5) * 0.3
    known = {-3.0: 1.0, 0.4: backward, 0.5: 0.3, 0.99: 0.3, 1.0: 0.005, 9.0: 0.005}
    assert {epsilon: claim.delta(epsilon) for epsilon in known} == pytest.approx(known)


def test_what_is_read_off_tangents_errs_upwards():
    claim, grid = gdp(1.3), np.linspace(0.0, 6.0, 25)
    assert all(claim.delta(float(e)) >= gdp_delta(float(e), 1.3) * (1 - 1e-9) for e in grid)
    found = claim.epsilon(1e-5)
    assert found is not None and gdp_epsilon(1.3, 1e-5) <= found <= gdp_epsilon(1.3, 1e-5) + 0.15
