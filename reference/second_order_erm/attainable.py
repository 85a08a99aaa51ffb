"""How far the queries of `second_order_erm` really move, where the declared sensitivity is more or hard to reach."""

from __future__ import annotations

from dpassay.reference.attainable import Reasons

from .common import exact_sensitivities, printed_sensitivities
from .space import public

SEARCHES: Reasons = {
    "line search": "0.999 is attained: rows that are mirror images, far from the start; not every seed comes upon them"
}


def printed_hessian_share(d: int) -> float:
    """What the Hessian can move, over 2 B_H sqrt(d)/n of eq. (4): the regulariser cancels, a record has rank one."""
    problem, start = public({"n": 1, "d": d})
    printed = printed_sensitivities(problem.constants(), problem.n, problem.d)
    return exact_sensitivities(problem, start).hessian / printed.hessian


def of_printed() -> Reasons:
    """Of the readings with the sensitivities of eq. (4), on logistic losses."""
    shares = ", ".join(f"{printed_hessian_share(d):.3f} for d = {d}" for d in (1, 2, 3))
    return {**SEARCHES, "hessian": f"at most {shares}, less for more: 2 B_H sqrt(d)/n takes no account of rank one"}
