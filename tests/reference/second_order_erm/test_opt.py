"""Algorithm 1: replay finds the leak of eq. (6), the repair has none; decrease, calibration, delta of the leak."""

import dataclasses
import math
from math import ceil, sqrt

import numpy as np
import pytest
from dp_accounting import dp_event, privacy_accountant, rdp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay.reference.accounting.cost import Account, Part
from dpassay.reference.errors import BadInput
from dpassay.reference.second_order_erm import eigen, opt, opt_b, opt_ls, worst_case
from dpassay.reference.second_order_erm import subsampled as ss
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, descent_sign
from dpassay.reference.tape import record

ACCURACY = Accuracy(gradient=0.15, curvature=0.12)


def test_exact_delta_of_the_leak():
    """Closed form against the sum over T, against 200,000 draws (5 standard errors), and on an edge."""
    std, decrease = 0.9, 0.13
    low, high = worst_case.StepBound(0.81, std, decrease), worst_case.StepBound(0.90, std, decrease)
    exact = worst_case.pair_delta_infinity(low, high)
    assert exact == pytest.approx(worst_case.pair_delta(low, high, epsilon=30.0), rel=1e-9)
    z = np.abs(np.random.default_rng(11).normal(scale=std, size=200_000))
    impossible = np.ceil((0.81 + z) / decrease) < ceil(0.90 / decrease)
    assert impossible.mean() == pytest.approx(exact, abs=5 * sqrt(exact / 200_000))
    edge = 7 * decrease * (1 + 1e-12)
    low, high = worst_case.StepBound(edge - 0.09, std, decrease), worst_case.StepBound(edge, std, decrease)
    assert worst_case.pair_delta_infinity(low, high) == pytest.approx(2 * norm.cdf(0.09 / std) - 1, rel=1e-9)
    assert worst_case.worst_case_delta(10.0) == pytest.approx(2 * norm.cdf(0.1) - 1)


@settings(max_examples=40)
@given(data=st.data())
def test_steps_decrease_as_lemma_2_says(curved, noisy, data):
    """Noise inside eq. (9): a short step lowers f by at least MIN_DEC (checked on the true f)."""
    (accuracy, w, g, smallest, p), k = noisy(data), curved.constants()
    if np.linalg.norm(g) > accuracy.gradient:
        after = w - g / k.smoothness
    elif smallest < -accuracy.curvature:
        after = w + 2 * abs(smallest) / k.hessian_lipschitz * descent_sign(p, g)
    else:
        return
    least = opt.minimum_decrease(accuracy, k.smoothness, k.hessian_lipschitz)
    assert curved.value(w) - curved.value(after) >= least * (1 - 1e-9)


@pytest.mark.parametrize(("kind", "curvature"), [(eigen.Dense, 0.05), (eigen.Lanczos, 0.1)])
def test_both_kinds_of_step_and_a_certified_end(kind, curvature, curved):
    """Almost no noise: the run ends certified at a ((1 + c1) eps_g, (1 + c) eps_H)-2NS (Corollary 3)."""
    start, accuracy = np.full(curved.d, 1.5), Accuracy(gradient=1.0, curvature=curvature)
    schedule = opt.repaired(curved, start, accuracy, epsilon=1.0, delta=1e-5)
    quiet = dataclasses.replace(schedule, sensitivity=Sensitivities(1e-9, 1e-9, 1e-9), eigen=kind())
    outcome = record(lambda tape: opt.run(curved, quiet, tape), 2).output
    assert outcome.certified and outcome.gradient_steps > 0 and outcome.curvature_steps > 0
    assert np.linalg.norm(curved.gradient(outcome.w)) <= 1.1 * accuracy.gradient
    allowed = (1.1 if kind is eigen.Dense else 1.0) * curvature
    assert np.linalg.eigvalsh(curved.hessian(outcome.w))[0] >= -allowed


@pytest.mark.parametrize("module", [opt, opt_ls])
def test_noise_does_not_depend_on_the_records_or_on_the_start(module, cancer, far_start):
    """A schedule is public; at w0 = 0, where f(w0) cannot move, f is paid for all the same."""
    schedules = [
        module.repaired(problem, start, ACCURACY, 1.0, 1e-5)
        for problem in (cancer, cancer.replace(3, -cancer.features[3], 1.0))
        for start in (far_start, np.zeros(cancer.d))
    ]
    assert len({schedule.noise for schedule in schedules}) == 1


def test_iteration_bound_covers_f_with_the_stated_probability(cancer, far_start):
    """Repaired T * MIN_DEC >= f(w0) in at least 99 % of 2,000 seeds, less 3 standard errors (0.67 %)."""
    schedule = opt.repaired(cancer, far_start, ACCURACY, epsilon=1.0, delta=1e-5)
    value = cancer.value(far_start)
    enough = []
    for seed in range(2_000):
        bound = lambda tape: opt.iteration_bound(cancer, schedule, tape, schedule.minimum_decrease)  # noqa: E731
        enough.append(record(bound, seed).output * schedule.minimum_decrease >= value)
    assert np.mean(enough) >= 0.99 - 0.0067


@pytest.mark.parametrize(
    ("arguments", "field"),
    [
        ({"gradient": 0.0, "curvature": 1.0}, "epsilon_g"),
        ({"gradient": 1.0, "curvature": -1.0}, "epsilon_H"),
        ({"gradient": 1.0, "curvature": 1.0, "c1": 0.5}, "c1"),
        ({"gradient": 1.0, "curvature": 1.0, "c": 0.3}, "c + c2"),
    ],
)
def test_impossible_accuracy_is_named(arguments, field):
    with pytest.raises(BadInput) as caught:
        Accuracy(**arguments)
    assert caught.value.field == field


# Lanczos against the dense eigenvalue, the accuracy of Lemma C.1, products without the Hessian.
def symmetric(rng, d):
    spread = rng.normal(size=(d, d))
    return (spread + spread.T) / 2


@pytest.mark.parametrize("d", [1, 2, 10, 60])
def test_full_lanczos_equals_the_dense_eigenpair(d):
    rng = np.random.default_rng(31)
    matrix = symmetric(rng, d)
    exact = np.linalg.eigvalsh(matrix)[0]
    value, vector = eigen.lanczos(lambda v: matrix @ v, rng.normal(size=d), d)
    assert value == pytest.approx(exact, abs=1e-10 * max(1, abs(exact)) * d)
    assert np.linalg.norm(matrix @ vector - value * vector) <= 1e-7
    assert np.linalg.norm(vector) == pytest.approx(1)


def test_lemma_c1_reaches_half_the_accuracy():
    """200 matrices, d = 80, failure probability 1e-3 each: 0.2 misses expected, 3 allowed (false alarm 1e-4)."""
    rng, misses = np.random.default_rng(32), 0
    for _ in range(200):
        matrix = symmetric(rng, 80)
        matrix /= np.linalg.norm(matrix, 2)
        count = eigen.iterations(80, 1.0, 0.3, 1e-3)
        assert count < 80
        value, _ = eigen.lanczos(lambda v, m=matrix: m @ v, rng.normal(size=80), count)
        exact = np.linalg.eigvalsh(matrix)[0]
        assert value >= exact - 1e-12
        misses += value > exact + 0.15
    assert misses <= 3


@pytest.mark.parametrize("module", [opt, opt_ls])
def test_lanczos_steps_begin_at_half_the_curvature_so_more_steps_are_allowed(module, curved):
    """Appendix C: epsilon_H / 2 takes the place of epsilon_H, so MIN_DEC by curvature is an eighth."""
    dense = module.repaired(curved, np.zeros(curved.d), Accuracy(gradient=100.0, curvature=0.1), 1.0, 1e-5)
    lanczos = dataclasses.replace(dense, eigen=eigen.Lanczos())
    assert lanczos.minimum_decrease == pytest.approx(dense.minimum_decrease / 8)


# Mini-batches: eq. (27) to (30) and Theorem B.8 against independent values, the floor of eq. (29), replay.
OF_B = Accuracy(gradient=0.3, curvature=0.3)


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
    schedule = opt_b.repaired(here, start, OF_B, 2.0, 1e-5, batch=5)
    transcript = record(lambda tape: opt_b.run(here, schedule, tape), 1)
    assert len({tuple(rows) for rows in transcript.batches}) > 1
    assert np.isfinite(transcript.output.w).all()
    with pytest.raises(BadInput, match="batch"):
        opt_b.repaired(here, start, OF_B, 2.0, 1e-5, batch=101)
