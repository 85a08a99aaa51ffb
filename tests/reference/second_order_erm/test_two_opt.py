"""2OPT, DP-TR, DP-GD: budgets, replay, the exact subproblem, filter and odometer."""

import math

import numpy as np
import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.replay import ReplayDiverged, ReplayTape
from dpassay.reference.second_order_erm import (
    filters,
    gradient_descent,
    neighbours,
    opt_b,
    opt_ls,
    opt,
    trust_region,
    two_phase,
)
from dpassay.reference.second_order_erm.cases import LONGEST
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import ScriptedTape, record

ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


def transcript_of(module, problem, schedule):
    tape = ScriptedTape(LONGEST, 3)
    tape.transcript.output = module.run(problem, schedule, tape)
    return tape.transcript


def findings(module, schedule, one, other, seed=4):
    replay = ReplayTape(record(lambda tape: module.run(one, schedule, tape), seed))
    try:
        return replay.close(module.run(other, schedule, replay))
    except ReplayDiverged:
        return replay.findings


@pytest.mark.parametrize("inner", [opt, opt_ls])
def test_two_phases_spend_at_most_the_budget_and_leave_nothing_when_forced(inner, cancer, far_start):
    """Every step a curvature step: the accountant finds the budget, not more (line searches: a little less)."""
    schedule = two_phase.Schedule(inner.repaired(cancer, far_start, ACCURACY, 1.0, 1e-5))
    transcript = transcript_of(two_phase, cancer, schedule)
    assert sum(r.label == "initial value" for r in transcript.releases) == 2
    epsilon = account(transcript).epsilon(1e-5)
    assert (0.999 if inner is opt else 0.92) < epsilon <= 1.0


@pytest.mark.parametrize("inner", [opt, opt_ls])
def test_unspent_hessians_pass_to_the_second_phase(inner, cancer, far_start):
    """A run without Hessians spends the whole budget too, because phase two gets what phase one kept."""
    schedule = two_phase.Schedule(inner.repaired(cancer, far_start, Accuracy(0.3, 0.3), 1.0, 1e-5))
    transcript = record(lambda tape: two_phase.run(cancer, schedule, tape), 5)
    stds = [r.law.std for r in transcript.releases if r.label == "gradient"]
    first, second = stds[0], stds[-1]
    assert first < second  # fewer steps, less noise
    assert account(transcript).epsilon(1e-5) <= 1.0


def test_two_phase_replay(cancer, far_start):
    pair = worst_case.aligned_pair(cancer, far_start)
    one, other = pair.here, pair.there
    fine = Accuracy(gradient=0.15, curvature=0.12)
    clean = two_phase.Schedule(opt.repaired(cancer, far_start, fine, 1.0, 1e-5))
    printed = two_phase.Schedule(opt.printed(cancer, far_start, fine, 1.0, 1e-5), hope=1.0)
    assert findings(two_phase, clean, one, other) == []
    assert findings(two_phase, printed, one, other)[0].kind == Kind.NOISE_SCALE


def test_two_phase_batches_end_within_the_split_budget(cancer, far_start):
    base = opt_b.repaired(cancer, far_start, ACCURACY, 2.0, 1e-5, batch=5)
    transcript = transcript_of(two_phase, cancer, two_phase.Schedule(base))
    assert account(transcript).epsilon(1e-5) <= 2.0


@pytest.mark.parametrize("batch_size", [None, 10])
@pytest.mark.parametrize("reading", ["printed", "repaired"])
def test_trust_region_stays_within_its_claim(cancer, reading, batch_size):
    start = np.zeros(cancer.d)
    arguments = {"batch_size": batch_size}
    epsilon = 30.0 if batch_size and reading == "printed" else 2.0
    schedule = trust_region.make(reading, cancer, start, Accuracy(0.1, 0.1), epsilon, 1e-5, **arguments)
    assert account(transcript_of(trust_region, cancer, schedule)).epsilon(1e-5) <= epsilon
    pair = worst_case.opposed_pair(cancer, start)
    one, other = pair.here, pair.there
    assert findings(trust_region, schedule, one, other) == []


def test_step_counts_of_the_tables():
    """M = 1 and a gap of 1/2 give the Hessian evaluations of Tables 6 and 8."""
    for alpha, printed in ((0.04, 375), (0.02, 1061)):
        assert trust_region.step_count(Accuracy(alpha, math.sqrt(alpha)), 1.0, 0.5) == printed


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
        h = trust_region.trust_region_step(g, values, vectors, radius)
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
    schedule = gradient_descent.make("repaired", cancer, start, Accuracy(0.2, 0.2), 1.0, 1e-5)
    transcript = transcript_of(gradient_descent, cancer, schedule)
    hessians = sum(r.label == "hessian" for r in transcript.releases)
    assert hessians == schedule.steps
    assert account(transcript).epsilon(1e-5) == pytest.approx(1.0, abs=1e-6)
    pair = worst_case.opposed_pair(cancer, start)
    one, other = pair.here, pair.there
    assert findings(gradient_descent, schedule, one, other) == []
    quiet = gradient_descent.make("printed", cancer, start, Accuracy(0.2, 0.2), 1e9, 0.5)
    outcome = record(lambda tape: gradient_descent.run(cancer, quiet, tape), 1).output
    assert outcome.certified and np.linalg.norm(cancer.gradient(outcome.w)) <= 0.2


def test_filter_refuses_and_odometer_costs_more_than_the_filter():
    kept = filters.Filter(0.5)
    kept.charge(filters.gaussian_cost(2.0, count=3))
    assert kept.left == pytest.approx(0.125)
    assert not kept.allows(0.13)
    with pytest.raises(BadInput, match="cost"):
        kept.charge(0.13)
    for spent in (0.001, 0.02, 0.3):
        assert filters.odometer_epsilon(spent, 1e-5) > gdp_epsilon(math.sqrt(2 * spent), 1e-5)
    reported = [filters.odometer_epsilon(s, 1e-5) for s in np.linspace(0, 0.5, 50)]
    assert reported == sorted(reported)


def test_realised_cost_is_what_the_accountant_reads(cancer, far_start):
    """Theorem 1 by counts equals the transcript's rho, for certified and for exhausted runs."""
    for accuracy in (Accuracy(0.3, 0.3), Accuracy(9.0, 9.0)):
        schedule = opt.repaired(cancer, far_start, accuracy, 1.0, 1e-5)
        transcript = record(lambda tape, s=schedule: opt.run(cancer, s, tape), 6)
        std = next(r.law.std for r in transcript.releases if r.label == "gradient")
        sigma = std / schedule.sensitivity.gradient
        by_counts = filters.gaussian_cost(schedule.budget.sigma_f)
        by_counts += two_phase.realised_cost(schedule, transcript.output, sigma)
        assert account(transcript).mu() ** 2 / 2 == pytest.approx(by_counts, rel=1e-9)
