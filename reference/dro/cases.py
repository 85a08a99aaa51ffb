"""Rows of the audit table for ``dro``: small worst-case instances, claims at (1, 1e-5)."""

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from dpassay.reference.case import Case, Facts, Instance, PrivacyClaim, Reading
from dpassay.reference.findings import Declared, Kind, declare
from dpassay.reference.papers import Cite
from dpassay.reference.space import Rows, Space

from . import composite_sgd, composite_spider, double_spider, private_diff, recursive_spider, sgda, single_sample, space
from .constants import Constants, Plan
from .divergences import Divergence, chi_square, cressie_read, kl, kl_cvar
from .objective import CompositionalObjective, DualObjective
from .recursive_spider import Lines
from .worst_case import compositional_pair, dual_pair, minimax_pair

PAPER = "dro"
EPSILON, DELTA = 1.0, 1e-5
BUDGET: dict[str, Any] = {"epsilon": EPSILON, "delta": DELTA}
FULL = Plan(n=40, steps=4, phase=2, batch=40)
STILL = Plan(n=40, steps=2, phase=3, batch=40)  # two steps before the first refresh of Algorithm 3 as printed
SAMPLED = Plan(n=40, steps=12, phase=4, batch=20, refresh_batch=20)
MIXED = Plan(n=40, steps=12, phase=4, batch=20)  # refreshes on all records (Remark 2)
EXPERIMENT = Plan(n=640, steps=20, phase=5, batch=128, refresh_batch=128)  # "the batch size is 128", a rate of 1 in 5
LONG = Plan(n=40, steps=60, phase=60, batch=40)
SMALL_CLIP, SMALL = 0.001, 0.05  # threshold and amplitude: the iterates stay near the start, psi*' near 1
CALM = 1e-4  # step of Algorithm 3 that moves the wave by several periods and lambda hardly at all
DATA = "one rough record among identical ones"


def _facts(plan: Plan, extra: Facts | None = None) -> Facts:
    sizes = {"n": plan.n, "T": plan.steps, "q": plan.phase, "batch": plan.batch, "refresh batch": plan.refresh}
    return {**sizes, **(extra or {})}


# SCHEDULES: for the shape of the row's own run, and for those of the space that is searched
def double_schedule(
    plan: Plan, smoothness: float = 1.0, clip: float = 1.0, constant: float = 1.0, **fields: Any
) -> Any:
    """Algorithm 2 as printed, with other ``fields``."""
    constants = Constants(smoothness=smoothness)
    return replace(double_spider.printed(plan, constants, EPSILON, DELTA, clip=clip, constant=constant), **fields)


@lru_cache(maxsize=512)  # for all divergences: clipping alone bounds the sensitivity
def double_mended(plan: Plan) -> double_spider.Schedule:
    """Algorithm 2 repaired."""
    problem = DualObjective(space.no_records(plan.n), chi_square(), 1.0)
    made = double_spider.repaired(problem, plan, Constants(), EPSILON, DELTA, clip=SMALL_CLIP)
    return replace(made, start_eta=SMALL)


def recursive_mended(lines: Lines, plan: Plan, value_batch: int | None = None, **options: float) -> Any:
    """Algorithm 3 repaired, with s over a batch or over one record whose noise fits."""
    problem = CompositionalObjective(space.no_records(plan.n))
    return recursive_spider.repaired(problem, plan, **BUDGET, lines=lines, value_batch=value_batch, **options)


AS_PRINTED = partial(double_schedule, start_eta=0.5)
# G = 1 and psi*' <= 1.5 = C_3: no clipping happens, c = 1 decides
WITHIN_ASSUMPTIONS = partial(double_schedule, smoothness=2.0, clip=1.5, start_eta=0.5)
# each record clipped, c = 4: sigma_2 does not grow with T and sigma_4 grows with T / q only
CHARITABLE = partial(double_schedule, clip=SMALL_CLIP, constant=4.0, clip_mode="each")
VALUE = {reading: partial(getattr(single_sample, reading), **BUDGET) for reading in ("printed", "repaired")}
SGDA = partial(sgda.calibrated, **BUDGET, loss_clip=1.0, clip=SMALL_CLIP)
PRIVATE_DIFF = partial(private_diff.calibrated, **BUDGET, ascents=2, loss_clip=1.0, clip=SMALL_CLIP)
SGD, SPIDER = (partial(one.calibrated, **BUDGET, clip=SMALL_CLIP) for one in (composite_sgd, composite_spider))


# INSTANCES
def on_dual(schedule: Callable[[Plan], Any], plan: Plan, divergence: Divergence, facts: Facts, **pair: Any) -> Instance:
    """Algorithm 2 on a record whose gradient exceeds the threshold, or (a wide wave) keeps to the assumptions."""
    neighbours = dual_pair(divergence, plan.n, **pair)
    return Instance(double_spider.run, schedule(plan), neighbours, facts=_facts(plan, facts))


def recursive_printed(lines: Lines, plan: Plan) -> Instance:
    """As printed, x stands still at first while lambda moves, so v gets no noise; or a variant of the printed lines."""
    schedule = recursive_spider.printed(plan, EPSILON, DELTA, lines=lines, step=0.05)
    facts = _facts(plan, {"beta": schedule.momentum})
    return Instance(recursive_spider.run, schedule, compositional_pair(plan.n), facts=facts)


def recursive_repaired(lines: Lines, plan: Plan, d: int = 3, value_batch: int | None = None) -> Instance:
    """The sensitivity of the proof's recursion is reached when the target's loss flips between two iterates; that of
    any record does so in half of the steps only, because the iterates are noisy.
    """
    schedule = recursive_mended(lines, plan, value_batch, smoothness=1e-3, step=CALM)
    std = schedule.noise.std("value", schedule.value_sensitivity)
    facts = _facts(plan, {"d": d, "b_5": schedule.value_batch, "sigma_s": std})
    if lines == recursive_spider.REPAIRED:
        facts["loose"] = "the value's sensitivity is reached in half of the steps"
    pair = compositional_pair(plan.n, d=d, opposite=True)
    return Instance(recursive_spider.run, schedule, pair, facts=facts)


def value_alone(reading: Reading) -> Instance:
    """Line 16 alone: the exact pair is known."""
    schedule = VALUE[reading](FULL.n, FULL.steps)
    pair = single_sample.extreme_pair(schedule.n, schedule.clip)
    true = single_sample.true_sensitivity(schedule.momentum, schedule.clip)
    std = schedule.noise.std("value", schedule.sensitivity)
    honest = Instance(single_sample.run, replace(schedule, sensitivity=true), pair)
    facts: Facts = {"n": schedule.n, "T": schedule.steps, "sigma_s": std, "sensitivity": true}
    facts["epsilon with the true sensitivity"] = honest.accounted().epsilon(DELTA)
    return Instance(single_sample.run, schedule, pair, facts=facts)


def composite(method: Any, schedule: Callable[[Plan], Any]) -> Instance:
    """DP-SGD or DP-SPIDER on z = (x, eta)."""
    pair = dual_pair(chi_square(), SAMPLED.n, opposite=True, amplitude=SMALL)
    started = replace(schedule(SAMPLED), start=np.array([0.0, 0.0, 0.0, SMALL]))
    return Instance(method.run, started, pair, facts=_facts(SAMPLED))


def minimax(method: Any, schedule: Callable[[Plan], Any]) -> Instance:
    """DP-SGDA or PrivateDiff Minimax on the constrained form, eq. (2); all records, so that the loss is exact."""
    return Instance(method.run, schedule(FULL), minimax_pair(FULL.n), facts=_facts(FULL))


DIVERGENCES = (chi_square(), kl(), kl_cvar(0.2), cressie_read(3.0))
QUICK = chi_square().name
SINGLE = "one record per step (line 16) has sensitivity beta (C_5 - 1), the noise is made for O(1/n)"
MEAN_CLIP = "clips the mean: sensitivity 2 C, noise for 2 C / N"
C_ONE = "c = 1: each of four mechanisms spends more than the whole budget"
TOO_LITTLE = declare(Kind.VIOLATED, Kind.OVER_BUDGET)
ANY_LABEL = declare(Kind.SENSITIVITY_EXCEEDED)  # at other data and sizes at other labels as well


def _exceeded(*labels: str) -> tuple[Declared, ...]:
    return declare(*((Kind.SENSITIVITY_EXCEEDED, label) for label in labels))


ASSUMPTIONS_HOLD = (
    "C_1 = C_3 = 1.5, which no gradient exceeds; G = M = lambda = H = 1, L = 2",
    double_spider.OWN_DIFFERENCE,
    double_spider.BATCHES,
)
EACH_CLIPPED = (
    "charitable: every record's term is clipped before the mean, and c = 4",
    "C_1 = C_3 = 0.001; G = L = M = lambda = H = 1",
    double_spider.OWN_DIFFERENCE,
    double_spider.BATCHES,
)
OTHERS = (recursive_spider.BOUNDS, recursive_spider.NOT_CROSSED, recursive_spider.FLOORS, recursive_spider.STARTS)
BUT_LINE_16 = (
    recursive_spider.MEND_START,
    recursive_spider.MEND_SUM,
    recursive_spider.MEND_NOISE,
    recursive_spider.MEND_SIGN,
)
BATCHED = "line 16: a batch of records, noise for its sensitivity beta (C_5 - 1) / b_5"
ONE_RECORD = "line 16: the recursion of Lemma 8, one record, noise for its sensitivity (2 - beta) (C_5 - 1)"


def _row(name: str, title: str, place: str, claim: str = "", quick: bool = False, **fields: Any) -> Case:
    """One row of an algorithm at its place, for what is claimed at another."""
    budget = PrivacyClaim(EPSILON, DELTA, Cite(PAPER, claim or place))
    return Case(f"{PAPER}/{name}", title=title, cite=Cite(PAPER, place), claim=budget, data=DATA, quick=quick, **fields)


double = partial(_row, "double_spider", "DP Double-SPIDER", "Algorithm 2", "Theorem 6")
recursive = partial(_row, "recursive_spider", "DP Recursive-SPIDER", "Algorithm 3", "Theorem 8")
value = partial(_row, "single_sample", "Recursive-SPIDER, s_t alone", "Algorithm 3, line 16", "Theorem 8", quick=True)
baseline = partial(_row, reading="baseline")

on_composed = partial(space.of_plans, space.composed, landmarks=space.recursive_landmarks)
on_chi_square = partial(space.of_plans, partial(space.dual, chi_square()))


def on(divergence: Divergence, schedule: Callable[[Plan], Any]) -> Callable[[], Space]:
    """The space of Algorithm 2."""
    return partial(space.of_plans, partial(space.dual, divergence), schedule, space.double_landmarks)


CASES: tuple[Case, ...] = (
    *(double(reading="printed", build=partial(on_dual, AS_PRINTED, FULL, one, {"divergence": one.name}),
             variant=one.name, quick=one.name == QUICK, space=on(one, AS_PRINTED),
             completions=double_spider.COMPLETIONS, known=f"{MEAN_CLIP}; {C_ONE}",
             declared=_exceeded("x/refresh", "x/difference", "eta/difference") + ANY_LABEL + TOO_LITTLE)
      for one in DIVERGENCES),
    double(reading="printed", variant="assumptions hold", completions=ASSUMPTIONS_HOLD,
           build=partial(on_dual, WITHIN_ASSUMPTIONS, MIXED, chi_square(), {"c": 1}, width=0.5, phase=0.0),
           space=partial(space.of_plans, space.within_assumptions, WITHIN_ASSUMPTIONS, space.double_landmarks,
                         rows=Rows(2, 1.0)),
           known=f"{C_ONE}; beyond the assumptions, {MEAN_CLIP}",
           declared=ANY_LABEL + TOO_LITTLE),
    double(reading="printed", variant="each record clipped, c = 4", completions=EACH_CLIPPED,
           build=partial(on_dual, partial(CHARITABLE, start_eta=SMALL), LONG, chi_square(), {"c": 4}, amplitude=SMALL),
           space=partial(on_chi_square, CHARITABLE, space.double_landmarks, sizes=space.LONG, fits=space.on_all),
           known="sigma_2 does not grow with T: no constant c serves all T", declared=TOO_LITTLE),
    *(double(reading="repaired", variant=variant, quick=variant == QUICK, repairs=double_spider.REPAIRS,
             build=partial(on_dual, double_mended, plan, one, {"d": d, "divergence": one.name}, d=d, opposite=True,
                           amplitude=SMALL),
             space=on(one, double_mended))
      for variant, one, plan, d in (
          *((one.name, one, FULL, 3) for one in DIVERGENCES),
          ("sampled", chi_square(), SAMPLED, 3),
          ("sampled differences", chi_square(), MIXED, 3),
          ("batch 128", kl(), EXPERIMENT, 20),
      )),
    *(recursive(reading="printed", build=partial(recursive_printed, lines, plan),
                space=partial(on_composed, partial(recursive_spider.printed, **BUDGET, lines=lines, step=0.05)),
                **row)
      for lines, plan, row in (
          (recursive_spider.AS_PRINTED, STILL, {
              "quick": True, "completions": recursive_spider.COMPLETIONS,
              "known": f"sigma_2 follows ||x_t - x_{{t-1}}||: no noise on v where only lambda moved; {SINGLE}",
              "declared": _exceeded("value", "x/difference", "temperature/difference") + ANY_LABEL + TOO_LITTLE
              + declare(Kind.BARE_RELEASE, (Kind.BARE_RELEASE, "x/difference"))}),
          (recursive_spider.ALL_OF_W, MIXED, {
              "variant": "noise follows all of w", "known": SINGLE, "declared": _exceeded("value") + TOO_LITTLE,
              "completions": (recursive_spider.CHARITABLE_NOISE, recursive_spider.CHARITABLE_START, *OTHERS)}),
          (recursive_spider.THEOREM_8, MIXED, {
              "variant": "sigma_2 of Theorem 8", "known": SINGLE, "declared": _exceeded("value") + TOO_LITTLE,
              "completions": (recursive_spider.NO_MOVE, *OTHERS)}),
      )),
    *(recursive(reading="repaired", build=partial(recursive_repaired, lines, plan, d, value_batch), variant=variant,
                space=partial(on_composed, partial(recursive_mended, lines, value_batch=value_batch)),
                repairs=repairs, quick=not variant)
      for variant, lines, plan, d, value_batch, repairs in (
          ("", recursive_spider.REPAIRED, FULL, 3, None, recursive_spider.REPAIRS),
          ("line 16 as printed", recursive_spider.LINE_16_PRINTED, FULL, 3, None,
           (*BUT_LINE_16, BATCHED, recursive_spider.MEND_SIGMA)),
          ("one record", recursive_spider.REPAIRED, MIXED, 3, 1,
           (*BUT_LINE_16, ONE_RECORD, recursive_spider.MEND_SIGMA)),
          ("batch 128", recursive_spider.REPAIRED, EXPERIMENT, 20, None, recursive_spider.REPAIRS),
      )),
    value(reading="printed", build=partial(value_alone, "printed"), completions=single_sample.COMPLETIONS,
          space=partial(space.value_alone, VALUE["printed"]), known=SINGLE,
          declared=_exceeded("value") + TOO_LITTLE),
    value(reading="repaired", build=partial(value_alone, "repaired"), repairs=single_sample.REPAIRS,
          space=partial(space.value_alone, VALUE["repaired"])),
    baseline("composite_sgd", "DP-SGD on z = (x, eta)", "Section 3", build=partial(composite, composite_sgd, SGD),
             space=partial(on_chi_square, SGD)),
    baseline("composite_spider", "DP-SPIDER on z = (x, eta)", "Section 3",
             build=partial(composite, composite_spider, SPIDER),
             space=partial(on_chi_square, SPIDER, space.spider_landmarks)),
    baseline("sgda", "DP-SGDA", "Section 5.1", build=partial(minimax, sgda, SGDA),
             space=partial(space.of_plans, space.game, SGDA)),
    baseline("private_diff", "PrivateDiff Minimax, our reading", "Section 5.1",
             build=partial(minimax, private_diff, PRIVATE_DIFF),
             space=partial(space.of_plans, space.game, PRIVATE_DIFF)),
)  # fmt: skip
