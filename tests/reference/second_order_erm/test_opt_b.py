"""Mini-batches: eq. (27) to (30) and Theorem B.8 against independent values, the floor of eq. (29), replay."""

import math

import numpy as np
import pytest
from dp_accounting import dp_event, privacy_accountant, rdp

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.errors import BadInput
from dpassay.reference.second_order_erm import opt_b, worst_case
from dpassay.reference.second_order_erm import subsampled as ss
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import record

ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


def test_subsampled_rdp_against_the_written_out_sum():
    """Eq. (27) with exact binomials in plain floats."""
    for order, sigma, s in ((2, 1.5, 0.1), (5, 3.0, 0.02), (12, 2.0, 0.01)):
        total = 1 + s**2 * math.comb(order, 2) * min(4 * math.expm1(1 / sigma**2), 2 * math.exp(1 / sigma**2))
        for j in range(3, order + 1):
            total += 2 * s**j * math.comb(order, j) * math.exp((j - 1) * j / (2 * sigma**2))
        assert ss.subsampled_rdp(order, sigma, s) == pytest.approx(math.log(total) / (order - 1), rel=1e-12)


def test_eq_28_is_linear_in_the_order():
    """At order 2 there are no higher terms: 2 s^2 alpha / sigma^2 is right to 1 %, alpha^2 is twice that."""
    exact, order, sigma, rate = ss.subsampled_rdp(2, 30.0, 0.001), 2, 30.0, 0.001
    assert exact == pytest.approx(2 * rate**2 * order / sigma**2, rel=0.01)
    assert 2 * rate**2 * order**2 / sigma**2 > 1.9 * exact  # as printed


def test_eq_29_has_a_floor_that_no_noise_passes():
    """s = 0.01, T = 100: at least 0.40 for any noise; dp-accounting's RDP goes far below."""
    floor = ss.floor(100, 0.01, 1e-5)
    assert floor == pytest.approx(0.403, abs=0.001)
    with pytest.raises(BadInput, match=r"epsilon = 0.2: eq. \(29\)"):
        ss.SampledBudget(0.2, 1e-5, 0.01).sigma(100)
    assert opt_b.calibrated(100, 1, 100, 0.2, 1e-5)["gradient"] == pytest.approx(2.73, abs=0.02)
    relation = privacy_accountant.NeighboringRelation.REPLACE_ONE
    event = dp_event.SampledWithoutReplacementDpEvent(10_000, 100, dp_event.GaussianDpEvent(100.0))
    accountant = rdp.RdpAccountant(neighboring_relation=relation).compose(event, 200)
    assert accountant.get_epsilon(1e-5) < floor / 5


def test_printed_calibration_meets_its_own_bound_exactly():
    budget = ss.SampledBudget(1.0, 1e-5, 0.01)
    sigma = budget.sigma(100)
    assert ss.rdp_epsilon(budget.sigma_f, sigma, 100, 0.01, 1e-5) == pytest.approx(1.0, rel=1e-6)
    exact = opt_b.calibrated(100, 1, 100, 1.0, 1e-5)["gradient"]
    assert 0.999 <= Account(((Part("sampled", 1 / exact, 0.01), 200),)).epsilon(1e-5) <= 1.0
    assert exact < 0.6 * sigma  # the noise saved


def test_theorem_b8_states_where_its_proof_stops():
    budget = ss.AdvancedBudget(1.0, 1e-5, 0.1)
    epsilon_0, delta_0 = budget.per_release(100)
    amplified = math.log1p(0.1 * math.expm1(2 * epsilon_0))
    assert amplified <= 4 * 0.1 * epsilon_0
    total = math.sqrt(200 * math.log(2 / 0.9e-5)) * amplified + 100 * amplified * math.expm1(amplified)
    assert total <= 0.9
    assert 100 * 2 * 0.1 * delta_0 + 0.45e-5 == pytest.approx(0.9e-5)
    with pytest.raises(BadInput, match=r"0\.628"):
        ss.AdvancedBudget(1.0, 1e-5, 0.001).sigma(100)


@pytest.fixture(scope="module")
def alike(cancer, far_start):
    """All other records equal, so that the mixture over participation is exact; the target points the other way."""
    return worst_case.alike_pair(cancer, far_start)


def test_batches_change_and_the_run_ends(alike, far_start):
    here, start = alike.here, far_start
    schedule = opt_b.repaired(here, start, ACCURACY, 2.0, 1e-5, batch=5)
    transcript = record(lambda tape: opt_b.run(here, schedule, tape), 1)
    assert len({tuple(rows) for rows in transcript.batches}) > 1
    assert np.isfinite(transcript.output.w).all()
    with pytest.raises(BadInput, match="batch"):
        opt_b.repaired(here, start, ACCURACY, 2.0, 1e-5, batch=101)
