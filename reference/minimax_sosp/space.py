"""Where the claims of minimax_sosp must hold: rows, sizes and neighbours, for DP-RGDA and for the baselines.

Where every record is clipped, rows are any finite numbers; where the mean is clipped, they keep to the assumptions
(gradients of at most M = 1, so that no clip acts).
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from dpassay.reference.noise import Printed
from dpassay.reference.problems.pulls import Pulls
from dpassay.reference.space import Rows, Sizes, Space, by_sizes

from . import dp_rgda
from .baseline_methods import Method, Noise
from .baseline_methods import Sizes as BaselineSizes
from .dp_rgda import SILENT, Schedule, appendix_b2_noise

BOX = 0.4  # of every number of a bounded record, its curvature too
ANY, BOUNDED = Rows(4, None), Rows(4, box=(-BOX, BOX))  # with |x| < 0.5 and |y| <= 0.5, all gradients stay below 1
TOLERANCE = 0.5
STEP = 0.05  # eta
DRIFTS = {1: 0.05, 2: 1e-3}  # by period: the second is of the size of a step along a query, not of its noise alone
Reading = Callable[[Schedule, float, float], Schedule]


def clipped_rows(schedule: Schedule, epsilon: float, delta: float, constant: int = 1) -> Schedule:
    """The printed noise (times `constant`), every row clipped."""
    found = dp_rgda.printed(schedule, epsilon, delta)
    stds = {label: constant * found.noise.std(label, 1.0) for label in ("refresh", "step")}
    return replace(found, clip_mode="each", noise=Printed(stds))


def appendix_b2(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """Appendix B.2's noise, proportional to the last inner step."""
    noise = appendix_b2_noise(epsilon, delta, schedule.n, schedule.refresh_batch, lipschitz=1.0, smoothness=1.0)
    return replace(schedule, noise=noise, smoothness=1.0)


def space(reading: Reading, epsilon: float, delta: float, rows: Rows = ANY) -> Space:
    """DP-RGDA: batches of one, n that is no multiple of a batch, T = 1 and T no multiple of q, short escape phases."""
    held = {} if rows == ANY else {"radius": 0.5, "concavity": 0.1}
    return Space(
        rows=rows,
        sizes={
            "n": (1, 2, 3, 5),
            "steps": (1, 2, 3),
            "inner_steps": (1, 2),
            "period": (1, 2),
            "refresh_batch": (1, 2, 5),
            "step_batch": (1, 3, 5),
            "escape_threshold": (1, 2),
        },
        problem=lambda data, sizes: Pulls(data, **held),
        schedule=by_sizes(_schedule, reading, epsilon, delta),
        fits=_fits,
        landmarks=_landmarks,
    )


def _fits(sizes: Sizes) -> bool:
    return max(sizes["refresh_batch"], sizes["step_batch"]) <= sizes["n"]


def _schedule(reading: Reading, epsilon: float, delta: float, sizes: Mapping[str, Any]) -> Schedule:
    plain = silent(**sizes, ascent_step=0.5, tolerance=TOLERANCE, average_movement=0.01, clip_step=1.0)
    return reading(plain, epsilon, delta)


def silent(**fields: Any) -> Schedule:
    """Without noise; every move of x has the length STEP."""
    return Schedule(
        descent_step=STEP, escape_step=STEP, perturbation_radius=STEP, clip_refresh=1.0, noise=SILENT, **fields
    )  # fmt: skip


def _landmarks(schedule: Schedule) -> Mapping[str, Sequence[float]]:
    """|v| against alpha, and where eta_H^2 |v|^2 passes D bar."""
    moved = schedule.average_movement**0.5 / schedule.escape_step
    return dict.fromkeys(("refresh/v", "step/v"), (schedule.tolerance, moved))


def baseline(method: Method, noise: Noise, epsilon: float, delta: float) -> Space:
    """A baseline of Tables 1 and 2: every row is clipped, so rows are any finite numbers."""
    return Space(
        rows=ANY,
        sizes={
            "n": (1, 2, 3, 5),
            "steps": (1, 2, 3),
            "period": (1, 2),
            "refresh_batch": (1, 2, 5),
            "step_batch": (1, 3),
        },
        problem=lambda data, sizes: method.view(Pulls(data)),
        schedule=by_sizes(_baseline_schedule, method, noise, epsilon, delta),
        fits=_fits,
        landmarks=_drift,
    )


def _baseline_schedule(method: Method, noise: Noise, epsilon: float, delta: float, sizes: Mapping[str, Any]) -> Any:
    limit = DRIFTS.get(sizes["period"], DRIFTS[2])  # the methods that drift know no period
    plain = BaselineSizes(**sizes, ascents=2, drift_limit=limit, tolerance=TOLERANCE, frozen_steps=2)
    return method.schedule(plain, noise, epsilon, delta)


def _drift(schedule: Any) -> Mapping[str, Sequence[float]]:
    """The tolerance of the drift rules, and how long an estimate makes a step that brings a refresh."""
    if not hasattr(schedule, "drift_limit"):
        return {}
    long = schedule.drift_limit**0.5 / schedule.step_size
    return dict.fromkeys(("refresh", "difference"), (schedule.tolerance, long))
