"""One guarantee in its forms: a pair, mu-GDP, pairs, what an accountant proves; read as delta, epsilon, trade-off."""

import math

import numpy as np
import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon
from dpassay.reference.case import PrivacyClaim
from dpassay.reference.errors import BadInput
from dpassay.reference.guarantee import approx_dp, from_account, from_pairs, gdp
from dpassay.reference.papers import Cite
from dpassay.reference.tape import record


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


def test_what_the_accountant_proves():
    bound = account(record(lambda tape: tape.gaussian("x", 0.0, std=2.0, sensitivity=1.0), seed=0), "add-remove")
    found = from_account(bound, "one release")
    assert found.relation == "add-remove" and found.source == bound.method
    assert found.outermost == pytest.approx((bound.epsilon(1e-9), 1e-9))
    alpha = np.linspace(0.01, 0.99, 9)
    assert np.allclose(found.trade_off(alpha), gdp(0.25).trade_off(alpha), atol=0.02)
    bare = account(record(lambda tape: tape.gaussian("x", 0.0, std=0.0, sensitivity=1.0), seed=0))
    with pytest.raises(BadInput, match=r"account.*without noise.*bounds nothing"):
        from_account(bare, "no noise")
