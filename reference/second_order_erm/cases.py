"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Declared, Kind, declare
from dpassay.reference.papers import Cite

from . import worst_case
from .common import Reading
from .eigen import Lanczos
from .space import space
from .worst_case import B8_EPSILON, DELTA, EPSILON, FILES, RECORDS, SHARED_EPSILON

PAPER = "second_order_erm"
SOME, ALL, SIGNS = f"breast cancer, first {RECORDS} records", "breast cancer", "signs (worst case)"

LEAK = "T and every noise scale are computed from f(w0) + |z|: private data, one-sided noise (eq. 6)"
SHARED = (
    "one batch serves the gradient and the Hessian (Section 3.3); eq. (29) adds their costs as if each had its own; "
    "elsewhere in its space T and the noise scales are private as in OPT-B (eq. 6)"
)
SHARED_AND_LEAK = (  # not every search comes to eq. (6)
    *declare(Kind.VIOLATED, Kind.OVER_BUDGET),
    *declare(Kind.EARLY_END, Kind.NOISE_SCALE, always=False),
)
SEARCHES = ("line search/gradient", "line search/curvature")


def leak(*scales: str, end: str) -> tuple[Declared, ...]:
    """The findings of LEAK: releases whose noise scale differs, and the call at which one side alone goes on."""
    must = [(Kind.EARLY_END, end), *((Kind.NOISE_SCALE, label) for label in scales)]
    return declare(Kind.VIOLATED, Kind.EARLY_END, Kind.NOISE_SCALE, *must)  # "every noise scale": at other labels, too


ALGORITHMS = {  # title, and where: paper, place, and the place of the claim
    "opt": ("OPT: short steps", PAPER, "Algorithm 1", "Theorem 1"),
    "opt_ls": ("OPT-LS: private line search", PAPER, "Algorithms 2 and 3", "Theorem 5"),
    "opt_b": ("OPT-B: mini-batches", PAPER, "Section 3.3", "Theorem B.8"),
    "two_opt": ("2OPT: two phases", PAPER, "Section 3.4", "Section 3.4"),
    "two_opt_ls": ("2OPT-LS: two phases with line search", PAPER, "Section 3.4", "Section 3.4"),
    "two_opt_b": ("2OPT-B: two phases on batches", PAPER, "Section 3.4", "Section 3.4"),
    "dp_tr": ("DP-TR: trust region", "wang2021", "DP-TR", "DP-TR"),
    "dp_gd": ("DP-GD: descend, then search", "wang2019", "DP-GD", "DP-GD"),
    "tr_b": ("TR-B: trust region on batches", PAPER, "Section 4", "eq. (30)"),
}
# Theorem B.8
BY_THEOREM: dict[str, Any] = {"epsilon": B8_EPSILON, "within": {"epsilon": B8_EPSILON, "route": "advanced"}}


def _row(
    name: str,
    reading: Reading,
    build: Callable[[], Instance],
    data: str = SOME,
    *,
    epsilon: float = EPSILON,
    claimed: str = "",
    within: dict[str, Any] | None = None,
    known: str = "",
    **fields: Any,
) -> Case:
    """One row; `within` are the options of its space."""
    (title, paper, place, claim), printed = ALGORITHMS[name], reading == "printed"
    notes = {"completions": FILES[name].COMPLETIONS} if printed else {"repairs": FILES[name].REPAIRS}
    return Case(
        f"{PAPER}/{name}",
        reading,
        title,
        Cite(paper, place),
        PrivacyClaim(epsilon, DELTA, Cite(paper, claimed or claim)),
        build,
        data=data,
        known=known or (LEAK if "declared" in fields else ""),
        space=partial(space, name, reading, **(within or {})),
        **notes,
        **{"quick": False, **fields},
    )


def _real(name: str, reading: Reading, data: str = SOME, **fields: Any) -> Case:
    on_all = worst_case.on_batches if name.endswith("opt_b") else worst_case.full_batch
    run = worst_case.baseline if name in worst_case.BASELINES else on_all
    return _row(name, reading, partial(run, name, reading), data, **fields)


def _worst(name: str, **fields: Any) -> Case:
    run = worst_case.baseline_signs if name in worst_case.BASELINES else worst_case.signs
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
    _real("opt_b", "printed", **BY_THEOREM, declared=leak("gradient", "hessian", end="batch")),
    _real("opt_b", "repaired"),
    _worst("opt_b"),
    _real("two_opt", "printed", ALL, declared=SHORT),
    _real("two_opt", "repaired", ALL),
    _worst("two_opt"),
    _real("two_opt_ls", "printed", ALL, declared=SEARCHING),
    _real("two_opt_ls", "repaired", ALL),
    _worst("two_opt_ls"),
    # "hessian" may show as well: only long searches come to phase two
    _real("two_opt_b", "printed", **BY_THEOREM, declared=leak("gradient", end="batch")),
    _real("two_opt_b", "repaired"),
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
    _row("opt", "repaired", partial(worst_case.signs, "opt", Lanczos()), SIGNS, variant="lanczos",
         within={"eigen": Lanczos()}),
    _row("opt_b", "printed", worst_case.opt_b_rdp, ALL, variant="eq30", claimed="eq. (30)",
         within={"small_shares": True, "epsilon": EPSILON}, declared=leak("gradient", end="batch")),
    _row("opt_b", "printed", worst_case.shared_batch, SIGNS, variant="shared-batch", claimed="eq. (30)",
         epsilon=SHARED_EPSILON, within={"small_shares": True, "epsilon": SHARED_EPSILON}, known=SHARED,
         declared=SHARED_AND_LEAK),
)  # fmt: skip
