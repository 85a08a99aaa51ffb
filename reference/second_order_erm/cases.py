"""Rows of the audit table for `second_order_erm`: real data (breast cancer), worst-case pairs, claims at (1, 1e-5)."""

from __future__ import annotations

from functools import partial

from dpassay.reference.case import Case, PrivacyClaim
from dpassay.reference.papers import Cite

from . import dp_gd, dp_tr, instances, opt, opt_b, opt_ls, tr_b, two_opt, two_opt_b, two_opt_ls, worst_case
from .instances import B8_EPSILON, RECORDS
from .known import LEAK, SEARCHES, SHARED, TOO_LITTLE, leak
from .worst_case import DELTA, EPSILON, SHARED_EPSILON

PAPER = "second_order_erm"
SOME, ALL, SIGNS = f"breast cancer, first {RECORDS} records", "breast cancer", "signs (worst case)"


def _claim(place: str, epsilon: float = EPSILON, paper: str = PAPER) -> PrivacyClaim:
    return PrivacyClaim(epsilon, DELTA, Cite(paper, place))


OPT = partial(Case, f"{PAPER}/opt", title="OPT: short steps", cite=Cite(PAPER, "Algorithm 1"))
OPT_LS = partial(Case, f"{PAPER}/opt_ls", title="OPT-LS: private line search", cite=Cite(PAPER, "Algorithms 2 and 3"))
OPT_B = partial(Case, f"{PAPER}/opt_b", title="OPT-B: mini-batches", cite=Cite(PAPER, "Section 3.3"))
TWO_OPT = partial(Case, f"{PAPER}/two_opt", title="2OPT: two phases", cite=Cite(PAPER, "Section 3.4"))
TWO_OPT_LS = partial(
    Case, f"{PAPER}/two_opt_ls", title="2OPT-LS: two phases with line search", cite=Cite(PAPER, "Section 3.4")
)
TWO_OPT_B = partial(Case, f"{PAPER}/two_opt_b", title="2OPT-B: two phases on batches", cite=Cite(PAPER, "Section 3.4"))
DP_TR = partial(Case, f"{PAPER}/dp_tr", title="DP-TR: trust region", cite=Cite("wang2021", "DP-TR"))
DP_GD = partial(Case, f"{PAPER}/dp_gd", title="DP-GD: descend, then search", cite=Cite("wang2019", "DP-GD"))
TR_B = partial(Case, f"{PAPER}/tr_b", title="TR-B: trust region on batches", cite=Cite(PAPER, "Section 4"))

CASES: tuple[Case, ...] = (
    OPT(
        "printed",
        claim=_claim("Theorem 1"),
        build=partial(instances.opt_real, "printed"),
        data=SOME,
        completions=opt.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", end="gradient"),
    ),
    OPT(
        "repaired",
        claim=_claim("Theorem 1"),
        build=partial(instances.opt_real, "repaired"),
        data=SOME,
        repairs=opt.REPAIRS,
    ),
    OPT(
        "repaired",
        variant="worst",
        claim=_claim("Theorem 1"),
        build=worst_case.opt_signs,
        data=SIGNS,
        repairs=opt.REPAIRS,
    ),
    OPT_LS(
        "printed",
        claim=_claim("Theorem 5"),
        build=partial(instances.opt_ls_real, "printed"),
        data=SOME,
        completions=opt_ls.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", *SEARCHES, end="gradient"),
    ),
    OPT_LS(
        "repaired",
        claim=_claim("Theorem 5"),
        build=partial(instances.opt_ls_real, "repaired"),
        data=SOME,
        repairs=opt_ls.REPAIRS,
        quick=False,
    ),
    OPT_LS(
        "repaired",
        variant="worst",
        claim=_claim("Theorem 5"),
        build=worst_case.opt_ls_signs,
        data=SIGNS,
        repairs=opt_ls.REPAIRS,
    ),
    OPT_B(
        "printed",
        claim=_claim("Theorem B.8", B8_EPSILON),
        build=instances.opt_b_theorem,
        data=SOME,
        completions=opt_b.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", end="batch"),
        quick=False,
    ),
    OPT_B(
        "repaired",
        claim=_claim("Theorem B.8"),
        build=instances.opt_b_repaired,
        data=SOME,
        repairs=opt_b.REPAIRS,
        quick=False,
    ),
    OPT_B(
        "repaired",
        variant="worst",
        claim=_claim("Theorem B.8"),
        build=worst_case.opt_b_signs,
        data=SIGNS,
        repairs=opt_b.REPAIRS,
        quick=False,
    ),
    TWO_OPT(
        "printed",
        claim=_claim("Section 3.4"),
        build=partial(instances.two_opt_real, "printed"),
        data=ALL,
        completions=two_opt.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", end="gradient"),
        quick=False,
    ),
    TWO_OPT(
        "repaired",
        claim=_claim("Section 3.4"),
        build=partial(instances.two_opt_real, "repaired"),
        data=ALL,
        repairs=two_opt.REPAIRS,
        quick=False,
    ),
    TWO_OPT(
        "repaired",
        variant="worst",
        claim=_claim("Section 3.4"),
        build=worst_case.two_opt_signs,
        data=SIGNS,
        repairs=two_opt.REPAIRS,
        quick=False,
    ),
    TWO_OPT_LS(
        "printed",
        claim=_claim("Section 3.4"),
        build=partial(instances.two_opt_ls_real, "printed"),
        data=ALL,
        completions=two_opt_ls.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", "hessian", "line search/curvature", end="gradient"),
        quick=False,
    ),
    TWO_OPT_LS(
        "repaired",
        claim=_claim("Section 3.4"),
        build=partial(instances.two_opt_ls_real, "repaired"),
        data=ALL,
        repairs=two_opt_ls.REPAIRS,
        quick=False,
    ),
    TWO_OPT_LS(
        "repaired",
        variant="worst",
        claim=_claim("Section 3.4"),
        build=worst_case.two_opt_ls_signs,
        data=SIGNS,
        repairs=two_opt_ls.REPAIRS,
        quick=False,
    ),
    TWO_OPT_B(
        "printed",
        claim=_claim("Section 3.4", B8_EPSILON),
        build=instances.two_opt_b_theorem,
        data=SOME,
        completions=two_opt_b.COMPLETIONS,
        known=LEAK,
        declared=leak("gradient", end="batch"),
        quick=False,
    ),
    TWO_OPT_B(
        "repaired",
        claim=_claim("Section 3.4"),
        build=instances.two_opt_b_repaired,
        data=SOME,
        repairs=two_opt_b.REPAIRS,
        quick=False,
    ),
    TWO_OPT_B(
        "repaired",
        variant="worst",
        claim=_claim("Section 3.4"),
        build=worst_case.two_opt_b_signs,
        data=SIGNS,
        repairs=two_opt_b.REPAIRS,
        quick=False,
    ),
    DP_TR(
        "printed",
        claim=_claim("DP-TR", paper="wang2021"),
        build=partial(instances.dp_tr_real, "printed"),
        data=SOME,
        completions=dp_tr.COMPLETIONS,
        quick=False,
    ),
    DP_TR(
        "repaired",
        claim=_claim("DP-TR", paper="wang2021"),
        build=partial(instances.dp_tr_real, "repaired"),
        data=SOME,
        repairs=dp_tr.REPAIRS,
        quick=False,
    ),
    DP_TR(
        "repaired",
        variant="worst",
        claim=_claim("DP-TR", paper="wang2021"),
        build=worst_case.dp_tr_signs,
        data=SIGNS,
        repairs=dp_tr.REPAIRS,
        quick=False,
    ),
    DP_GD(
        "printed",
        claim=_claim("DP-GD", paper="wang2019"),
        build=partial(instances.dp_gd_real, "printed"),
        data=SOME,
        completions=dp_gd.COMPLETIONS,
        quick=False,
    ),
    DP_GD(
        "repaired",
        claim=_claim("DP-GD", paper="wang2019"),
        build=partial(instances.dp_gd_real, "repaired"),
        data=SOME,
        repairs=dp_gd.REPAIRS,
        quick=False,
    ),
    DP_GD(
        "repaired",
        variant="worst",
        claim=_claim("DP-GD", paper="wang2019"),
        build=worst_case.dp_gd_signs,
        data=SIGNS,
        repairs=dp_gd.REPAIRS,
        quick=False,
    ),
    TR_B(
        "printed",
        claim=_claim("eq. (30)"),
        build=partial(instances.tr_b_real, "printed"),
        data=SOME,
        completions=tr_b.COMPLETIONS,
        quick=False,
    ),
    TR_B(
        "repaired",
        claim=_claim("eq. (30)"),
        build=partial(instances.tr_b_real, "repaired"),
        data=SOME,
        repairs=tr_b.REPAIRS,
        quick=False,
    ),
    TR_B(
        "repaired",
        variant="worst",
        claim=_claim("eq. (30)"),
        build=worst_case.tr_b_signs,
        data=SIGNS,
        repairs=tr_b.REPAIRS,
        quick=False,
    ),
    OPT(
        "repaired",
        variant="lanczos",
        claim=_claim("Theorem 1"),
        build=worst_case.opt_lanczos,
        data=SIGNS,
        repairs=opt.REPAIRS,
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
        declared=TOO_LITTLE,
        quick=False,
    ),
)
