"""Where the accountant could be too low, or not come back: kinds mixed on one batch, next to no noise, huge losses."""

import math

import numpy as np
import pytest
from scipy.special import ndtr

from dpassay.audit.claims.claimed import read_claim
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.gdp import gdp_delta, gdp_epsilon, zcdp_rho
from dpassay.reference.accounting.parts import Part, composed, epsilon_of
from dpassay.reference.errors import BadInput
from dpassay.reference.tape import LiveTape

DELTA = 1e-5


def costs(release, relation="replace-one"):
    tape = LiveTape(0)
    release(tape)
    return account(tape.transcript, relation)


def joint_delta(q, mu, size, epsilon):
    """Hockey-stick of (1-q) N(0) Lap(0) + q N(mu) Lap(size) against N(0) Lap(0): closed in x, summed over y."""
    y = np.linspace(-40, 40 + size, 200_001)
    ratio = np.abs(y) - np.abs(y - size)
    cut = (np.log((np.expm1(epsilon) + q) / q) - ratio + mu**2 / 2) / mu
    out, inside = 0.5 * np.exp(-np.abs(y)), 0.5 * np.exp(-np.abs(y - size))
    return np.trapezoid((1 - q - np.exp(epsilon)) * out * ndtr(-cut) + q * inside * ndtr(mu - cut), y)


@pytest.mark.parametrize(("q", "mu", "size"), [(0.01, 3.0, 3.0), (0.001, 2.0, 2.0), (0.1, 1.0, 1.0)])
def test_gaussian_and_laplace_on_one_secret_batch(q, mu, size):
    """Amplified apart they cost 1.75 at delta 1e-5 in the last row, where the exact delta is 1.3e-4."""

    def release(tape):
        batch = tape.batch("b", round(1 / q), 1)
        tape.gaussian("g", 0.0, std=1.0, sensitivity=mu, batch=batch)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=size, batch=batch)

    assert joint_delta(q, mu, size, costs(release).epsilon(DELTA)) <= DELTA


@pytest.mark.parametrize("std", [1e-320, 1e-200])
def test_next_to_no_noise_is_none(std):
    found = costs(lambda tape: tape.gaussian("g", 0.0, std=std, sensitivity=1.0))
    assert found.epsilon(DELTA) == math.inf and "next to no noise" in found.method


@pytest.mark.parametrize("mu", [1e6, 1e12, 1e90])
def test_huge_mu_has_its_bound(mu):
    assert mu**2 / 2 <= gdp_epsilon(mu, DELTA) <= (mu**2 / 2) * (1 + 1e-12) + 6 * mu


def test_a_delta_whose_inverse_overflows():
    assert gdp_epsilon(1.0, 1e-310) == pytest.approx(38.066, abs=1e-3)
    rho = zcdp_rho(1.0, 1e-310)
    assert rho + 2 * math.sqrt(-rho * math.log(1e-310)) == pytest.approx(1.0)


@pytest.mark.parametrize("sampled", [False, True])
def test_pure_parts_beyond_the_exponential(sampled):
    """1000 + 2 = 1002 at full batch; halved odds take log 2 off."""

    def release(tape):
        batch = tape.batch("b", 10, 5) if sampled else None
        scales = {"threshold_scale": 1e-3, "query_scale": 1.0}
        tape.above_threshold("a", [0.0], threshold=0.0, **scales, sensitivity=1.0, batch=batch)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=1e-310)  # no grid point for it

    found = costs(release)
    exact = 1002 - (math.log(2) if sampled else 0)
    assert exact <= found.epsilon(DELTA) <= exact + 0.01
    assert found.delta(exact - 1) == 1.0 and found.delta(exact + 1) < DELTA


def test_a_large_gaussian_beside_another_law():
    """Both guarantees add up; composing them on one grid would take 5e12 points."""

    def release(tape):
        tape.gaussian("g", 0.0, std=1e-5, sensitivity=1.0)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=1.0)

    found, alone = costs(release), gdp_epsilon(1e5, DELTA)
    epsilon = found.epsilon(DELTA)
    assert alone <= epsilon <= alone + 1e5
    assert gdp_delta(epsilon, 1e5) <= found.delta(epsilon) <= 2 * DELTA
    assert found.delta(1.0) == 1.0


def test_the_coarse_grid_is_pessimistic_and_close():
    """Rate 1: 400 steps of noise 1/2 are 40-GDP, epsilon 800 and more."""
    curve = read_claim(None, DELTA, None, "0.5:1:400", None).guarantee
    exact = np.array([gdp_delta(float(e), 40.0) for e in curve.epsilons if e >= 0])
    ours = curve.deltas[curve.epsilons >= 0]
    assert np.all(ours >= exact * (1 - 1e-9)) and np.all(ours <= exact * 1.01 + 1e-12)


def test_a_claim_of_more_than_can_be_refuted_is_refused():
    with pytest.raises(BadInput, match=r"--sampled-gaussian.*1:0.5:10000000.*nothing that scores could refute"):
        read_claim(None, DELTA, None, "1:0.5:10000000", None)


def test_a_gap_is_a_lack_of_knowledge_or_of_noise():
    """Of all gaps: one release without noise is no lack of knowledge, whatever else is not known."""

    def claimed(tape):
        tape.gaussian("n", 0.0, std=1.0, sensitivity=None)

    def bare(tape):
        tape.gaussian("b", 0.0, std=0.0, sensitivity=1.0)

    assert costs(claimed).unknown and not costs(bare).unknown
    both = costs(lambda tape: (claimed(tape), bare(tape)))
    assert both.gap and not both.unknown
    assert both.delta(5.0) == 1.0 and both.deltas([1.0, 2.0]).tolist() == [1.0, 1.0] and both.epsilon(0.5) == math.inf
    for bad in (0.0, -0.5, 1.0):
        with pytest.raises(BadInput, match="delta"):
            both.epsilon(bad)
    assert both.mu() is None and both.one_direction(1e-5) is None and both.gap_label == "n"
    told = costs(lambda tape: tape.gaussian("g", 0.0, std=1.0, sensitivity=1.0))
    assert (
        told.delta(1.0) == pytest.approx(gdp_delta(1.0, 1.0), rel=1e-9)
        and told.gap_label == told.gap == ""
        and not told.unknown
    )


def test_one_direction_is_that_of_fixed_size_batches_of_replaced_records():
    """Below the account, whose pair covers every mixture of both; of other neighbours and samplings there is none."""
    drawn, plain = (Part("sampled", 1.0, 0.2), 5), (Part("gaussian", 0.5), 1)
    found = Account((drawn, plain))
    doubled = Account(((Part("sampled", 2.0, 0.2, "poisson"), 5), plain), relation="add-remove")
    assert found.one_direction(1e-5) == doubled.epsilon(1e-5) < found.epsilon(1e-5)
    assert Account((drawn, plain), relation="add-remove").one_direction(1e-5) is None
    assert Account((plain,)).one_direction(1e-5) is None
    assert Account((drawn, (Part("sampled", 1.0, 0.2, "poisson"), 1))).one_direction(1e-5) is None
    assert Account((drawn, (Part("pure", 800.0), 1))).one_direction(1e-5) is None


def test_a_release_that_no_record_moves_costs_nothing():
    def still(tape):
        tape.gaussian("g", 0.0, std=1.0, sensitivity=0.0)
        tape.laplace("l", 0.0, scale=1.0, sensitivity=0.0)
        tape.gaussian("b", 0.0, std=0.0, sensitivity=0.0)

    assert costs(still).common == () and costs(still).epsilon(1e-9) == 0.0


def test_a_part_that_is_pure_is_not_taken_for_above_threshold():
    """With 0 as its share a grid of tests would be asked for a query without noise."""
    pure, tested = Part("pure", 1.0), Part("above-threshold", 1.0, share=0.25)
    assert epsilon_of(((pure, 1),), "replace-one", 1e-9) == pytest.approx(1.0, abs=2e-3)
    assert composed(((tested, 1),), "replace-one", 1e-20)[0].delta(0.5) < 0.06
    assert composed(((pure, 1),), "replace-one", 1e-20)[0].delta(0.5) > 0.2
