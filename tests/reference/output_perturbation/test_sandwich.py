"""Claimed, accounted, realised for Algorithms 1 to 5 and Section 4.3 on their worst pairs, in lockstep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.output_perturbation import (
    algorithm4,
    algorithms4and5,
    worst_case,
)
from dpassay.reference.output_perturbation.phases import phases
from dpassay.reference.problems.bent_game import BentGameSolver
from dpassay.reference.solvers.exact import Exact

EPSILON, DELTA = 0.8, 1e-5
SIZE, MU = 64, 0.05
PLAN = phases(SIZE, MU)


def realised_mu(run, pair, stds):
    """Exact sensitivity/std of the pair, from the lockstep movements; no finding is allowed."""
    seen = lockstep(run, pair, (3,))
    assert seen.complete and not seen.findings and not seen.inexact
    return float(np.sqrt(sum((seen.movements[label].moved / std) ** 2 for label, std in stds.items())))


def phase_stds(schedule):
    moved = enumerate(schedule.sensitivities, start=1)
    labels = {f"{schedule.block}/{k}": sensitivity for k, sensitivity in moved}
    return {label: schedule.noise.std(label, sensitivity) for label, sensitivity in labels.items()}


@pytest.mark.parametrize("size", [16, 64])
def test_composition_of_4_and_5_needs_two_gaussians(size):
    """A pair that moves both halves spends almost the whole budget; with one coupling everywhere x or y is spared."""
    plan = phases(size, MU)
    bent, straight = worst_case.for_algorithms4and5(size, plan, MU), worst_case.for_algorithm4(size, plan, MU, 2)
    spent = []
    for pair, solver in ((bent, BentGameSolver()), (straight, Exact())):
        schedules = algorithms4and5.repaired(pair.here, MU, EPSILON, DELTA, solver=solver)
        stds = {
            label: std
            for half in (schedules.x_half, schedules.y_half)
            for label, std in phase_stds(replace(half, noise=schedules.noise)).items()
        }
        mu = realised_mu(lambda p, t, s=schedules: algorithms4and5.run(p, s, t), pair, stds)
        spent.append(gdp_epsilon(mu, DELTA) / EPSILON)
    assert 0.96 < spent[0] <= 1
    assert 0.6 < spent[1] < 0.72


def test_printed_noise_is_the_formula_also_on_a_loss_with_curvature_of_its_own():
    """Line 5 of Algorithm 4 has mu_k and mu, whatever the loss adds; the repaired reading uses what it adds."""
    problem = worst_case.for_strongly_concave(SIZE, PLAN, 1.0).here
    scale = 8 / (PLAN.length * EPSILON) * np.sqrt(2 * np.log(5 / DELTA))
    wanted = [scale / np.sqrt(mu_k * MU) for mu_k in PLAN.regularisers]
    assert list(phase_stds(algorithm4.printed(problem, MU, EPSILON, DELTA)).values()) == pytest.approx(wanted)
    flat = worst_case.for_algorithm4(SIZE, PLAN, MU).here
    curved, plain = (list(phase_stds(algorithm4.repaired(p, MU, EPSILON, DELTA)).values()) for p in (problem, flat))
    assert all(less < more for less, more in zip(curved[1:], plain[1:], strict=True))
