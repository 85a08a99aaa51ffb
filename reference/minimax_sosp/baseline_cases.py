"""Cases of the baselines of minimax_sosp, Tables 1 and 2 (all reconstructions), on the steep worst-case neighbours.

Each runs with the privacy rule of Appendix D twice: noise by advanced composition (as described) and exact.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.papers import Cite

from .baseline_schedule import (
    RECONSTRUCTION,
    BaselineSchedule,
    by_advanced_composition,
    by_exact_accounting,
    drift_counts,
)
from .baselines import METHODS, Baseline
from .experiment import DELTA, EPSILON
from .worst_case import Others, sign_flip, steep

Noise = Literal["described", "exact"]
SIZES = {
    "full": BaselineSchedule(9, 8, 2, 4, 9, 9, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
    "sampled": BaselineSchedule(12, 8, 2, 4, 6, 3, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
}
DRIFT = "the drift limit is so small that every step refreshes: the case that the calibration pays for"


def _instance(method: Baseline, sizes: str, noise: Noise) -> Instance:
    calibrate = by_advanced_composition if noise == "described" else by_exact_accounting
    schedule = calibrate(SIZES[sizes], method.counts, EPSILON, DELTA)
    others: Others = "balanced" if sizes == "full" else "identical"
    pair = sign_flip(schedule.records, others, steep())
    facts: dict[str, float | int | str] = {
        "n": schedule.records,
        "T": schedule.outer_steps,
        "b1": schedule.refresh_batch,
        "b2": schedule.step_batch,
        "releases": sum(number for _, number in method.counts(schedule)),
        "noise multiplier": schedule.multiplier,
    }
    return Instance(method.run, schedule, pair, facts=facts)


def _case(method: Baseline, sizes: str, noise: Noise) -> Case:
    return Case(
        f"minimax_sosp/{method.name}",
        "baseline",
        f"{method.title}, reconstruction",
        method.cite,
        PrivacyClaim(EPSILON, DELTA, Cite("minimax_sosp", "Appendix D")),
        partial(_instance, method, sizes, noise),
        variant=f"{noise}-{sizes}",
        data="signs, one flipped",
        completions=(RECONSTRUCTION, DRIFT) if method.counts is drift_counts else (RECONSTRUCTION,),
        quick=False,
    )


_BOTH: tuple[Noise, Noise] = ("described", "exact")
BASELINES: tuple[Case, ...] = (
    *(_case(method, "full", noise) for method in METHODS for noise in _BOTH),
    *(_case(method, "sampled", "exact") for method in METHODS),
)
