"""Rows of the audit table for ``dro``: small worst-case instances, claims at (1, 1e-5)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from dpassay.reference.case import Case, Instance, PrivacyClaim
from dpassay.reference.findings import Declared, Kind, declare
from dpassay.reference.papers import Cite
from dpassay.reference.written import with_reasons

from . import composite_sgd, composite_spider, double_spider, private_diff, recursive_spider, sgda, single_sample, space
from .constants import Constants, Plan
from .divergences import Divergence, chi_square, cressie_read, kl, kl_cvar
from .recursive_spider import Lines
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
DATA = "one rough record among identical ones"
Facts = dict[str, float | int | str]


def _facts(plan: Plan, extra: Facts | None = None) -> Facts:
    sizes = {"n": plan.n, "T": plan.steps, "q": plan.phase, "batch": plan.batch, "refresh batch": plan.refresh}
    return {**sizes, **(extra or {})}


def double_printed(divergence: Divergence, plan: Plan = FULL) -> Instance:
    """As printed on a record whose gradient exceeds the threshold: the clipped mean moves by 2 C."""
    schedule = replace(double_spider.printed(plan, Constants(), EPSILON, DELTA), start_eta=0.5)
    facts = _facts(plan, {"divergence": divergence.name})
    return Instance(double_spider.run, schedule, dual_pair(divergence, plan.n), facts=facts)


def double_assumptions() -> Instance:
    """As printed where the assumptions hold with G = 1 and psi*' <= 1.5 = C_3: no clipping happens, c = 1 decides."""
    schedule = double_spider.printed(MIXED, Constants(smoothness=2.0), EPSILON, DELTA, clip=1.5)
    pair = dual_pair(chi_square(), MIXED.n, width=0.5, phase=0.0)
    facts = _facts(MIXED, {"c": 1})
    return Instance(double_spider.run, replace(schedule, start_eta=0.5), pair, facts=facts)


def double_no_steps() -> Instance:
    """Charitable (each record clipped, c = 4): sigma_2 does not grow with T and sigma_4 grows with T / q only."""
    schedule = double_spider.printed(LONG, Constants(), EPSILON, DELTA, clip=SMALL_CLIP, constant=4.0)
    charitable = replace(schedule, clip_mode="each", start_eta=SMALL)
    pair = dual_pair(chi_square(), LONG.n, amplitude=SMALL)
    return Instance(double_spider.run, charitable, pair, facts=_facts(LONG, {"c": 4}))


def double_repaired(divergence: Divergence, plan: Plan, d: int) -> Instance:
    """Repaired, any divergence: clipping alone bounds the sensitivity."""
    pair = dual_pair(divergence, plan.n, d=d, opposite=True, amplitude=SMALL)
    schedule = double_spider.repaired(pair.here, plan, Constants(), EPSILON, DELTA, clip=SMALL_CLIP)
    facts = _facts(plan, {"d": d, "divergence": divergence.name})
    return Instance(double_spider.run, replace(schedule, start_eta=SMALL), pair, facts=facts)


def recursive_printed(lines: Lines, plan: Plan) -> Instance:
    """As printed, x stands still at first while lambda moves, so v gets no noise; or a variant of the printed lines."""
    schedule = recursive_spider.printed(plan, EPSILON, DELTA, lines=lines, value_clip=VALUE_CLIP, step=0.05)
    pair = compositional_pair(plan.n)
    facts = _facts(plan, {"beta": schedule.momentum})
    return Instance(recursive_spider.run, schedule, pair, facts=facts)


def recursive_repaired(lines: Lines, plan: Plan, d: int = 3, value_batch: int | None = None) -> Instance:
    """Repaired, with s over a batch or over one record whose noise fits.

    The sensitivity of the proof's recursion is reached when the target's loss flips between two iterates; that of any
    record does so in half of the steps only, because the iterates are noisy.
    """
    pair = compositional_pair(plan.n, d=d, opposite=True)
    schedule = recursive_spider.repaired(
        pair.here, plan, EPSILON, DELTA, lines=lines, smoothness=1e-3, value_clip=VALUE_CLIP, value_batch=value_batch,
        step=CALM,
    )  # fmt: skip
    std = schedule.noise.std("value", schedule.value_sensitivity)
    facts = _facts(plan, {"d": d, "b_5": schedule.value_batch, "sigma_s": std})
    if lines == recursive_spider.REPAIRED:
        facts["loose"] = "the value's sensitivity is reached in half of the steps"
    return Instance(recursive_spider.run, schedule, pair, facts=facts)


def value_alone(make: Callable[..., single_sample.Schedule]) -> Instance:
    """Line 16 alone: the exact pair is known."""
    schedule = make(FULL.n, FULL.steps, EPSILON, DELTA, clip=VALUE_CLIP)
    pair = single_sample.extreme_pair(schedule.n, schedule.clip)
    true = single_sample.true_sensitivity(schedule.momentum, schedule.clip)
    std = schedule.noise.std("value", schedule.sensitivity)
    honest = Instance(single_sample.run, replace(schedule, sensitivity=true), pair)
    facts: Facts = {"n": schedule.n, "T": schedule.steps, "sigma_s": std, "sensitivity": true}
    facts["epsilon with the true sensitivity"] = honest.accounted().epsilon(DELTA)
    return Instance(single_sample.run, schedule, pair, facts=facts)


def composite(spider: bool) -> Instance:
    """DP-SGD or DP-SPIDER on z = (x, eta)."""
    pair = dual_pair(chi_square(), SAMPLED.n, opposite=True, amplitude=SMALL)
    start = np.array([0.0, 0.0, 0.0, SMALL])
    method: Any = composite_spider if spider else composite_sgd
    schedule = replace(method.calibrated(SAMPLED, EPSILON, DELTA, clip=SMALL_CLIP), start=start)
    return Instance(method.run, schedule, pair, facts=_facts(SAMPLED))


def minimax(differences: bool) -> Instance:
    """DP-SGDA or PrivateDiff Minimax on the constrained form, eq. (2); all records, so that the loss is exact."""
    if differences:
        schedule = private_diff.calibrated(FULL, EPSILON, DELTA, ascents=2, loss_clip=1.0, clip=SMALL_CLIP)
        return Instance(private_diff.run, schedule, minimax_pair(FULL.n), facts=_facts(FULL))
    plain = sgda.calibrated(FULL, EPSILON, DELTA, loss_clip=1.0, clip=SMALL_CLIP)
    return Instance(sgda.run, plain, minimax_pair(FULL.n), facts=_facts(FULL))


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
OTHERS = (
    recursive_spider.BOUNDS,
    recursive_spider.NOT_CROSSED,
    recursive_spider.FLOORS,
    recursive_spider.STARTS,
)
BUT_LINE_16 = (
    recursive_spider.MEND_START,
    recursive_spider.MEND_SUM,
    recursive_spider.MEND_NOISE,
    recursive_spider.MEND_SIGN,
)
BATCHED = "line 16: a batch of records, noise for its sensitivity beta (C_5 - 1) / b_5"
ONE_RECORD = "line 16: the recursion of Lemma 8, one record, noise for its sensitivity (2 - beta) (C_5 - 1)"

# one line per algorithm: id, title, place, claim; the rows below add reading and schedule
double = partial(
    Case, id=f"{PAPER}/double_spider", title="DP Double-SPIDER", cite=Cite(PAPER, "Algorithm 2"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Theorem 6")), data=DATA, quick=False)  # fmt: skip
recursive = partial(
    Case, id=f"{PAPER}/recursive_spider", title="DP Recursive-SPIDER", cite=Cite(PAPER, "Algorithm 3"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Theorem 8")), data=DATA, quick=False)  # fmt: skip
value = partial(
    Case, id=f"{PAPER}/single_sample", title="Recursive-SPIDER, s_t alone", cite=Cite(PAPER, "Algorithm 3, line 16"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Theorem 8")), data=DATA)  # fmt: skip
baseline = partial(
    Case, reading="baseline", cite=Cite(PAPER, "Section 3"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Section 3")), data=DATA, quick=False)  # fmt: skip
minimax_baseline = partial(
    Case, reading="baseline", cite=Cite(PAPER, "Section 5.1"),
    claim=PrivacyClaim(EPSILON, DELTA, Cite(PAPER, "Section 5.1")), data=DATA, quick=False)  # fmt: skip

CASES: tuple[Case, ...] = with_reasons(
    *(double(reading="printed", build=partial(double_printed, one), variant=one.name, quick=one.name == QUICK,
             space=partial(space.double_printed, EPSILON, DELTA, one),
             completions=double_spider.COMPLETIONS, known=f"{MEAN_CLIP}; {C_ONE}",
             declared=_exceeded("x/refresh", "x/difference", "eta/difference") + ANY_LABEL + TOO_LITTLE)
      for one in DIVERGENCES),
    double(reading="printed", build=double_assumptions, variant="assumptions hold", completions=ASSUMPTIONS_HOLD,
           space=partial(space.double_assumptions, EPSILON, DELTA, 1.5, 0.5),
           known=f"{C_ONE}; beyond the assumptions, {MEAN_CLIP}",
           declared=ANY_LABEL + TOO_LITTLE),
    double(reading="printed", build=double_no_steps, variant="each record clipped, c = 4", completions=EACH_CLIPPED,
           space=partial(space.double_each_clipped, EPSILON, DELTA, SMALL_CLIP, 4.0),
           known="sigma_2 does not grow with T: no constant c serves all T", declared=TOO_LITTLE),
    *(double(reading="repaired", build=partial(double_repaired, one, plan, d), variant=variant, quick=variant == QUICK,
             space=partial(space.double_repaired, EPSILON, DELTA, one, SMALL_CLIP, SMALL),
             repairs=double_spider.REPAIRS)
      for variant, one, plan, d in (
          *((one.name, one, FULL, 3) for one in DIVERGENCES),
          ("sampled", chi_square(), SAMPLED, 3),
          ("sampled differences", chi_square(), MIXED, 3),
          ("batch 128", kl(), EXPERIMENT, 20),
      )),
    recursive(reading="printed", build=partial(recursive_printed, recursive_spider.AS_PRINTED, STILL), quick=True,
              space=partial(space.recursive, "printed", EPSILON, DELTA, recursive_spider.AS_PRINTED),
              completions=recursive_spider.COMPLETIONS,
              known=f"sigma_2 follows ||x_t - x_{{t-1}}||: no noise on v where only lambda moved; {SINGLE}",
              declared=_exceeded("value", "x/difference", "temperature/difference") + ANY_LABEL + TOO_LITTLE
              + declare(Kind.BARE_RELEASE, (Kind.BARE_RELEASE, "x/difference"))),
    recursive(reading="printed", build=partial(recursive_printed, recursive_spider.ALL_OF_W, MIXED),
              space=partial(space.recursive, "printed", EPSILON, DELTA, recursive_spider.ALL_OF_W),
              variant="noise follows all of w", known=SINGLE, declared=_exceeded("value") + TOO_LITTLE,
              completions=(recursive_spider.CHARITABLE_NOISE, recursive_spider.CHARITABLE_START, *OTHERS)),
    recursive(reading="printed", build=partial(recursive_printed, recursive_spider.THEOREM_8, MIXED),
              space=partial(space.recursive, "printed", EPSILON, DELTA, recursive_spider.THEOREM_8),
              variant="sigma_2 of Theorem 8", known=SINGLE, declared=_exceeded("value") + TOO_LITTLE,
              completions=(recursive_spider.NO_MOVE, *OTHERS)),
    recursive(reading="repaired", build=partial(recursive_repaired, recursive_spider.REPAIRED, FULL), quick=True,
              space=partial(space.recursive, "repaired", EPSILON, DELTA, recursive_spider.REPAIRED),
              repairs=recursive_spider.REPAIRS),
    recursive(reading="repaired", build=partial(recursive_repaired, recursive_spider.LINE_16_PRINTED, FULL),
              space=partial(space.recursive, "repaired", EPSILON, DELTA, recursive_spider.LINE_16_PRINTED),
              variant="line 16 as printed", repairs=(*BUT_LINE_16, BATCHED, recursive_spider.MEND_SIGMA)),
    recursive(reading="repaired", build=partial(recursive_repaired, recursive_spider.REPAIRED, MIXED, value_batch=1),
              space=partial(space.recursive, "repaired", EPSILON, DELTA, recursive_spider.REPAIRED, 1),
              variant="one record", repairs=(*BUT_LINE_16, ONE_RECORD, recursive_spider.MEND_SIGMA)),
    recursive(reading="repaired", build=partial(recursive_repaired, recursive_spider.REPAIRED, EXPERIMENT, 20),
              space=partial(space.recursive, "repaired", EPSILON, DELTA, recursive_spider.REPAIRED),
              variant="batch 128", repairs=recursive_spider.REPAIRS),
    value(reading="printed", build=partial(value_alone, single_sample.printed),
          space=partial(space.value_alone, "printed", EPSILON, DELTA), completions=single_sample.COMPLETIONS,
          known=SINGLE, declared=_exceeded("value") + TOO_LITTLE),
    value(reading="repaired", build=partial(value_alone, single_sample.repaired),
          space=partial(space.value_alone, "repaired", EPSILON, DELTA), repairs=single_sample.REPAIRS),
    baseline(id=f"{PAPER}/composite_sgd", title="DP-SGD on z = (x, eta)", build=partial(composite, False),
             space=partial(space.composite, False, EPSILON, DELTA, SMALL_CLIP)),
    baseline(id=f"{PAPER}/composite_spider", title="DP-SPIDER on z = (x, eta)", build=partial(composite, True),
             space=partial(space.composite, True, EPSILON, DELTA, SMALL_CLIP)),
    minimax_baseline(id=f"{PAPER}/sgda", title="DP-SGDA", build=partial(minimax, False),
                     space=partial(space.minimax, False, EPSILON, DELTA, SMALL_CLIP)),
    minimax_baseline(id=f"{PAPER}/private_diff", title="PrivateDiff Minimax, our reading",
                     build=partial(minimax, True),
                     space=partial(space.minimax, True, EPSILON, DELTA, SMALL_CLIP)),
)  # fmt: skip
