"""Rows of the audit table for ``dro``: small worst-case instances, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim, bind
from dpassay.reference.cite import Cite
from dpassay.reference.dro import (
    composite_sgd,
    composite_spider,
    double_spider,
    minimax_baselines,
    recursive_spider,
    single_sample,
)
from dpassay.reference.dro.calibration import Sequence, account_of, calibrated_ratios
from dpassay.reference.dro.divergences import Divergence, chi_square, cressie_read, kl, kl_cvar
from dpassay.reference.dro.repaired import (
    DOUBLE_REPAIRS,
    RECURSIVE_REPAIRS,
    double_spider_repaired,
    recursive_spider_repaired,
)
from dpassay.reference.dro.schedules import Constants, Plan, double_spider_printed, recursive_spider_printed
from dpassay.reference.dro.worst_case import compositional_pair, dual_pair, minimax_pair
from dpassay.reference.proofs import proofs_of

PAPER = "dro"
EPSILON, DELTA = 1.0, 1e-5
PLAN = Plan(n=40, steps=12, phase=4, batch=20)
EXPERIMENT = Plan(n=640, steps=20, phase=5, batch=128)  # the paper's batch size at a rate of one in five
LONG = Plan(n=40, steps=60, phase=60, batch=40)
SMALL_CLIP = 0.05  # keeps the iterates near the start, so that the dual variable does not run away
START_ETA = 0.5  # the quiet records' loss: their dual gradient starts at zero
QUICK = ("", "chi_square", "assumptions hold", "noise follows all of w")  # variants of the default audit
START_Z = np.array([0.0, 0.0, 0.0, START_ETA])
DATA = "one rough record among identical ones"

DOUBLE_COMPLETIONS = (
    "c = 1 unless said otherwise (the universal constant has no value; Definition 3 suggests 1)",
    "C_1 = C_3 = 1 (some specific values, Theorem 2); G = L = M = lambda = H = 1",
    "C_4 follows |eta_{t+1} - eta_t|, which line 12 compares (Theorem 6 prints |eta_t - eta_{t-1}|)",
    "batches are drawn without replacement; N_1 = N_3 = n (Remark 2)",
)
RECURSIVE_COMPLETIONS = (
    "c = 1; C_1 = C_3 = G, C_2 = C_4 = 2 G, G = L = 1 (the bounds that the proof of Theorem 8 uses)",
    "lambda starts at 1 and is kept >= lambda_0; s is floored at 1 where it is divided by or its log is taken",
    "w_1 = w_0, v_0 = u_0 = 0, s_0 = 1, beta = 1/2, b_1 = b_3 = n",
)


def _facts(plan: Plan, extra: dict[str, float | int | str] | None = None) -> dict[str, float | int | str]:
    return {"n": plan.n, "T": plan.steps, "q": plan.phase, "batch": plan.batch, **(extra or {})}


def double_printed(divergence: Divergence) -> Instance:
    """As printed on a record whose gradient exceeds the threshold: the clipped mean moves by 2 C."""
    schedule = replace(double_spider_printed(PLAN, Constants(), EPSILON, DELTA), start_eta=START_ETA)
    facts = _facts(PLAN, {"divergence": divergence.name})
    return Instance(bind(double_spider.run, schedule), dual_pair(divergence, PLAN.n), facts=facts)


def double_assumptions() -> Instance:
    """As printed where the assumptions hold with G = 1 and psi*' <= 1.5 = C_3: no clipping happens, c = 1 decides."""
    schedule = double_spider_printed(PLAN, Constants(smoothness=2.0), EPSILON, DELTA, clip=1.5)
    schedule = replace(schedule, start_eta=START_ETA)
    pair = dual_pair(chi_square(), PLAN.n, width=0.5, phase=0.0)
    return Instance(bind(double_spider.run, schedule), pair, facts=_facts(PLAN, {"c": 1}))


def double_no_steps() -> Instance:
    """Charitable (each record clipped, c = 4): sigma_2 does not grow with T and sigma_4 grows with T / q only."""
    schedule = double_spider_printed(LONG, Constants(), EPSILON, DELTA, clip=SMALL_CLIP, constant=4.0)
    charitable = replace(schedule, clip_mode="each", start_eta=START_ETA)
    return Instance(bind(double_spider.run, charitable), dual_pair(chi_square(), LONG.n), facts=_facts(LONG, {"c": 4}))


def double_repaired(divergence: Divergence, plan: Plan = PLAN, dimension: int = 3) -> Instance:
    """Repaired, any divergence: clipping alone bounds the sensitivity."""
    schedule = double_spider_repaired(plan, Constants(), EPSILON, DELTA, clip=SMALL_CLIP)
    schedule = replace(schedule, start_eta=START_ETA)
    pair = dual_pair(divergence, plan.n, dimension=dimension)
    facts = _facts(plan, {"d": dimension, "divergence": divergence.name})
    return Instance(bind(double_spider.run, schedule), pair, facts=facts)


def recursive_printed(charitable: bool) -> Instance:
    """As printed, x stands still at first while lambda moves, so v gets no noise; charitably, noise follows all of
    w."""
    schedule = recursive_spider_printed(PLAN, EPSILON, DELTA, step=0.05)
    if charitable:
        schedule = replace(schedule, moves="all", adaptive_clip=True, first_refresh=1)
    pair = compositional_pair(PLAN.n)
    return Instance(bind(recursive_spider.run, schedule), pair, facts=_facts(PLAN, {"beta": schedule.momentum}))


def recursive_repaired(value_batch: int | None, plan: Plan = PLAN, dimension: int = 3) -> Instance:
    """Repaired, with s over a batch or over one record whose noise fits."""
    schedule = recursive_spider_repaired(plan, EPSILON, DELTA, clip=SMALL_CLIP, value_batch=value_batch, step=0.05)
    facts = _facts(plan, {"d": dimension, "b_5": schedule.value_batch, "sigma_s": schedule.value_std})
    pair = compositional_pair(plan.n, dimension=dimension)
    return Instance(bind(recursive_spider.run, schedule), pair, facts=facts)


def value_alone(repaired: bool) -> Instance:
    """Line 16 alone at n = 40: the exact pair is known (``single_sample``)."""
    n, steps, clip, momentum = PLAN.n, 4, 3.0, 0.5
    printed = recursive_spider_printed(replace(PLAN, steps=steps), EPSILON, DELTA, value_clip=clip, momentum=momentum)
    std, claimed = printed.value_std, printed.claimed_value_sensitivity
    if repaired:
        ratio = calibrated_ratios((Sequence(steps, 1.0 / n),), EPSILON, DELTA)[0]
        std, claimed = ratio * momentum * clip, None
    schedule = single_sample.ValueSchedule(steps, momentum, clip, std, claimed)
    facts: dict[str, float | int | str] = {"n": n, "T": steps, "sigma_s": std, "sensitivity": schedule.sensitivity}
    true = account_of((Sequence(steps, 1.0 / n),), (std / schedule.sensitivity,))
    facts["epsilon with the true sensitivity"] = true.epsilon(DELTA)
    return Instance(bind(single_sample.run, schedule), single_sample.extreme_pair(n, clip), facts=facts)


def composite(spider: bool) -> Instance:
    """DP-SGD or DP-SPIDER on z = (x, eta)."""
    pair = dual_pair(chi_square(), PLAN.n)
    if spider:
        calm = replace(composite_spider.calibrated(PLAN, EPSILON, DELTA, clip=SMALL_CLIP), start=START_Z)
        return Instance(bind(composite_spider.run, calm), pair, facts=_facts(PLAN))
    schedule = composite_sgd.calibrated(PLAN.n, PLAN.steps, PLAN.batch, EPSILON, DELTA, clip=SMALL_CLIP)
    return Instance(bind(composite_sgd.run, replace(schedule, start=START_Z)), pair, facts=_facts(PLAN))


def minimax(differences: bool) -> Instance:
    """DP-SGDA or PrivateDiff Minimax on the constrained form, eq. (2)."""
    schedule = minimax_baselines.calibrated(
        PLAN, EPSILON, DELTA, differences=differences, ascents=2 if differences else 1, loss_clip=1.0, clip=SMALL_CLIP
    )
    run = minimax_baselines.run_private_diff if differences else minimax_baselines.run_sgda
    return Instance(bind(run, schedule), minimax_pair(PLAN.n), facts=_facts(PLAN))


def _baseline(name: str, title: str, place: str, build: Callable[[], Instance]) -> Case:
    claim = PrivacyClaim(EPSILON, DELTA, Cite(PAPER, place))
    return Case(f"{PAPER}/{name}", "baseline", title, Cite(PAPER, place), claim, build, data=DATA, quick=False)


def _printed(name: str, title: str, place: str, theorem: str, build: Callable[[], Instance], known: str,
             variant: str = "", completions: tuple[str, ...] = DOUBLE_COMPLETIONS) -> Case:  # fmt: skip
    claim = PrivacyClaim(EPSILON, DELTA, Cite(PAPER, theorem))
    return Case(
        f"{PAPER}/{name}",
        "printed",
        title,
        Cite(PAPER, place),
        claim,
        build,
        variant,
        DATA,
        completions,
        known=known,
        proofs=proofs_of(f"{PAPER}/{name}", "printed"),
        quick=variant in QUICK,
    )


def _repaired(name: str, title: str, place: str, theorem: str, build: Callable[[], Instance], variant: str,
              repairs: tuple[str, ...]) -> Case:  # fmt: skip
    claim = PrivacyClaim(EPSILON, DELTA, Cite(PAPER, theorem))
    return Case(
        f"{PAPER}/{name}",
        "repaired",
        title,
        Cite(PAPER, place),
        claim,
        build,
        variant,
        DATA,
        repairs=repairs,
        quick=variant in QUICK,
    )


DOUBLE, RECURSIVE, VALUE = "DP Double-SPIDER", "DP Recursive-SPIDER", "Recursive-SPIDER, s_t alone"
DIVERGENCES = (chi_square(), kl(), kl_cvar(0.2), cressie_read(3.0))
_MEAN = "clips the mean: sensitivity 2 C, noise for 2 C / N"
_SINGLE = "one record per step (line 16) has sensitivity beta C_5, the noise is made for O(1/n)"
_STILL = "sigma_2 follows ||x_t - x_{t-1}||: no noise on v where only lambda moved"
_REPAIR_VALUE = ("line 16: noise for sensitivity beta C_5 at sampling rate 1/n",)

CASES: tuple[Case, ...] = (
    *(_printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", partial(double_printed, one), _MEAN, one.name)
      for one in DIVERGENCES),
    _printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", double_assumptions,
             "c = 1: each of four mechanisms spends more than the whole budget", "assumptions hold"),
    _printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", double_no_steps,
             "sigma_2 does not grow with T: no constant c serves all T", "each record clipped, c = 4"),
    *(_repaired("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", partial(double_repaired, one), one.name,
                DOUBLE_REPAIRS)
      for one in DIVERGENCES),
    _repaired("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", partial(double_repaired, kl(), EXPERIMENT, 20),
              "batch 128", DOUBLE_REPAIRS),
    _printed("recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", partial(recursive_printed, False), _STILL,
             completions=RECURSIVE_COMPLETIONS),
    _printed("recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", partial(recursive_printed, True), _SINGLE,
             "noise follows all of w",
             completions=(*RECURSIVE_COMPLETIONS, "charitably: L ||w_t - w_{t-1}|| (the proof)")),
    _repaired("recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", partial(recursive_repaired, None), "",
              RECURSIVE_REPAIRS),
    _repaired("recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", partial(recursive_repaired, 1), "one record",
              RECURSIVE_REPAIRS),
    _repaired("recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8",
              partial(recursive_repaired, None, EXPERIMENT, 20), "batch 128", RECURSIVE_REPAIRS),
    _printed("single_sample", VALUE, "Algorithm 3, line 16", "Theorem 8", partial(value_alone, False), _SINGLE,
             completions=("w fixed, beta = 1/2, C_5 = 3, G = 1, c = 1",)),
    _repaired("single_sample", VALUE, "Algorithm 3, line 16", "Theorem 8", partial(value_alone, True), "",
              _REPAIR_VALUE),
    _baseline("composite_sgd", "DP-SGD on z = (x, eta)", "Section 3", partial(composite, False)),
    _baseline("composite_spider", "DP-SPIDER on z = (x, eta)", "Section 3", partial(composite, True)),
    _baseline("sgda", "DP-SGDA", "Section 5.1", partial(minimax, False)),
    _baseline("private_diff", "PrivateDiff Minimax, our reading", "Section 5.1", partial(minimax, True)),
)  # fmt: skip
