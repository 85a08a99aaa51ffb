"""Worst-case neighbours, and the instances on which a run shows (nearly) all that its repaired accounting allows.

The problem of the latter is `WaveRisk`: replacing one sign moves f(w0), every gradient and every Hessian by their
sensitivities. The tolerances are chosen such that a run takes a given number of steps and that noise, not curvature,
makes each noisy Hessian look indefinite, so that (almost) no run ends early: the regime n < n_min of Theorem 4. What
is then missing from the accounted epsilon is the accountant's or the auditor's, but for line searches: their steps go
across the gradient here, which does not move a search. By a hand estimate that no run has checked, a pair whose steps
go along it takes dozens of steps: a slope that lasts for a step of b times the fallback is worth 2 b^2 of the least
decreases, by which T is counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from dpassay.reference.accounting.cost import Account
from dpassay.reference.case import Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.noise import Multipliers
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.one_way import OneWay
from dpassay.reference.problems.waves import WaveRisk
from dpassay.reference.types import Array

from . import dp_gd, dp_tr, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls
from .common import Accuracy
from .eigen import Lanczos

DIMENSION, LARGE = 12, 1e9
STEPS, SEARCHED_STEPS = 4, 2  # of the instances without and with line searches
EPSILON, DELTA = 1.0, 1e-5
HOPE = 2.0  # phase one of the two-phase methods hopes for twice the decrease, so for half the steps
SHARED_EPSILON, SHARED_RECORDS = 5.0, 50  # of the instance that shows the shared batch
Decrease = Callable[[Accuracy, float, float], float]  # MIN_DEC of an accuracy, G and M


# pairs of margin problems --------------------------------------------------------------------------------------------


def aligned_pair(problem: ErmProblem, start: Array, index: int = 0) -> Pair[ErmProblem]:
    """D and D' differ in record `index`: R w0 / ||w0|| with label +1 in D and -1 in D'.

    f(w0) then moves by exactly `problem.value_sensitivity(start)`. For w0 = 0 the two values agree and nothing shows.
    """
    norm = float(np.linalg.norm(start))
    record = problem.feature_bound * (start / norm if norm > 0 else np.eye(problem.d)[0])
    how = "record 0 is w0/||w0|| with label +1 or -1: f(w0) moves by its sensitivity"
    return Pair(problem.replace(index, record, 1.0), problem.replace(index, record, -1.0), index, how)


def opposed_pair(problem: ErmProblem, start: Array, index: int = 0) -> Pair[ErmProblem]:
    """D and D' differ in record `index`: two records that pull the gradient at w0 apart as far as a scan finds.

    Both lie in the plane of w0 and one direction across it, on the wrong side of w0, so their gradients are long, and
    they point away from each other. The bound 2 R sup|phi'| / n is approached as ||w0|| grows.
    """
    norm = float(np.linalg.norm(start))
    along = start / norm if norm > 0 else np.eye(problem.d)[0]
    across = np.eye(problem.d)[int(np.argmin(np.abs(along)))]
    across = across - (across @ along) * along
    across /= np.linalg.norm(across)
    angles = np.linspace(0.0, np.pi / 2, 2001)
    slope = np.abs(problem.loss.link.slope(-problem.feature_bound * norm * np.sin(angles)))
    angle = float(angles[np.argmax(slope * np.cos(angles))])
    down, side = problem.feature_bound * np.sin(angle) * along, problem.feature_bound * np.cos(angle) * across
    one, other = problem.replace(index, side - down, 1.0), problem.replace(index, -side - down, 1.0)
    return Pair(one, other, index, "record 0 pulls the gradient one way or the other")


def crossed_pair(problem: ErmProblem, start: Array, index: int = 0) -> Pair[ErmProblem]:
    """D and D' differ in record `index`: two records across w0 and across each other move the Hessian the most.

    Their margins at w0 are zero, where a convex link is most curved, and what they add to the Hessian has rank one
    each: sqrt(2) of one of them apart. In one dimension there is one direction only, and less is moved.
    """
    found = np.linalg.qr(np.column_stack([start, np.eye(problem.d)]))[0].T[1:3] * problem.feature_bound
    one, other = (problem.replace(index, record, 1.0) for record in found)
    return Pair(one, other, index, "record 0 bends the model across w0, one way or the other")


def alike_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """All other records equal and pointing the other way: with them the loss of a sampled run is exact, and large."""
    both = opposed_pair(problem, start)
    x, y = both.there.features[0], float(both.there.labels[0])
    alike = ErmProblem(np.tile(x, (problem.n, 1)), np.full(problem.n, y), problem.loss)
    one = alike.replace(0, both.here.features[0], float(both.here.labels[0]))
    return Pair(one, alike, 0, "all records but one are equal; record 0 pulls the gradient the other way")


def first_records(problem: ErmProblem, count: int) -> ErmProblem:
    """Keep the first `count` records: a small set on which one record weighs more and a run is fast."""
    return replace(problem, features=problem.features[:count], labels=problem.labels[:count])


# instances on signs --------------------------------------------------------------------------------------------------


def pair(n: int) -> Pair[WaveRisk]:
    """All records are -1, but one is +1 in D: it pulls the other way, so a batch shows whether it is in it."""
    there = WaveRisk(-np.ones(n), DIMENSION)
    return Pair(there.replace(0, 1.0), there, 0, "record 0 is the sign +1 or -1: value, gradient and Hessian opposed")


def accuracy_for(problem: WaveRisk, decrease: Decrease, gap: float, steps: int) -> Accuracy:
    """Tolerances for which the bound (6) is `steps`: epsilon_g passes every gradient, epsilon_H sets MIN_DEC."""
    k = problem.constants()
    unit = decrease(Accuracy(LARGE, 1.0), k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=LARGE, curvature=(gap / ((steps - 0.5) * unit)) ** (1 / 3))


def _signs(n: int, decrease: Decrease, steps: int) -> tuple[Pair[WaveRisk], Array, Accuracy]:
    both, w0 = pair(n), np.zeros(DIMENSION)
    return both, w0, accuracy_for(both.here, decrease, both.here.value_bound(w0), steps)


def _instance(run: Any, schedule: Any, both: Pair[WaveRisk], decrease: float) -> Instance:
    """Sizes and constants beside the run."""
    problem, k = both.here, both.here.constants()
    facts: dict[str, float | int | str] = {
        "n": problem.n, "d": problem.d, "G": k.smoothness, "M": k.hessian_lipschitz, "MIN_DEC": decrease,
    }  # fmt: skip
    return Instance(run, schedule, both, facts=facts)


def _without_searches(instance: Instance) -> Instance:
    """Name the cost of the Gaussian releases alone: the pair hardly moves the searches, which step across it."""
    parts = instance.accounted().common
    alone = Account(tuple(part for part in parts if part[0].kind == "gaussian")).epsilon(DELTA)
    return replace(instance, facts={**instance.facts, "epsilon without line searches": alone})


def opt_signs() -> Instance:
    """OPT."""
    both, w0, accuracy = _signs(2, opt.minimum_decrease, STEPS)
    schedule = opt.repaired(both.here, w0, accuracy, EPSILON, DELTA)
    return _instance(opt.run, schedule, both, schedule.minimum_decrease)


def opt_lanczos() -> Instance:
    """OPT with the eigenpair by Lanczos, whose steps begin at epsilon_H / 2."""
    eigen = Lanczos()
    both, w0, dense = _signs(2, opt.minimum_decrease, STEPS)
    accuracy = replace(dense, curvature=dense.curvature / eigen.margin)
    schedule = replace(opt.repaired(both.here, w0, accuracy, EPSILON, DELTA), eigen=eigen)
    return _instance(opt.run, schedule, both, schedule.minimum_decrease)


def opt_ls_signs() -> Instance:
    """OPT-LS."""
    both, w0, accuracy = _signs(2, opt_ls.minimum_decrease, SEARCHED_STEPS)
    schedule = opt_ls.repaired(both.here, w0, accuracy, EPSILON, DELTA)
    return _without_searches(_instance(opt_ls.run, schedule, both, schedule.minimum_decrease))


def opt_b_signs() -> Instance:
    """OPT-B: batches of 1 out of 10."""
    both, w0, accuracy = _signs(10, opt.minimum_decrease, STEPS)
    schedule = opt_b.repaired(both.here, w0, accuracy, EPSILON, DELTA, batch=1)
    return _instance(opt_b.run, schedule, both, schedule.minimum_decrease)


def two_opt_signs() -> Instance:
    """2OPT."""
    both, w0, accuracy = _signs(2, opt.minimum_decrease, STEPS)
    schedule = two_opt.repaired(both.here, w0, accuracy, EPSILON, DELTA, hope=HOPE)
    return _instance(two_opt.run, schedule, both, schedule.base.minimum_decrease)


def two_opt_ls_signs() -> Instance:
    """2OPT-LS."""
    both, w0, accuracy = _signs(2, opt_ls.minimum_decrease, SEARCHED_STEPS)
    schedule = two_opt_ls.repaired(both.here, w0, accuracy, EPSILON, DELTA, hope=HOPE)
    return _without_searches(_instance(two_opt_ls.run, schedule, both, schedule.base.minimum_decrease))


def two_opt_b_signs() -> Instance:
    """2OPT-B: batches of 1 out of 10, 3/4 of (epsilon, delta) on half the steps."""
    both, w0, accuracy = _signs(10, opt.minimum_decrease, STEPS)
    schedule = two_opt_b.repaired(both.here, w0, accuracy, EPSILON, DELTA, batch=1, hope=HOPE)
    return _instance(two_opt_b.run, schedule, both, schedule.base.minimum_decrease)


def _facts(both: Pair[WaveRisk], schedule: Any) -> dict[str, float | int | str]:
    return {"n": both.here.n, "T": schedule.steps, "sigma": schedule.noise["gradient"]}


def _trust_region_accuracy(problem: WaveRisk) -> Accuracy:
    """T = 6 sqrt(M) gap / alpha^1.5; curvature so tight that nothing passes."""
    k, gap = problem.constants(), problem.value_bound(np.zeros(DIMENSION))
    return Accuracy(gradient=(6 * k.hessian_lipschitz**0.5 * gap / (STEPS - 0.5)) ** (2 / 3), curvature=1e-3)


def dp_tr_signs() -> Instance:
    """DP-TR."""
    both = pair(2)
    accuracy = _trust_region_accuracy(both.here)
    schedule = dp_tr.repaired(both.here, np.zeros(DIMENSION), accuracy, EPSILON, DELTA)
    return Instance(dp_tr.run, schedule, both, facts=_facts(both, schedule))


def tr_b_signs() -> Instance:
    """TR-B: batches of 1 out of 10."""
    both = pair(10)
    accuracy = _trust_region_accuracy(both.here)
    schedule = tr_b.repaired(both.here, np.zeros(DIMENSION), accuracy, EPSILON, DELTA, batch=1)
    return Instance(tr_b.run, schedule, both, facts=_facts(both, schedule))


def dp_gd_signs() -> Instance:
    """DP-GD: T = 2 G gap / alpha^2."""
    both, w0 = pair(2), np.zeros(DIMENSION)
    alpha = (2 * both.here.constants().smoothness * both.here.value_bound(w0) / (STEPS - 0.5)) ** 0.5
    schedule = dp_gd.repaired(both.here, w0, Accuracy(gradient=alpha, curvature=1e-3), EPSILON, DELTA)
    return Instance(dp_gd.run, schedule, both, facts=_facts(both, schedule))


# what Theorem B.5 misses ---------------------------------------------------------------------------------------------


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
    facts: dict[str, float | int | str] = {"n": SHARED_RECORDS, "batch": 1, "T": 1, "sigma": _sigma(schedule, 1)}
    return Instance(opt_b.run, schedule, both, facts=facts)


def _sigma(schedule: opt_b.Schedule, steps: int) -> float:
    noise = schedule.noise
    return noise["gradient"] if isinstance(noise, Multipliers) else noise.sigma(steps)
