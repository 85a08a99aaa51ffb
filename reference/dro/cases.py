"""Rows of the audit table for ``dro``: small worst-case instances, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, Literal

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim, Reading
from dpassay.reference.papers import Cite

from . import composite_sgd, composite_spider, double_spider, minimax_baselines, recursive_spider, single_sample
from .calibration import Sequence, account_of, calibrated_ratios
from .divergences import Divergence, chi_square, cressie_read, kl, kl_cvar
from .repaired import DOUBLE_REPAIRS, RECURSIVE_REPAIRS, double_spider_repaired, recursive_spider_repaired
from .schedules import Constants, Plan, double_spider_printed, recursive_spider_printed
from .worst_case import compositional_pair, dual_pair, minimax_pair

PAPER = "dro"
EPSILON, DELTA = 1.0, 1e-5
FULL = Plan(n=40, steps=4, phase=2, batch=40)
STILL = Plan(n=40, steps=2, phase=3, batch=40)  # two steps before the first refresh of Algorithm 3 as printed
SAMPLED = Plan(n=40, steps=12, phase=4, batch=20, refresh_batch=20)
MIXED = Plan(n=40, steps=12, phase=4, batch=20)  # refreshes on all records (Remark 2)
EXPERIMENT = Plan(n=640, steps=20, phase=5, batch=128, refresh_batch=128)  # "the batch size is 128", a rate of 1 in 5
LONG = Plan(n=40, steps=60, phase=60, batch=40)
SMALL_CLIP, SMALL = 0.001, 0.05  # threshold and amplitude: the iterates stay near the start, psi*' near 1
VALUE_CLIP = 3.0  # C_5
CALM = 1e-4  # step of Algorithm 3 that moves the wave by several periods and lambda hardly at all
QUICK = ("chi_square", "")  # variants of the default audit
DATA = "one rough record among identical ones"

DOUBLE_COMPLETIONS = (
    "c = 1 unless said otherwise (the universal constant has no value; Definition 3 suggests 1)",
    "C_1 = C_3 = 1 (some specific values, Theorem 2); G = L = M = lambda = H = 1",
    "C_4 follows |eta_{t+1} - eta_t|, which line 12 compares (Theorem 6 prints |eta_t - eta_{t-1}|)",
    "batches are drawn without replacement; N_1 = N_3 = n (Remark 2); alpha_t is constant (Theorem 7)",
)
ASSUMPTIONS_HOLD = (
    "C_1 = C_3 = 1.5, which no gradient exceeds; G = M = lambda = H = 1, L = 2",
    *DOUBLE_COMPLETIONS[2:],
)
EACH_CLIPPED = (
    "charitable: every record's term is clipped before the mean, and c = 4",
    "C_1 = C_3 = 0.001; G = L = M = lambda = H = 1",
    *DOUBLE_COMPLETIONS[2:],
)
RECURSIVE_COMPLETIONS = (
    "c = 1; C_1 = C_3 = G, C_2 = C_4 = 2 G, G = L = 1 (the bounds that the proof of Theorem 8 uses), C_5 = 3",
    "sigma_2, sigma_4 follow ||x_t - x_{t-1}||, |lambda_t - lambda_{t-1}| (Theorem 3; Theorem 8 drops the factors)",
    "sigma^_2 = sigma^_4 (lines 11 and 12 cross them; b_2 = b_4)",
    "lambda starts at 1 and is kept >= lambda_0; s is floored at 1 where it is divided by or its log is taken",
    "w_1 = w_0, v_0 = u_0 = 0, s_0 = 1, beta = 1/2, b_1 = b_3 = n, the step eta is constant",
)
ALL_OF_W = (
    "charitable: sigma_2 and sigma_4 follow ||w_t - w_{t-1}||, differences are clipped at min(C, L ||w_t - w_{t-1}||)",
    "charitable: the first step refreshes",
    *(text for text in RECURSIVE_COMPLETIONS if not text.startswith("sigma_2, sigma_4")),
)
THEOREM_8 = (
    "sigma_2 as Theorem 8 prints it, without the factor ||x_t - x_{t-1}||; sigma_4, which it does not name, likewise",
    *(text for text in RECURSIVE_COMPLETIONS if not text.startswith("sigma_2, sigma_4")),
)
_BATCHED = RECURSIVE_REPAIRS[4]  # of line 16
LINE_16_AS_PRINTED = tuple(
    "line 16: a batch of records, noise for its sensitivity beta (C_5 - 1) / b_5" if text == _BATCHED else text
    for text in RECURSIVE_REPAIRS
)
ONE_RECORD = tuple(
    "line 16: the recursion of Lemma 8, one record, noise for its sensitivity (2 - beta) (C_5 - 1)"
    if text == _BATCHED
    else text
    for text in RECURSIVE_REPAIRS
)


def _facts(plan: Plan, extra: dict[str, float | int | str] | None = None) -> dict[str, float | int | str]:
    sizes = {"n": plan.n, "T": plan.steps, "q": plan.phase, "batch": plan.batch, "refresh batch": plan.refresh}
    return {**sizes, **(extra or {})}


def double_printed(divergence: Divergence, plan: Plan = FULL) -> Instance:
    """As printed on a record whose gradient exceeds the threshold: the clipped mean moves by 2 C."""
    schedule = replace(double_spider_printed(plan, Constants(), EPSILON, DELTA), start_eta=0.5)
    facts = _facts(plan, {"divergence": divergence.name})
    return Instance(double_spider.run, schedule, dual_pair(divergence, plan.n), facts=facts)


def double_assumptions() -> Instance:
    """As printed where the assumptions hold with G = 1 and psi*' <= 1.5 = C_3: no clipping happens, c = 1 decides."""
    schedule = double_spider_printed(MIXED, Constants(smoothness=2.0), EPSILON, DELTA, clip=1.5)
    pair = dual_pair(chi_square(), MIXED.n, width=0.5, phase=0.0)
    return Instance(double_spider.run, replace(schedule, start_eta=0.5), pair, facts=_facts(MIXED, {"c": 1}))


def double_no_steps() -> Instance:
    """Charitable (each record clipped, c = 4): sigma_2 does not grow with T and sigma_4 grows with T / q only."""
    schedule = double_spider_printed(LONG, Constants(), EPSILON, DELTA, clip=SMALL_CLIP, constant=4.0)
    charitable = replace(schedule, clip_mode="each", start_eta=SMALL)
    pair = dual_pair(chi_square(), LONG.n, amplitude=SMALL)
    return Instance(double_spider.run, charitable, pair, facts=_facts(LONG, {"c": 4}))


def double_repaired(divergence: Divergence, plan: Plan, dimension: int = 3) -> Instance:
    """Repaired, any divergence: clipping alone bounds the sensitivity."""
    schedule = double_spider_repaired(plan, Constants(), EPSILON, DELTA, clip=SMALL_CLIP)
    pair = dual_pair(divergence, plan.n, dimension=dimension, opposite=True, amplitude=SMALL)
    facts = _facts(plan, {"d": dimension, "divergence": divergence.name})
    return Instance(double_spider.run, replace(schedule, start_eta=SMALL), pair, facts=facts)


def recursive_printed(reading: str) -> Instance:
    """As printed, x stands still at first while lambda moves, so v gets no noise; two charitable readings."""
    plan = STILL if reading == "printed" else MIXED
    theorem = 8 if reading == "Theorem 8" else 3
    schedule = recursive_spider_printed(plan, EPSILON, DELTA, value_clip=VALUE_CLIP, step=0.05, theorem=theorem)
    if reading == "all of w":
        schedule = replace(schedule, moves="all", adaptive_clip=True, first_refresh=1)
    pair = compositional_pair(plan.n)
    return Instance(recursive_spider.run, schedule, pair, facts=_facts(plan, {"beta": schedule.momentum}))


def recursive_repaired(
    plan: Plan, dimension: int = 3, recursion: Literal["printed", "proof"] = "proof", value_batch: int | None = None
) -> Instance:
    """Repaired, with s over a batch or over one record whose noise fits.

    The sensitivity of the proof's recursion is reached when the target's loss flips between two iterates; that of any
    record does so in half of the steps only, because the iterates are noisy.
    """
    schedule = recursive_spider_repaired(
        plan, EPSILON, DELTA, clip=1.0, smoothness=1e-3, value_clip=VALUE_CLIP, value_batch=value_batch, step=CALM,
        recursion=recursion,
    )  # fmt: skip
    facts = _facts(plan, {"d": dimension, "b_5": schedule.value_batch, "sigma_s": schedule.value_std})
    if recursion == "proof":
        facts["loose"] = "the value's sensitivity is reached in half of the steps"
    pair = compositional_pair(plan.n, dimension=dimension, opposite=True)
    return Instance(recursive_spider.run, schedule, pair, facts=facts)


def value_alone(repaired: bool) -> Instance:
    """Line 16 alone at n = 40: the exact pair is known (``single_sample``)."""
    n, steps, momentum = FULL.n, 4, 0.5
    printed = recursive_spider_printed(FULL, EPSILON, DELTA, value_clip=VALUE_CLIP, momentum=momentum)
    std, claimed = printed.value_std, printed.claimed_value_sensitivity
    if repaired:
        ratio = calibrated_ratios((Sequence(steps, 1.0 / n),), EPSILON, DELTA)[0]
        std, claimed = ratio * momentum * (VALUE_CLIP - 1.0), None
    schedule = single_sample.ValueSchedule(steps, momentum, VALUE_CLIP, std, claimed)
    facts: dict[str, float | int | str] = {"n": n, "T": steps, "sigma_s": std, "sensitivity": schedule.sensitivity}
    true = account_of((Sequence(steps, 1.0 / n),), (std / schedule.sensitivity,))
    facts["epsilon with the true sensitivity"] = true.epsilon(DELTA)
    return Instance(single_sample.run, schedule, single_sample.extreme_pair(n, VALUE_CLIP), facts=facts)


def composite(spider: bool) -> Instance:
    """DP-SGD or DP-SPIDER on z = (x, eta)."""
    pair = dual_pair(chi_square(), SAMPLED.n, opposite=True, amplitude=SMALL)
    start = np.array([0.0, 0.0, 0.0, SMALL])
    if spider:
        calm = replace(composite_spider.calibrated(SAMPLED, EPSILON, DELTA, clip=SMALL_CLIP), start=start)
        return Instance(composite_spider.run, calm, pair, facts=_facts(SAMPLED))
    schedule = composite_sgd.calibrated(SAMPLED.n, SAMPLED.steps, SAMPLED.batch, EPSILON, DELTA, clip=SMALL_CLIP)
    return Instance(composite_sgd.run, replace(schedule, start=start), pair, facts=_facts(SAMPLED))


def minimax(differences: bool) -> Instance:
    """DP-SGDA or PrivateDiff Minimax on the constrained form, eq. (2); all records, so that the loss is exact."""
    ascents = 2 if differences else 1
    schedule = minimax_baselines.calibrated(
        FULL, EPSILON, DELTA, differences=differences, ascents=ascents, loss_clip=1.0, clip=SMALL_CLIP
    )
    run = minimax_baselines.run_private_diff if differences else minimax_baselines.run_sgda
    return Instance(run, schedule, minimax_pair(FULL.n), facts=_facts(FULL))


def _case(reading: Reading, name: str, title: str, place: str, theorem: str, build: Callable[[], Instance],
          variant: str = "", **notes: Any) -> Case:  # fmt: skip
    return Case(
        f"{PAPER}/{name}",
        reading,
        title,
        Cite(PAPER, place),
        PrivacyClaim(EPSILON, DELTA, Cite(PAPER, theorem)),
        build,
        variant,
        DATA,
        **{"quick": variant in QUICK} | notes,
    )


def _baseline(name: str, title: str, place: str, build: Callable[[], Instance]) -> Case:
    return _case("baseline", name, title, place, place, build, quick=False)


def _printed(name: str, title: str, place: str, theorem: str, build: Callable[[], Instance], known: str,
             variant: str = "", completions: tuple[str, ...] = DOUBLE_COMPLETIONS) -> Case:  # fmt: skip
    return _case("printed", name, title, place, theorem, build, variant, completions=completions, known=known)


_repaired = partial(_case, "repaired")
DOUBLE, RECURSIVE, VALUE = "DP Double-SPIDER", "DP Recursive-SPIDER", "Recursive-SPIDER, s_t alone"
DIVERGENCES = (chi_square(), kl(), kl_cvar(0.2), cressie_read(3.0))
_MEAN = "clips the mean: sensitivity 2 C, noise for 2 C / N"
_SINGLE = "one record per step (line 16) has sensitivity beta (C_5 - 1), the noise is made for O(1/n)"
_STILL = "sigma_2 follows ||x_t - x_{t-1}||: no noise on v where only lambda moved"
_REPAIR_VALUE = ("line 16: noise for sensitivity beta (C_5 - 1) at sampling rate 1/n",)

double_case = partial(_repaired, "double_spider", DOUBLE, "Algorithm 2", "Theorem 6", repairs=DOUBLE_REPAIRS)
recursive_case = partial(
    _repaired, "recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", repairs=RECURSIVE_REPAIRS
)
as_printed = partial(
    _printed, "recursive_spider", RECURSIVE, "Algorithm 3", "Theorem 8", completions=RECURSIVE_COMPLETIONS
)

CASES: tuple[Case, ...] = (
    *(_printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", partial(double_printed, one), _MEAN, one.name)
      for one in DIVERGENCES),
    _printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", double_assumptions,
             "c = 1: each of four mechanisms spends more than the whole budget", "assumptions hold", ASSUMPTIONS_HOLD),
    _printed("double_spider", DOUBLE, "Algorithm 2", "Theorem 6", double_no_steps,
             "sigma_2 does not grow with T: no constant c serves all T", "each record clipped, c = 4", EACH_CLIPPED),
    *(double_case(partial(double_repaired, one, FULL), one.name) for one in DIVERGENCES),
    double_case(partial(double_repaired, chi_square(), SAMPLED), "sampled"),
    double_case(partial(double_repaired, chi_square(), MIXED), "sampled differences"),
    double_case(partial(double_repaired, kl(), EXPERIMENT, 20), "batch 128"),
    as_printed(partial(recursive_printed, "printed"), _STILL),
    as_printed(partial(recursive_printed, "all of w"), _SINGLE, "noise follows all of w", completions=ALL_OF_W),
    as_printed(partial(recursive_printed, "Theorem 8"), _SINGLE, "sigma_2 of Theorem 8", completions=THEOREM_8),
    recursive_case(partial(recursive_repaired, FULL), ""),
    recursive_case(partial(recursive_repaired, FULL, recursion="printed"), "line 16 as printed",
                   repairs=LINE_16_AS_PRINTED),
    recursive_case(partial(recursive_repaired, MIXED, value_batch=1), "one record", repairs=ONE_RECORD),
    recursive_case(partial(recursive_repaired, EXPERIMENT, 20), "batch 128"),
    _printed("single_sample", VALUE, "Algorithm 3, line 16", "Theorem 8", partial(value_alone, False), _SINGLE,
             completions=("w fixed, beta = 1/2, C_5 = 3, G = 1, c = 1",)),
    _repaired("single_sample", VALUE, "Algorithm 3, line 16", "Theorem 8", partial(value_alone, True),
              repairs=_REPAIR_VALUE),
    _baseline("composite_sgd", "DP-SGD on z = (x, eta)", "Section 3", partial(composite, False)),
    _baseline("composite_spider", "DP-SPIDER on z = (x, eta)", "Section 3", partial(composite, True)),
    _baseline("sgda", "DP-SGDA", "Section 5.1", partial(minimax, False)),
    _baseline("private_diff", "PrivateDiff Minimax, our reading", "Section 5.1", partial(minimax, True)),
)  # fmt: skip
