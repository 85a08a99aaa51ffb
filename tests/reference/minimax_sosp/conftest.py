"""Shared small instances for the tests of the second-order papers."""

import numpy as np
import pytest

from dpassay.reference.minimax_sosp.dp_rgda import SILENT, Schedule
from dpassay.reference.problems.matrix_sensing import make_matrix_sensing


@pytest.fixture
def small_sensing():
    return make_matrix_sensing(np.random.default_rng(0), rows=3, columns=4, rank=2, samples=10, signal_norm=4.0)


@pytest.fixture
def make_schedule():
    """A schedule with every batch the whole data set, no clipping and no noise, unless told otherwise."""

    def build(n, **changes):
        plain = {
            "n": n,
            "steps": 23,
            "inner_steps": 3,
            "period": 5,
            "refresh_batch": n,
            "step_batch": n,
            "descent_step": 0.05,
            "escape_step": 0.1,
            "ascent_step": 0.8,
            "tolerance": 1e-3,
            "perturbation_radius": 0.1,
            "escape_threshold": 5,
            "average_movement": 1e-4,
            "clip_refresh": 1e9,
            "clip_step": 1e9,
            "noise": SILENT,
        }
        return Schedule(**(plain | changes))

    return build
