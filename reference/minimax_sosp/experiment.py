"""The experiment of minimax_sosp, Appendix D: its budget, sizes and noise."""

from collections.abc import Callable
from dataclasses import replace
from math import expm1, log, sqrt
from typing import Any

from dpassay.reference.errors import require, require_budget
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.interfaces import Flat
from dpassay.reference.tape import LiveTape, Tape

from . import dp_rgda
from .dp_rgda import COMPLETIONS, REPAIRS, SILENT, Schedule

EPSILON, DELTA = 2.0, 1e-6
EXPERIMENT_COMPLETIONS = (
    *COMPLETIONS,
    "alpha, r, eta_H, t_thres and D bar of the experiment are not printed: named parameters with defaults",
    "the printed text says per-sample clipping at C = 1 here, against the clip of the mean in Algorithm 3",
    "advanced composition splits delta in halves and each release uses the classical Gaussian mechanism",
)
EXPERIMENT_REPAIRS = REPAIRS[-2:]  # Appendix D already clips every record, counts every access and uses 2 C / S


def advanced_composition_multiplier(epsilon: float, delta: float, releases: int) -> float:
    """Noise std over sensitivity when the budget is split by advanced composition (Appendix D), half of delta each.

    epsilon = e sqrt(2 N log(2/delta)) + N e (exp(e) - 1); each release by the classical Gaussian mechanism.
    """
    require_budget(epsilon, delta)
    require(releases >= 1, "releases", releases, "must be at least 1")

    def total(each: float) -> float:
        return each * sqrt(2 * releases * log(2 / delta)) + releases * each * expm1(each) - epsilon

    from scipy.optimize import brentq  # here: it takes longer to load than most calls take to run

    each = float(brentq(total, 0.0, epsilon))
    return sqrt(2 * log(1.25 * 2 * releases / delta)) / each


def described_multiplier(
    run: Callable[[Any, Any, Tape], Any], schedule: Any, n: int, epsilon: float, delta: float
) -> float:
    """Appendix D's rule: the budget split over all gradient accesses, as many as a dry run of ``schedule`` makes."""
    tape = LiveTape(0)
    run(Flat(n), schedule, tape)
    return advanced_composition_multiplier(epsilon, delta, len(tape.transcript.releases))


SIZES = Schedule(
    n=400,
    steps=400,
    inner_steps=5,
    period=10,
    refresh_batch=200,
    step_batch=50,
    descent_step=0.2,
    escape_step=0.2,
    ascent_step=0.8,
    tolerance=0.1,
    perturbation_radius=0.1,
    escape_threshold=50,
    average_movement=0.01,
    clip_refresh=1.0,
    clip_step=1.0,
    noise=SILENT,
)


def experiment_schedule(**changes: Any) -> Schedule:
    """Appendix D: printed sizes and step sizes, or others; noise by advanced composition over all gradient accesses."""
    return as_described(replace(SIZES, **changes), EPSILON, DELTA)


def as_described(schedule: Schedule, epsilon: float, delta: float) -> Schedule:
    """Appendix D's noise for these sizes, every row clipped."""
    clipped = replace(schedule, clip_mode="each", start=None)
    patient = replace(clipped, escape_threshold=schedule.steps + 1)
    multiplier = described_multiplier(dp_rgda.run, patient, schedule.n, epsilon, delta)
    return replace(clipped, noise=Multipliers({"refresh": multiplier, "step": multiplier}), start=schedule.start)
