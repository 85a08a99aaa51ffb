"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache, partial
from math import sqrt
from typing import Any

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading, bind
from dpassay.reference.cite import Cite
from dpassay.reference.lockstep import Pair
from dpassay.reference.problems import real_data
from dpassay.reference.problems.erm import ErmProblem
from dpassay.reference.problems.margin_losses import FloatArray, loss_a
from dpassay.reference.proofs import proofs_of

from . import gradient_descent, opt_b, opt_ls, short_step, trust_region, two_phase
from .common import Accuracy
from .iteration_leak import StepBound, pair_delta, pair_delta_infinity, worst_case_delta
from .neighbours import aligned_pair, first_records, opposed_pair

PAPER = "second_order_erm"
EPSILON, DELTA = 1.0, 1e-5
RECORDS, START, STEPS = 100, 6.0, 30
DATA = f"breast cancer, first {RECORDS} records"
_LEAK = "T and every noise scale are computed from f(w0) + |z|: private data, one-sided noise (eq. 6)"


@lru_cache(maxsize=1)
def problem() -> ErmProblem:
    """Loss A on the first records of the breast-cancer set."""
    return first_records(ErmProblem(*real_data.breast_cancer(), loss_a()), RECORDS)


def start() -> FloatArray:
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
    return Accuracy(gradient=sqrt(value / (steps * (1 + 1e-9)) / per_square), curvature=0.3)


def leak_facts(schedule: short_step.Schedule, low: float, high: float) -> dict[str, float | int | str]:
    """What eq. (6) costs on this pair, in closed form."""
    std = schedule.sensitivity.value * schedule.budget.sigma_f
    one, other = (StepBound(v, std, schedule.minimum_decrease, schedule.lower_bound) for v in (low, high))
    return {
        "sigma_f": schedule.budget.sigma_f,
        "delta of eq. (6), any pair": worst_case_delta(schedule.budget.sigma_f),
        "delta of eq. (6), this pair, any epsilon": pair_delta_infinity(one, other),
        f"delta of eq. (6), this pair, epsilon {EPSILON:g}": pair_delta(one, other, EPSILON),
    }


def build(module: Any, reading: Reading) -> Instance:
    """Algorithm 1 or 3 on the pair that moves f(w0) the most."""
    w0 = start()
    here, there = aligned_pair(problem(), w0)
    low, high = here.value(w0), there.value(w0)
    search = {"search": opt_ls.LineSearch()} if module is opt_ls else {}
    accuracy = edge_accuracy(module, high, **search)
    make = module.printed if reading == "printed" else module.repaired
    schedule = make(problem(), w0, accuracy, EPSILON, DELTA)
    facts: dict[str, float | int | str] = {
        "n": problem().n,
        "d": problem().d,
        "MIN_DEC": schedule.minimum_decrease,
        "G": schedule.smoothness,
        "M": schedule.hessian_lipschitz,
    }
    if reading == "printed":
        facts.update(leak_facts(schedule, low, high))
    description = f"record 0 is w0/||w0|| with label +1 or -1; f(w0) moves by {high - low:.4g}"
    return Instance(bind(module.run, schedule), Pair(here, there, 0, description), curvature_steps_only, facts)


def identical(start: FloatArray) -> Pair[ErmProblem]:
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
    accuracy = edge_accuracy(short_step, aligned_pair(problem(), w0)[1].value(w0))
    if reading == "printed":
        here, there = aligned_pair(problem(), w0)
        schedule = opt_b.printed(problem(), w0, accuracy, 0.9, DELTA, batch_size=10, route="advanced")
        pair = Pair(here, there, 0, "record 0 is w0/||w0|| with label +1 or -1")
    else:
        pair = identical(w0)
        schedule = opt_b.repaired(pair.here, w0, accuracy, EPSILON, DELTA, batch_size=10)
    facts: dict[str, float | int | str] = {"n": RECORDS, "batch": 10, "MIN_DEC": schedule.minimum_decrease}
    return Instance(bind(opt_b.run, schedule), pair, curvature_steps_only, facts)


def build_two_phase(inner: Any, reading: Reading) -> Instance:
    """2OPT or 2OPT-LS on all 569 records: with little noise, so that the warm start of phase two is not far off."""
    whole = ErmProblem(*real_data.breast_cancer(), loss_a())
    w0 = start() * 40 / START
    here, there = aligned_pair(whole, w0)
    search = {"search": opt_ls.LineSearch()} if inner is opt_ls else {}
    accuracy = edge_accuracy(inner, there.value(w0), 100, **search)
    make = inner.printed if reading == "printed" else inner.repaired
    schedule = two_phase.Schedule(make(whole, w0, accuracy, EPSILON, DELTA), hope=1.0 if reading == "printed" else 4.0)
    return Instance(bind(two_phase.run, schedule), Pair(here, there, 0), curvature_steps_only, {"n": whole.n})


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
    return Instance(bind(module.run, schedule), pair, curvature_steps_only, facts)


def _case(module: Any, reading: Reading, name: str, title: str, place: str) -> Case:
    make: Callable[[], Instance] = partial(build, module, reading)
    return Case(
        id=f"{PAPER}/{name}",
        reading=reading,
        title=title,
        cite=Cite(PAPER, place),
        claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Theorem 1" if module is short_step else "Theorem 5")),
        build=make,
        data=DATA,
        completions=module.COMPLETIONS if reading == "printed" else (),
        repairs=module.REPAIRS if reading == "repaired" else (),
        proofs=proofs_of(f"{PAPER}/{name}", reading),
        known=_LEAK if reading == "printed" else "",
    )


def _other(
    name: str,
    reading: Reading,
    title: str,
    place: Cite,
    make: Callable[[], Instance],
    module: Any,
    *,
    epsilon: float = EPSILON,
    known: str = "",
) -> Case:
    return Case(
        id=f"{PAPER}/{name}",
        reading=reading,
        title=title,
        cite=place,
        claim=PrivacyClaim(epsilon, DELTA, place),
        build=make,
        data=DATA,
        completions=module.COMPLETIONS if reading == "printed" else (),
        repairs=module.REPAIRS if reading == "repaired" else (),
        proofs=proofs_of(f"{PAPER}/{name}", reading),
        known=known,
        quick=False,
    )


def _others() -> tuple[Case, ...]:
    found: list[Case] = []
    readings: tuple[Reading, Reading] = ("printed", "repaired")
    for reading in readings:
        leak = _LEAK if reading == "printed" else ""
        place = Cite(PAPER, "Theorem B.8" if reading == "printed" else "Section 3.3")
        epsilon = 0.9 if reading == "printed" else EPSILON  # Theorem B.8 needs epsilon < 1
        make: Callable[[], Instance] = partial(build_batches, reading)
        found.append(_other("opt_b", reading, "OPT-B: mini-batches", place, make, opt_b, epsilon=epsilon, known=leak))
        for inner, name in ((short_step, "2opt"), (opt_ls, "2opt_ls")):
            make = partial(build_two_phase, inner, reading)
            title, place = f"{name.upper().replace('_', '-')}: two phases", Cite(PAPER, "Section 3.4")
            found.append(_other(name, reading, title, place, make, two_phase, known=leak))
        make = partial(build_baseline, trust_region, reading)
        found.append(_other("dp_tr", reading, "DP-TR: trust region", Cite("wang2021", "DP-TR"), make, trust_region))
        make = partial(build_baseline, gradient_descent, reading)
        place = Cite("wang2019", "DP-GD")
        found.append(_other("dp_gd", reading, "DP-GD: descend, then search", place, make, gradient_descent))
    make = partial(build_baseline, trust_region, "repaired", batch_size=10)
    place = Cite(PAPER, "Section 4")
    found.append(_other("tr_b", "repaired", "TR-B: trust region on batches", place, make, trust_region))
    return tuple(found)


CASES: tuple[Case, ...] = (
    _case(short_step, "printed", "opt", "OPT: short steps", "Algorithm 1"),
    _case(short_step, "repaired", "opt", "OPT: short steps", "Algorithm 1"),
    _case(opt_ls, "printed", "opt_ls", "OPT-LS: private line search", "Algorithms 2 and 3"),
    _case(opt_ls, "repaired", "opt_ls", "OPT-LS: private line search", "Algorithms 2 and 3"),
    *_others(),
)
