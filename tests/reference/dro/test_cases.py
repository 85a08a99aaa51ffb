"""Every case of the catalogue builds, accounts and runs in lockstep; findings are the known ones and no others."""

import numpy as np
import pytest

from dpassay.audit.likelihood.bound import audit_likelihood
from dpassay.audit.likelihood.samplers import LockstepSampler
from dpassay.reference.catalogue import find
from dpassay.reference.dro import double_spider
from dpassay.reference.dro.cases import CASES
from dpassay.reference.dro.constants import Constants
from dpassay.reference.dro.divergences import chi_square
from dpassay.reference.dro.double_spider import Threshold
from dpassay.reference.dro.objective import DualObjective
from dpassay.reference.dro.plan import Plan
from dpassay.reference.dro.space import Waves
from dpassay.reference.dro.worst_case import dual_pair

BY_KEY = {case.key: case for case in CASES}


@pytest.mark.some(1)
@pytest.mark.parametrize(
    "key", ["dro/double_spider:chi_square@repaired", "dro/recursive_spider:line 16 as printed@repaired"]
)
def test_the_worst_pair_reaches_the_accounting(key):
    """150 runs (seed 1) show more than 0.86 of the accounted epsilon, and not more than all of it."""
    instance = BY_KEY[key].build()
    spent = instance.accounted().epsilon(1e-5)
    sampler = LockstepSampler(instance.mechanism, instance.pair)
    bound, losses = audit_likelihood(sampler, 1e-5, claimed=1.0, runs=150, pilot=100, seed=1)
    assert 0.86 * spent <= bound.epsilon <= spent
    assert all(movement.share == pytest.approx(1.0, abs=0.01) for movement in losses.movements.values())


@pytest.mark.parametrize("key", [key for key, case in BY_KEY.items() if "spider" in key and case.reading == "printed"])
def test_completions_are_those_of_the_variant(key):
    """The thresholds, the clipping and the noise rule that a row lists are those that it runs with."""
    texts, schedule = " / ".join(BY_KEY[key].completions), BY_KEY[key].build().schedule
    if "double_spider" in key:
        assert schedule.eta_clip == schedule.x_clip
        assert f"C_1 = C_3 = {schedule.x_clip:g}" in texts
        assert ("every record's term is clipped" in texts) == (schedule.clip_mode == "each")
    else:
        rules = {"own move": "(Theorem 3;", "no move": "sigma_2 as Theorem 8", "move of w": "sigma_4 follow ||w_t"}
        assert [rule for rule, text in rules.items() if text in texts] == [schedule.lines.lines_11_12]
        assert ("the first step refreshes" in texts) == (schedule.lines.line_4 == "t - 1 mod q = 0")


def test_constants_of_the_repaired_double_spider_bound_the_gradients_and_its_list_says_so():
    """G = 3, L = 2, M = 1.5, lambda = 2: slopes of the gradients of eq. (3) in the other variable, by hand."""
    constants = Constants(lipschitz=3.0, smoothness=2.0, conjugate_smoothness=1.5, weight=2.0)
    plan = Plan(n=10, steps=4, phase=2, batch=10)
    problem = dual_pair(chi_square(), plan.n).here
    mended = double_spider.repaired(problem, plan, constants, 1.0, 1e-5)
    printed = double_spider.printed(plan, constants, 1.0, 1e-5)
    cross = 3.0**2 * 1.5 / 2.0  # of G (1 - psi*'((l - G eta)/lambda)) in x, and of psi*'(...) grad l in eta
    assert (mended.eta_threshold.per_x, mended.x_threshold.per_eta) == (cross, cross)
    assert (printed.eta_threshold.per_x, printed.x_threshold.per_eta) == (3.0 * 1.5 / 2.0, 1.5 * 2.0 / 2.0)
    assert mended.x_step != printed.x_step and mended.move_cap != printed.move_cap
    assert all(word in " ".join(double_spider.REPAIRS) for word in ("cross terms", "beta_t"))


def test_the_dual_gradients_of_two_records_differ_as_far_as_is_said():
    """Random waves, places and moves (seed 0): a third of 2 C_1, and half of 2 C_2; both are come upon."""
    (case,) = [one for one in find("dro/double_spider") if one.variant == "assumptions hold"]
    assert "0.333" in case.attainable["eta/refresh"] and "0.5" in case.attainable["eta/difference"]
    made = case.build().schedule
    assert made.eta_clip == 1.5 and made.eta_threshold == Threshold(per_x=1.0, per_eta=1.0)
    rng = np.random.default_rng(0)
    most = {"refresh": 0.0, "difference": 0.0}
    for _ in range(4000):
        angles = rng.uniform(0, 2 * np.pi, 2)
        rows = np.column_stack([np.cos(angles), np.sin(angles)]) * (1 if rng.random() < 0.7 else rng.random((2, 1)))
        problem = DualObjective(Waves(rows, 1), chi_square(), 1.0)
        x, eta = rng.uniform(0, np.pi, 1), rng.uniform(-1, 3)
        move = 0.1 * rng.standard_normal(2) * [1, rng.choice([0, 1, 1e-3])]
        here, there = problem.eta_gradients(x, eta), problem.eta_gradients(x + move[:1], eta + move[1])
        change = there - here
        most["refresh"] = max(most["refresh"], abs(here[0] - here[1]) / 3)
        clip = made.eta_threshold.after(abs(move[0]), abs(move[1]))
        most["difference"] = max(most["difference"], abs(change[0] - change[1]) / (2 * clip))
    assert 0.33 < most["refresh"] <= 1 / 3 + 1e-12
    assert 0.49 < most["difference"] <= 0.5 + 1e-9
