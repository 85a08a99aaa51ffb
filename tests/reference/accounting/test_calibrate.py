"""The calibrator against closed forms and against dp-accounting: the noise it gives is enough, and hardly more."""

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpassay.reference.accounting.calibrate import Uncalibrated, noise_factor, noise_for, scaled
from dpassay.reference.accounting.cost import Account, Part, account
from dpassay.reference.accounting.gdp import gdp_mu
from dpassay.reference.errors import BadInput
from dpassay.reference.findings import Kind
from dpassay.reference.noise import Multipliers
from dpassay.reference.tape import record


@dataclass(frozen=True)
class Schedule:
    steps: int
    noise: Multipliers
    batch: int | None = None
    law: str = "gaussian"


def run(problem, schedule, tape):
    value = 0.0
    for _ in range(schedule.steps):
        batch = tape.batch("batch", 50, schedule.batch) if schedule.batch else None
        std = schedule.noise.std("mean", 0.5)
        if schedule.law == "gaussian":
            value = tape.gaussian("mean", float(np.mean(problem)), std=std, sensitivity=0.5, batch=batch)
        else:
            value = tape.laplace("mean", float(np.mean(problem)), scale=std, sensitivity=0.5, batch=batch)
    return value


def test_full_batches_get_the_closed_form():
    found = noise_for(run, Schedule(7, Multipliers({"mean": 3.0})), np.zeros(50), 1.0, 1e-5)
    exact = math.sqrt(7) / gdp_mu(1.0, 1e-5)
    assert exact < found.noise["mean"] < exact * (1 + 2e-6)


@settings(max_examples=6)
@given(st.integers(1, 6), st.sampled_from([None, 5, 25]), st.sampled_from(["gaussian", "laplace"]), st.floats(0.3, 4.0))
def test_the_account_meets_the_budget_and_nearly_uses_it_up(steps, batch, law, epsilon):
    schedule = Schedule(steps, Multipliers({"mean": 1.0}), batch, law)
    found = noise_for(run, schedule, np.zeros(50), epsilon, 1e-5)

    def spent(schedule):
        return account(record(lambda tape: run(np.zeros(50), schedule, tape), 0)).epsilon(1e-5)

    assert spent(found) <= epsilon
    assert spent(replace(found, noise=found.noise.scaled(0.999))) > epsilon


def test_parts_scale_as_noise_does_also_when_a_pure_release_is_sampled():
    before = Account(((Part("pure", 2.0, 0.1), 3), (Part("gaussian", 1.0), 1)))
    after = scaled(before, 4.0)
    assert after.common[0][0].pure_epsilon == pytest.approx(math.log1p(0.1 * math.expm1(0.5)))
    assert after.common[1][0].size == 0.25


def test_what_costs_nothing_keeps_its_noise():
    """No noise is too little where nothing is released: zero steps are no reason to refuse, nor to take noise away."""
    schedule = Schedule(0, Multipliers({"mean": 3.0}))
    assert noise_for(run, schedule, np.zeros(50), 1.0, 1e-5) == schedule
    assert noise_factor(Account(()), 1.0, 1e-5) == 1.0


def test_what_cannot_be_calibrated_is_refused():
    with pytest.raises(BadInput, match="noise"):
        noise_for(run, Schedule(1, Multipliers({"mean": 0.0})), np.zeros(50), 1.0, 1e-5)
    with pytest.raises(BadInput, match="no noise in reach"):
        noise_factor(Account(((Part("pure", 1e60), 1),)), 1.0, 1e-5)
    with pytest.raises(BadInput, match="label"):
        Multipliers({"a": 1.0}).std("b", 1.0)
    with pytest.raises(BadInput, match="noise_multiplier"):
        Multipliers({"a": -1.0})


def test_what_stands_in_the_way_of_a_budget_is_named():
    """A release without noise is a finding; a sensitivity that nobody claims is a lack of knowledge, and none."""
    bare = account(record(lambda tape: tape.gaussian("b", 0.0, std=0.0, sensitivity=1.0), 0))
    with pytest.raises(Uncalibrated, match="no noise level makes this accountable") as refused:
        noise_factor(bare, 1.0, 1e-5)
    found = refused.value.finding
    assert found is not None and (found.kind, found.label, found.detail) == (Kind.BARE_RELEASE, "b", bare.gap)
    unclaimed = account(record(lambda tape: tape.gaussian("u", 0.0, std=1.0, sensitivity=None), 0))
    with pytest.raises(Uncalibrated, match="no sensitivity is claimed for 'u'") as refused:
        noise_factor(unclaimed, 1.0, 1e-5)
    assert refused.value.finding is None


def test_the_dry_run_may_be_told_the_longest_answers_and_the_relation_by_name():
    """It goes on for as long as it hears 1: four releases instead of two."""

    def answered(problem, schedule, tape):
        for k in range(4):
            value = tape.gaussian("g", 0.0, std=schedule.noise.std("mean", 1.0), sensitivity=1.0)
            if k >= 1 and value < 1:
                return

    schedule = Schedule(0, Multipliers({"mean": 1.0}))
    longest = noise_for(answered, schedule, None, 1.0, 1e-5, longest=lambda label, law, step: 1.0)
    assert longest.noise["mean"] == pytest.approx(2 / gdp_mu(1.0, 1e-5), rel=2e-6)
    shortest = noise_for(answered, schedule, None, 1.0, 1e-5, longest=lambda label, law, step: 0.0)
    assert shortest.noise["mean"] == pytest.approx(math.sqrt(2) / gdp_mu(1.0, 1e-5), rel=2e-6)
    halved = noise_for(answered, schedule, None, 1.0, 1e-5, relation="add-remove", longest=lambda *_: 0.0)
    assert halved.noise["mean"] == pytest.approx(shortest.noise["mean"] / 2, rel=2e-6)
    with pytest.raises(TypeError, match="positional"):
        noise_for(answered, schedule, None, 1.0, 1e-5, "add-remove")
