"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import sqrt
from typing import Any, Literal

import numpy as np

from dpassay.reference.case import Case, ExactDelta, Instance, PrivacyClaim, Reading
from dpassay.reference.neighbours import Pair
from dpassay.reference.papers import Cite
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import loss_a
from dpassay.reference.types import Array

from . import gradient_descent, opt_b, opt_ls, shared_batch, short_step, trust_region, two_phase, worst_cases
from .common import Accuracy
from .iteration_leak import StepBound, pair_delta, pair_delta_infinity, worst_case_delta
from .neighbours import aligned_pair, first_records, opposed_pair

PAPER = "second_order_erm"
EPSILON, DELTA = 1.0, 1e-5
B8_EPSILON = 0.9  # Theorem B.8 needs epsilon < 1
RECORDS, START, STEPS = 100, 6.0, 3
DATA = f"breast cancer, first {RECORDS} records"
ALIGNED = "record 0 is w0/||w0|| with label +1 or -1: f(w0) moves by its sensitivity"
PHASE_ONE = "the steps of phase one, seen by who is told when phase two begins"
HOPES = {"printed": 1.0, "repaired": 4.0}  # of the two-phase methods on real data: MIN_DEC per step of phase one
_LEAK = "T and every noise scale are computed from f(w0) + |z|: private data, one-sided noise (eq. 6)"


@lru_cache(maxsize=1)
def problem() -> ErmProblem:
    """Loss A on the first records of the breast-cancer set."""
    return first_records(ErmProblem(*real_data.breast_cancer(), loss_a()), RECORDS)


def start() -> Array:
    """A public start away from zero: at w0 = 0 all records cost log 2 and f(w0) tells nothing."""
    w = np.zeros(problem().d)
    w[0] = START
    return w


def curvature_steps_only(label: str, law: Any, step: int) -> Any:
    """Answers under which a run spends the most: small gradients, negative curvature, so T steps of two releases."""
    if label == "gradient":  # its sign decides the direction: to and fro
        return np.full(law.query.shape, 1e-9 if step % 4 < 2 else -1e-9)
    if label == "hessian":  # the upper triangle of -I
        d = round((sqrt(8 * law.query.size + 1) - 1) / 2)
        rows, columns = np.triu_indices(d)
        return -(rows == columns).astype(float)
    return None


def edge_accuracy(module: Any, value: float, steps: int = STEPS, **search: Any) -> Accuracy:
    """Choose epsilon_g such that `value` is just above steps * MIN_DEC: the worst place for the ceiling of (6)."""
    k = problem().constants()
    unit = Accuracy(gradient=1.0, curvature=10.0)
    per_square = module.minimum_decrease(unit, *search.values(), k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=sqrt(value / (steps * (1 + 1e-9)) / per_square), curvature=0.9)


def leak(
    schedule: Any,
    pair: Pair[ErmProblem],
    epsilon: float = EPSILON,
    hope: float = 1.0,
    shown: str = "the number of steps",
) -> ExactDelta:
    """What eq. (6) costs on this pair, in closed form: T is the length of every run that does not return early."""
    std = schedule.sensitivity.value * schedule.budget.sigma_f  # Delta_f sigma_f
    low, high = (
        StepBound(side.value(schedule.start), std, hope * schedule.minimum_decrease, schedule.lower_bound)
        for side in (pair.here, pair.there)
    )
    how = (
        f"T of eq. (6), {shown}: f(w0) + |z| is never below f(w0), so a short run on D is impossible on D' "
        f"(the worst data: delta {worst_case_delta(schedule.budget.sigma_f):.3g})"
    )
    return ExactDelta(pair_delta(low, high, epsilon), pair_delta_infinity(low, high), how)


def build(module: Any, reading: Reading) -> Instance:
    """Algorithm 1 or 3 on the pair that moves f(w0) the most."""
    w0 = start()
    here, there = aligned_pair(problem(), w0)
    pair = Pair(here, there, 0, ALIGNED)
    search = {"search": opt_ls.LineSearch()} if module is opt_ls else {}
    accuracy = edge_accuracy(module, there.value(w0), 1 if search else STEPS, **search)
    make = module.printed if reading == "printed" else module.repaired
    schedule = make(problem(), w0, accuracy, EPSILON, DELTA)
    facts: dict[str, float | int | str] = {
        "n": problem().n,
        "d": problem().d,
        "f(w0) on D": here.value(w0),
        "f(w0) on D'": there.value(w0),
        "Delta_f": schedule.sensitivity.value,
        "sigma_f": schedule.budget.sigma_f,
        "MIN_DEC": schedule.minimum_decrease,
    }
    exact = leak(schedule, pair) if reading == "printed" else None
    return Instance(module.run, schedule, pair, curvature_steps_only, facts, exact)


def identical(start: Array) -> Pair[ErmProblem]:
    """All other records equal and pointing the other way: with them the loss of a sampled run is exact, and large."""
    here, there = opposed_pair(problem(), start)
    features, labels = np.tile(there.features[0], (RECORDS, 1)), np.full(RECORDS, there.labels[0])
    alike = ErmProblem(features, labels, problem().loss)
    return Pair(
        alike.replace(0, here.features[0], float(here.labels[0])),
        alike,
        0,
        "all records but one are equal; record 0 pulls the gradient the other way",
    )


def build_batches(reading: Reading) -> Instance:
    """OPT-B: Theorem B.8 on the pair that moves f(w0); repaired on equal records, where the loss is exact."""
    w0 = start()
    accuracy = edge_accuracy(short_step, aligned_pair(problem(), w0)[1].value(w0), 1)
    if reading == "printed":
        return _printed_batches(problem(), w0, accuracy, B8_EPSILON, RECORDS // 2, "advanced")
    pair = identical(w0)
    schedule = opt_b.repaired(pair.here, w0, accuracy, EPSILON, DELTA, batch_size=10)
    facts: dict[str, float | int | str] = {"n": RECORDS, "batch": 10, "MIN_DEC": schedule.minimum_decrease}
    return Instance(opt_b.run, schedule, pair, curvature_steps_only, facts)


def build_rdp_batches() -> Instance:
    """OPT-B by eq. (30), on all 569 records in batches of 10: larger shares have no noise that meets the budget."""
    whole, w0 = ErmProblem(*real_data.breast_cancer(), loss_a()), start()
    accuracy = edge_accuracy(short_step, aligned_pair(whole, w0)[1].value(w0), 1)
    return _printed_batches(whole, w0, accuracy, EPSILON, 10, "rdp")


def _printed_batches(
    data: ErmProblem, w0: Array, accuracy: Accuracy, epsilon: float, size: int, route: Literal["rdp", "advanced"]
) -> Instance:
    pair = Pair(*aligned_pair(data, w0), 0, ALIGNED)
    schedule = opt_b.printed(data, w0, accuracy, epsilon, DELTA, batch_size=size, route=route)
    facts: dict[str, float | int | str] = {"n": data.n, "batch": size, "MIN_DEC": schedule.minimum_decrease}
    return Instance(opt_b.run, schedule, pair, curvature_steps_only, facts, leak(schedule, pair, epsilon))


def build_two_phase(inner: Any, reading: Reading) -> Instance:
    """2OPT or 2OPT-LS on all 569 records: with little noise, so that the warm start of phase two is not far off."""
    whole = ErmProblem(*real_data.breast_cancer(), loss_a())
    w0 = start() * 40 / START
    pair = Pair(*aligned_pair(whole, w0), 0, ALIGNED)
    search = {"search": opt_ls.LineSearch()} if inner is opt_ls else {}
    accuracy = edge_accuracy(inner, pair.there.value(w0), 2 if search else 4 * STEPS, **search)
    base = (inner.printed if reading == "printed" else inner.repaired)(whole, w0, accuracy, EPSILON, DELTA)
    schedule = two_phase.Schedule(base, hope=HOPES[reading])
    exact = leak(schedule.first(base), pair, hope=schedule.hope, shown=PHASE_ONE) if reading == "printed" else None
    return Instance(two_phase.run, schedule, pair, curvature_steps_only, {"n": whole.n}, exact)


def build_two_phase_batches(reading: Reading) -> Instance:
    """2OPT-B around the instances of OPT-B."""
    inner = build_batches(reading)
    base = inner.schedule
    schedule = two_phase.Schedule(base, hope=HOPES[reading])
    first = replace(base, budget=schedule.part(base.budget, schedule.share))
    exact = leak(first, inner.pair, B8_EPSILON, shown=PHASE_ONE) if reading == "printed" else None
    return replace(inner, run=two_phase.run, schedule=schedule, exact=exact)


def build_baseline(module: Any, reading: Reading, **options: Any) -> Instance:
    """DP-TR, TR-B or DP-GD from w0 = 0; the gradients of the pair are opposed."""
    w0 = np.zeros(problem().d)
    accuracy = Accuracy(gradient=0.3, curvature=0.3)
    if options.get("batch_size"):
        pair = identical(w0)
    else:
        pair = Pair(*opposed_pair(problem(), w0), 0, "record 0 pulls the gradient one way or the other")
    schedule = module.make(reading, pair.here, w0, accuracy, EPSILON, DELTA, **options)
    facts: dict[str, float | int | str] = {"n": RECORDS, "T": schedule.steps, "sigma": schedule.sigma}
    return Instance(module.run, schedule, pair, curvature_steps_only, facts)


def build_trust_region_batches(reading: Reading) -> Instance:
    """TR-B; printed in batches of one record: eq. (30) has no noise for larger shares of so few records."""
    return build_baseline(trust_region, reading, batch_size=1 if reading == "printed" else 10)


@dataclass(frozen=True)
class Method:
    """One algorithm: its file (or its notes), how its instances are made, and which of its rows are quick."""

    name: str
    title: str
    module: Any
    cite: Cite
    real: Callable[[Reading], Instance]
    worst: Callable[[float, float], Instance]
    guarantee: Cite
    epsilon: float = EPSILON  # printed claim
    known: str = ""  # defect of the printed reading
    data: str = DATA
    quick: tuple[str, ...] = ()

    def rows(self) -> tuple[Case, ...]:
        """As printed, as repaired, and repaired on the pair that shows (nearly) all it may."""
        found = [self._row(reading, "", partial(self.real, reading), self.data) for reading in READINGS]
        worst = partial(self.worst, EPSILON, DELTA)
        return (*found, self._row("repaired", "worst", worst, worst_cases.DATA))

    def also(self, reading: Reading, variant: str, make: Callable[[], Instance], data: str, **changes: Any) -> Case:
        """One more row."""
        return replace(self, **changes)._row(reading, variant, make, data)

    def _row(self, reading: Reading, variant: str, make: Callable[[], Instance], data: str) -> Case:
        printed = reading == "printed"
        return Case(
            id=f"{PAPER}/{self.name}",
            reading=reading,
            title=self.title,
            cite=self.cite,
            claim=PrivacyClaim(self.epsilon if printed else EPSILON, DELTA, self.guarantee),
            build=make,
            variant=variant,
            data=data,
            completions=self.module.COMPLETIONS if printed else (),
            repairs=() if printed else self.module.REPAIRS,
            known=self.known if printed else "",
            quick=(variant or reading) in self.quick,
        )


READINGS: tuple[Reading, Reading] = ("printed", "repaired")
METHODS = (
    Method(
        "opt", "OPT: short steps", short_step, Cite(PAPER, "Algorithm 1"),
        partial(build, short_step), partial(worst_cases.build, short_step), Cite(PAPER, "Theorem 1"),
        known=_LEAK, quick=("printed", "repaired", "worst"),
    ),
    Method(
        "opt_ls", "OPT-LS: private line search", opt_ls, Cite(PAPER, "Algorithms 2 and 3"),
        partial(build, opt_ls), partial(worst_cases.build, opt_ls, steps=2), Cite(PAPER, "Theorem 5"),
        known=_LEAK, quick=("printed", "worst"),
    ),
    Method(
        "opt_b", "OPT-B: mini-batches", opt_b, Cite(PAPER, "Section 3.3"),
        build_batches, worst_cases.build_batches, Cite(PAPER, "Theorem B.8"),
        epsilon=B8_EPSILON, known=_LEAK,
    ),
    Method(
        "2opt", "2OPT: two phases", two_phase.notes(short_step, HOPES["printed"]), Cite(PAPER, "Section 3.4"),
        partial(build_two_phase, short_step), partial(worst_cases.build_two_phase, short_step),
        Cite(PAPER, "Section 3.4"), known=_LEAK, data="breast cancer",
    ),
    Method(
        "2opt_ls", "2OPT-LS: two phases with line search", two_phase.notes(opt_ls, HOPES["printed"]),
        Cite(PAPER, "Section 3.4"), partial(build_two_phase, opt_ls),
        partial(worst_cases.build_two_phase, opt_ls, steps=2), Cite(PAPER, "Section 3.4"),
        known=_LEAK, data="breast cancer",
    ),
    Method(
        "2opt_b", "2OPT-B: two phases on batches", two_phase.notes(opt_b, HOPES["printed"]),
        Cite(PAPER, "Section 3.4"), build_two_phase_batches, worst_cases.build_two_phase_batches,
        Cite(PAPER, "Section 3.4"), epsilon=B8_EPSILON, known=_LEAK,
    ),
    Method(
        "dp_tr", "DP-TR: trust region", trust_region, Cite("wang2021", "DP-TR"),
        partial(build_baseline, trust_region), partial(worst_cases.build_baseline, trust_region),
        Cite("wang2021", "DP-TR"),
    ),
    Method(
        "dp_gd", "DP-GD: descend, then search", gradient_descent, Cite("wang2019", "DP-GD"),
        partial(build_baseline, gradient_descent), partial(worst_cases.build_baseline, gradient_descent),
        Cite("wang2019", "DP-GD"),
    ),
    Method(
        "tr_b", "TR-B: trust region on batches", trust_region, Cite(PAPER, "Section 4"),
        build_trust_region_batches,
        partial(worst_cases.build_baseline, trust_region, batch_size=1),
        Cite(PAPER, "eq. (30)"),
    ),
)  # fmt: skip

_OPT, _OPT_B, _EQ30 = METHODS[0], METHODS[2], Cite(PAPER, "eq. (30)")
CASES: tuple[Case, ...] = (
    *(case for method in METHODS for case in method.rows()),
    _OPT.also("repaired", "lanczos", partial(worst_cases.build_lanczos, EPSILON, DELTA), worst_cases.DATA),
    _OPT_B.also("printed", "eq30", build_rdp_batches, "breast cancer", guarantee=_EQ30, epsilon=EPSILON),
    _OPT_B.also(
        "printed", "shared-batch", partial(shared_batch.build, DELTA), worst_cases.DATA,
        guarantee=_EQ30, epsilon=shared_batch.EPSILON, known=shared_batch.KNOWN,
    ),
)  # fmt: skip
