"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from itertools import product
from typing import Any, NamedTuple

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Declared, Kind, declare, may_show
from dpassay.reference.papers import Cite
from dpassay.reference.reasons import OTHER_READING, Reasons, opposed_logistic

from . import instances
from .common import Reading, exact_sensitivities, printed_sensitivities
from .dp_tr import public_numbers
from .eigen import Lanczos
from .instances import B8_EPSILON, FILES, RECORDS, SHARED_EPSILON
from .space import SMALL_SHARES, START, public, space
from .worst_case import DELTA, EPSILON

PAPER = "second_order_erm"
SOME, ALL, SIGNS = f"breast cancer, first {RECORDS} records", "breast cancer", "signs (worst case)"

# what the printed readings are known to show -------------------------------------------------------------------------

LEAK = "T and every noise scale are computed from f(w0) + |z|: private data, one-sided noise (eq. 6)"
SHARED = (
    "one batch serves the gradient and the Hessian (Section 3.3); eq. (29) adds their costs as if each had its own; "
    "elsewhere in its space T and the noise scales are private as in OPT-B (eq. 6)"
)
SHARED_AND_LEAK = (  # not every search comes to eq. (6)
    *declare(Kind.VIOLATED, Kind.OVER_BUDGET),
    *may_show(Kind.EARLY_END, Kind.NOISE_SCALE),
)
SEARCHES = ("line search/gradient", "line search/curvature")


def leak(*scales: str, end: str) -> tuple[Declared, ...]:
    """The findings of LEAK: releases whose noise scale differs, and the call at which one side alone goes on."""
    must = [(Kind.EARLY_END, end), *((Kind.NOISE_SCALE, label) for label in scales)]
    return declare(Kind.VIOLATED, Kind.EARLY_END, Kind.NOISE_SCALE, *must)  # "every noise scale": at other labels, too


# how far queries really move, where the declared sensitivity is more or hard to reach --------------------------------

SEARCHED: Reasons = {
    "line search": "0.999 is attained: rows that are mirror images, far from the start; not every seed comes upon them"
}
FAR_OUT = "0.99 is attained far from the start, where a model is wrong about both records; not every seed goes there"


@cache
def printed_hessian_share(d: int) -> float:
    """What the Hessian can move, over 2 B_H sqrt(d)/n of eq. (4): the regulariser cancels, a record has rank one."""
    problem, start = public({"n": 1, "d": d})
    printed = printed_sensitivities(problem.constants(), problem.n, problem.d)
    return exact_sensitivities(problem, start).hessian / printed.hessian


@cache
def of_printed() -> Reasons:
    """Of the readings with the sensitivities of eq. (4), on logistic losses."""
    shares = ", ".join(f"{printed_hessian_share(d):.3f} for d = {d}" for d in (1, 2, 3))
    why = f"at most {shares}, less for more: 2 B_H sqrt(d)/n takes no account of rank one"
    return {**SEARCHED, "gradient": FAR_OUT, "hessian": why}


def farthest() -> float:
    """|w| of TR-B by eq. (30) is no larger in any run of its space: each step but the last is one radius at most."""
    longest = 0.0
    for values in product(*SMALL_SHARES.values()):
        sizes = dict(zip(SMALL_SHARES, values, strict=True))
        risk, start = public(sizes)
        plan = public_numbers(risk, start, instances.baseline_accuracy("tr_b", risk, start, sizes["steps"]))
        longest = max(longest, float((plan["steps"] - 1) * plan["radius"]))
    return START + longest


@cache
def of_few_steps() -> Reasons:
    """TR-B by eq. (30), whose T is 2 at most: there is no noise for more."""
    length = farthest()
    why = (
        f"at most {opposed_logistic(length):.3f}: one w must be wrong on both records, and within two steps none is "
        f"longer than {length:.3g}"
    )
    return {**of_printed(), "gradient": why}


# what no run comes to -------------------------------------------------------------------------------------------------

UNREACHED_OPT: Reasons = {
    f"opt.py: {line}": "the reading decides how f(w0) is released"
    for line in (
        'if s.reading == "printed"',
        "top = problem.value(s.start) + abs",
        'top = tape.gaussian("initial value"',
    )
}
_OPT_B = (
    'if s.reading == "repaired"',
    'batch = tape.batch("hessian batch"',
    "return step_bound(problem.value_bound",
    "top = problem.value(s.start) + abs",
    "return step_bound(top",
)
UNREACHED_OPT_B: Reasons = {
    **{f"opt_b.py: {line}": OTHER_READING for line in _OPT_B},
    'tr_b.py: if label == "batch" or': OTHER_READING,
    "tr_b.py: return before": OTHER_READING,
}
UNREACHED_TWO_OPT_LS: Reasons = {
    **UNREACHED_OPT,
    'two_opt_ls.py: if s.reading == "printed"': OTHER_READING,
    "two_opt_ls.py: return cost + ": OTHER_READING,
    "line_search.py: return above_threshold_mu(1 / lam": "the cost of a private search, of the repaired reading alone",
}

# the rows ------------------------------------------------------------------------------------------------------------


class About(NamedTuple):
    """What all rows of an algorithm share."""

    title: str
    cite: Cite
    claim: Cite
    unreached: Reasons


def _here(place: str) -> Cite:
    return Cite(PAPER, place)


ALGORITHMS = {
    "opt": About("OPT: short steps", _here("Algorithm 1"), _here("Theorem 1"), UNREACHED_OPT),
    "opt_ls": About("OPT-LS: private line search", _here("Algorithms 2 and 3"), _here("Theorem 5"), UNREACHED_OPT),
    "opt_b": About("OPT-B: mini-batches", _here("Section 3.3"), _here("Theorem B.8"), UNREACHED_OPT_B),
    "two_opt": About("2OPT: two phases", _here("Section 3.4"), _here("Section 3.4"), UNREACHED_OPT),
    "two_opt_ls": About(
        "2OPT-LS: two phases with line search", _here("Section 3.4"), _here("Section 3.4"), UNREACHED_TWO_OPT_LS
    ),
    "two_opt_b": About("2OPT-B: two phases on batches", _here("Section 3.4"), _here("Section 3.4"), UNREACHED_OPT_B),
    "dp_tr": About("DP-TR: trust region", Cite("wang2021", "DP-TR"), Cite("wang2021", "DP-TR"), {}),
    "dp_gd": About("DP-GD: descend, then search", Cite("wang2019", "DP-GD"), Cite("wang2019", "DP-GD"), {}),
    "tr_b": About("TR-B: trust region on batches", _here("Section 4"), _here("eq. (30)"), UNREACHED_OPT_B),
}
BY_THEOREM = {"epsilon": B8_EPSILON, "route": "advanced"}  # of opt_b and its space: Theorem B.8


def _row(
    name: str,
    reading: Reading,
    build: Callable[[], Instance],
    data: str = SOME,
    *,
    epsilon: float = EPSILON,
    claim: Cite | None = None,
    within: dict[str, Any] | None = None,
    known: str = "",
    **fields: Any,
) -> Case:
    """One row; `within` are the options of its space."""
    about, printed = ALGORITHMS[name], reading == "printed"
    notes = {"completions": FILES[name].COMPLETIONS} if printed else {"repairs": FILES[name].REPAIRS}
    if printed and data != SIGNS:
        attainable = of_few_steps() if name == "tr_b" else of_printed()
    else:
        attainable = SEARCHED if name.endswith("_ls") else {}
    return Case(
        f"{PAPER}/{name}",
        reading,
        about.title,
        about.cite,
        PrivacyClaim(epsilon, DELTA, claim or about.claim),
        build,
        data=data,
        known=known or (LEAK if "declared" in fields else ""),
        space=partial(space, name, reading, **(within or {})),
        unreached=about.unreached,
        attainable=attainable,
        **notes,
        **{"quick": False, **fields},
    )


def _real(name: str, reading: Reading, data: str = SOME, **fields: Any) -> Case:
    run = instances.baseline if name in instances.BASELINES else instances.full_batch
    return _row(name, reading, partial(run, name, reading), data, **fields)


def _worst(name: str, **fields: Any) -> Case:
    run = instances.baseline_signs if name in instances.BASELINES else instances.signs
    return _row(name, "repaired", partial(run, name), SIGNS, variant="worst", **fields)


SHORT = leak("gradient", "hessian", end="gradient")
SEARCHING = leak("gradient", "hessian", *SEARCHES, end="gradient")
CASES: tuple[Case, ...] = (
    _real("opt", "printed", declared=SHORT, quick=True),
    _real("opt", "repaired", quick=True),
    _worst("opt", quick=True),
    _real("opt_ls", "printed", declared=SEARCHING, quick=True),
    _real("opt_ls", "repaired"),
    _worst("opt_ls", quick=True),
    _row(
        "opt_b",
        "printed",
        partial(instances.on_batches, "opt_b", "printed"),
        epsilon=B8_EPSILON,
        within=BY_THEOREM,
        declared=leak("gradient", "hessian", end="batch"),
    ),
    _row("opt_b", "repaired", partial(instances.on_batches, "opt_b", "repaired")),
    _worst("opt_b"),
    _real("two_opt", "printed", ALL, declared=SHORT),
    _real("two_opt", "repaired", ALL),
    _worst("two_opt"),
    _real("two_opt_ls", "printed", ALL, declared=SEARCHING),
    _real("two_opt_ls", "repaired", ALL),
    _worst("two_opt_ls"),
    _row(
        "two_opt_b",
        "printed",
        partial(instances.on_batches, "two_opt_b", "printed"),
        epsilon=B8_EPSILON,
        within=BY_THEOREM,
        declared=leak("gradient", end="batch"),  # "hessian" may show as well: only long searches come to phase two
    ),
    _row("two_opt_b", "repaired", partial(instances.on_batches, "two_opt_b", "repaired")),
    _worst("two_opt_b"),
    _real("dp_tr", "printed"),
    _real("dp_tr", "repaired"),
    _worst("dp_tr"),
    _real("dp_gd", "printed"),
    _real("dp_gd", "repaired"),
    _worst("dp_gd"),
    _real("tr_b", "printed", within={"small_shares": True}),
    _real("tr_b", "repaired"),
    _worst("tr_b"),
    _row(
        "opt",
        "repaired",
        partial(instances.signs, "opt", Lanczos()),
        SIGNS,
        variant="lanczos",
        within={"eigen": Lanczos()},
    ),
    _row(
        "opt_b",
        "printed",
        instances.opt_b_rdp,
        ALL,
        variant="eq30",
        claim=_here("eq. (30)"),
        within={"small_shares": True, "epsilon": EPSILON},
        declared=leak("gradient", end="batch"),
    ),
    _row(
        "opt_b",
        "printed",
        instances.shared_batch,
        SIGNS,
        variant="shared-batch",
        epsilon=SHARED_EPSILON,
        claim=_here("eq. (30)"),
        within={"small_shares": True, "epsilon": SHARED_EPSILON},
        known=SHARED,
        declared=SHARED_AND_LEAK,
    ),
)
