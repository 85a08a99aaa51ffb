"""Claimed, accounted, realised for Algorithms 1 to 5 and Section 4.3 on their worst pairs, in lockstep."""

from __future__ import annotations

import numpy as np
import pytest

from dpassay.reference.output_perturbation import (
    algorithm4,
    worst_case,
)
from dpassay.reference.output_perturbation.phases import phases

EPSILON, DELTA = 0.8, 1e-5
SIZE, MU = 64, 0.05
PLAN = phases(SIZE, MU)


def phase_stds(schedule):
    moved = enumerate(schedule.sensitivities, start=1)
    labels = {f"{schedule.block}/{k}": sensitivity for k, sensitivity in moved}
    return {label: schedule.noise.std(label, sensitivity) for label, sensitivity in labels.items()}


def test_printed_noise_is_the_formula_also_on_a_loss_with_curvature_of_its_own():
    """Line 5 of Algorithm 4 has mu_k and mu, whatever the loss adds; the repaired reading uses what it adds."""
    problem = worst_case.for_strongly_concave(SIZE, PLAN, 1.0).here
    scale = 8 / (PLAN.length * EPSILON) * np.sqrt(2 * np.log(5 / DELTA))
    wanted = [scale / np.sqrt(mu_k * MU) for mu_k in PLAN.regularisers]
    assert list(phase_stds(algorithm4.printed(problem, MU, EPSILON, DELTA)).values()) == pytest.approx(wanted)
    flat = worst_case.for_algorithm4(SIZE, PLAN, MU).here
    curved, plain = (list(phase_stds(algorithm4.repaired(p, MU, EPSILON, DELTA)).values()) for p in (problem, flat))
    assert all(less < more for less, more in zip(curved[1:], plain[1:], strict=True))
