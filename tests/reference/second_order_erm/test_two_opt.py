"""2OPT, 2OPT-LS, 2OPT-B: budgets, replay and filter."""

import numpy as np
import pytest

from dpassay.reference.accounting.cost import account
from dpassay.reference.noise import Multipliers
from dpassay.reference.second_order_erm import (
    calibration,
    opt,
    two_opt,
    two_opt_ls,
)
from dpassay.reference.second_order_erm.common import Accuracy
from dpassay.reference.tape import record

from .replays import transcript_of

ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


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
