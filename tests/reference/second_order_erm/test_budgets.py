"""2OPT, 2OPT-LS, DP-TR, DP-GD: budgets, replay, what passes to phase two, the exact subproblem."""

import math

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.cost import account
from dpassay.reference.noise import Multipliers
from dpassay.reference.second_order_erm import calibration, dp_gd, dp_tr, opt, two_opt, two_opt_ls, worst_case
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.second_order_erm.instances import LONGEST
from dpassay.reference.tape import ScriptedTape, record

ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


def transcript_of(module, problem, schedule):
    tape = ScriptedTape(LONGEST, 3)
    tape.transcript.output = module.run(problem, schedule, tape)
    return tape.transcript


@pytest.mark.parametrize("module", [two_opt, two_opt_ls])
@pytest.mark.parametrize("far", [True, False])
def test_two_phases_spend_at_most_the_budget_and_leave_nothing_when_forced(module, far, cancer, far_start):
    """Every step a curvature step: the accountant finds the budget, not more (line searches: a little less).

    From w0 = 0 too, where f(w0) cannot move and costs nothing, but phase two releases f elsewhere.
    """
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
