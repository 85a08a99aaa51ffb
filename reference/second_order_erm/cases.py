"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from dpassay.reference import unreached
from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.papers import Cite

from . import (
    attainable,
    dp_gd,
    dp_tr,
    instances,
    opt,
    opt_b,
    opt_ls,
    space,
    tr_b,
    two_opt,
    two_opt_b,
    two_opt_ls,
    worst_case,
)
from .instances import B8_EPSILON, RECORDS
from .known import LEAK, SEARCHES, SHARED, SHARED_AND_LEAK, leak
from .worst_case import DELTA, EPSILON, SHARED_EPSILON

PAPER = "second_order_erm"
SOME, ALL, SIGNS = f"breast cancer, first {RECORDS} records", "breast cancer", "signs (worst case)"
BY_THEOREM = partial(opt_b.printed, route="advanced")  # the noise of Theorem B.8


def _claim(place: str, epsilon: float = EPSILON, paper: str = PAPER) -> PrivacyClaim:
    return PrivacyClaim(epsilon, DELTA, Cite(paper, place))


# the algorithms -------------------------------------------------------------------------------------------------------

OPT = partial(
    Case,
    f"{PAPER}/opt",
    title="OPT: short steps",
    cite=Cite(PAPER, "Algorithm 1"),
    claim=_claim("Theorem 1"),
    unreached=unreached.OPT,
)
OPT_LS = partial(
    Case,
    f"{PAPER}/opt_ls",
    title="OPT-LS: private line search",
    cite=Cite(PAPER, "Algorithms 2 and 3"),
    claim=_claim("Theorem 5"),
    unreached=unreached.OPT,
)
OPT_B = partial(
    Case,
    f"{PAPER}/opt_b",
    title="OPT-B: mini-batches",
    cite=Cite(PAPER, "Section 3.3"),
    claim=_claim("Theorem B.8"),
    unreached=unreached.OPT_B,
)
TWO_OPT = partial(
    Case,
    f"{PAPER}/two_opt",
    title="2OPT: two phases",
    cite=Cite(PAPER, "Section 3.4"),
    claim=_claim("Section 3.4"),
    unreached=unreached.OPT,
)
TWO_OPT_LS = partial(
    Case,
    f"{PAPER}/two_opt_ls",
    title="2OPT-LS: two phases with line search",
    cite=Cite(PAPER, "Section 3.4"),
    claim=_claim("Section 3.4"),
    unreached=unreached.TWO_OPT_LS,
)
TWO_OPT_B = partial(
    Case,
    f"{PAPER}/two_opt_b",
    title="2OPT-B: two phases on batches",
    cite=Cite(PAPER, "Section 3.4"),
    claim=_claim("Section 3.4"),
    unreached=unreached.OPT_B,
)
DP_TR = partial(
    Case,
    f"{PAPER}/dp_tr",
    title="DP-TR: trust region",
    cite=Cite("wang2021", "DP-TR"),
    claim=_claim("DP-TR", paper="wang2021"),
)
DP_GD = partial(
    Case,
    f"{PAPER}/dp_gd",
    title="DP-GD: descend, then search",
    cite=Cite("wang2019", "DP-GD"),
    claim=_claim("DP-GD", paper="wang2019"),
)
TR_B = partial(
    Case,
    f"{PAPER}/tr_b",
    title="TR-B: trust region on batches",
    cite=Cite(PAPER, "Section 4"),
    claim=_claim("eq. (30)"),
    unreached=unreached.OPT_B,
)

# their repaired readings ----------------------------------------------------------------------------------------------

OPT_REPAIRED = partial(OPT, "repaired", repairs=opt.REPAIRS, space=partial(space.opt_space, opt.repaired))
OPT_LS_REPAIRED = partial(
    OPT_LS, "repaired", repairs=opt_ls.REPAIRS, space=partial(space.opt_ls_space, opt_ls.repaired)
)
OPT_B_REPAIRED = partial(OPT_B, "repaired", repairs=opt_b.REPAIRS, space=partial(space.opt_b_space, opt_b.repaired))
TWO_OPT_REPAIRED = partial(
    TWO_OPT, "repaired", repairs=two_opt.REPAIRS, space=partial(space.two_opt_space, opt.repaired)
)
TWO_OPT_LS_REPAIRED = partial(
    TWO_OPT_LS, "repaired", repairs=two_opt_ls.REPAIRS, space=partial(space.two_opt_ls_space, opt_ls.repaired)
)
TWO_OPT_B_REPAIRED = partial(
    TWO_OPT_B, "repaired", repairs=two_opt_b.REPAIRS, space=partial(space.two_opt_b_space, opt_b.repaired)
)
DP_TR_REPAIRED = partial(DP_TR, "repaired", repairs=dp_tr.REPAIRS, space=partial(space.dp_tr_space, dp_tr.repaired))
DP_GD_REPAIRED = partial(DP_GD, "repaired", repairs=dp_gd.REPAIRS, space=partial(space.dp_gd_space, dp_gd.repaired))
TR_B_REPAIRED = partial(TR_B, "repaired", repairs=tr_b.REPAIRS, space=partial(space.tr_b_space, tr_b.repaired))

TABLE: tuple[Case, ...] = (
    OPT(
        "printed",
        build=partial(instances.opt_real, "printed"),
        data=SOME,
        completions=opt.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", end="gradient"),
        space=partial(space.opt_space, opt.printed),
    ),
    OPT_REPAIRED(build=partial(instances.opt_real, "repaired"), data=SOME),
    OPT_REPAIRED(variant="worst", build=worst_case.opt_signs, data=SIGNS),
    OPT_LS(
        "printed",
        build=partial(instances.opt_ls_real, "printed"),
        data=SOME,
        completions=opt_ls.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", *SEARCHES, end="gradient"),
        space=partial(space.opt_ls_space, opt_ls.printed),
    ),
    OPT_LS_REPAIRED(build=partial(instances.opt_ls_real, "repaired"), data=SOME, quick=False),
    OPT_LS_REPAIRED(variant="worst", build=worst_case.opt_ls_signs, data=SIGNS),
    OPT_B(
        "printed",
        claim=_claim("Theorem B.8", B8_EPSILON),
        build=instances.opt_b_theorem,
        data=SOME,
        completions=opt_b.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", end="batch"),
        space=partial(space.opt_b_space, BY_THEOREM, B8_EPSILON),
        quick=False,
    ),
    OPT_B_REPAIRED(build=instances.opt_b_repaired, data=SOME, quick=False),
    OPT_B_REPAIRED(variant="worst", build=worst_case.opt_b_signs, data=SIGNS, quick=False),
    TWO_OPT(
        "printed",
        build=partial(instances.two_opt_real, "printed"),
        data=ALL,
        completions=two_opt.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", end="gradient"),
        space=partial(space.two_opt_space, opt.printed),
        quick=False,
    ),
    TWO_OPT_REPAIRED(build=partial(instances.two_opt_real, "repaired"), data=ALL, quick=False),
    TWO_OPT_REPAIRED(variant="worst", build=worst_case.two_opt_signs, data=SIGNS, quick=False),
    TWO_OPT_LS(
        "printed",
        build=partial(instances.two_opt_ls_real, "printed"),
        data=ALL,
        completions=two_opt_ls.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", *SEARCHES, end="gradient"),
        space=partial(space.two_opt_ls_space, opt_ls.printed),
        quick=False,
    ),
    TWO_OPT_LS_REPAIRED(build=partial(instances.two_opt_ls_real, "repaired"), data=ALL, quick=False),
    TWO_OPT_LS_REPAIRED(variant="worst", build=worst_case.two_opt_ls_signs, data=SIGNS, quick=False),
    TWO_OPT_B(
        "printed",
        claim=_claim("Section 3.4", B8_EPSILON),
        build=instances.two_opt_b_theorem,
        data=SOME,
        completions=two_opt_b.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", end="batch"),  # "hessian" may show as well: only long searches come to phase two
        space=partial(space.two_opt_b_space, BY_THEOREM, B8_EPSILON),
        quick=False,
    ),
    TWO_OPT_B_REPAIRED(build=instances.two_opt_b_repaired, data=SOME, quick=False),
    TWO_OPT_B_REPAIRED(variant="worst", build=worst_case.two_opt_b_signs, data=SIGNS, quick=False),
    DP_TR(
        "printed",
        build=partial(instances.dp_tr_real, "printed"),
        data=SOME,
        completions=dp_tr.COMPLETIONS,
        space=partial(space.dp_tr_space, dp_tr.printed),
        quick=False,
    ),
    DP_TR_REPAIRED(build=partial(instances.dp_tr_real, "repaired"), data=SOME, quick=False),
    DP_TR_REPAIRED(variant="worst", build=worst_case.dp_tr_signs, data=SIGNS, quick=False),
    DP_GD(
        "printed",
        build=partial(instances.dp_gd_real, "printed"),
        data=SOME,
        completions=dp_gd.COMPLETIONS,
        space=partial(space.dp_gd_space, dp_gd.printed),
        quick=False,
    ),
    DP_GD_REPAIRED(build=partial(instances.dp_gd_real, "repaired"), data=SOME, quick=False),
    DP_GD_REPAIRED(variant="worst", build=worst_case.dp_gd_signs, data=SIGNS, quick=False),
    TR_B(
        "printed",
        build=partial(instances.tr_b_real, "printed"),
        data=SOME,
        completions=tr_b.COMPLETIONS,
        space=space.tr_b_eq30_space,
        quick=False,
    ),
    TR_B_REPAIRED(build=partial(instances.tr_b_real, "repaired"), data=SOME, quick=False),
    TR_B_REPAIRED(variant="worst", build=worst_case.tr_b_signs, data=SIGNS, quick=False),
    OPT_REPAIRED(
        variant="lanczos",
        build=worst_case.opt_lanczos,
        data=SIGNS,
        space=partial(space.opt_space, opt.repaired, lanczos=True),
        quick=False,
    ),
    OPT_B(
        "printed",
        variant="eq30",
        claim=_claim("eq. (30)"),
        build=instances.opt_b_rdp,
        data=ALL,
        completions=opt_b.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", end="batch"),
        space=partial(space.opt_b_eq30_space, EPSILON),
        quick=False,
    ),
    OPT_B(
        "printed",
        variant="shared-batch",
        claim=_claim("eq. (30)", SHARED_EPSILON),
        build=worst_case.shared_batch,
        data=SIGNS,
        completions=opt_b.COMPLETIONS,
        known=SHARED,
        declared=SHARED_AND_LEAK,
        space=partial(space.opt_b_eq30_space, SHARED_EPSILON),
        quick=False,
    ),
)


def _told(case: Case) -> Case:
    """With what is known of shares that stay below one."""
    if case.reading == "printed" and case.data != SIGNS:
        if case.space is space.tr_b_eq30_space:
            return replace(case, attainable=attainable.of_few_steps())
        return replace(case, attainable=attainable.of_printed())
    return replace(case, attainable=attainable.SEARCHES) if "_ls" in case.id else case


CASES: tuple[Case, ...] = tuple(map(_told, TABLE))
