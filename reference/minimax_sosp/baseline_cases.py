"""Cases of the baselines of minimax_sosp, Tables 1 and 2 (all reconstructions), on the steep worst-case neighbours.

Each runs with the privacy rule of Appendix D twice: noise by advanced composition, as described, and by exact
accounting.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Literal

from dpassay.reference.case import Case, Instance, PrivacyClaim, bind
from dpassay.reference.cite import Cite

from .baseline_schedule import (
    RECONSTRUCTION,
    BaselineSchedule,
    Counts,
    by_advanced_composition,
    by_exact_accounting,
    descent_ascent_counts,
    drift_counts,
    private_diff_counts,
    spider_counts,
)
from .minimax_baselines import dp_sgda, private_diff
from .spider_baselines import ada_dp_spider, dp_spider, sto_spider
from .worst_case import Others, sign_flip, steep

Noise = Literal["described", "exact"]
EPSILON, DELTA = 2.0, 1e-6  # Appendix D
SIZES = {
    "full": BaselineSchedule(9, 8, 2, 4, 9, 9, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
    "sampled": BaselineSchedule(12, 8, 2, 4, 6, 3, step_x=0.05, step_y=1e-3, drift_limit=1e-12),
}
DRIFT = "the drift limit is so small that every step refreshes: the case that the calibration pays for"


def _instance(run: Callable[..., Any], counts: Counts, sizes: str, noise: Noise) -> Instance:
    calibrate = by_advanced_composition if noise == "described" else by_exact_accounting
    schedule = calibrate(SIZES[sizes], counts, EPSILON, DELTA)
    others: Others = "balanced" if sizes == "full" else "identical"
    pair = sign_flip(schedule.records, others, steep())
    facts: dict[str, float | int | str] = {
        "n": schedule.records,
        "T": schedule.outer_steps,
        "b1": schedule.refresh_batch,
        "b2": schedule.step_batch,
        "releases": sum(number for _, number in counts(schedule)),
        "noise multiplier": schedule.multiplier,
    }
    return Instance(bind(run, schedule), pair, facts=facts)


def _case(
    name: str, title: str, run: Callable[..., Any], counts: Counts, sizes: str, noise: Noise, cite: Cite
) -> Case:
    return Case(
        f"minimax_sosp/{name}",
        "baseline",
        f"{title}, reconstruction",
        cite,
        PrivacyClaim(EPSILON, DELTA, Cite("minimax_sosp", "Appendix D")),
        partial(_instance, run, counts, sizes, noise),
        variant=f"{noise}-{sizes}",
        data="signs, one flipped",
        completions=(RECONSTRUCTION, DRIFT) if counts is drift_counts else (RECONSTRUCTION,),
        quick=False,
    )


_TABLE = Cite("minimax_sosp", "Tables 1 and 2")
METHODS: tuple[tuple[str, str, Callable[..., Any], Counts, Cite], ...] = (
    ("dp_spider", "DP-SPIDER", dp_spider, spider_counts, Cite("arora2023", "Algorithm 1")),
    ("sto_spider", "Sto-SPIDER", sto_spider, drift_counts, _TABLE),
    ("ada_dp_spider", "Ada-DP-SPIDER", ada_dp_spider, drift_counts, _TABLE),
    ("private_diff", "PrivateDiff Minimax", private_diff, private_diff_counts, _TABLE),
    ("dp_sgda", "DP-SGDA", dp_sgda, descent_ascent_counts, Cite("yang2022", "Algorithm 1")),
)
BASELINES: tuple[Case, ...] = (
    *(
        _case(name, title, run, counts, "full", noise, cite)
        for name, title, run, counts, cite in METHODS
        for noise in ("described", "exact")
    ),
    *(_case(name, title, run, counts, "sampled", "exact", cite) for name, title, run, counts, cite in METHODS),
)
