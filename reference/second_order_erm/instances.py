"""What the rows of `second_order_erm` run: on records of the breast-cancer set, and on signs, claimed at (1, 1e-5).

The problem on signs is `WaveRisk`: replacing one sign moves f(w0), every gradient and every Hessian by their
sensitivities. The tolerances are chosen such that a run takes a given number of steps and that noise, not curvature,
makes each noisy Hessian look indefinite, so that (almost) no run ends early: the regime n < n_min of Theorem 4. What
is then missing from the accounted epsilon is the accountant's or the auditor's, but for line searches: their steps go
across the gradient here, which does not move a search. By a hand estimate that no run has checked, a pair whose steps
go along it takes dozens of steps: a slope that lasts for a step of b times the fallback is worth 2 b^2 of the least
decreases, by which T is counted.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache, partial
from math import sqrt
from typing import Any

import numpy as np

from dpassay.reference.accounting.cost import Account
from dpassay.reference.arrays import Array
from dpassay.reference.case import ExactDelta, Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem, SmoothRisk
from dpassay.reference.problems.margin_losses import loss_a
from dpassay.reference.problems.one_way import OneWay
from dpassay.reference.problems.waves import WaveRisk

from . import dp_gd, dp_tr, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls
from .calibration import spends_most
from .common import Accuracy, Reading
from .eigen import Lanczos
from .subsampled import SampledBudget
from .worst_case import (
    DELTA,
    EPSILON,
    LARGE,
    Decrease,
    StepBound,
    aligned_pair,
    alike_pair,
    crossed_pair,
    first_records,
    opposed_pair,
    pair_delta,
    pair_delta_infinity,
    worst_case_delta,
)

B8_EPSILON = 0.9  # Theorem B.8 needs epsilon < 1
RECORDS, START = 100, 6.0
FAR = 40.0  # start of the two-phase methods
HOPES = {"printed": 1.0, "repaired": 4.0}  # of the two-phase methods: MIN_DEC per step of phase one
LONGEST = partial(spends_most, 1.0)
STEPS_TAKEN = "the number of steps"
PHASE_ONE = "the steps of phase one, seen by who is told when phase two begins"
BASELINE_ACCURACY = Accuracy(gradient=0.3, curvature=0.3)
DIMENSION, HOPE = 12, 2.0  # on signs; phase one hopes for twice the decrease, so for half the steps
STEPS, SEARCHED_STEPS = 4, 2  # on signs, without and with line searches
SHARED_EPSILON, SHARED_RECORDS = 5.0, 50  # of the instance that shows the shared batch
Facts = dict[str, float | int | str]
FILES: dict[str, Any] = {
    "opt": opt,
    "opt_ls": opt_ls,
    "opt_b": opt_b,
    "two_opt": two_opt,
    "two_opt_ls": two_opt_ls,
    "two_opt_b": two_opt_b,
    "dp_tr": dp_tr,
    "dp_gd": dp_gd,
    "tr_b": tr_b,
}
BASELINES = ("dp_tr", "dp_gd", "tr_b")
EDGES = {"opt": 3, "opt_ls": 1, "two_opt": 12, "two_opt_ls": 2}  # T on real data: the bound (6) without noise


def decrease_of(name: str) -> Decrease:
    """MIN_DEC of the algorithm: eq. (17) with line searches, else eq. (10)."""
    return opt_ls.minimum_decrease if name.endswith("_ls") else opt.minimum_decrease


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


def edge_accuracy(decrease: Decrease, value: float, steps: int) -> Accuracy:
    """Choose epsilon_g such that `value` is just above steps * MIN_DEC: the worst place for the ceiling of (6)."""
    k = problem().constants()
    per_square = decrease(Accuracy(gradient=1.0, curvature=10.0), k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=sqrt(value / (steps * (1 + 1e-9)) / per_square), curvature=0.9)


def leak(
    schedule: Any,
    pair: Pair[ErmProblem],
    epsilon: float = EPSILON,
    hope: float = 1.0,
    shown: str = STEPS_TAKEN,
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


def full_batch(name: str, reading: Reading) -> Instance:
    """OPT, OPT-LS, 2OPT and 2OPT-LS on the pair that moves f(w0) the most.

    Two phases run on all 569 records: with little noise, so that the warm start of phase two is not far off.
    """
    two = name.startswith("two_")
    data, w0 = (everything(), start(FAR)) if two else (problem(), start())
    pair = aligned_pair(data, w0)
    accuracy = edge_accuracy(decrease_of(name), pair.there.value(w0), EDGES[name])
    options = {"hope": HOPES[reading]} if two else {}
    schedule = getattr(FILES[name], reading)(data, w0, accuracy, EPSILON, DELTA, **options)
    facts: Facts = {"n": pair.here.n}
    if two:
        facts["hope"] = schedule.hope
    else:
        facts |= {
            "d": pair.here.d,
            "f(w0) on D": pair.here.value(w0),
            "f(w0) on D'": pair.there.value(w0),
            "Delta_f": schedule.sensitivity.value,
            "sigma_f": schedule.noise.sigma_f,
            "MIN_DEC": schedule.minimum_decrease,
        }
    exact = None
    if reading == "printed":
        exact = leak(schedule.first, pair, hope=schedule.hope, shown=PHASE_ONE) if two else leak(schedule, pair)
    return Instance(FILES[name].run, schedule, pair, LONGEST, facts, exact, others=_bending(reading, w0, pair))


def _bending(reading: Reading, w0: Array, pair: Pair[ErmProblem]) -> tuple[Pair[ErmProblem], ...]:
    """For the search: a pair that moves the Hessian by all that a repaired reading declares (a printed one: more)."""
    return (crossed_pair(pair.there, w0),) if reading == "repaired" else ()


def on_batches(name: str, reading: Reading) -> Instance:
    """OPT-B and 2OPT-B: printed by Theorem B.8, on the pair that moves f(w0); repaired on equal records: exact."""
    as_printed, accuracy = reading == "printed", _batch_accuracy(problem())
    epsilon = B8_EPSILON if as_printed else EPSILON
    if as_printed:
        pair = aligned_pair(problem(), start())
        base = opt_b.printed(pair.here, start(), accuracy, epsilon, DELTA, batch=RECORDS // 2, route="advanced")
    else:
        pair = alike_pair(problem(), start())
        base = opt_b.repaired(pair.here, start(), accuracy, epsilon, DELTA, batch=10)
    schedule: Any = base
    facts, first, shown = _sizes(pair, base), base, STEPS_TAKEN
    if name == "two_opt_b":
        schedule = two_opt_b.Schedule(base, epsilon, DELTA, HOPES[reading])
        first, shown = schedule.phase(base.start, schedule.share), PHASE_ONE
    exact = leak(first, pair, epsilon, shown=shown) if as_printed else None
    return Instance(FILES[name].run, schedule, pair, LONGEST, facts, exact)


def opt_b_rdp() -> Instance:
    """OPT-B by eq. (30), on all 569 records in batches of 10: larger shares have no noise that meets the budget."""
    pair = aligned_pair(everything(), start())
    schedule = opt_b.printed(everything(), start(), _batch_accuracy(everything()), EPSILON, DELTA, batch=10)
    return Instance(opt_b.run, schedule, pair, LONGEST, _sizes(pair, schedule), leak(schedule, pair))


def _batch_accuracy(data: ErmProblem) -> Accuracy:
    return edge_accuracy(opt.minimum_decrease, aligned_pair(data, start()).there.value(start()), steps=1)


def _sizes(pair: Pair[ErmProblem], schedule: opt_b.Schedule) -> Facts:
    return {"n": pair.here.n, "batch": schedule.batch, "MIN_DEC": schedule.minimum_decrease}


def baseline(name: str, reading: Reading) -> Instance:
    """DP-TR, DP-GD and TR-B; printed TR-B in batches of one: eq. (30) has no noise for larger shares of so few."""
    w0 = np.zeros(problem().d)
    options = {"batch": 1 if reading == "printed" else 10} if name == "tr_b" else {}
    pair = alike_pair(problem(), w0) if options else opposed_pair(problem(), w0)
    schedule = getattr(FILES[name], reading)(pair.here, w0, BASELINE_ACCURACY, EPSILON, DELTA, **options)
    facts: Facts = {"n": pair.here.n, "T": schedule.steps, "sigma": schedule.noise["gradient"]}
    return Instance(FILES[name].run, schedule, pair, LONGEST, facts, others=_bending(reading, w0, pair))


def signs_pair(n: int) -> Pair[WaveRisk]:
    """All records are -1, but one is +1 in D: it pulls the other way, so a batch shows whether it is in it."""
    there = WaveRisk(-np.ones(n), DIMENSION)
    return Pair(there.replace(0, 1.0), there, 0, "record 0 is the sign +1 or -1: value, gradient and Hessian opposed")


def signs(name: str, eigen: Lanczos | None = None) -> Instance:
    """The repaired methods with the bound (6); on batches: 1 out of 10.

    epsilon_g passes every gradient, epsilon_H sets MIN_DEC. Steps by Lanczos begin at epsilon_H / 2.
    """
    decrease, w0 = decrease_of(name), np.zeros(DIMENSION)
    on_batches, searched = name.endswith("_b"), name.endswith("_ls")
    both = signs_pair(10 if on_batches else 2)
    k = both.here.constants()
    unit = decrease(Accuracy(LARGE, 1.0), k.smoothness, k.hessian_lipschitz)
    steps = SEARCHED_STEPS if searched else STEPS
    curvature = (both.here.value_bound(w0) / ((steps - 0.5) * unit)) ** (1 / 3)
    accuracy = Accuracy(gradient=LARGE, curvature=curvature / (1.0 if eigen is None else eigen.margin))
    options = ({"batch": 1} if on_batches else {}) | ({"hope": HOPE} if name.startswith("two_") else {})
    schedule = FILES[name].repaired(both.here, w0, accuracy, EPSILON, DELTA, **options)
    if eigen is not None:
        schedule = replace(schedule, eigen=eigen)
    facts: Facts = {"n": both.here.n, "d": both.here.d, "G": k.smoothness, "M": k.hessian_lipschitz}
    facts["MIN_DEC"] = getattr(schedule, "base", schedule).minimum_decrease
    found = Instance(FILES[name].run, schedule, both, facts=facts)
    return _without_searches(found) if searched else found


def _without_searches(instance: Instance) -> Instance:
    """Name the cost of the Gaussian releases alone: the pair hardly moves the searches, which step across it."""
    parts = instance.accounted().common
    alone = Account(tuple(part for part in parts if part[0].kind == "gaussian")).epsilon(DELTA)
    return replace(instance, facts={**instance.facts, "epsilon without line searches": alone})


def baseline_signs(name: str) -> Instance:
    """The repaired baselines; TR-B in batches of 1 out of 10. Curvature so tight that nothing passes."""
    options = {"batch": 1} if name == "tr_b" else {}
    both, w0 = signs_pair(10 if options else 2), np.zeros(DIMENSION)
    accuracy = replace(baseline_accuracy(name, both.here, w0, STEPS), curvature=1e-3)
    schedule = FILES[name].repaired(both.here, w0, accuracy, EPSILON, DELTA, **options)
    facts: Facts = {"n": both.here.n, "T": schedule.steps, "sigma": schedule.noise["gradient"]}
    return Instance(FILES[name].run, schedule, both, facts=facts)


def baseline_accuracy(name: str, risk: SmoothRisk, start: Array, steps: int) -> Accuracy:
    """The alpha at which a baseline makes so many steps: T = 2 G gap / alpha^2, or 6 sqrt(M) gap / alpha^1.5."""
    k, gap = risk.constants(), risk.value_bound(start)
    if name == "dp_gd":
        return Accuracy((2 * k.smoothness * gap / (steps - 0.5)) ** 0.5, 1.0)
    return Accuracy((6 * k.hessian_lipschitz**0.5 * gap / (steps - 0.5)) ** (2 / 3), 1.0)


def shared_batch() -> Instance:
    """OPT-B as printed, noise by eq. (30): one iteration whose gradient and Hessian see the same batch (Section 3.3).

    Eq. (29) adds the costs of two sampled releases as if each had a batch of its own. One draw protects both, so a
    record that is in the batch shows twice: with noise multiplier sigma and fraction s = m/n, where all other records
    are opposed, an iteration is the pair (1 - s) N(0, 1) + s N(mu, 1) against N(0, 1) with mu = sqrt(2)/sigma. Eq. (27)
    is loose enough to cover that where epsilon is small; at delta = 1e-5 it no longer is at epsilon 2 (T = 4,
    s = 1/50) and above.
    """
    there = OneWay(-np.ones(SHARED_RECORDS))
    how = "record 0 is the sign +1 or -1, all others are -1; f(w0) does not move"
    both = Pair(there.replace(0, 1.0), there, 0, how)
    accuracy = Accuracy(gradient=1e9, curvature=1e6)  # MIN_DEC so large that T = 1
    schedule = opt_b.printed(there, np.zeros(1), accuracy, SHARED_EPSILON, DELTA, batch=1)
    sigma = SampledBudget(SHARED_EPSILON, DELTA, 1 / SHARED_RECORDS).sigma(1)
    facts: Facts = {"n": SHARED_RECORDS, "batch": 1, "T": 1, "sigma": sigma}
    return Instance(opt_b.run, schedule, both, facts=facts)
