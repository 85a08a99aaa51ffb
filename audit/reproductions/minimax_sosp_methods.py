"""The methods of minimax_sosp, Table 2 and Figure 1, on matrix sensing: every noise, and blind to the data.

`blind` is the same noise on gradients that are all zero, so that nothing of the data is used. DP-SGDA is Figure 1's.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dpassay.reference.baselines import dp_sgda
from dpassay.reference.minimax_sosp import dp_rgda
from dpassay.reference.minimax_sosp.baseline_methods import (
    ADA_DP_SPIDER,
    DP_SGDA,
    PRIVATE_DIFF,
    STO_SPIDER,
    Noise,
    Sizes,
)
from dpassay.reference.minimax_sosp.baseline_methods import Method as Baseline
from dpassay.reference.minimax_sosp.dp_rgda import SILENT, printed, repaired
from dpassay.reference.minimax_sosp.experiment import DELTA, EPSILON, experiment_schedule
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.problems.matrix_sensing import MatrixSensing, initial_point
from dpassay.reference.tape import LiveTape, Tape

BLIND = frozenset({"blind", "blind, described", "blind, exact"})  # kinds of noise that see no data


@dataclass(frozen=True)
class Method:
    """A method with one schedule for each kind of noise; ``view`` is how it sees the problem."""

    name: str
    run: Callable[[Any, Any, Tape], Any]
    schedules: dict[str, Any]
    minimax: bool
    view: Callable[[Any], Any]

    def once(self, noise: str, problem: MatrixSensing, seed: int) -> tuple[Any, LiveTape]:
        """One run from the printed initialisation, drawn anew for each seed."""
        start = initial_point(problem, np.random.default_rng([seed, 1]))
        tape = LiveTape(seed)
        # the same sizes, and gradients that are all zero
        target: Any = Flat(problem.n, problem.d, problem.d_y) if noise in BLIND else problem
        schedule = replace(self.schedules[noise], start=start if self.minimax else start[0])
        return self.run(self.view(target), schedule, tape), tape


def _as_it_is(problem: Any) -> Any:
    return problem


def _sizes(steps: int, step_x: float, step_y: float = 0.8) -> Sizes:
    """Appendix D's, for all baselines."""
    return Sizes(400, steps, 5, 10, 200, 50, step_x=step_x, step_y=step_y)


def methods(steps: int = 400) -> list[Method]:
    """DP-RGDA and the baselines of Table 2 (and Figure 1's DP-SGDA) with all their noises."""
    described = experiment_schedule(EPSILON, DELTA, steps=steps)
    mended = repaired(described, EPSILON, DELTA)
    rgda = {
        "as described": described,
        "Algorithm 3": replace(printed(described, EPSILON, DELTA), clip_mode="mean"),
        "exact": mended,
        "none": replace(described, noise=SILENT),
        "none, no escape": replace(mended, noise=SILENT, tolerance=1e-9),
        "blind, described": described,
        "blind, exact": mended,
    }
    return [
        Method("DP-RGDA", dp_rgda.run, rgda, True, _as_it_is),
        _baseline(STO_SPIDER, _sizes(steps, 0.005)),
        _baseline(ADA_DP_SPIDER, _sizes(steps, 0.02)),
        _baseline(PRIVATE_DIFF, _sizes(steps, 0.2)),
        _baseline(DP_SGDA, _sizes(steps, 0.2)),
    ]


def _baseline(method: Baseline, sizes: Sizes) -> Method:
    kinds: tuple[tuple[str, Noise], ...] = (("as described", "described"), ("exact", "exact"))
    found = {name: method.schedule(sizes, noise, EPSILON, DELTA) for name, noise in kinds}
    found["none"] = method.plain(sizes, Multipliers(dict.fromkeys(("refresh", "difference", "x", "y"), 0.0)))
    found |= {"blind, described": found["as described"], "blind, exact": found["exact"]}
    minimax = method in (PRIVATE_DIFF, DP_SGDA)
    return Method(method.title, method.run, found, minimax, method.view)


def unprinted(steps: int = 400) -> list[tuple[str, Method]]:
    """What the paper leaves open, varied: escape parameters of DP-RGDA, step size of PrivateDiff (exact accounting)."""
    mended = repaired(experiment_schedule(EPSILON, DELTA, steps=steps), EPSILON, DELTA)
    changes: list[dict[str, Any]] = [{"tolerance": 1e-3}, {"tolerance": 1e3, "average_movement": 1e-4}]
    changes += [{"tolerance": 1e3, "average_movement": 0.04}, {"escape_step": 1e-3, "tolerance": 1e3}]
    found = []
    for change in changes:
        schedule = replace(mended, **change)
        text = ", ".join(f"{key.replace('_', ' ')} {value:g}" for key, value in change.items())
        kinds = {"exact": schedule, "blind, exact": schedule}
        found.append((text, Method("DP-RGDA", dp_rgda.run, kinds, True, _as_it_is)))
    base = PRIVATE_DIFF.schedule(_sizes(steps, 0.2), "exact", EPSILON, DELTA)
    for step in (0.05, 0.02, 0.01, 0.005, 0.002):
        plain = replace(base, step_x=step)
        kinds_of = {"exact": plain, "blind, exact": plain}
        view = PRIVATE_DIFF.view
        found.append((f"step size {step:g}", Method(PRIVATE_DIFF.title, PRIVATE_DIFF.run, kinds_of, True, view)))
    return found


def noise_lengths(schedule: Any, d: int) -> tuple[float, float]:
    """Length of the noise in one refreshed gradient and in one gradient difference (root mean square)."""
    if isinstance(schedule, dp_rgda.Schedule):
        stds = (
            schedule.noise.std("refresh", schedule.refresh_sensitivity),
            schedule.noise.std("step", schedule.step_sensitivity(0.0)),
        )
    elif isinstance(schedule, dp_sgda.Schedule):
        stds = (schedule.noise.std("x", 2 * schedule.clip_x / schedule.batch_x),) * 2
    else:
        stds = (
            schedule.noise.std("refresh", 2 * schedule.clip / schedule.refresh_batch),
            schedule.noise.std("difference", 2 * schedule.clip / schedule.step_batch),
        )
    return stds[0] * d**0.5, stds[1] * d**0.5
