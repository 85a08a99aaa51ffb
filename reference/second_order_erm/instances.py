"""The algorithms on records of the breast-cancer set, claimed at (1, 1e-5)."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from math import sqrt
from typing import Any

import numpy as np

from dpassay.reference.case import ExactDelta, Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import loss_a
from dpassay.reference.types import Array

from . import dp_gd, dp_tr, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls
from .common import Accuracy, Reading
from .dry_run import spends_most
from .iteration_leak import StepBound, pair_delta, pair_delta_infinity, worst_case_delta
from .worst_case import DELTA, EPSILON, Decrease, aligned_pair, alike_pair, crossed_pair, first_records, opposed_pair

B8_EPSILON = 0.9  # Theorem B.8 needs epsilon < 1
RECORDS, START, STEPS = 100, 6.0, 3
FAR = 40.0  # start of the two-phase methods
HOPES = {"printed": 1.0, "repaired": 4.0}  # of the two-phase methods: MIN_DEC per step of phase one
LONGEST = partial(spends_most, 1.0)
PHASE_ONE = "the steps of phase one, seen by who is told when phase two begins"
Facts = dict[str, float | int | str]


@lru_cache(maxsize=1)
def everything() -> ErmProblem:
    """Loss A on the breast-cancer set."""
    return ErmProblem(*real_data.breast_cancer(), loss_a())


@lru_cache(maxsize=1)
def problem() -> ErmProblem:
    """Loss A on the first records of the breast-cancer set."""
    return first_records(everything(), RECORDS)


def start(size: float = START) -> Array:
    """A public start away from zero: at w0 = 0 all records cost log 2 and f(w0) tells nothing."""
    w = np.zeros(problem().d)
    w[0] = size
    return w


def edge_accuracy(decrease: Decrease, value: float, steps: int = STEPS) -> Accuracy:
    """Choose epsilon_g such that `value` is just above steps * MIN_DEC: the worst place for the ceiling of (6)."""
    k = problem().constants()
    per_square = decrease(Accuracy(gradient=1.0, curvature=10.0), k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=sqrt(value / (steps * (1 + 1e-9)) / per_square), curvature=0.9)


def leak(
    schedule: Any,
    pair: Pair[ErmProblem],
    epsilon: float = EPSILON,
    hope: float = 1.0,
    shown: str = "the number of steps",
) -> ExactDelta:
    """What eq. (6) costs on this pair, in closed form: T is the length of every run that does not return early."""
    sigma_f = schedule.noise.sigma_f
    std = schedule.sensitivity.value * sigma_f  # Delta_f sigma_f
    low, high = (
        StepBound(side.value(schedule.start), std, hope * schedule.minimum_decrease, schedule.lower_bound)
        for side in (pair.here, pair.there)
    )
    how = (
        f"T of eq. (6), {shown}: f(w0) + |z| is never below f(w0), so a short run on D is impossible on D' "
        f"(the worst data: delta {worst_case_delta(sigma_f):.3g})"
    )
    return ExactDelta(pair_delta(low, high, epsilon), pair_delta_infinity(low, high), how)


# Algorithms 1 and 3, on the pair that moves f(w0) the most -----------------------------------------------------------


def opt_real(reading: Reading) -> Instance:
    """OPT."""
    pair = aligned_pair(problem(), start())
    accuracy = edge_accuracy(opt.minimum_decrease, pair.there.value(start()))
    make = opt.printed if reading == "printed" else opt.repaired
    return _full_batch(opt.run, make(problem(), start(), accuracy, EPSILON, DELTA), pair)


def opt_ls_real(reading: Reading) -> Instance:
    """OPT-LS."""
    pair = aligned_pair(problem(), start())
    accuracy = edge_accuracy(opt_ls.minimum_decrease, pair.there.value(start()), steps=1)
    make = opt_ls.printed if reading == "printed" else opt_ls.repaired
    return _full_batch(opt_ls.run, make(problem(), start(), accuracy, EPSILON, DELTA), pair)


def _full_batch(run: Any, schedule: opt.Schedule | opt_ls.Schedule, pair: Pair[ErmProblem]) -> Instance:
    facts: Facts = {
        "n": pair.here.n,
        "d": pair.here.d,
        "f(w0) on D": pair.here.value(schedule.start),
        "f(w0) on D'": pair.there.value(schedule.start),
        "Delta_f": schedule.sensitivity.value,
        "sigma_f": schedule.noise.sigma_f,
        "MIN_DEC": schedule.minimum_decrease,
    }
    exact = leak(schedule, pair) if schedule.reading == "printed" else None
    return Instance(run, schedule, pair, LONGEST, facts, exact, others=_bending(schedule.reading, schedule.start, pair))


def _bending(reading: Reading, w0: Array, pair: Pair[ErmProblem]) -> tuple[Pair[ErmProblem], ...]:
    """For the search: a pair that moves the Hessian by all that a repaired reading declares (a printed one: more)."""
    return (crossed_pair(pair.there, w0),) if reading == "repaired" else ()


def two_opt_real(reading: Reading) -> Instance:
    """2OPT on all 569 records: with little noise, so that the warm start of phase two is not far off."""
    pair = aligned_pair(everything(), start(FAR))
    accuracy = edge_accuracy(opt.minimum_decrease, pair.there.value(start(FAR)), steps=4 * STEPS)
    make = two_opt.printed if reading == "printed" else two_opt.repaired
    schedule = make(everything(), start(FAR), accuracy, EPSILON, DELTA, hope=HOPES[reading])
    return _two_phases(two_opt.run, schedule, pair)


def two_opt_ls_real(reading: Reading) -> Instance:
    """2OPT-LS on all 569 records."""
    pair = aligned_pair(everything(), start(FAR))
    accuracy = edge_accuracy(opt_ls.minimum_decrease, pair.there.value(start(FAR)), steps=2)
    make = two_opt_ls.printed if reading == "printed" else two_opt_ls.repaired
    schedule = make(everything(), start(FAR), accuracy, EPSILON, DELTA, hope=HOPES[reading])
    return _two_phases(two_opt_ls.run, schedule, pair)


def _two_phases(run: Any, schedule: two_opt.Schedule | two_opt_ls.Schedule, pair: Pair[ErmProblem]) -> Instance:
    facts: Facts = {"n": pair.here.n, "hope": schedule.hope}
    printed = schedule.base.reading == "printed"
    exact = leak(schedule.first, pair, hope=schedule.hope, shown=PHASE_ONE) if printed else None
    return Instance(
        run, schedule, pair, LONGEST, facts, exact, others=_bending(schedule.base.reading, schedule.base.start, pair)
    )


# mini-batches --------------------------------------------------------------------------------------------------------


def opt_b_theorem() -> Instance:
    """OPT-B by Theorem B.8, on the pair that moves f(w0)."""
    pair = aligned_pair(problem(), start())
    accuracy, batch = _batch_accuracy(problem()), RECORDS // 2
    schedule = opt_b.printed(problem(), start(), accuracy, B8_EPSILON, DELTA, batch=batch, route="advanced")
    exact = leak(schedule, pair, B8_EPSILON)
    return Instance(opt_b.run, schedule, pair, LONGEST, _sizes(pair, schedule), exact)


def opt_b_rdp() -> Instance:
    """OPT-B by eq. (30), on all 569 records in batches of 10: larger shares have no noise that meets the budget."""
    pair = aligned_pair(everything(), start())
    schedule = opt_b.printed(everything(), start(), _batch_accuracy(everything()), EPSILON, DELTA, batch=10)
    return Instance(opt_b.run, schedule, pair, LONGEST, _sizes(pair, schedule), leak(schedule, pair))


def opt_b_repaired() -> Instance:
    """OPT-B on equal records, where the loss is exact."""
    pair = alike_pair(problem(), start())
    schedule = opt_b.repaired(pair.here, start(), _batch_accuracy(problem()), EPSILON, DELTA, batch=10)
    return Instance(opt_b.run, schedule, pair, LONGEST, _sizes(pair, schedule))


def two_opt_b_theorem() -> Instance:
    """2OPT-B on the instance of OPT-B by Theorem B.8."""
    inner = opt_b_theorem()
    base: opt_b.Schedule = inner.schedule
    schedule = two_opt_b.Schedule(base, B8_EPSILON, DELTA, HOPES["printed"])
    exact = leak(schedule.phase(base.start, schedule.share), inner.pair, B8_EPSILON, shown=PHASE_ONE)
    return replace(inner, run=two_opt_b.run, schedule=schedule, exact=exact)


def two_opt_b_repaired() -> Instance:
    """2OPT-B on the repaired instance of OPT-B."""
    inner = opt_b_repaired()
    schedule = two_opt_b.Schedule(inner.schedule, EPSILON, DELTA, HOPES["repaired"])
    return replace(inner, run=two_opt_b.run, schedule=schedule)


def _batch_accuracy(data: ErmProblem) -> Accuracy:
    return edge_accuracy(opt.minimum_decrease, aligned_pair(data, start()).there.value(start()), steps=1)


def _sizes(pair: Pair[ErmProblem], schedule: opt_b.Schedule) -> Facts:
    return {"n": pair.here.n, "batch": schedule.batch, "MIN_DEC": schedule.minimum_decrease}


# baselines, from w0 = 0; the gradients of the pair are opposed -------------------------------------------------------

BASELINE_ACCURACY = Accuracy(gradient=0.3, curvature=0.3)


def dp_tr_real(reading: Reading) -> Instance:
    """DP-TR."""
    w0 = np.zeros(problem().d)
    pair = opposed_pair(problem(), w0)
    make = dp_tr.printed if reading == "printed" else dp_tr.repaired
    return _baseline(dp_tr.run, make(pair.here, w0, BASELINE_ACCURACY, EPSILON, DELTA), pair, reading)


def dp_gd_real(reading: Reading) -> Instance:
    """DP-GD."""
    w0 = np.zeros(problem().d)
    pair = opposed_pair(problem(), w0)
    make = dp_gd.printed if reading == "printed" else dp_gd.repaired
    return _baseline(dp_gd.run, make(pair.here, w0, BASELINE_ACCURACY, EPSILON, DELTA), pair, reading)


def tr_b_real(reading: Reading) -> Instance:
    """TR-B; printed in batches of one record: eq. (30) has no noise for larger shares of so few records."""
    w0 = np.zeros(problem().d)
    pair = alike_pair(problem(), w0)
    make, batch = (tr_b.printed, 1) if reading == "printed" else (tr_b.repaired, 10)
    schedule = make(pair.here, w0, BASELINE_ACCURACY, EPSILON, DELTA, batch=batch)
    return _baseline(tr_b.run, schedule, pair, reading)


def _baseline(run: Any, schedule: Any, pair: Pair[ErmProblem], reading: Reading) -> Instance:
    facts: Facts = {"n": pair.here.n, "T": schedule.steps, "sigma": schedule.noise["gradient"]}
    return Instance(run, schedule, pair, LONGEST, facts, others=_bending(reading, schedule.start, pair))
