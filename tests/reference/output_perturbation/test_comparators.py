"""The reconstructed comparators: what they spend, and that nothing escapes their account."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.cost import account
from dpassay.reference.neighbours import Pair
from dpassay.reference.output_perturbation import inexact_proximal, noisy_extragradient, noisy_gradient, phased_erm
from dpassay.reference.problems.domains import Ball
from dpassay.reference.problems.finite_sum import Convex
from dpassay.reference.problems.saddle_games import BilinearLoss
from dpassay.reference.problems.strongly_convex import LinearLoss
from dpassay.reference.tape import record

EPSILON, DELTA = 1.0, 1e-5
SIZE = 100


def pair_of(problem):
    """Two sides that differ in the sign of one record."""
    records = np.zeros((SIZE, 2))
    records[0, 0] = 1.0
    return Pair(problem(records), problem(-records), 0)


def line_pair():
    return pair_of(lambda records: Convex(LinearLoss(records), Ball(1.0)))


def game_pair():
    couplings = np.full((SIZE, 1, 1), 0.5)
    return pair_of(
        lambda linear: Convex(BilinearLoss(couplings, linear, 1.0, 1.0, 0.5, 1.0, True), Ball(1.0), Ball(1.0))
    )


ROWS = [
    (phased_erm, line_pair),
    (noisy_gradient, line_pair),
    (noisy_gradient, game_pair),
    (noisy_extragradient, game_pair),
    (inexact_proximal, game_pair),
]


@pytest.mark.parametrize(("module", "make"), ROWS)
def test_spends_its_budget_and_no_more(module, make):
    pair = make()
    schedule = module.calibrated(pair.here, 1.0, EPSILON, DELTA)
    transcript = record(lambda tape: module.run(pair.here, schedule, tape), 1)
    assert 0.97 * EPSILON < account(transcript).epsilon(DELTA) <= EPSILON * (1 + 1e-6)
    seen = lockstep(lambda p, t: module.run(p, schedule, t), pair, (2,))
    assert seen.complete
    assert not seen.findings


def test_comparators_learn_something():
    """Mean estimation in the unit ball with n = 4000: the risk falls below half of the trivial 0.6 (seeds 0-4)."""
    rng = np.random.default_rng(3)
    records = np.where(rng.random((4000, 1)) < 0.8, 1.0, -1.0)
    problem = Convex(LinearLoss(records), Ball(1.0))
    for module in (phased_erm, noisy_gradient):
        schedule = module.calibrated(problem, 1.0, EPSILON, DELTA)
        outputs = [record(lambda t, m=module, s=schedule: m.run(problem, s, t), k).output for k in range(5)]
        assert 0.6 * (1 - np.mean(outputs)) < 0.3
