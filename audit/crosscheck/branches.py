"""Constants with which a run takes what ordinary constants never take: escapes, early ends, steps of the other kind,
projections that bind, caps that decide.

Each entry names fields of a vector, and the values that they get; other sizes are those of the ordinary vector. The
noise is that of the schedule: no such field decides how much there is, or what a record may do is bounded as before.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Fields = Mapping[str, Any]  # paths below "problem" and "schedule", and "sizes", which the schedule is made for

DRIFTS: Fields = {"schedule.drift_limit": 1e6, "schedule.tolerance": 1e6}
DOMAINS: Fields = {"problem.domain_x.radius": 3.0, "problem.domain_y.radius": 2.0}
STOPS: Fields = {"schedule.accuracy.gradient": 1e3, "schedule.accuracy.curvature": 1e3}
CURVES: Fields = {"schedule.accuracy.gradient": 1e3}
ANCHORS: Fields = {"sizes.steps": 3, "sizes.period": 3, "schedule.smoothness": 0.05}  # two differences in a row
LANCZOS = {"class": "second_order_erm.eigen.Lanczos", "failure": 0.5, "margin": 0.5}  # fewer steps than coordinates
SEARCHES: Fields = {
    "schedule.search.b_g": 2.0,
    "schedule.search.b_H": 8.0,
    "schedule.search.beta_g": 0.6,
    "schedule.search.beta_H": 0.7,
    "sizes.d": 2,
}  # no power: the last trial is not the safe step
BEGINS = [[0.5, -0.25], [0.1]]
WEIGHTS = [0.3, 0.1, 0.2, 0.25, 0.15]
BRANCHES: Mapping[str, tuple[Fields, ...]] = {
    "minimax_sosp/dp_rgda": (
        {"schedule.tolerance": 1e6, "schedule.average_movement": 1e6, "sizes.steps": 5},  # an escape, to its end
        {"schedule.tolerance": 1e6},  # it moves too far
        {"schedule.tolerance": 1e6, "schedule.average_movement": 0.05, "sizes.steps": 5},  # in some steps
        {"schedule.tolerance": 1e6, "sizes.steps": 2},  # the steps run out when an escape has ended
    ),
    "minimax_sosp/dp_sgda": ({"schedule.start": BEGINS, "schedule.alternating": True, "sizes.steps": 2},),
    "minimax_sosp/dp_spider": (ANCHORS, {"schedule.select": "random", "sizes.steps": 3}),
    "minimax_sosp/private_diff": (ANCHORS, {"schedule.start": BEGINS, "sizes.steps": 2}),
    "minimax_sosp/sto_spider": (
        DRIFTS,
        {"schedule.step_batch": 2, "schedule.step_size": 3.8e-05, "schedule.tolerance": 7.9,
         "schedule.frozen_steps": 1},
    ),
    "minimax_sosp/ada_dp_spider": (
        DRIFTS,
        {"schedule.step_size": 3.8e-05, "schedule.drift_limit": 7.8e-4, "schedule.tolerance": 7.9,
         "schedule.perturbation": 0.033, "schedule.frozen_steps": 1},
    ),
    "adaptive_batch/stochastic_spider": (
        {"schedule.batch": 2, "schedule.batch_slope": 0.15, "schedule.drift_limit": 10.0, "schedule.escape_steps": 2,
         "schedule.steps": 5, "schedule.escape_radius": 0.1},
        {"schedule.threshold": 8.0, "schedule.batch": 2, "schedule.batch_slope": 0.15, "schedule.escape_limit": 3.0,
         "schedule.steps": 7, "schedule.epoch_length": 2, "schedule.escape_radius": 0.1, "schedule.step_size": 0.05},
        {"schedule.threshold": 12.0, "schedule.batch": 1, "schedule.drift_limit": 10.0, "schedule.escape_steps": 2,
         "schedule.escape_limit": 1.0, "schedule.steps": 4, "schedule.epoch_length": 3, "schedule.escape_radius": 0.5,
         "schedule.step_size": 0.02},
        {"schedule.threshold": 12.0, "schedule.batch": 2, "schedule.drift_limit": 10.0, "schedule.escape_steps": 1,
         "schedule.escape_limit": 2.0, "schedule.epoch_length": 3, "schedule.escape_radius": 2.0,
         "schedule.step_size": 0.1},
        {"schedule.threshold": 1e3, "schedule.batch": 1, "schedule.batch_slope": 0.01, "schedule.drift_limit": 1e3,
         "schedule.escape_steps": 5, "schedule.escape_limit": 3.0, "schedule.epoch_length": 7,
         "schedule.escape_radius": 20.0, "schedule.step_size": 0.01},  # an escape of several steps
        {"schedule.threshold": 0.0, "schedule.batch": 3, "schedule.drift_limit": 1e-3, "schedule.steps": 9,
         "schedule.epoch_length": 9},  # records for one batch of the two are left
    ),
    "baselines/dp_sgd": ({"schedule.start": [0.5, -0.25, 0.7], "sizes.steps": 2},),
    "dro/composite_sgd": (
        {"schedule.start": [0.5, -0.25, 0.7, 2.0], "sizes.steps": 2},
        {"schedule.poisson": True, "sizes.batch": 2, "sizes.steps": 3},
    ),
    "dro/composite_spider": ({"schedule.start": [0.5, -0.25, 0.7, 4.0], "schedule.select": "last", "sizes.steps": 3},),
    "dro/sgda": (
        {"schedule.start": [[0.5, -0.25, 0.7], WEIGHTS], "schedule.alternating": False, "sizes.steps": 2},
    ),
    "dro/private_diff": ({"schedule.start": [[0.5, -0.25, 0.7], WEIGHTS], "sizes.steps": 2},),
    "dp_ftrl/dp_ftrl": ({"schedule.radius": 0.4},),
    "dro/double_spider": (
        {"schedule.move_cap": 0.003, "schedule.x_threshold.per_x": 0.3, "schedule.x_threshold.per_eta": 0.2,
         "schedule.eta_threshold.per_x": 0.13, "schedule.eta_threshold.per_eta": 0.17},
        {"schedule.last": True, "sizes.steps": 2, "problem.dual_scale": 0.5, "schedule.eta_clip": 30.0},
    ),
    "dro/recursive_spider": (
        {"schedule.start_temperature": 0.02, "sizes.steps": 2},  # lifted to the floor
        {"schedule.largest_temperature": 0.9, "schedule.last": True, "sizes.steps": 2},  # kept below it
    ),
    "output_perturbation/algorithm3": (DOMAINS,),
    "output_perturbation/algorithm4": (DOMAINS,),
    "output_perturbation/algorithm5": (DOMAINS,),
    "output_perturbation/algorithms4and5": (DOMAINS,),
    "output_perturbation/strongly_concave": (DOMAINS,),
    "second_order_erm/dp_tr": (STOPS, {"schedule.radius": 0.1, "sizes.steps": 2, "sizes.d": 2}),
    "second_order_erm/opt": (
        STOPS,
        {**CURVES, "schedule.accuracy.curvature": 2.8, "schedule.eigen": LANCZOS, "schedule.lower_bound": -300.0,
         "sizes.d": 5, "sizes.n": 3},
    ),
    "second_order_erm/opt_b": (
        STOPS,
        {**CURVES, "schedule.accuracy.curvature": 0.4, "schedule.lower_bound": 0.5},
    ),
    "second_order_erm/opt_ls": (
        CURVES,
        {**SEARCHES, "schedule.lower_bound": -2.0, "sizes.steps": 3},
        {**SEARCHES, **CURVES, "schedule.accuracy.curvature": 0.7, "schedule.lower_bound": 4.0, "sizes.n": 5},
    ),
    "second_order_erm/two_opt": ({"schedule.base.lower_bound": -60.0, "sizes.steps": 2},),
    "second_order_erm/two_opt_ls": ({"schedule.base.lower_bound": -60.0, "sizes.steps": 2},),
    "second_order_erm/two_opt_b": (
        {"schedule.base.accuracy.gradient": 1e3, "schedule.base.accuracy.curvature": 1e3},
        {"schedule.base.accuracy.gradient": 1e3, "schedule.base.accuracy.curvature": 1e3,
         "schedule.base.lower_bound": -3e9},
    ),
}  # fmt: skip


def with_fields(told: Any, fields: Fields) -> Any:
    """Problem and schedule with these values; what is not there stays away."""
    for path, value in fields.items():
        told = _with(told, path.split("."), value)
    return told


def _with(told: Any, path: list[str], value: Any) -> Any:
    if not isinstance(told, Mapping) or path[0] not in told:
        return told
    return {**told, path[0]: value if len(path) == 1 else _with(told[path[0]], path[1:], value)}
