"""Worst-case neighbours, and what the rows run: on records of the breast-cancer set, and on signs, at (1, 1e-5).

T can be read off the run: it is its length when no step returns early, and the noise level of every release. The
noise |z| of eq. (6) is one-sided, so on the neighbour with the larger f(w0) small T are impossible, and no epsilon
covers them: `StepBound` has the exact delta of T = ceil((f(w0) + |z| - f_low) / MIN_DEC).

The problem on signs is `WaveRisk`: replacing one sign moves f(w0), every gradient and every Hessian by their
sensitivities. The tolerances are chosen such that a run takes a given number of steps and that noise, not curvature,
makes each noisy Hessian look indefinite, so that (almost) no run ends early: the regime n < n_min of Theorem 4. What
is then missing from the accounted epsilon is the accountant's or the auditor's, but for line searches: their steps go
across the gradient here, which does not move a search. By a hand estimate that no run has checked, a pair whose steps
go along it takes dozens of steps: a slope that lasts for a step of b times the fallback is worth 2 b^2 of the least
decreases, by which T is counted.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import ceil, exp, sqrt
from typing import Any

import numpy as np
import scipy

from dpassay.reference.accounting.cost import Account
from dpassay.reference.arrays import Array
from dpassay.reference.case import ExactDelta, Facts, Instance
from dpassay.reference.neighbours import Pair
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem, SmoothRisk
from dpassay.reference.problems.margin_losses import LOSS_A
from dpassay.reference.problems.one_way import OneWay
from dpassay.reference.problems.waves import WaveRisk

from . import dp_gd, dp_tr, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls
from .calibration import spends_most
from .common import Accuracy, Reading
from .eigen import Lanczos
from .subsampled import SampledBudget

LARGE = 1e9
EPSILON, DELTA = 1.0, 1e-5
Decrease = Callable[[Accuracy, float, float], float]  # MIN_DEC of an accuracy, G and M
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
_MODULES = (opt, opt_ls, opt_b, two_opt, two_opt_ls, two_opt_b, dp_tr, dp_gd, tr_b)
FILES: dict[str, Any] = {one.__name__.rpartition(".")[2]: one for one in _MODULES}
BASELINES = ("dp_tr", "dp_gd", "tr_b")
EDGES = {"opt": 3, "opt_ls": 1, "two_opt": 12, "two_opt_ls": 2}  # T on real data: the bound (6) without noise


def aligned_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: R w0 / ||w0|| with label +1 in D and -1 in D'.

    f(w0) then moves by exactly `problem.value_sensitivity(start)`. For w0 = 0 the two values agree and nothing shows.
    """
    norm = float(np.linalg.norm(start))
    record = problem.feature_bound * (start / norm if norm > 0 else np.eye(problem.d)[0])
    how = "record 0 is w0/||w0|| with label +1 or -1: f(w0) moves by its sensitivity"
    return Pair(problem.replace(0, record, 1.0), problem.replace(0, record, -1.0), 0, how)


def opposed_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: two records that pull the gradient at w0 apart as far as a scan finds.

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
    one, other = problem.replace(0, side - down, 1.0), problem.replace(0, -side - down, 1.0)
    return Pair(one, other, 0, "record 0 pulls the gradient one way or the other")


def crossed_pair(problem: ErmProblem, start: Array) -> Pair[ErmProblem]:
    """D and D' differ in record 0: two records across w0 and across each other move the Hessian the most.

    Their margins at w0 are zero, where a convex link is most curved, and what they add to the Hessian has rank one
    each: sqrt(2) of one of them apart. In one dimension there is one direction only, and less is moved.
    """
    found = np.linalg.qr(np.column_stack([start, np.eye(problem.d)]))[0].T[1:3] * problem.feature_bound
    one, other = (problem.replace(0, record, 1.0) for record in found)
    return Pair(one, other, 0, "record 0 bends the model across w0, one way or the other")


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


@dataclass(frozen=True)
class StepBound:
    """The law of T for one data set: f(w0), std = Delta_f sigma_f of z, MIN_DEC, and the lower bound on f."""

    value: float
    std: float
    minimum_decrease: float
    lower_bound: float = 0.0

    @property
    def least(self) -> int:
        """Smallest T that has positive probability (z = 0 has none)."""
        return max(1, ceil((self.value - self.lower_bound) / self.minimum_decrease))

    def cdf(self, steps: Array | float) -> Array:
        """P(T <= steps) = P(|z| <= steps MIN_DEC + f_low - f(w0)) = 2 Phi(. / std) - 1."""
        room = np.asarray(steps) * self.minimum_decrease + self.lower_bound - self.value
        return np.asarray(
            scipy.special.erf(np.maximum(room, 0.0) / (np.sqrt(2.0) * self.std))
        )  # a half-normal is below room


def pair_delta_infinity(low: StepBound, high: StepBound) -> float:
    """P(T(D) is impossible on D') for f(w0; D) < f(w0; D'): the exact delta at epsilon = infinity, in closed form."""
    return float(low.cdf(high.least - 1))


def pair_delta(one: StepBound, other: StepBound, epsilon: float) -> float:
    """Exact delta(epsilon) of T alone, the larger of the two directions: sum over T of (p - exp(epsilon) p')_+."""
    last = ceil((max(one.value, other.value) + 40 * one.std - one.lower_bound) / one.minimum_decrease) + 1
    steps = np.arange(0, last + 1, dtype=np.float64)
    p, q = np.diff(one.cdf(steps)), np.diff(other.cdf(steps))
    forward, backward = np.maximum(p - exp(epsilon) * q, 0).sum(), np.maximum(q - exp(epsilon) * p, 0).sum()
    return float(max(forward, backward))


def decrease_of(name: str) -> Decrease:
    """MIN_DEC of the algorithm: eq. (17) with line searches, else eq. (10)."""
    return opt_ls.minimum_decrease if name.endswith("_ls") else opt.minimum_decrease


@lru_cache(maxsize=1)
def everything() -> ErmProblem:
    """Loss A on the breast-cancer set."""
    return ErmProblem(*real_data.breast_cancer(), LOSS_A)


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
    schedule: Any, pair: Pair[ErmProblem], epsilon: float = EPSILON, hope: float = 1.0, shown: str = STEPS_TAKEN
) -> ExactDelta:
    """What eq. (6) costs on this pair, in closed form: T is the length of every run that does not return early."""
    sigma_f = schedule.noise.sigma_f
    std = schedule.sensitivity.value * sigma_f  # Delta_f sigma_f
    low, high = (
        StepBound(side.value(schedule.start), std, hope * schedule.minimum_decrease, schedule.lower_bound)
        for side in (pair.here, pair.there)
    )
    worst = 2 * scipy.special.ndtr(1 / sigma_f) - 1  # where f(w0) moves by Delta_f across an edge of the ceiling
    how = (
        f"T of eq. (6), {shown}: f(w0) + |z| is never below f(w0), so a short run on D is impossible on D' "
        f"(the worst data: delta {worst:.3g})"
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
