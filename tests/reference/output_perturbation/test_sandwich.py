"""Claimed, accounted, realised for Algorithms 1 to 5 and Section 4.3 on their worst pairs, in lockstep."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dpassay.audit.lockstep.run import lockstep
from dpassay.reference.accounting.gdp import gdp_epsilon
from dpassay.reference.output_perturbation import (
    algorithm1,
    algorithm2,
    algorithm3,
    algorithm4,
    algorithm5,
    algorithms4and5,
    strongly_concave,
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


def test_algorithm2_printed_pays_for_solver_error_repaired_is_tight():
    mus = {}
    for reading in (algorithm2.printed, algorithm2.repaired):
        pair = worst_case.for_algorithm2(SIZE, 2, PLAN, phase=3)
        schedule = reading(pair.here, MU, EPSILON, DELTA)
        labels = {f"x/{k}": s for k, s in enumerate(schedule.sensitivities, start=1)}
        stds = {label: schedule.noise.std(label, s) for label, s in labels.items()}
        mus[reading.__name__] = realised_mu(lambda p, t, s=schedule: algorithm2.run(p, s, t), pair, stds)
    assert gdp_epsilon(mus["printed"], DELTA) < 0.35 * EPSILON
    assert 0.97 * EPSILON < gdp_epsilon(mus["repaired"], DELTA) <= EPSILON


@pytest.mark.parametrize("moduli", [(0.1, 0.1), (0.1, 1.0), (1.0, 0.1)])
def test_algorithm3_joint_release_is_tight(moduli):
    pair = worst_case.for_algorithm3(SIZE, *moduli)
    printed = algorithm3.printed(pair.here, EPSILON, DELTA, lipschitz=1.0)
    stds = dict(printed.noise.by_label)
    loose = realised_mu(lambda p, t: algorithm3.run(p, printed, t), pair, stds)
    repaired = algorithm3.repaired(pair.here, EPSILON, DELTA, lipschitz=1.0)
    std = repaired.noise.std("pair", repaired.sensitivity)
    tight = realised_mu(lambda p, t: algorithm3.run(p, repaired, t), pair, {"pair": std})
    assert gdp_epsilon(loose, DELTA) < 0.2 * EPSILON
    assert 0.97 * EPSILON < gdp_epsilon(tight, DELTA) <= EPSILON


@pytest.mark.parametrize(
    ("algorithm", "worst"), [(algorithm4, worst_case.for_algorithm4), (algorithm5, worst_case.for_algorithm5)]
)
@pytest.mark.parametrize("phase", [1, 4])
def test_algorithms_4_and_5_attain_the_sharp_sensitivity(algorithm, worst, phase):
    pair = worst(SIZE, PLAN, MU, phase)
    shares = {}
    for reading in ("printed", "repaired"):
        schedule = getattr(algorithm, reading)(pair.here, MU, EPSILON, DELTA, solver=Exact())
        seen = lockstep(lambda p, t, s=schedule: algorithm.run(p, s, t), pair, (4,))
        assert seen.complete and not seen.findings
        shares[reading] = seen.movements[f"{schedule.block}/{phase}"].share
    assert shares["printed"] == pytest.approx(0.5 / np.sqrt(2 if phase == 1 else 4 * (1 - 2.0**-phase)), rel=1e-6)
    assert 0.97 < shares["repaired"] <= 1


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


def test_the_word_variance_taken_literally_breaks_the_claim():
    pair = worst_case.for_strongly_concave(SIZE, PLAN, 1.0)
    epsilons = {}
    for reading in (strongly_concave.printed, strongly_concave.as_variance, strongly_concave.repaired):
        schedule = reading(pair.here, MU, EPSILON, DELTA, solver=Exact())
        mu = realised_mu(lambda p, t, s=schedule: strongly_concave.run(p, s, t), pair, phase_stds(schedule))
        epsilons[reading.__name__] = gdp_epsilon(mu, DELTA)
    assert epsilons["printed"] <= EPSILON
    assert epsilons["repaired"] <= EPSILON
    assert epsilons["as_variance"] > 1.2 * EPSILON


def test_algorithm1_is_blind_to_nothing_but_the_seed():
    pair = worst_case.for_algorithm1(SIZE, 2, 0.1)
    schedule = algorithm1.repaired(pair.here, EPSILON, DELTA)
    mu = realised_mu(
        lambda p, t: algorithm1.run(p, schedule, t),
        pair,
        {"output": schedule.noise.std("output", schedule.sensitivity)},
    )
    assert 0.95 * EPSILON < gdp_epsilon(mu, DELTA) <= EPSILON
