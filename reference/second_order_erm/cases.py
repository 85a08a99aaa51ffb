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

from . import opt_ls, short_step
from .common import Accuracy
from .iteration_leak import StepBound, pair_delta, pair_delta_infinity, worst_case_delta
from .neighbours import aligned_pair, first_records

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
    del step
    if label == "gradient":
        return np.zeros(law.query.shape)
    if label == "hessian":  # the upper triangle of -I
        d = round((sqrt(8 * law.query.size + 1) - 1) / 2)
        rows, columns = np.triu_indices(d)
        return -(rows == columns).astype(float)
    return None


def edge_accuracy(module: Any, value: float, **search: Any) -> Accuracy:
    """Choose epsilon_g such that `value` is just above STEPS * MIN_DEC: the worst place for the ceiling of (6)."""
    k = problem().constants()
    unit = Accuracy(gradient=1.0, curvature=10.0)
    per_square = module.minimum_decrease(unit, *search.values(), k.smoothness, k.hessian_lipschitz)
    return Accuracy(gradient=sqrt(value / (STEPS * (1 + 1e-9)) / per_square), curvature=0.3)


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
        known=_LEAK if reading == "printed" else "",
    )


CASES: tuple[Case, ...] = (
    _case(short_step, "printed", "opt", "OPT: short steps", "Algorithm 1"),
    _case(short_step, "repaired", "opt", "OPT: short steps", "Algorithm 1"),
    _case(opt_ls, "printed", "opt_ls", "OPT-LS: private line search", "Algorithms 2 and 3"),
    _case(opt_ls, "repaired", "opt_ls", "OPT-LS: private line search", "Algorithms 2 and 3"),
)
