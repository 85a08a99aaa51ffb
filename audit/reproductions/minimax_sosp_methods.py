"""The methods of minimax_sosp, Table 2 and Figure 1, on matrix sensing: every noise, and blind to the data.

`blind` is the same noise on gradients that are all zero, so that nothing of the data is used. DP-SGDA is Figure 1's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.reference.minimax_sosp import baselines
from dpassay.reference.minimax_sosp.baseline_schedule import (
    BaselineSchedule,
    by_advanced_composition,
    by_exact_accounting,
)
from dpassay.reference.minimax_sosp.calibration import repaired
from dpassay.reference.minimax_sosp.dp_rgda import Result, dp_rgda
from dpassay.reference.minimax_sosp.experiment import DELTA, EPSILON, experiment_schedule
from dpassay.reference.minimax_sosp.schedule import NoiseRule, Schedule, algorithm3_noise
from dpassay.reference.problems.matrix_sensing import MatrixSensing, initial_point
from dpassay.reference.tape import LiveTape, Tape
from dpassay.reference.types import Array, Indices


@dataclass(frozen=True, eq=False)
class Blind:
    """The same sizes, and gradients that are all zero."""

    inside: MatrixSensing

    @property
    def n(self) -> int:
        """Number of records."""
        return self.inside.n

    @property
    def d(self) -> int:
        """Dimension of x."""
        return self.inside.d

    @property
    def d_y(self) -> int:
        """Dimension of y."""
        return self.inside.d_y

    @property
    def gradient_bound(self) -> float:
        """Zero."""
        return 0.0

    def gradients_x(self, x: Array, y: Array, indices: Indices) -> Array:
        """Zeros."""
        return np.zeros((len(indices), self.d))

    def gradients_y(self, x: Array, y: Array, indices: Indices) -> Array:
        """Zeros."""
        return np.zeros((len(indices), self.d_y))

    def value_gradients(self, x: Array, indices: Indices) -> Array:
        """Zeros."""
        return np.zeros((len(indices), self.d))

    def project(self, y: Array) -> Array:
        """No constraint."""
        return y


@dataclass(frozen=True)
class Method:
    """A method with one schedule for each kind of noise."""

    name: str
    run: Callable[[Any, Any, Tape, Any], Result]
    schedules: dict[str, Any]
    minimax: bool

    def once(self, noise: str, problem: MatrixSensing, seed: int) -> tuple[Result, LiveTape]:
        """One run from the printed initialisation, drawn anew for each seed."""
        start = initial_point(problem, np.random.default_rng([seed, 1]))
        tape = LiveTape(seed)
        target: Any = Blind(problem) if noise.startswith("blind") else problem
        return self.run(target, self.schedules[noise], tape, start if self.minimax else start[0]), tape


def _sizes(steps: int) -> BaselineSchedule:
    """Appendix D's, for all baselines."""
    return BaselineSchedule(400, steps, 5, 10, 200, 50)


def methods(steps: int = 400) -> list[Method]:
    """DP-RGDA and the baselines of Table 2 (and Figure 1's DP-SGDA) with all their noises."""
    printed = experiment_schedule(EPSILON, DELTA, outer_steps=steps)
    mended = repaired(printed, EPSILON, DELTA)
    quiet = NoiseRule("none", 0.0, 0.0, printed.noise.refresh_sensitivity, printed.noise.step_sensitivity)
    rule = algorithm3_noise(
        EPSILON,
        DELTA,
        records=400,
        outer_steps=steps,
        period=10,
        refresh_batch=200,
        step_batch=50,
        clip_refresh=1.0,
        clip_step=1.0,
    )
    rgda = {
        "as described": printed,
        "Algorithm 3": replace(printed, noise=rule, clip_each=False),
        "exact": mended,
        "none": printed.with_noise(quiet),
        "none, no escape": replace(mended.with_noise(quiet), tolerance=1e-9),
        "blind, described": printed,
        "blind, exact": mended,
    }

    def baseline(method: baselines.Baseline, **changes: float) -> Method:
        plain = replace(_sizes(steps), **changes)  # type: ignore[arg-type]
        exact = by_exact_accounting(plain, method.counts, EPSILON, DELTA)
        described = by_advanced_composition(plain, method.counts, EPSILON, DELTA)
        kinds = {"as described": described, "exact": exact, "none": plain}
        kinds |= {"blind, described": described, "blind, exact": exact}
        return Method(method.title, method.run, kinds, method.minimax)

    return [
        Method("DP-RGDA", dp_rgda, rgda, True),
        baseline(baselines.STO_SPIDER, step_x=0.005),
        baseline(baselines.ADA_DP_SPIDER, step_x=0.02),
        baseline(baselines.PRIVATE_DIFF, step_x=0.2, step_y=0.8),
        baseline(baselines.DP_SGDA, step_x=0.2, step_y=0.8),
    ]


def unprinted(steps: int = 400) -> list[tuple[str, Method]]:
    """What the paper leaves open, varied: escape parameters of DP-RGDA, step size of PrivateDiff (exact accounting)."""
    mended = repaired(experiment_schedule(EPSILON, DELTA, outer_steps=steps), EPSILON, DELTA)
    changes: list[dict[str, Any]] = [{"tolerance": 1e-3}, {"tolerance": 1e3, "average_movement": 1e-4}]
    changes += [{"tolerance": 1e3, "average_movement": 0.04}, {"escape_step": 1e-3, "tolerance": 1e3}]
    found = []
    for change in changes:
        schedule: Schedule = replace(mended, **change)
        text = ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in change.items())
        kinds = {"exact": schedule, "blind, exact": schedule}
        found.append((text, Method("DP-RGDA", dp_rgda, kinds, True)))
    method = baselines.PRIVATE_DIFF
    base = by_exact_accounting(_sizes(steps), method.counts, EPSILON, DELTA)
    for step in (0.05, 0.02, 0.01, 0.005, 0.002):
        plain = replace(base, step_x=step, step_y=0.8)
        kinds_of = {"exact": plain, "blind, exact": plain}
        found.append((f"step size {step:g}", Method(method.title, method.run, kinds_of, True)))
    return found


def noise_lengths(schedule: Schedule | BaselineSchedule, dimension: int) -> tuple[float, float]:
    """Length of the noise in one refreshed gradient and in one gradient difference (root mean square)."""
    if isinstance(schedule, Schedule):
        stds = schedule.noise.refresh_std, schedule.noise.step_std
    else:
        scale = 2 * schedule.clip * schedule.multiplier
        stds = scale / schedule.refresh_batch, scale / schedule.step_batch
    return stds[0] * dimension**0.5, stds[1] * dimension**0.5
