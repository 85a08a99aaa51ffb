"""second_order_erm: steps, calibration and leak of Algorithm 1, line searches, batches, two phases, trust regions."""

import dataclasses
import math
from itertools import product
from math import ceil, sqrt

import numpy as np
import pytest
from dp_accounting import dp_event, privacy_accountant, rdp
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.cost import Account, account
from dpassay.reference.accounting.parts import Part
from dpassay.reference.errors import BadInput
from dpassay.reference.laws.above_threshold import AboveThreshold
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import LOGISTIC, Loss, loss_a, saturating
from dpassay.reference.second_order_erm import (
    calibration,
    dp_gd,
    dp_tr,
    eigen,
    opt,
    opt_b,
    opt_ls,
    two_opt,
    two_opt_ls,
    worst_case,
)
from dpassay.reference.second_order_erm import line_search as ls
from dpassay.reference.second_order_erm import subsampled as ss
from dpassay.reference.second_order_erm.common import Accuracy, Sensitivities, descent_sign
from dpassay.reference.second_order_erm.eigen import Dense
from dpassay.reference.second_order_erm.worst_case import LONGEST
from dpassay.reference.tape import ScriptedTape, record


@pytest.fixture(scope="session")
def cancer():
    """100 records of the breast-cancer set, loss A."""
    return worst_case.first_records(ErmProblem(*real_data.breast_cancer(), loss_a()), 100)


@pytest.fixture(scope="session")
def far_start(cancer):
    """A public start away from zero, so that f(w0) moves when a record is replaced."""
    start = np.zeros(cancer.d)
    start[0] = 6.0
    return start


@pytest.fixture(scope="session")
def curved():
    """A problem with strong negative curvature near |w_i| = 1: loss A with weight 1, in four dimensions."""
    rng = np.random.default_rng(8)
    x = real_data.into_unit_ball(rng.normal(size=(60, 4)))
    return ErmProblem(x, rng.choice([-1.0, 1.0], 60), Loss("curved", LOGISTIC, saturating(1.0)))


@pytest.fixture(scope="session")
def noisy(curved):
    """Draws a tolerance, a point, gradient and Hessian with noise inside eq. (9), and the smallest eigenpair."""

    def draw(data):
        rng = np.random.default_rng(data.draw(st.integers(0, 2**32)))
        accuracy = Accuracy(gradient=data.draw(st.floats(0.01, 2.0)), curvature=data.draw(st.floats(0.01, 0.4)))
        w, k = rng.uniform(-2, 2, curved.d), curved.constants()
        room = min(accuracy.c1 * accuracy.gradient, accuracy.c2 / k.hessian_lipschitz * accuracy.curvature**2)
        noise, spread = rng.normal(size=curved.d), rng.normal(size=(curved.d, curved.d))
        spread += spread.T
        g = curved.gradient(w) + room * noise / np.linalg.norm(noise)
        H = curved.hessian(w) + accuracy.c * accuracy.curvature * spread / np.linalg.norm(spread, 2)
        return accuracy, w, g, *Dense().pair(H, 1.0, None)

    return draw


FINE, ACCURACY = Accuracy(0.15, 0.12), Accuracy(gradient=0.3, curvature=0.3)


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
        module.repaired(problem, start, FINE, 1.0, 1e-5)
        for problem in (cancer, cancer.replace(3, -cancer.features[3], 1.0))
        for start in (far_start, np.zeros(cancer.d))
    ]
    assert len({schedule.noise for schedule in schedules}) == 1


def test_iteration_bound_covers_f_with_the_stated_probability(cancer, far_start):
    """Repaired T * MIN_DEC >= f(w0) in at least 99 % of 2,000 seeds, less 3 standard errors (0.67 %)."""
    schedule = opt.repaired(cancer, far_start, FINE, epsilon=1.0, delta=1e-5)
    value = cancer.value(far_start)
    enough = []
    for seed in range(2_000):
        bound = lambda tape: opt.iteration_bound(cancer, schedule, tape, schedule.minimum_decrease)  # noqa: E731
        enough.append(record(bound, seed).output * schedule.minimum_decrease >= value)
    assert np.mean(enough) >= 0.99 - 0.0067


@pytest.mark.parametrize(
    ("field", "make"),
    [
        ("epsilon_g", lambda: Accuracy(0.0, 1.0)),
        ("epsilon_H", lambda: Accuracy(1.0, -1.0)),
        ("c1", lambda: Accuracy(1.0, 1.0, c1=0.5)),
        ("c + c2", lambda: Accuracy(1.0, 1.0, c=0.3)),
        ("c_g", lambda: ls.LineSearch(c_g=0.95).check(ACCURACY)),
        ("c_H", lambda: ls.LineSearch(c_H=0.5).check(ACCURACY)),
        ("b", lambda: ls.LineSearch(b_g=1.0).check(ACCURACY)),
        ("beta_g", lambda: ls.LineSearch(beta_g=1.0).check(ACCURACY)),
        ("beta_H", lambda: ls.LineSearch(beta_H=0.1).check(ACCURACY)),
    ],
)
def test_parameters_outside_the_lemmas_are_named(field, make):
    with pytest.raises(BadInput) as caught:
        make()
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


def test_batches_change_and_are_no_larger_than_the_data(cancer, far_start):
    schedule = opt_b.repaired(cancer, far_start, ACCURACY, 2.0, 1e-5, batch=5)
    transcript = record(lambda tape: opt_b.run(cancer, schedule, tape), 1)
    assert len({tuple(rows) for rows in transcript.batches}) > 1
    with pytest.raises(BadInput, match="batch"):
        opt_b.repaired(cancer, far_start, ACCURACY, 2.0, 1e-5, batch=101)


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
    """gamma_init = b_g gamma-bar_g and b_H gamma-bar_H, and sensitivities follow; almost no noise."""
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
            smallest = np.linalg.eigvalsh(from_upper(released["hessian"], curved.d))[0]
            expected, trials = 3 * t2 * abs(smallest) / schedule.hessian_lipschitz, 3  # 0.6^2 > 1/3 > 0.6^3
        else:
            released[release.label] = release.value
            continue
        assert release.sensitivity == pytest.approx(1e-9 * expected, rel=1e-9)
        assert len(release.law.all_queries()) == trials
    outcome = transcript.output
    assert outcome.certified and outcome.gradient_steps > 0 and outcome.curvature_steps > 0
    assert any(one.value == 0 for one in transcript.releases if one.label.startswith("line search"))


def from_upper(upper, d):
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
    # exp(1 / lambda) overflows beyond lambda = 1/709; mu grows like sqrt(2 / lambda)
    assert ls.gaussian_parameter(1e-9, 4, 0.5) == pytest.approx((2e9) ** 0.5 * 2, rel=1e-3)


def transcript_of(module, problem, schedule):
    tape = ScriptedTape(LONGEST, 3)
    tape.transcript.output = module.run(problem, schedule, tape)
    return tape.transcript


@pytest.mark.parametrize("module", [two_opt, two_opt_ls])
@pytest.mark.parametrize("far", [True, False])
def test_two_phases_spend_at_most_the_budget_and_leave_nothing_when_forced(module, far, cancer, far_start):
    """Every step a curvature step; from w0 = 0 too, where f(w0) cannot move, but phase two releases f elsewhere."""
    start = far_start if far else np.zeros(cancer.d)
    schedule = module.repaired(cancer, start, ACCURACY, 1.0, 1e-5, hope=20.0)
    transcript = transcript_of(module, cancer, schedule)
    assert sum(r.label == "initial value" for r in transcript.releases) == 2
    epsilon = account(transcript).epsilon(1e-5)
    assert ((0.999 if far else 0.95) if module is two_opt else 0.85) < epsilon <= 1.0


@pytest.mark.parametrize("module", [two_opt, two_opt_ls])
def test_unspent_hessians_pass_to_the_second_phase(module, cancer, far_start):
    """A run without Hessians spends the whole budget too, because phase two gets what phase one kept."""
    schedule = module.repaired(cancer, far_start, ACCURACY, 1.0, 1e-5, hope=20.0)
    transcript = record(lambda tape: module.run(cancer, schedule, tape), 5)
    stds = [r.law.std for r in transcript.releases if r.label == "gradient"]
    first, second = stds[0], stds[-1]
    assert first < second  # fewer steps, less noise
    assert account(transcript).epsilon(1e-5) <= 1.0


def test_realised_cost_is_what_the_accountant_reads(cancer, far_start):
    """Theorem 1 by counts equals the transcript's rho, for certified and for exhausted runs."""
    for accuracy in (Accuracy(0.3, 0.3), Accuracy(9.0, 9.0)):
        schedule = opt.repaired(cancer, far_start, accuracy, 1.0, 1e-5)
        transcript = record(lambda tape, s=schedule: opt.run(cancer, s, tape), 6)
        std = next(r.law.std for r in transcript.releases if r.label == "gradient")
        sigma = std / schedule.sensitivity.gradient
        by_counts = calibration.gaussian_cost(schedule.noise.sigma_f)
        noise = Multipliers({"gradient": sigma, "hessian": sigma})
        by_counts += two_opt.realised_cost(schedule, noise, transcript.output)
        assert account(transcript).mu() ** 2 / 2 == pytest.approx(by_counts, rel=1e-9)


def test_step_counts_of_the_tables():
    """M = 1 and a gap of 1/2 give the Hessian evaluations of Tables 6 and 8."""
    for alpha, printed in ((0.04, 375), (0.02, 1061)):
        assert dp_tr.step_count(Accuracy(alpha, math.sqrt(alpha)), 1.0, 0.5) == printed


def test_trust_region_subproblem_is_solved_exactly():
    """Optimality (More and Sorensen): (H + m I) h = -g, m >= 0, H + m I psd, m (r - ||h||) = 0; 300 cases."""
    rng = np.random.default_rng(41)
    for case in range(300):
        H = rng.normal(size=(5, 5))
        H = H + H.T + (8 * np.eye(5) if case % 3 == 0 else 0)
        values, vectors = np.linalg.eigh(H)
        g = rng.normal(size=5) * 10.0 ** rng.integers(-3, 2)
        if case % 5 == 0:  # hard case: g across the lowest eigenvector
            g = g - (g @ vectors[:, 0]) * vectors[:, 0]
            g *= 1e-2
        radius = float(rng.uniform(0.1, 2))
        h = dp_tr.trust_region_step(g, values, vectors, radius)
        assert np.linalg.norm(h) <= radius * (1 + 1e-6)
        model = g @ h + h @ H @ h / 2
        others = rng.normal(size=(400, 5))
        others *= radius * rng.uniform(size=(400, 1)) ** 0.2 / np.linalg.norm(others, axis=1, keepdims=True)
        assert model <= (others @ g + np.einsum("ki,ij,kj->k", others, H, others) / 2).min() + 1e-7
        m = -(h @ (H @ h + g)) / (h @ h)
        assert np.linalg.norm(H @ h + m * h + g) <= 1e-5 * max(1, np.linalg.norm(g))
        assert m >= max(0.0, -values[0]) - 1e-5


def test_gradient_descent_searches_its_iterates(cancer):
    start = np.zeros(cancer.d)
    schedule = dp_gd.repaired(cancer, start, Accuracy(0.2, 0.2), 1.0, 1e-5)
    transcript = transcript_of(dp_gd, cancer, schedule)
    hessians = sum(r.label == "hessian" for r in transcript.releases)
    assert hessians == schedule.steps
    assert account(transcript).epsilon(1e-5) == pytest.approx(1.0, abs=1e-5)
    pair = worst_case.opposed_pair(cancer, start)
    assert not lockstep(lambda problem, tape: dp_gd.run(problem, schedule, tape), pair, [4]).findings
    quiet = dp_gd.printed(cancer, start, Accuracy(0.2, 0.2), 1e9, 0.5)
    outcome = record(lambda tape: dp_gd.run(cancer, quiet, tape), 1).output
    assert outcome.certified and np.linalg.norm(cancer.gradient(outcome.w)) <= 0.2
