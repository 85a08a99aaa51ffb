"""How far the queries of `second_order_erm` really move, where the declared sensitivity is more or hard to reach."""

from __future__ import annotations

from itertools import product

from dpassay.reference.attainable import Reasons, opposed_logistic

from . import tr_b
from .common import exact_sensitivities, printed_sensitivities
from .space import SMALL_SHARES, START, public, trust_region_schedule

SEARCHES: Reasons = {
    "line search": "0.999 is attained: rows that are mirror images, far from the start; not every seed comes upon them"
}
FAR_OUT = "0.99 is attained far from the start, where a model is wrong about both records; not every seed goes there"


def printed_hessian_share(d: int) -> float:
    """What the Hessian can move, over 2 B_H sqrt(d)/n of eq. (4): the regulariser cancels, a record has rank one."""
    problem, start = public({"n": 1, "d": d})
    printed = printed_sensitivities(problem.constants(), problem.n, problem.d)
    return exact_sensitivities(problem, start).hessian / printed.hessian


def of_printed() -> Reasons:
    """Of the readings with the sensitivities of eq. (4), on logistic losses."""
    shares = ", ".join(f"{printed_hessian_share(d):.3f} for d = {d}" for d in (1, 2, 3))
    why = f"at most {shares}, less for more: 2 B_H sqrt(d)/n takes no account of rank one"
    return {**SEARCHES, "gradient": FAR_OUT, "hessian": why}


def farthest() -> float:
    """|w| of TR-B by eq. (30) is no larger in any run of its space: each step but the last is one radius at most."""
    grid = product(*SMALL_SHARES.values())
    schedules = (trust_region_schedule(tr_b.printed, dict(zip(SMALL_SHARES, sizes, strict=True))) for sizes in grid)
    return START + max(float((one.steps - 1) * one.radius) for one in schedules)


def of_few_steps() -> Reasons:
    """TR-B by eq. (30), whose T is 2 at most: there is no noise for more."""
    length = farthest()
    why = (
        f"at most {opposed_logistic(length):.3f}: one w must be wrong on both records, and within two steps none is "
        f"longer than {length:.3g}"
    )
    return {**of_printed(), "gradient": why}
